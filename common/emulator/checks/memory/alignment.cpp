// SPDX-License-Identifier: MIT
#include "checks/memory/alignment.h"

#include <bit>

#include "checks/report/places.h"

namespace checks {

void Alignment::on_access(const machine::AccessEvent& event) {
    // A lane that is out of bounds as well is the bounds checker's.
    const uint32_t lanes = event.misaligned_lanes & event.mask & ~event.bad_lanes;
    if (!lanes) return;
    findings_.add("misaligned", event.site, *event.warp, lanes, 0, nullptr, [&](uint32_t lane) {
        const machine::LaunchInfo& launch = *event.warp->block->launch;
        const uint64_t address = event.address[lane];
        Draft draft;
        Finding& finding = draft.finding;
        finding.address = hex(address);
        finding.bytes = event.bytes;
        std::string what;
        if (event.space == ptx::Space::kShared) {
            if (const auto* variable = machine::shared_variable_at(launch, address)) {
                draft.array = name_shared(launch, *variable, event.element_bytes);
                what = draft.array.element(address);
            }
        } else if (event.space != ptx::Space::kLocal) {
            if (const auto* allocation = memory_.find(address)) {
                draft.array = name_global(&launch,
                                          *allocation,
                                          event.element_bytes,
                                          event.kind != machine::AccessKind::kLoad,
                                          address);
                what = draft.array.element(address);
            }
        }
        finding.message = plural(event.bytes, "byte") + " are " + done_by(event.kind) + " at once" +
                          (what.empty() ? "" : " from " + what + " on") +
                          ", but the address is no multiple of " + std::to_string(event.bytes);
        finding.allocation = draft.array.description;
        finding.notes.push_back("address " + hex(address) + " is " +
                                std::to_string(address % event.bytes) + " past a multiple of " +
                                std::to_string(event.bytes));
        return draft;
    });
}

}  // namespace checks
