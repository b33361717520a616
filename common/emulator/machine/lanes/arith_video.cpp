// SPDX-License-Identifier: MIT
// PTX ISA "Video Instructions", the SIMD ones without element selectors: vadd, vsub, vavrg,
// vabsdiff, vmin, vmax and vset of two 16-bit or four 8-bit elements. nvcc generates them for
// __vabsdiffu4 and others.
#include "machine/lanes/arith_core.h"

namespace machine::LEVEL_NS {
namespace {

// Modifiers are evaluated at run time: these are too rare for a handler each.
enum Flags { kSignedA = 1, kSignedB = 2, kSignedD = 4, kSat = 8, kSum = 16, kCompareShift = 5 };
enum class Op { kAdd, kSub, kAverage, kDistance, kMin, kMax, kSet };

// Element k of a word, extended.
template <unsigned bits>
[[gnu::always_inline]] inline int32_t element(uint32_t word, unsigned k, bool is_signed) {
    const uint32_t top = word << (32 - bits * (k + 1));
    return is_signed ? int32_t(top) >> (32 - bits) : int32_t(top >> (32 - bits));
}
[[gnu::always_inline]] inline int32_t compared(unsigned compare, int32_t a, int32_t b) {
    // One bit each for less, equal and greater.
    const unsigned relation = a < b ? 1 : a == b ? 2 : 4;
    return (compare & relation) != 0;
}

template <Op op, unsigned bits>
struct Video {
    static uint32_t apply(Extra extra, uint32_t a, uint32_t b, uint32_t c) {
        const unsigned flags = uint16_t(extra);
        const bool is_signed = flags & kSignedD;
        const int32_t high = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
        const int32_t low = is_signed ? -high - 1 : 0;
        constexpr uint32_t kMask = (1u << bits) - 1;
        uint32_t packed = 0, sum = c;
        for (unsigned k = 0; k < 32 / bits; ++k) {
            const int32_t x = element<bits>(a, k, flags & kSignedA);
            const int32_t y = element<bits>(b, k, flags & kSignedB);
            int32_t r = 0;
            if (op == Op::kAdd) r = x + y;
            if (op == Op::kSub) r = x - y;
            if (op == Op::kAverage) r = (x + y + (x + y >= 0)) >> 1;  // halves round away from zero
            if (op == Op::kDistance) r = x < y ? y - x : x - y;
            if (op == Op::kMin) r = x < y ? x : y;
            if (op == Op::kMax) r = x > y ? x : y;
            if (op == Op::kSet) r = compared(flags >> kCompareShift, x, y);
            if (flags & kSat) r = r < low ? low : r > high ? high : r;
            const uint32_t cut = uint32_t(r) & kMask;
            packed |= cut << (bits * k);
            sum += uint32_t(r);
        }
        return flags & kSum ? sum : packed;
    }
};

template <unsigned bits>
bool bind_video(Op op, unsigned flags, Selected& out) {
    switch (op) {
    case Op::kAdd:
        return bind<Video<Op::kAdd, bits>>(out, flags);
    case Op::kSub:
        return bind<Video<Op::kSub, bits>>(out, flags);
    case Op::kAverage:
        return bind<Video<Op::kAverage, bits>>(out, flags);
    case Op::kDistance:
        return bind<Video<Op::kDistance, bits>>(out, flags);
    case Op::kMin:
        return bind<Video<Op::kMin, bits>>(out, flags);
    case Op::kMax:
        return bind<Video<Op::kMax, bits>>(out, flags);
    case Op::kSet:
        return bind<Video<Op::kSet, bits>>(out, flags);
    }
    return false;
}

struct Entry {
    Opcode opcode;
    Op op;
    unsigned bits;
};
constexpr Entry kEntries[] = {
    {Opcode::k_vadd2, Op::kAdd, 16},
    {Opcode::k_vadd4, Op::kAdd, 8},
    {Opcode::k_vsub2, Op::kSub, 16},
    {Opcode::k_vsub4, Op::kSub, 8},
    {Opcode::k_vavrg2, Op::kAverage, 16},
    {Opcode::k_vavrg4, Op::kAverage, 8},
    {Opcode::k_vabsdiff2, Op::kDistance, 16},
    {Opcode::k_vabsdiff4, Op::kDistance, 8},
    {Opcode::k_vmin2, Op::kMin, 16},
    {Opcode::k_vmin4, Op::kMin, 8},
    {Opcode::k_vmax2, Op::kMax, 16},
    {Opcode::k_vmax4, Op::kMax, 8},
    {Opcode::k_vset2, Op::kSet, 16},
    {Opcode::k_vset4, Op::kSet, 8},
};

}  // namespace

bool select_video(const Form& form, Selected& out) {
    const Entry* entry = nullptr;
    for (const Entry& candidate : kEntries)
        if (candidate.opcode == form.opcode) entry = &candidate;
    if (!entry) return false;
    const bool set = entry->op == Op::kSet;
    if (form.type_count != (set ? 2 : 3)) return false;
    for (unsigned k = 0; k < form.type_count; ++k)
        if (form.type(k) != Type::kU32 && form.type(k) != Type::kS32) return false;
    unsigned flags = form.has(Mod::k_add) ? kSum : 0;
    const unsigned first = set ? 0 : 1;
    if (form.type(first) == Type::kS32) flags |= kSignedA;
    if (form.type(first + 1) == Type::kS32) flags |= kSignedB;
    if (set) {
        if (!form.only<Mod::k_eq,
                       Mod::k_ne,
                       Mod::k_lt,
                       Mod::k_le,
                       Mod::k_gt,
                       Mod::k_ge,
                       Mod::k_add>())
            return false;
        const unsigned compare = form.has(Mod::k_eq)   ? 2
                                 : form.has(Mod::k_ne) ? 5
                                 : form.has(Mod::k_lt) ? 1
                                 : form.has(Mod::k_le) ? 3
                                 : form.has(Mod::k_gt) ? 4
                                 : form.has(Mod::k_ge) ? 6
                                                       : 0;
        if (compare == 0) return false;
        flags |= compare << kCompareShift;
    } else {
        if (!form.only<Mod::k_sat, Mod::k_add>() || (form.has(Mod::k_sat) && form.has(Mod::k_add)))
            return false;
        if (form.type(0) == Type::kS32) flags |= kSignedD;
        if (form.has(Mod::k_sat)) flags |= kSat;
    }
    return entry->bits == 16 ? bind_video<16>(entry->op, flags, out)
                             : bind_video<8>(entry->op, flags, out);
}

}  // namespace machine::LEVEL_NS
