// SPDX-License-Identifier: MIT
// PTX ISA "Data Movement": mov between registers; "Comparison and Selection": selp, slct.
#include "machine/lanes/arith_core.h"

namespace machine::LEVEL_NS {
namespace {

template <class T>
struct Move {
    static T apply(T a) { return a; }
};
void move_predicate(Lanes& lanes, const Instr& in) {
    const uint32_t a = lanes.predicate(in.src[0]);
    uint32_t& d = lanes.predicate(in.dst);
    d = (d & ~lanes.mask) | (a & lanes.mask);
}

// Selects by a row's mask, then by the active lanes: at most two blends.
template <class T>
void select_by_predicate(Lanes& lanes, const Instr& in) {
    const T* const a = lanes.row<T>(in.src[0]);
    const T* const b = lanes.row<T>(in.src[1]);
    const uint32_t p = lanes.predicate(in.src[2]);
    T* const d = lanes.row<T>(in.dst);
    const auto yes = [&](uint32_t i) __attribute__((always_inline)) {
        return a[i];
    };
    const auto no = [&](uint32_t i) __attribute__((always_inline)) {
        return b[i];
    };
    if (lanes.mask == kAllLanes) {
        blend_row(d, p, yes, no);
    } else if (__builtin_popcount(lanes.mask) <= kFewLanes) {
        for_lanes(
            lanes.mask, [&](uint32_t i) __attribute__((always_inline)) {
                d[i] = p >> i & 1 ? a[i] : b[i];
            });
    } else {
        alignas(64) T chosen[kWarpSize];
        blend_row(chosen, p, yes, no);
        blend_row(
            d,
            lanes.mask,
            [&](uint32_t i) __attribute__((always_inline)) { return chosen[i]; },
            [&](uint32_t i) __attribute__((always_inline)) { return d[i]; });
    }
}

template <class T>
void select_one(Lanes& lanes, const Instr& in) {
    const bool first = lanes.predicate(in.src[2]) & lanes.mask;
    lanes.row<T>(in.dst)[lanes.lane] = lanes.row<T>(in.src[first ? 0 : 1])[lanes.lane];
}

template <class T>
void bind_selection(Selected& out) {
    out.handler = &select_by_predicate<T>;
    out.one_lane = &select_one<T>;
}

// slct: a where c >= 0, else b; a NaN selects b, -0.0 is not less than 0.
template <class T>
struct SelectSigned {
    static T apply(T a, T b, int32_t c) { return c >= 0 ? a : b; }
};
// .ftz only turns subnormals into zeros, and -0.0 >= 0 holds.
template <bool ftz>
struct SelectFloat {
    template <class T>
    struct Op {
        static T apply(T a, T b, float c) {
            return c >= 0.0f || (ftz && c > -0x1p-126f && c < 0.0f) ? a : b;
        }
    };
};
template <class T>
using SelectPlain = SelectFloat<false>::Op<T>;
template <class T>
using SelectFlushed = SelectFloat<true>::Op<T>;

}  // namespace

bool select_move(const Form& form, Selected& out) {
    const Type type = form.type();
    const unsigned bytes = ptx::byte_size(type);
    switch (form.opcode) {
    case Opcode::k_mov:
        if (form.type_count != 1 || !form.only<>()) return false;
        if (type == Type::kPred) {
            out.handler = &move_predicate;
            out.sources = 1;
            out.dst = out.src[0] = Type::kPred;
            return true;
        }
        if (bytes == 16) return bind<Move<Quad>>(out);
        if (!bind_width<Move>(bytes, out)) return false;
        out.src[0] = type;  // the format of an immediate, for floats and negative numbers
        return true;
    case Opcode::k_selp:
        if (form.type_count != 1 || !form.only<>()) return false;
        switch (bytes) {
        case 2:
            bind_selection<uint16_t>(out);
            break;
        case 4:
            bind_selection<uint32_t>(out);
            break;
        case 8:
            bind_selection<uint64_t>(out);
            break;
        default:
            return false;
        }
        out.sources = 3;
        out.dst = out.src[0] = out.src[1] = type;
        out.src[2] = Type::kPred;
        return true;
    case Opcode::k_slct: {
        if (form.type_count != 2 || !form.only<Mod::k_ftz>()) return false;
        bool known = false;
        if (form.type(1) == Type::kS32)
            known = !form.has(Mod::k_ftz) && bind_width<SelectSigned>(bytes, out);
        else if (form.type(1) == Type::kF32)
            known = form.has(Mod::k_ftz) ? bind_width<SelectFlushed>(bytes, out)
                                         : bind_width<SelectPlain>(bytes, out);
        out.src[0] = out.src[1] = type;
        return known;
    }
    default:
        return false;
    }
}

}  // namespace machine::LEVEL_NS
