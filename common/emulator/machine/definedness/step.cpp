// SPDX-License-Identifier: MIT
// The effect of one instruction on undefined operands.
#include <algorithm>
#include <cstring>

#include "machine/definedness/undefined.h"
#include "machine/program/sites.h"
#include "machine/state/launch_state.h"

namespace machine {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;

std::vector<const Operand*> elements_of(const Operand& operand) {
    std::vector<const Operand*> out;
    if (operand.kind != Operand::Kind::kVector) return {&operand};
    for (const Operand& element : operand.elements) out.push_back(&element);
    return out;
}

bool UndefinedValues::wide(const Frame& frame, uint32_t register_index) {
    return ptx::byte_size(frame.code->function->registers[register_index].type) == 8;
}

UndefinedValues::Lanes UndefinedValues::of(const Frame& frame, const Operand& operand) const {
    if (operand.kind != Operand::Kind::kRegister || !frame.undefined) return {};
    return frame.undefined->of[operand.index];
}

// Any operand that is undefined makes the result so.
UndefinedValues::Lanes UndefinedValues::of_all(const Frame& frame,
                                               const ptx::Instruction& in) const {
    Lanes out;
    for (size_t k = 1; k < in.operands.size(); ++k) {
        const auto add = [&](const Operand& operand, auto&& again) -> void {
            const Lanes l = of(frame, operand);
            if (l.any() & ~out.low) out.origin = l.origin;
            out.low |= l.any();
            for (const Operand& element : operand.elements) again(element, again);
        };
        add(in.operands[k], add);
    }
    out.high = out.low;
    return out;
}

void UndefinedValues::set(Frame& frame, uint32_t index, uint32_t mask, Lanes value) {
    if (!frame.undefined && !(value.any() & mask)) return;
    UndefinedRegisters& t = table(frame);
    Lanes& now = t.of[index];
    const bool had = now.any() != 0;
    if (!had && !(value.any() & mask)) return;
    if (!wide(frame, index)) value.high = 0;
    now.low = (now.low & ~mask) | (value.low & mask);
    now.high = (now.high & ~mask) | (value.high & mask);
    if (value.any() & mask) now.origin = value.origin;
    if (!had && now.any() && std::find(t.some.begin(), t.some.end(), index) == t.some.end())
        t.some.push_back(index);
}

uint32_t UndefinedValues::predicate(const Frame& frame, uint32_t register_index) const {
    uint32_t mask;
    std::memcpy(&mask, frame.rows + frame.code->register_rows[register_index], 4);
    return mask;
}

uint64_t UndefinedValues::value(const Frame& frame, const Operand& operand, uint32_t lane) const {
    if (operand.kind == Operand::Kind::kImmediate) return operand.bits;
    if (operand.kind != Operand::Kind::kRegister) return 0;
    const ptx::Type type = frame.code->function->registers[operand.index].type;
    if (type == ptx::Type::kPred) {
        const bool bit = predicate(frame, operand.index) >> lane & 1;
        return bit != operand.negated ? ~0ull : 0;
    }
    const uint32_t bytes = std::max(2u, ptx::byte_size(type));
    uint64_t out = 0;
    std::memcpy(&out,
                frame.rows + frame.code->register_rows[operand.index] + lane * bytes,
                std::min(bytes, 8u));
    return out;
}

// and, or, and setp with a third operand: a result that one side decides alone is defined. An `or`
// is decided by any set bit, since nvcc combines conditions that are 0 or 1 this way.
UndefinedValues::Lanes UndefinedValues::logic(Frame& frame, const ptx::Instruction& in,
                                              uint32_t mask) {
    const bool compares = in.opcode == Opcode::k_setp;
    const bool conjunction = in.opcode == Opcode::k_and || (compares && in.has(Mod::k_and));
    Lanes left = of(frame, in.operands[1]), right = of(frame, in.operands[2]);
    const Operand *a = &in.operands[1], *b = &in.operands[2];
    if (compares) {
        // The comparison's own value is not stored; the third operand may decide.
        const uint32_t both = left.any() | right.any();
        left = {both, 0, left.any() ? left.origin : right.origin};
        right = of(frame, in.operands[3]);
        a = nullptr;
        b = &in.operands[3];
    }
    Lanes out;
    out.origin = left.any() ? left.origin : right.origin;
    const bool is_predicate =
        compares || (b->kind == Operand::Kind::kRegister &&
                     frame.code->function->registers[b->index].type == ptx::Type::kPred);
    const auto half = [&](uint32_t l, uint32_t r, unsigned shift, uint64_t bits) {
        uint32_t undefined = l & r;
        const auto open = [&](const Operand* decides, uint32_t lane) {
            if (!decides) return true;
            const uint64_t v = value(frame, *decides, lane) >> shift & bits;
            return conjunction ? v != 0 : v == 0;
        };
        for_lanes(mask & (l ^ r),
                  [&](uint32_t i) { undefined |= uint32_t(open(l >> i & 1 ? b : a, i)) << i; });
        return undefined;
    };
    if (is_predicate) {
        out.low = half(left.any(), right.any(), 0, ~0ull);
        return out;
    }
    out.low = half(left.low, right.low, 0, 0xffffffff);
    out.high = half(left.high, right.high, 32, 0xffffffff);
    return out;
}

UndefinedValues::Lanes UndefinedValues::selected(Frame& frame, const ptx::Instruction& in,
                                                 uint32_t mask) {
    const Lanes yes = of(frame, in.operands[1]), no = of(frame, in.operands[2]);
    const Operand& condition = in.operands[3];
    const Lanes asked = of(frame, condition);
    uint32_t chosen = 0;
    if (condition.kind == Operand::Kind::kRegister)
        for_lanes(mask,
                  [&](uint32_t i) { chosen |= uint32_t(value(frame, condition, i) != 0) << i; });
    Lanes out;
    out.low = asked.low | (yes.low & chosen) | (no.low & ~chosen);
    out.high = asked.low | (yes.high & chosen) | (no.high & ~chosen);
    out.origin = asked.low & mask            ? asked.origin
                 : yes.any() & chosen & mask ? yes.origin
                                             : no.origin;
    return out;
}

// mov between a register and a vector of its parts.
bool UndefinedValues::pack_or_unpack(Frame& frame, const ptx::Instruction& in, uint32_t mask) {
    const Operand &to = in.operands[0], &from = in.operands[1];
    if (from.kind == Operand::Kind::kVector && to.kind == Operand::Kind::kRegister) {
        const size_t n = from.elements.size();
        const bool two_halves = wide(frame, to.index);
        Lanes out;
        for (size_t k = 0; k < n; ++k) {
            const Lanes l = of(frame, from.elements[k]);
            (two_halves && k >= n / 2 ? out.high : out.low) |= l.any();
            if (l.any()) out.origin = l.origin;
        }
        set(frame, to.index, mask, out);
        return true;
    }
    if (to.kind != Operand::Kind::kVector) return false;
    const Lanes l = of(frame, from);
    const bool two_halves = from.kind == Operand::Kind::kRegister && wide(frame, from.index);
    for (size_t k = 0; k < to.elements.size(); ++k) {
        if (to.elements[k].kind != Operand::Kind::kRegister) continue;
        const bool high = two_halves && k >= to.elements.size() / 2;
        set(frame, to.elements[k].index, mask, {high ? l.high : l.low, 0, l.origin});
    }
    return true;
}

UndefinedValues::Lanes UndefinedValues::result(Frame& frame, const ptx::Instruction& in,
                                               SiteId site, uint32_t mask) {
    const auto& operands = in.operands;
    Lanes all = of_all(frame, in);
    if (!(all.any() & mask)) return {};
    switch (in.opcode) {
    case Opcode::k_mov:
    case Opcode::k_cvta:
        return of(frame, operands[1]);
    case Opcode::k_selp:
        if (operands.size() == 4) return selected(frame, in, mask);
        break;
    case Opcode::k_cvt: {
        const Lanes l = of(frame, operands[1]);
        const ptx::Type to = in.type(0), from = in.type(1);
        if (ptx::is_float(to) || ptx::is_float(from)) break;
        if (ptx::byte_size(from) < 8) return {l.low, ptx::is_signed(from) ? l.low : 0, l.origin};
        return l;
    }
    case Opcode::k_shl:
    case Opcode::k_shr: {
        const Lanes l = of(frame, operands[1]);
        if (operands[2].kind != Operand::Kind::kImmediate || operands[2].bits < 32 ||
            ptx::byte_size(in.type()) != 8)
            break;
        if (in.opcode == Opcode::k_shl) return {0, l.low, l.origin};
        return {l.high, ptx::is_signed(in.type()) ? l.high : 0, l.origin};
    }
    case Opcode::k_and:
    case Opcode::k_or:
        if (operands.size() == 3) all = logic(frame, in, mask);
        break;
    case Opcode::k_setp:
        if (operands.size() == 4 && (in.has(Mod::k_and) || in.has(Mod::k_or)))
            all = logic(frame, in, mask);
        break;
    default:
        break;
    }
    // Not only a copy: the value counts as read from here on.
    if (all.any() & mask) all.origin = read_at(all.origin, site);
    if (!all.origin) return {};
    return all;
}

void UndefinedValues::step(Frame& frame, const ptx::Instruction& in, SiteId site, uint32_t mask) {
    if (in.operands.empty()) return;
    uint32_t lanes = mask, unknown = 0;
    if (in.guarded) {
        const uint32_t guard = predicate(frame, in.guard);
        lanes &= in.guard_negated ? ~guard : guard;
        unknown = frame.undefined->of[in.guard].any() & mask;
    }
    const bool memory = in.opcode == Opcode::k_ld || in.opcode == Opcode::k_ldu ||
                        in.opcode == Opcode::k_st || in.opcode == Opcode::k_atom ||
                        in.opcode == Opcode::k_red;
    if (memory) {
        // Accesses by address have reported themselves, or were not executed.
        if (parameter(frame, in, lanes) || in.space != ptx::Space::kParam) return;
    }
    if (in.opcode == Opcode::k_mov && pack_or_unpack(frame, in, lanes)) return;
    bool writes = false;
    for_written(in, [&](uint32_t) { writes = true; });
    if (!writes) return;
    Lanes now = result(frame, in, site, lanes);
    now.low &= lanes;
    now.high &= lanes;
    if (unknown) {
        now.low |= unknown;
        now.high |= unknown;
        now.origin = frame.undefined->of[in.guard].origin;
    }
    for_written(in, [&](uint32_t r) { set(frame, r, lanes | unknown, now); });
}

}  // namespace machine
