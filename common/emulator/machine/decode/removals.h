// SPDX-License-Identifier: MIT
// Decoded instructions that leave the body: those that run once per launch, and those that were
// fused with another one. Counters still see them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "machine/program/code.h"

namespace machine {

class Removals {
public:
    // The instruction at `pc` moves to Code::invariants.
    void hoist(size_t pc) { set(pc, Fate::kHoisted); }
    // Another instruction does its work.
    void drop(size_t pc) { set(pc, Fate::kDropped); }
    bool hoisted(size_t pc) const { return pc < fates_.size() && fates_[pc] == Fate::kHoisted; }

    // Removes them. `pc_of` maps each PTX instruction to its first decoded one, and is updated;
    // `code.branches` still has PTX targets. A removed instruction is counted with the next one of
    // its basic block that stays; one without such a neighbour becomes an instruction that does
    // nothing.
    void apply(Code& code, std::vector<uint32_t>& pc_of);

private:
    enum class Fate : uint8_t { kStays, kHoisted, kDropped };
    void set(size_t pc, Fate fate) {
        if (pc >= fates_.size()) fates_.resize(pc + 1, Fate::kStays);
        fates_[pc] = fate;
    }
    std::vector<Fate> fates_;  // by decoded instruction
};

}  // namespace machine
