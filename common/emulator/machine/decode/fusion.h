// SPDX-License-Identifier: MIT
// Two PTX instructions as one handler: a product (or a shift left by a constant) that only the
// following addition uses becomes a multiply-add. Every address of an array's element is made so.
// Counters see both instructions.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "machine/decode/removals.h"
#include "machine/program/code.h"

namespace machine {

class ProductFusion {
public:
    explicit ProductFusion(const ptx::Function& function);

    struct Fused {
        ptx::Instruction multiply_add;
        uint32_t product = 0;  // the PTX instruction that it replaces, beside the addition
    };
    // If instruction `index` is an addition of a product that can be fused: both as one. `pc_of`,
    // `code` and `removals` are the instructions decoded before it.
    std::optional<Fused> find(uint32_t index, const std::vector<uint32_t>& pc_of, const Code& code,
                              const Removals& removals) const;

private:
    struct Decoded {
        uint32_t index;
        const std::vector<uint32_t>& pc_of;
        const Code& code;
        const Removals& removals;
    };
    uint32_t product_of(const ptx::Operand& factor, uint32_t bytes, const Decoded& decoded) const;

    const ptx::Function& function_;
    std::vector<bool> passed_on_;  // by register: written by one instruction, read by one
    std::vector<bool> jumped_to_;  // by PTX instruction
};

}  // namespace machine
