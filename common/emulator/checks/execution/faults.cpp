// SPDX-License-Identifier: MIT
#include "checks/execution/faults.h"

#include "checks/report/places.h"

namespace checks {
namespace {

// Whether a toolkit's function, inlined or called, stopped the kernel.
bool by_toolkit(machine::SiteId site) {
    const machine::CodeSite& code = site_of(site);
    return code.opcode.find("trap") == code.opcode.npos ||
           (!code.chain.empty() && code.chain[0].file != code.user.file);
}

}  // namespace

void Faults::on_fault(const machine::FaultEvent& event) {
    using machine::FaultKind;
    const char* code = "assert";
    std::string message;
    switch (event.kind) {
    case FaultKind::kAssert:
        message = "assertion " + backticked(event.message) + " failed";
        break;
    case FaultKind::kTrap:
        if (event.without_grid && by_toolkit(event.site)) {
            code = "invalid-launch";
            message =
                "the grid is to synchronise, but this kernel was not launched cooperatively: see "
                "`cudaLaunchCooperativeKernel`";
        } else {
            message = event.message.empty() ? "`__trap()` was executed" : event.message;
        }
        break;
    case FaultKind::kStackOverflow:
        code = "stack-overflow";
        message = "the thread's stack is full: does a function call itself without end, or is a "
                  "local array too large?";
        break;
    case FaultKind::kBadCall:
        code = "invalid-address";
        message = "a call through a pointer that points to no device function: is it one of the "
                  "host's, or an object with virtual functions that was copied from the host?";
        break;
    case FaultKind::kSurface:
        code = "out-of-bounds-global";
        message = event.message;
        break;
    case FaultKind::kBadObject:
    case FaultKind::kForeignAddress:
        code = "invalid-address";
        message = event.message;
        break;
    case FaultKind::kBadFree:
        code = "double-free";
        message = event.message;
        break;
    // malloc() returning null is the kernel's to handle; see Bounds for what follows when it does
    // not.
    case FaultKind::kHeapExhausted:
        return;
    }
    findings_.add(code, event.site, *event.warp, event.mask, 0, nullptr, [&](uint32_t) {
        Draft draft;
        draft.finding.message = message;
        if (event.kind == FaultKind::kAssert && event.line) {
            draft.finding.place = place_of(event.site);
            draft.finding.place.file = event.file;
            draft.finding.place.line = event.line;
        } else if (event.other) {
            draft.finding.other = place_of(event.other);
            draft.finding.other_text =
                "it was freed on " + line_text(*draft.finding.other, site_of(event.site).user.file);
        } else if (!event.message.empty() && event.message != message) {
            draft.finding.notes.push_back(event.message);
        }
        return draft;
    });
}

}  // namespace checks
