// SPDX-License-Identifier: MIT
#include "machine/decode/fusion.h"

#include <algorithm>

#include "machine/program/control_flow.h"
#include "machine/program/liveness.h"

namespace machine {

using ptx::Instruction;
using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

// How many instructions before the addition a product may be: nvcc puts it close.
constexpr uint32_t kReach = 8;

bool is_word(Type type) {
    return type == Type::kU32 || type == Type::kS32 || type == Type::kU64 || type == Type::kS64;
}

// No operand is part of a register, or its negative: only video instructions have those.
bool whole(const Instruction& in) {
    return std::none_of(in.operands.begin(), in.operands.end(), [](const Operand& operand) {
        return operand.negated || !operand.selector.empty();
    });
}

bool plain_integer_add(const Instruction& in) {
    return in.opcode == Opcode::k_add && !in.guarded && in.mods.none() && in.types.size() == 1 &&
           is_word(in.type()) && in.operands.size() == 3 &&
           in.operands[0].kind == Operand::Kind::kRegister && whole(in);
}

// Bytes of the result of a product that may be fused; 0: it may not.
uint32_t product_bytes(const Instruction& in) {
    if (in.guarded || in.types.size() != 1 || in.operands.size() != 3 || !whole(in)) return 0;
    const uint32_t bytes = ptx::byte_size(in.type());
    if (bytes < 4) return 0;
    const Operand& by = in.operands[2];
    if (in.opcode == Opcode::k_shl)
        return by.kind == Operand::Kind::kImmediate && by.bits < 8 * bytes ? bytes : 0;
    if (in.opcode != Opcode::k_mul || !is_word(in.type()) || in.mods.count() != 1) return 0;
    return in.has(Mod::k_wide) ? 2 * bytes : in.has(Mod::k_lo) ? bytes : 0;
}

bool writes(const Instruction& in, const Operand& what) {
    bool found = false;
    if (what.kind == Operand::Kind::kRegister)
        for_written(in, [&](uint32_t r) { found |= r == what.index; });
    return found;
}

}  // namespace

ProductFusion::ProductFusion(const ptx::Function& function) : function_(function) {
    std::vector<uint8_t> written(function_.registers.size()), read(written);
    for (const Instruction& in : function_.body) {
        for_written(in, [&](uint32_t r) { written[r] = uint8_t(std::min(written[r] + 1, 2)); });
        for_read(in, [&](uint32_t r) { read[r] = uint8_t(std::min(read[r] + 1, 2)); });
    }
    jumped_to_.assign(function_.body.size() + 1, false);
    for (const Instruction& in : function_.body)
        for (const uint32_t target : jump_targets(function_, in)) jumped_to_[target] = true;
    passed_on_.resize(written.size());
    for (size_t r = 0; r < written.size(); ++r) passed_on_[r] = written[r] == 1 && read[r] == 1;
}

// The product that computes `factor`, of `bytes`, before the addition in the same straight run;
// kNoInstruction: there is none.
uint32_t ProductFusion::product_of(const Operand& factor, uint32_t bytes,
                                   const Decoded& decoded) const {
    if (factor.kind != Operand::Kind::kRegister || factor.negated || !passed_on_[factor.index])
        return kNoInstruction;
    for (uint32_t k = decoded.index; k > 0 && decoded.index - k < kReach;) {
        if (jumped_to_[k]) return kNoInstruction;
        const Instruction& in = function_.body[--k];
        const uint32_t begin = decoded.pc_of[k], end = decoded.pc_of[k + 1];
        if (writes(in, factor)) {
            // A launch invariant costs nothing where it is.
            if (end != begin + 1 || decoded.removals.hoisted(begin) || product_bytes(in) != bytes)
                return kNoInstruction;
            return k;
        }
        // Where lanes diverge or arrive from elsewhere, registers may have changed.
        for (uint32_t pc = begin; pc < end; ++pc)
            if (decoded.code.instructions[pc].control > kGuarded) return kNoInstruction;
    }
    return kNoInstruction;
}

std::optional<ProductFusion::Fused> ProductFusion::find(uint32_t index,
                                                        const std::vector<uint32_t>& pc_of,
                                                        const Code& code,
                                                        const Removals& removals) const {
    const Instruction& in = function_.body[index];
    if (!plain_integer_add(in)) return std::nullopt;
    const uint32_t bytes = ptx::byte_size(in.type());
    for (const size_t which : {2u, 1u}) {
        const uint32_t k = product_of(in.operands[which], bytes, {index, pc_of, code, removals});
        if (k == kNoInstruction) continue;
        const Instruction& product = function_.body[k];
        const auto changed = [&](const Operand& source) {
            for (uint32_t between = k + 1; between < index; ++between)
                if (writes(function_.body[between], source)) return true;
            return false;
        };
        if (changed(product.operands[1]) || changed(product.operands[2])) continue;
        Instruction both = product;
        both.opcode = Opcode::k_mad;
        both.operands[0] = in.operands[0];
        both.operands.push_back(in.operands[3 - which]);
        if (product.opcode == Opcode::k_shl) {
            both.mods.set(size_t(Mod::k_lo));
            both.types[0] = bytes == 8 ? Type::kU64 : Type::kU32;
            both.operands[2].bits = uint64_t(1) << product.operands[2].bits;
        }
        return Fused{std::move(both), k};
    }
    return std::nullopt;
}

}  // namespace machine
