// SPDX-License-Identifier: MIT
#include "checks/memory/alignment.h"

#include <bit>

#include "checks/report/places.h"

namespace checks {
namespace {

void describe_matrix(Finding& finding, const machine::AccessEvent& event, uint64_t address,
                     const std::string& what) {
    const machine::MisplacedMatrix& matrix = *event.misplaced;
    const std::string lines = matrix.column_major ? "columns" : "rows";
    finding.bytes = 0;
    finding.message = "a matrix of " + std::to_string(matrix.rows) + " x " +
                      std::to_string(matrix.columns) + " is " + done_by(event.kind) +
                      (what.empty() ? "" : " from " + what + " on");
    if (matrix.strayed) {
        finding.facts.add("reason", "lanes-differ");
        const std::string lane = "lane " + std::to_string(std::countr_zero(matrix.strayed));
        const std::string first = "lane " + std::to_string(matrix.first_lane);
        if (address != matrix.first_address) {
            const uint64_t apart = address > matrix.first_address ? address - matrix.first_address
                                                                  : matrix.first_address - address;
            finding.message += ", but " + lane + " gives another address than " + first +
                               ": all lanes must give the same one";
            finding.notes.push_back("it is " + plural(apart, "byte") +
                                    (address > matrix.first_address ? " after" : " before") +
                                    " that of " + first);
        } else {
            finding.message += ", but " + lane + " gives another leading dimension than " + first +
                               ": all lanes must give the same one";
            finding.notes.push_back("they are " +
                                    std::to_string(matrix.stride / event.element_bytes) + " and " +
                                    std::to_string(matrix.first_stride / event.element_bytes) +
                                    " elements of " + plural(event.element_bytes, "byte"));
        }
    } else if (address % matrix.address_multiple) {
        finding.message +=
            ", but its address is no multiple of " + plural(matrix.address_multiple, "byte");
        finding.notes.push_back("address " + hex(address) + " is " +
                                std::to_string(address % matrix.address_multiple) +
                                " past a multiple of " + std::to_string(matrix.address_multiple));
    } else {
        finding.message += ", but its " + lines + " begin " + plural(matrix.stride, "byte") +
                           " apart, which is no multiple of " +
                           std::to_string(matrix.stride_multiple);
        finding.notes.push_back("the leading dimension is " +
                                std::to_string(matrix.stride / event.element_bytes) +
                                " elements of " + plural(event.element_bytes, "byte"));
    }
}

}  // namespace

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
        if (event.misplaced) {
            describe_matrix(finding, event, address, what);
            finding.allocation = draft.array.description;
            return draft;
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
