// SPDX-License-Identifier: MIT
#include "checks/execution/warp_mask.h"

#include <bit>
#include <string_view>

#include "checks/report/places.h"

namespace checks {
namespace {

using machine::WarpSyncEvent;
using machine::WarpSyncKind;

std::string operation(WarpSyncKind kind) {
    switch (kind) {
    case WarpSyncKind::kBarrier:
        return "`__syncwarp`";
    case WarpSyncKind::kShuffle:
        return "the shuffle";
    case WarpSyncKind::kVote:
        return "the vote";
    case WarpSyncKind::kMatch:
        return "the match";
    case WarpSyncKind::kMatrix:
        return "the matrix instruction";
    default:
        return "the reduction";
    }
}

std::string lanes_text(uint32_t mask) {
    return (std::popcount(mask) == 1 ? "lane " : "lanes ") + lane_ranges(mask);
}

}  // namespace

void WarpMask::add(const WarpSyncEvent& event, uint32_t lanes, Severity severity,
                   const std::string& message) {
    findings_.add("warp-mask", event.site, *event.warp, lanes, 0, nullptr, [&](uint32_t) {
        Draft draft;
        draft.finding.severity = severity;
        draft.finding.message = message;
        return draft;
    });
}

// PTX ISA, "shfl.sync": the named lanes must execute it "with the same qualifiers".
void WarpMask::add_strayed(const WarpSyncEvent& event) {
    const uint32_t here = event.arrived & ~event.strayed;
    findings_.add("warp-mask", event.site, *event.warp, here, 0, nullptr, [&](uint32_t) {
        Draft draft;
        std::string what = operation(event.kind);
        if (what.rfind("the ", 0) == 0) what = what.substr(4) + "s";
        draft.finding.message = lanes_text(here) + " and " + lanes_text(event.strayed) +
                                " meet at different " + what + ", with the mask " +
                                hex(event.named) + " for both";
        draft.finding.other = place_of(event.strayed_site);
        draft.finding.other_text = lanes_text(event.strayed) +
                                   (std::popcount(event.strayed) == 1 ? " is" : " are") + " on " +
                                   line_text(*draft.finding.other, site_of(event.site).user.file);
        return draft;
    });
}

void WarpMask::on_warp_sync(const WarpSyncEvent& event) {
    // Otherwise it depends on the use of the value: on_undefined_use.
    const uint32_t harmful = event.missing_exited ? event.undefined_sources : 0;
    if (event.strayed) add_strayed(event);
    if (!(event.strangers | event.missing_waiting | event.missing_exited | harmful)) return;
    const std::string name = operation(event.kind);
    const std::string mask = "the mask " + hex(event.named);
    const uint32_t here = event.arrived ? event.arrived : event.strangers;
    if (event.strangers) {
        add(event,
            event.strangers,
            Severity::kError,
            lanes_text(event.strangers) +
                (std::popcount(event.strangers) == 1 ? " takes" : " take") + " part in " + name +
                " without being named in " + mask);
    } else if (event.missing_waiting && here) {
        add(event,
            here,
            Severity::kError,
            mask + " of " + name + " names " + lanes_text(event.missing_waiting) +
                ", which never " + (std::popcount(event.missing_waiting) == 1 ? "comes" : "come") +
                " here: only " + lanes_text(here) + (std::popcount(here) == 1 ? " does" : " do"));
    } else if (harmful) {
        add(event,
            harmful,
            Severity::kError,
            lanes_text(harmful) + (std::popcount(harmful) == 1 ? " takes its" : " take their") +
                " value from a lane that does not take part in " + name +
                (event.missing_exited
                     ? ": " + lanes_text(event.missing_exited) + " of its mask " +
                           (std::popcount(event.missing_exited) == 1 ? "has" : "have") + " returned"
                     : ""));
    } else if (event.missing_exited && here) {
        add(event,
            here,
            Severity::kWarning,
            mask + " of " + name + " names " + lanes_text(event.missing_exited) + ", which " +
                (std::popcount(event.missing_exited) == 1 ? "has" : "have") + " already returned");
    }
}

// A lane used a value that it had read from a lane that did not participate.
void WarpMask::on_undefined_use(const machine::UndefinedUse& use) {
    if (use.origin->kind != machine::UndefinedOrigin::Kind::kShuffle) return;
    findings_.add("warp-mask", use.origin->site, *use.warp, use.lanes, 0, nullptr, [&](uint32_t) {
        Draft draft;
        const bool one = std::popcount(use.lanes) == 1;
        draft.finding.message = lanes_text(use.lanes) + (one ? " uses" : " use") +
                                " a value from a lane that does not take part in the shuffle";
        const Place then = place_of(use.site);
        if (then.line && use.site != use.origin->site)
            draft.finding.notes.push_back("it is used on " +
                                          line_text(then, site_of(use.origin->site).user.file));
        return draft;
    });
}

}  // namespace checks
