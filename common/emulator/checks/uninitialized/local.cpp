// SPDX-License-Identifier: MIT
#include "checks/uninitialized/local.h"

#include "checks/report/places.h"

namespace checks {
namespace {

using OriginKind = machine::UndefinedOrigin::Kind;
using How = machine::UndefinedUse::How;

const char* use_text(How how) {
    switch (how) {
    case How::kBranch:
        return "it decides a branch";
    case How::kAddress:
        return "it is used as an address or an index";
    default:
        return "it is stored";
    }
}

}  // namespace

void UninitializedLocal::on_undefined_use(const machine::UndefinedUse& use) {
    const OriginKind kind = use.origin->kind;
    if (kind != OriginKind::kRegister && kind != OriginKind::kLocal) return;
    const machine::SiteId site = use.origin->site ? use.origin->site : use.site;
    // Only a library has touched it: a variable of its own, and of no interest to its user.
    if (site_of(site).library && site_of(use.site).library) return;
    findings_.add("uninitialized-local", site, *use.warp, use.lanes, 0, nullptr, [&](uint32_t) {
        Draft draft;
        const char* const what = kind == OriginKind::kLocal
                                     ? "an element or member of a local variable"
                                     : "a local variable";
        draft.finding.message =
            std::string(what) + " is used, but this thread has never given it a value";
        const Place then = place_of(use.site);
        const Place read = place_of(site);
        if (then.line && (then.line != read.line || then.file != read.file))
            draft.finding.notes.push_back(std::string(use_text(use.how)) + " on " +
                                          line_text(then, read.file));
        else
            draft.finding.notes.push_back(std::string(use_text(use.how)) + " there");
        return draft;
    });
}

}  // namespace checks
