// SPDX-License-Identifier: MIT
#include "checks/api.h"

#include "checks/names.h"
#include "checks/text.h"

namespace checks {

Finding api_finding(const machine::ApiEvent& event, const char* code, const std::string& earlier) {
    Finding finding;
    finding.code = code;
    finding.message = event.message;
    finding.kernel = event.kernel;
    finding.place = place_of_host(event.site);
    const machine::Allocation* allocation = event.allocation;
    // Where the memory came from stands in a note; the other place is what went before this call.
    const bool known =
        allocation && allocation->live && event.other_site == allocation->allocated_at;
    if (event.other_site && event.other_site != event.site && !known) {
        const Place other = place_of_host(event.other_site);
        if (other.line || !other.file.empty()) {
            const bool freed = allocation && event.other_site == allocation->freed_at;
            finding.other = other;
            finding.other_text =
                (freed ? "it was freed on" : earlier) + ' ' + line_text(other, finding.place.file);
        }
    }
    if (event.address) finding.address = hex(event.address);
    if (event.allocation) {
        finding.allocation = name_global(nullptr, *event.allocation, 0, false).description;
        const Place made = place_of_host(event.allocation->allocated_at);
        if (made.line) {
            finding.notes.push_back(plural(event.allocation->bytes, "byte") + ", allocated on " +
                                    line_text(made, finding.place.file));
        }
    }
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
    case Kind::kUncheckedError: {
        Finding finding = api_finding(event, "unchecked-error", "the error came from");
        finding.severity = Severity::kWarning;
        report_.add(std::move(finding));
        break;
    }
    // The runtime says itself what it does not support; frees are Lifetime's.
    default:
        break;
    }
}

}  // namespace checks
