// SPDX-License-Identifier: MIT
#include "checks/execution/api.h"

#include "checks/report/places.h"
#include "checks/source/names.h"

namespace checks {
namespace {

const char* name_of(machine::ApiEvent::Reason reason) {
    using Reason = machine::ApiEvent::Reason;
    switch (reason) {
    case Reason::kNullPointer:
        return "null-pointer";
    case Reason::kNoAllocation:
        return "no-allocation";
    case Reason::kFreed:
        return "freed";
    case Reason::kOutOfRange:
        return "out-of-range";
    case Reason::kWrongDirection:
        return "wrong-direction";
    case Reason::kVariableName:
        return "variable-name";
    case Reason::kNoVariable:
        return "no-variable";
    case Reason::kInside:
        return "inside";
    case Reason::kWrongFunction:
        return "wrong-function";
    case Reason::kEmptyGrid:
        return "empty-grid";
    case Reason::kTooManyThreads:
        return "too-many-threads";
    case Reason::kTooMuchShared:
        return "too-much-shared";
    case Reason::kHostFree:
        return "host-free";
    case Reason::kOpenElsewhere:
        return "open-elsewhere";
    case Reason::kUnknown:
        break;
    }
    return "";
}

}  // namespace

Finding api_finding(const machine::ApiEvent& event, const char* code, const std::string& earlier) {
    Finding finding;
    finding.code = code;
    finding.message = event.message;
    finding.kernel = event.kernel;
    finding.place = place_of_host(event.site);
    const machine::Allocation* allocation = event.allocation;
    // The origin of the memory is in a note; the other place is what happened before this call.
    const bool known =
        allocation && allocation->live && event.other_site == allocation->allocated_at;
    if (event.other_site && event.other_site != event.site && !known) {
        const Place other = place_of_host(event.other_site);
        if (other.line || !other.file.empty()) {
            const bool freed = allocation && event.other_site == allocation->freed_at;
            finding.other = other;
            finding.other_text =
                (freed ? std::string("it was ") + allocation->ended() + " on" : earlier) + ' ' +
                line_text(other, finding.place.file);
        }
    }
    for (const auto& rank : event.ranks) {
        const Place at = place_of_host(rank.site);
        finding.notes.push_back(
            rank.text + (at.line ? " on " + line_text(at, finding.place.file) : std::string()));
    }
    if (event.address) finding.address = hex(event.address);
    if (event.allocation) {
        finding.allocation = name_global(nullptr, *event.allocation, 0, false).description;
        const Place made = place_of_host(event.allocation->allocated_at);
        if (made.line) {
            finding.notes.push_back(plural(event.allocation->bytes, "byte") +
                                    (event.allocation->imported ? " of another process, opened on "
                                                                : ", allocated on ") +
                                    line_text(made, finding.place.file));
        }
    }
    if (event.reason != machine::ApiEvent::Reason::kUnknown)
        finding.facts.add("reason", name_of(event.reason));
    if (event.asked &&
        !(event.allocation && event.allocation->kind == machine::MemoryKind::kModule)) {
        finding.facts.add("asked", event.asked);
        finding.facts.add("available", event.available);
        finding.facts.add("host", event.allocation == nullptr);
    }
    if (!event.detail.empty())
        finding.facts.add(event.kind == machine::ApiEvent::Kind::kLibraryOperand ? "operand"
                                                                                 : "misuse",
                          event.detail);
    finding.count_text = "more times on the same line";
    return finding;
}

void Api::on_api(const machine::ApiEvent& event) {
    using Kind = machine::ApiEvent::Kind;
    switch (event.kind) {
    case Kind::kInvalidLaunch:
        report_.add(api_finding(event, "invalid-launch", "see"));
        break;
    case Kind::kInvalidCopy:
        report_.add(api_finding(event, "invalid-copy", "see"));
        break;
    case Kind::kHostDereference:
        report_.add(api_finding(event, "host-dereference", "see"));
        break;
    case Kind::kCollectiveDeadlock:
        report_.add(api_finding(event, "collective-deadlock", "see"));
        break;
    case Kind::kCollectiveMismatch:
        report_.add(api_finding(event, "collective-mismatch", "see"));
        break;
    case Kind::kUncheckedError:
    case Kind::kLibraryMisuse: {
        Finding finding = event.kind == Kind::kLibraryMisuse
                              ? api_finding(event, "library-misuse", "see")
                              : api_finding(event, "unchecked-error", "the error came from");
        finding.severity = Severity::kWarning;
        report_.add(std::move(finding));
        break;
    }
    case Kind::kLibraryOperand: {
        using Reason = machine::ApiEvent::Reason;
        report_.add(api_finding(event,
                                event.reason == Reason::kFreed        ? "use-after-free"
                                : event.reason == Reason::kOutOfRange ? "out-of-bounds-global"
                                                                      : "invalid-address",
                                "see"));
        break;
    }
    // The runtime reports what it does not support; the checker Lifetime reports frees.
    default:
        break;
    }
}

}  // namespace checks
