// SPDX-License-Identifier: MIT
// Rare arithmetic and conversions: packed f32, f32 with a half operand, three-operand min and max,
// lop3 with a predicate, cvt.pack, formats of 8 bits and less. Each names its section of the PTX
// ISA.
#include <cfenv>
#include <cmath>

#include "machine/lanes/lane_op.h"
#include "machine/lanes/numeric.h"
#include "machine/lanes/small_float.h"
#include "machine/program/mbarrier.h"

namespace machine {

using ptx::Mod;
using ptx::Opcode;
using ptx::Type;

namespace {

enum Flags : uint32_t {
    kNone = 0,
    kFtz = 1,
    kSat = 2,
    kRelu = 4,
    kNan = 8,
    kAbs = 16,
    kMaximum = 32,
    kBf16Source = 64,
    kSubtract = 128,
    kMultiply = 256,
    kFused = 512,
    kOr = 1024,
    kHalfPair = 2048,
    kSigned = 4096,
    kFormatShift = 16,
};

float flushed(float x) {
    return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}
float finished(float x, uint32_t flags) {
    if (x != x) return flags & kSat ? 0.0f : bits_as<float>(kCanonicalNan32);
    if (flags & kFtz) x = flushed(x);
    if (flags & kSat) x = x > 0 ? std::fmin(x, 1.0f) : 0.0f;
    return x;
}

// One operation under a rounding mode of the processor. volatile keeps the compiler from moving it.
[[gnu::noinline]] float rounded(const LaneOp& op, float a, float b, float c) {
    const bool switched = op.rounding != FE_TONEAREST;
    if (switched) std::fesetround(op.rounding);
    volatile float x = a, y = b, z = c;
    volatile float result;
    if (op.flags & kFused)
        result = std::fma(float(x), float(y), float(z));
    else if (op.flags & kMultiply)
        result = x * y;
    else if (op.flags & kSubtract)
        result = x - y;
    else
        result = x + y;
    if (switched) std::fesetround(FE_TONEAREST);
    return result;
}

// add, sub, mul and fma of two f32 in 64 bits ("Floating Point Instructions: add.f32x2").
uint64_t packed_f32(const LaneOp& op, const uint64_t* s, bool&) {
    uint64_t out = 0;
    for (unsigned k = 0; k < 2; ++k) {
        float v[3];
        for (unsigned i = 0; i < 3; ++i) {
            v[i] = bits_as<float>(uint32_t(s[i] >> 32 * k));
            if (op.flags & kFtz) v[i] = flushed(v[i]);
        }
        const float r = finished(rounded(op, v[0], v[1], v[2]), op.flags);
        out |= uint64_t(bits_as<uint32_t>(r)) << 32 * k;
    }
    return out;
}

float widened(const LaneOp& op, uint64_t bits) {
    return op.flags & kBf16Source ? bf16_to_float(uint32_t(bits)) : half_to_float(uint32_t(bits));
}

// d.f32 = a.f16 + c.f32 and a.f16 * b.f16 + c.f32 ("Mixed Precision Floating-Point Instructions").
uint64_t mixed_sum(const LaneOp& op, const uint64_t* s, bool&) {
    const float r = rounded(op, widened(op, s[0]), bits_as<float>(uint32_t(s[1])), 0);
    return bits_as<uint32_t>(finished(r, op.flags));
}
uint64_t mixed_fma(const LaneOp& op, const uint64_t* s, bool&) {
    const float r =
        rounded(op, widened(op, s[0]), widened(op, s[1]), bits_as<float>(uint32_t(s[2])));
    return bits_as<uint32_t>(finished(r, op.flags));
}

// min and max of three f32.
uint64_t extreme_of_three(const LaneOp& op, const uint64_t* s, bool&) {
    const auto less = [](float a, float b) {
        return a < b || (a == b && std::signbit(a) && !std::signbit(b));
    };
    bool any_nan = false, found = false;
    float best = 0;
    for (unsigned k = 0; k < 3; ++k) {
        float x = bits_as<float>(uint32_t(s[k]));
        if (op.flags & kAbs) x = std::fabs(x);
        if (op.flags & kFtz) x = flushed(x);
        if (x != x) {
            any_nan = true;
        } else if (!found || (op.flags & kMaximum ? less(best, x) : less(x, best))) {
            best = x;
            found = true;
        }
    }
    if (!found || (any_nan && (op.flags & kNan))) return kCanonicalNan32;
    return bits_as<uint32_t>(best);
}

// lop3 with a boolean of the result ("Logic and Shift Instructions: lop3").
uint64_t lop3_with_predicate(const LaneOp& op, const uint64_t* s, bool& second) {
    const uint32_t table = uint32_t(s[3]);
    uint32_t out = 0;
    for (unsigned k = 0; k < 8; ++k) {
        if (!(table >> k & 1)) continue;
        const uint32_t a = uint32_t(k & 4 ? s[0] : ~s[0]), b = uint32_t(k & 2 ? s[1] : ~s[1]),
                       c = uint32_t(k & 1 ? s[2] : ~s[2]);
        out |= a & b & c;
    }
    second = op.flags & kOr ? out != 0 || s[4] : out != 0 && s[4];
    return out;
}

// "cvt.pack": a above b, both clamped, and the rest of the word from c.
uint64_t pack(const LaneOp& op, const uint64_t* s, bool&) {
    const unsigned bits = op.flags >> kFormatShift;
    const bool is_signed = op.flags & kSigned;
    const auto one = [&](uint64_t source) {
        const int64_t high = (int64_t(1) << (is_signed ? bits - 1 : bits)) - 1;
        const int64_t low = is_signed ? -high - 1 : 0, x = int32_t(uint32_t(source));
        return uint64_t(x < low ? low : x > high ? high : x) & ((uint64_t(1) << bits) - 1);
    };
    const uint64_t both = one(s[0]) << bits | one(s[1]);
    return op.count == 3 ? both | s[2] << 2 * bits : both;
}

const SmallFormat& format_of(const LaneOp& op) {
    static constexpr SmallFormat kFormats[] = {kE4m3, kE5m2, kE2m3, kE3m2};
    return kFormats[op.flags >> kFormatShift];
}
uint8_t small(const LaneOp& op, double x) {
    if ((op.flags & kRelu) && x <= 0) x = 0;
    return small_from_double(format_of(op), x);
}
// cvt to two numbers of 8 bits or less: from two f32 (the first becomes the upper one) or from
// f16x2.
uint64_t to_small(const LaneOp& op, const uint64_t* s, bool&) {
    double high, low;
    if (op.flags & kHalfPair) {
        high = double(half_to_float(uint32_t(s[0]) >> 16));
        low = double(half_to_float(uint32_t(s[0]) & 0xffff));
    } else {
        high = double(bits_as<float>(uint32_t(s[0])));
        low = double(bits_as<float>(uint32_t(s[1])));
    }
    return uint64_t(small(op, high)) << 8 | small(op, low);
}
// ... and back to f16x2, which holds all of them exactly.
uint64_t from_small(const LaneOp& op, const uint64_t* s, bool&) {
    uint32_t out = 0;
    for (unsigned k = 0; k < 2; ++k) {
        double x = small_to_double(format_of(op), uint8_t(s[0] >> 8 * k));
        if ((op.flags & kRelu) && x <= 0) x = 0;
        out |= uint32_t(double_to_half(x, Rounding::kNearestEven)) << 16 * k;
    }
    return out;
}

uint64_t pending_arrivals(const LaneOp&, const uint64_t* s, bool&) {
    return Mbarrier::of(s[0]).pending;
}

int rounding_of(const ptx::Instruction& in) {
    return in.has(Mod::k_rz)   ? FE_TOWARDZERO
           : in.has(Mod::k_rm) ? FE_DOWNWARD
           : in.has(Mod::k_rp) ? FE_UPWARD
                               : FE_TONEAREST;
}

bool small_format(const ptx::Instruction& in, uint32_t& flags) {
    static constexpr Mod kNames[] = {Mod::k_e4m3x2, Mod::k_e5m2x2, Mod::k_e2m3x2, Mod::k_e3m2x2};
    for (uint32_t k = 0; k < 4; ++k) {
        if (!in.has(kNames[k])) continue;
        flags |= k << kFormatShift;
        return true;
    }
    return false;
}

bool select_cvt(const ptx::Instruction& in, LaneOp& op) {
    if (in.text.starts_with("cvt.pack.")) {
        if (!in.has(Mod::k_sat)) return false;
        uint32_t bits = 0;
        const Type to = in.type(0);
        const bool byte_form = in.types.size() == (to == Type::kS32 ? 2u : 3u);
        if (to == Type::kU16 || to == Type::kS16) {
            if (in.types.size() != 2 || in.type(1) != Type::kS32) return false;
            bits = 16;
            op.count = 2;
        } else if (byte_form) {
            bits = to == Type::kU8 || to == Type::kS8       ? 8
                   : in.has(Mod::k_u4) || in.has(Mod::k_s4) ? 4
                   : in.has(Mod::k_u2) || in.has(Mod::k_s2) ? 2
                                                            : 0;
            op.count = 3;
        }
        if (!bits) return false;
        const bool is_signed =
            to == Type::kS16 || to == Type::kS8 || in.has(Mod::k_s4) || in.has(Mod::k_s2);
        op.flags = bits << kFormatShift | (is_signed ? kSigned : kNone);
        op.result = Type::kB32;
        for (Type& type : op.source) type = Type::kS32;
        op.apply = pack;
        return true;
    }
    if (!small_format(in, op.flags) || in.types.size() != 1 || !in.has(Mod::k_rn)) return false;
    if (!only(in,
              {Mod::k_rn,
               Mod::k_relu,
               Mod::k_satfinite,
               Mod::k_e4m3x2,
               Mod::k_e5m2x2,
               Mod::k_e2m3x2,
               Mod::k_e3m2x2}))
        return false;
    if (in.has(Mod::k_relu)) op.flags |= kRelu;
    // The order of the two types determines the direction.
    const bool narrows = in.text.find(".e") < in.text.find(".f");
    if (narrows != in.has(Mod::k_satfinite)) return false;
    if (narrows) {
        op.apply = to_small;
        op.result = Type::kB16;
        op.count = in.type() == Type::kF32 ? 2 : 1;
        op.source[0] = op.source[1] = in.type() == Type::kF32 ? Type::kF32 : Type::kB32;
        if (in.type() == Type::kF16x2) op.flags |= kHalfPair;
        return in.type() == Type::kF32 || in.type() == Type::kF16x2;
    }
    op.apply = from_small;
    op.result = Type::kB32;
    op.count = 1;
    op.source[0] = Type::kB16;
    return in.type() == Type::kF16x2;
}

bool select_packed(const ptx::Instruction& in, LaneOp& op) {
    if (!only(in, {Mod::k_rn, Mod::k_rz, Mod::k_rm, Mod::k_rp, Mod::k_ftz})) return false;
    op.count = in.opcode == Opcode::k_fma ? 3 : 2;
    op.result = op.source[0] = op.source[1] = op.source[2] = Type::kB64;
    op.apply = packed_f32;
    op.flags |= in.has(Mod::k_ftz) ? kFtz : kNone;
    return true;
}

bool select_mixed(const ptx::Instruction& in, LaneOp& op) {
    if (in.types.size() != 2 || in.type(0) != Type::kF32 ||
        (in.type(1) != Type::kF16 && in.type(1) != Type::kBf16) ||
        !only(in, {Mod::k_rn, Mod::k_rz, Mod::k_rm, Mod::k_rp, Mod::k_sat}))
        return false;
    op.flags |=
        (in.type(1) == Type::kBf16 ? kBf16Source : kNone) | (in.has(Mod::k_sat) ? kSat : kNone);
    op.result = Type::kF32;
    op.source[0] = Type::kB16;
    if (in.opcode == Opcode::k_fma) {
        op.source[1] = Type::kB16;
        op.source[2] = Type::kF32;
        op.count = 3;
        op.apply = mixed_fma;
    } else {
        op.source[1] = Type::kF32;
        op.count = 2;
        op.apply = mixed_sum;
    }
    return in.opcode != Opcode::k_mul;
}

}  // namespace

bool select_number_operation(const ptx::Instruction& in, LaneOp& op) {
    op.rounding = rounding_of(in);
    switch (in.opcode) {
    case Opcode::k_add:
    case Opcode::k_sub:
    case Opcode::k_mul:
    case Opcode::k_fma:
        op.flags = in.opcode == Opcode::k_sub   ? kSubtract
                   : in.opcode == Opcode::k_mul ? kMultiply
                   : in.opcode == Opcode::k_fma ? kFused
                                                : kNone;
        if (in.types.size() == 1 && in.type() == Type::kF32x2) return select_packed(in, op);
        return select_mixed(in, op);
    case Opcode::k_min:
    case Opcode::k_max:
        if (in.types.size() != 1 || in.type() != Type::kF32 || in.operands.size() != 4 ||
            !only(in, {Mod::k_ftz, Mod::k_NaN, Mod::k_abs}))
            return false;
        op.flags = (in.has(Mod::k_ftz) ? kFtz : kNone) | (in.has(Mod::k_NaN) ? kNan : kNone) |
                   (in.has(Mod::k_abs) ? kAbs : kNone) |
                   (in.opcode == Opcode::k_max ? kMaximum : kNone);
        op.count = 3;
        op.result = op.source[0] = op.source[1] = op.source[2] = Type::kF32;
        op.apply = extreme_of_three;
        return true;
    case Opcode::k_lop3:
        if (in.has(Mod::k_and) == in.has(Mod::k_or) || in.type() != Type::kB32 ||
            in.operands.size() != 6 || in.operands[0].kind != ptx::Operand::Kind::kPair)
            return false;
        op.flags = in.has(Mod::k_or) ? kOr : kNone;
        op.count = 5;
        op.result = Type::kB32;
        for (Type& type : op.source) type = Type::kB32;
        op.source[4] = Type::kPred;
        op.apply = lop3_with_predicate;
        return true;
    case Opcode::k_cvt:
        return select_cvt(in, op);
    case Opcode::k_mbarrier:  // .pending_count
        op.count = 1;
        op.source[0] = Type::kB64;
        op.result = Type::kB32;
        op.apply = pending_arrivals;
        return in.type() == Type::kB64;
    default:
        return false;
    }
}

}  // namespace machine
