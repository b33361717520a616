// SPDX-License-Identifier: MIT
#include "machine/decode/removals.h"

#include <utility>

#include "machine/lanes/levels.h"

namespace machine {

void Removals::apply(Code& code, std::vector<uint32_t>& pc_of) {
    auto& instructions = code.instructions;
    const size_t count = instructions.size();
    fates_.resize(count, Fate::kStays);
    std::vector<bool> starts(count + 1, false);
    for (const BranchOp& branch : code.branches) {
        starts[pc_of[branch.target]] = true;
        for (const uint32_t t : branch.table) starts[pc_of[t]] = true;
    }
    constexpr uint32_t kNone = 0xffffffffu;
    std::vector<uint32_t> counted_with(count, kNone);
    uint32_t anchor = kNone;
    for (size_t i = count; i-- > 0;) {
        const uint8_t control = instructions[i].control;
        if (control == kReconverge) {
            anchor = kNone;  // it is not counted, and ends a block
        } else if (fates_[i] == Fate::kStays) {
            // Hidden instructions are not counted; all others have a site.
            if (instructions[i].site || control != kStraight) anchor = uint32_t(i);
        } else {
            counted_with[i] = anchor;
        }
        if (starts[i]) anchor = kNone;
        if (i > 0 && instructions[i - 1].control > kReconverge) anchor = kNone;
    }
    std::vector<uint32_t> moved(count + 1);
    std::vector<Instr> remaining;
    for (size_t i = 0; i < count; ++i) {
        moved[i] = uint32_t(remaining.size());
        if (fates_[i] == Fate::kHoisted) code.invariants.push_back(instructions[i]);
        if (fates_[i] != Fate::kStays && counted_with[i] != kNone) continue;
        remaining.push_back(instructions[i]);
        if (fates_[i] != Fate::kStays)
            remaining.back().handler = remaining.back().one_lane = move_handlers().no_operation;
    }
    moved[count] = uint32_t(remaining.size());
    for (size_t i = 0; i < count; ++i)
        if (counted_with[i] != kNone)
            code.counted_with.push_back(
                {moved[counted_with[i]], instructions[i].site, instructions[i].in_double});
    instructions = std::move(remaining);
    for (uint32_t& pc : pc_of) pc = moved[pc];
}

}  // namespace machine
