// SPDX-License-Identifier: MIT
// PTX ISA "Comparison and Selection Instructions": setp and set, for every type and comparison.
//
// A handler computes one base comparison of 32 lanes; Instr::extra specifies how the mask is used,
// so all other combinations need no code: negation (unordered "lt" is "not ge"), the boolean
// operation with a third predicate, the second destination q, and set's number per lane instead of
// a predicate.
#include "machine/lanes/arith_float.h"

namespace machine::LEVEL_NS {
namespace {

enum Extras : uint16_t {
    kNegate = 1,
    kAnd = 1 << 1,
    kOr = 2 << 1,
    kXor = 3 << 1,
    kBoolean = 3 << 1,
    kSecond = 1 << 3,  // p|q: q gets the opposite comparison
    kSetShift = 4,
    kSet = 7 << kSetShift,  // a SetValue + 1
    kFlush = 1 << 7,        // .ftz, if the handler checks for it at run time
};
enum SetValue { kOnes32, kOne32, kOnes16, kOneHalf, kOneBf16, kOneHalf2, kOneBf162 };
constexpr uint32_t kSetBits[] = {
    0xffffffff, 0x3f800000, 0xffff, 0x3c00, 0x3f80, 0x3c003c00, 0x3f803f80};

// Base comparisons. kNe and kNum are for floats: true only when neither operand is NaN.
enum Base { kEq, kLt, kLe, kGt, kGe, kNe, kNum };
template <Base base, class T>
[[gnu::always_inline]] inline bool compare(T a, T b) {
    switch (base) {
    case kEq:
        return a == b;
    case kLt:
        return a < b;
    case kLe:
        return a <= b;
    case kGt:
        return a > b;
    case kGe:
        return a >= b;
    case kNe:
        return a < b || a > b;
    case kNum:
        return a == a && b == b;
    }
}

[[gnu::always_inline]] inline uint32_t combined(uint32_t bits, uint32_t other, uint16_t extra) {
    switch (extra & kBoolean) {
    case kAnd:
        return bits & other;
    case kOr:
        return bits | other;
    case kXor:
        return bits ^ other;
    default:
        return bits;
    }
}
void store_mask(Lanes& lanes, uint32_t row, uint32_t bits) {
    if (row == kNoRow) return;
    uint32_t& d = lanes.predicate(row);
    d = (d & ~lanes.mask) | (bits & lanes.mask);
}

[[gnu::noinline]] void finish_general(Lanes& lanes, const Instr& in, uint32_t bits) {
    const uint16_t extra = in.extra;
    const uint32_t other = extra & kBoolean ? lanes.predicate(in.src[2]) : 0;
    const uint32_t first = combined(bits, other, extra);
    if (const unsigned set = (extra & kSet) >> kSetShift) {
        const uint32_t value = kSetBits[set - 1];
        const bool narrow = value <= 0xffff;
        for_lanes(
            lanes.mask, [&](uint32_t i) __attribute__((always_inline)) {
                const uint32_t number = first >> i & 1 ? value : 0;
                if (narrow)
                    lanes.row<uint16_t>(in.dst)[i] = uint16_t(number);
                else
                    lanes.row<uint32_t>(in.dst)[i] = number;
            });
        return;
    }
    const uint32_t second = combined(~bits, other, extra);
    store_mask(lanes, in.dst, first);
    if (extra & kSecond) store_mask(lanes, in.dst2, second);
}
[[gnu::always_inline]] inline void finish(Lanes& lanes, const Instr& in, uint32_t bits) {
    bits ^= 0u - uint32_t(in.extra & kNegate);
    if ((in.extra & ~(kNegate | kFlush)) == 0) [[likely]] {
        uint32_t& d = lanes.predicate(in.dst);
        d = (d & ~lanes.mask) | (bits & lanes.mask);
    } else {
        finish_general(lanes, in, bits);
    }
}

#if defined(__AVX512DQ__)
// Takes the mask of 32 comparisons directly from the compare instruction: the compiler would create
// vectors of truth values first.
template <Base base, class T>
[[gnu::always_inline]] inline uint32_t compare_words(const T* a, const T* b) {
    constexpr int kHow = base == kEq   ? _MM_CMPINT_EQ
                         : base == kLt ? _MM_CMPINT_LT
                         : base == kLe ? _MM_CMPINT_LE
                         : base == kGt ? _MM_CMPINT_NLE
                         : base == kGe ? _MM_CMPINT_NLT
                                       : _MM_CMPINT_NE;
    const auto* x = reinterpret_cast<const __m512i*>(a);
    const auto* y = reinterpret_cast<const __m512i*>(b);
    if constexpr (std::is_signed_v<T>)
        return uint32_t(_mm512_cmp_epi32_mask(x[0], y[0], kHow)) |
               uint32_t(_mm512_cmp_epi32_mask(x[1], y[1], kHow)) << 16;
    else
        return uint32_t(_mm512_cmp_epu32_mask(x[0], y[0], kHow)) |
               uint32_t(_mm512_cmp_epu32_mask(x[1], y[1], kHow)) << 16;
}
#endif

template <Base base, class T, bool ftz>
void compare_rows(Lanes& lanes, const Instr& in) {
    const T* const a = lanes.row<T>(in.src[0]);
    const T* const b = lanes.row<T>(in.src[1]);
#if defined(__AVX512DQ__)
    if constexpr (sizeof(T) == 4 && std::is_integral_v<T>)
        return finish(lanes, in, compare_words<base>(a, b));
#endif
    finish(lanes,
           in,
           lane_mask<LaneOf<T>>(
               lanes.mask, [&](uint32_t i) __attribute__((always_inline)) {
                   if constexpr (ftz)
                       return compare<base>(flushed(a[i]), flushed(b[i]));
                   else
                       return compare<base>(a[i], b[i]);
               }));
}

template <Base base, class T, bool ftz>
void compare_one(Lanes& lanes, const Instr& in) {
    const T a = lanes.row<T>(in.src[0])[lanes.lane], b = lanes.row<T>(in.src[1])[lanes.lane];
    bool yes;
    if constexpr (ftz)
        yes = compare<base>(flushed(a), flushed(b));
    else
        yes = compare<base>(a, b);
    finish(lanes, in, 0u - uint32_t(yes));
}

// 16-bit floats in words of type W; the element is in the lower or upper half.
template <class H>
[[gnu::always_inline]] inline float element(uint32_t bits, float smallest) {
    const float x = std::is_same_v<H, Half> ? half_to_float(bits) : bf16_to_float(bits);
    return __builtin_fabsf(x) < smallest ? 0.0f : x;
}
template <Base base, class H, class W>
[[gnu::always_inline]] inline uint32_t compare_elements(Lanes& lanes, const Instr& in,
                                                        unsigned shift) {
    const W* const a = lanes.row<W>(in.src[0]);
    const W* const b = lanes.row<W>(in.src[1]);
    const float smallest = !(in.extra & kFlush)      ? 0.0f
                           : std::is_same_v<H, Half> ? 0x1p-14f
                                                     : 0x1p-126f;
    return lane_mask<int32_t>(
        lanes.mask, [&](uint32_t i) __attribute__((always_inline)) {
            return compare<base>(element<H>(uint32_t(a[i]) >> shift, smallest),
                                 element<H>(uint32_t(b[i]) >> shift, smallest));
        });
}
template <Base base, class H, bool>
void compare_halves(Lanes& lanes, const Instr& in) {
    finish(lanes, in, compare_elements<base, H, uint16_t>(lanes, in, 0));
}
// f16x2: p is the comparison of the lower elements and q that of the upper ones; or a packed
// number.
template <Base base, class H, bool>
void compare_pairs(Lanes& lanes, const Instr& in) {
    const uint16_t extra = in.extra;
    const uint32_t other = extra & kBoolean ? lanes.predicate(in.src[2]) : 0;
    const uint32_t negate = 0u - uint32_t(extra & kNegate);
    const uint32_t low =
        combined(compare_elements<base, H, uint32_t>(lanes, in, 0) ^ negate, other, extra);
    const uint32_t high =
        combined(compare_elements<base, H, uint32_t>(lanes, in, 16) ^ negate, other, extra);
    if (const unsigned set = (extra & kSet) >> kSetShift) {
        const uint32_t value = kSetBits[set - 1];
        for_lanes(
            lanes.mask, [&](uint32_t i) __attribute__((always_inline)) {
                lanes.row<uint32_t>(in.dst)[i] =
                    (low >> i & 1 ? value & 0xffff : 0) | (high >> i & 1 ? value & 0xffff0000 : 0);
            });
        return;
    }
    store_mask(lanes, in.dst, low);
    if (extra & kSecond) store_mask(lanes, in.dst2, high);
}

// Integers need three comparisons; the others negate them.
bool integer_comparison(const Form& form, bool& is_unsigned, Base& base, bool& negate) {
    struct Entry {
        Mod mod;
        Base base;
        bool negate, is_unsigned;
    };
    constexpr Entry kEntries[] = {
        {Mod::k_eq, kEq, false, false},
        {Mod::k_ne, kEq, true, false},
        {Mod::k_lt, kLt, false, false},
        {Mod::k_ge, kLt, true, false},
        {Mod::k_le, kLe, false, false},
        {Mod::k_gt, kLe, true, false},
        {Mod::k_lo, kLt, false, true},
        {Mod::k_hs, kLt, true, true},
        {Mod::k_ls, kLe, false, true},
        {Mod::k_hi, kLe, true, true},
    };
    for (const Entry& entry : kEntries) {
        if (!form.has(entry.mod)) continue;
        base = entry.base;
        negate = entry.negate;
        is_unsigned = entry.is_unsigned;
        return true;
    }
    return false;
}
// Floats: "less or unordered" is "not greater or equal".
bool float_comparison(const Form& form, Base& base, bool& negate) {
    struct Entry {
        Mod mod;
        Base base;
        bool negate;
    };
    constexpr Entry kEntries[] = {
        {Mod::k_eq, kEq, false},
        {Mod::k_ne, kNe, false},
        {Mod::k_lt, kLt, false},
        {Mod::k_le, kLe, false},
        {Mod::k_gt, kGt, false},
        {Mod::k_ge, kGe, false},
        {Mod::k_equ, kNe, true},
        {Mod::k_neu, kEq, true},
        {Mod::k_ltu, kGe, true},
        {Mod::k_leu, kGt, true},
        {Mod::k_gtu, kLe, true},
        {Mod::k_geu, kLt, true},
        {Mod::k_num, kNum, false},
        {Mod::k_nan, kNum, true},
    };
    for (const Entry& entry : kEntries) {
        if (!form.has(entry.mod)) continue;
        base = entry.base;
        negate = entry.negate;
        return true;
    }
    return false;
}

template <Base base, class T>
bool bind_comparison(Selected& out) {
    out.handler = &compare_rows<base, T, false>;
    out.one_lane = &compare_one<base, T, false>;
    return true;
}
template <class T>
bool bind_comparison(Base base, Selected& out) {
    switch (base) {
    case kEq:
        return bind_comparison<kEq, Bits<T>>(out);
    case kLt:
        return bind_comparison<kLt, T>(out);
    default:
        return bind_comparison<kLe, T>(out);
    }
}
bool bind_comparison(Type type, bool is_unsigned, Base base, Selected& out) {
    const bool as_signed = ptx::is_signed(type) && !is_unsigned;
    switch (ptx::byte_size(type)) {
    case 2:
        return as_signed ? bind_comparison<int16_t>(base, out)
                         : bind_comparison<uint16_t>(base, out);
    case 4:
        return as_signed ? bind_comparison<int32_t>(base, out)
                         : bind_comparison<uint32_t>(base, out);
    case 8:
        return as_signed ? bind_comparison<int64_t>(base, out)
                         : bind_comparison<uint64_t>(base, out);
    default:
        return false;
    }
}
#define FLOAT_HANDLERS(function, T, ftz)                                                           \
    {                                                                                              \
        &function<kEq, T, ftz>, &function<kLt, T, ftz>, &function<kLe, T, ftz>,                    \
            &function<kGt, T, ftz>, &function<kGe, T, ftz>, &function<kNe, T, ftz>,                \
            &function<kNum, T, ftz>                                                                \
    }
constexpr Handler kFloat[7] = FLOAT_HANDLERS(compare_rows, float, false);
constexpr Handler kFloatFlushed[7] = FLOAT_HANDLERS(compare_rows, float, true);
constexpr Handler kDouble[7] = FLOAT_HANDLERS(compare_rows, double, false);
constexpr Handler kOneFloat[7] = FLOAT_HANDLERS(compare_one, float, false);
constexpr Handler kOneFloatFlushed[7] = FLOAT_HANDLERS(compare_one, float, true);
constexpr Handler kOneDouble[7] = FLOAT_HANDLERS(compare_one, double, false);
constexpr Handler kHalf[7] = FLOAT_HANDLERS(compare_halves, Half, false);
constexpr Handler kBf16[7] = FLOAT_HANDLERS(compare_halves, Bf16, false);
constexpr Handler kHalf2[7] = FLOAT_HANDLERS(compare_pairs, Half, false);
constexpr Handler kBf162[7] = FLOAT_HANDLERS(compare_pairs, Bf16, false);
#undef FLOAT_HANDLERS

bool bind_float_comparison(Type type, bool ftz, Base base, Selected& out) {
    switch (type) {
    case Type::kF32:
        out.handler = ftz ? kFloatFlushed[base] : kFloat[base];
        out.one_lane = ftz ? kOneFloatFlushed[base] : kOneFloat[base];
        return true;
    case Type::kF64:
        out.handler = kDouble[base];
        out.one_lane = kOneDouble[base];
        return !ftz;
    case Type::kF16:
        out.handler = kHalf[base];
        return true;
    case Type::kBf16:
        out.handler = kBf16[base];
        return true;
    case Type::kF16x2:
        out.handler = kHalf2[base];
        return true;
    case Type::kBf16x2:
        out.handler = kBf162[base];
        return true;
    default:
        return false;
    }
}

bool has_only_comparison(const Form& form) {
    return form.only<Mod::k_eq,
                     Mod::k_ne,
                     Mod::k_lt,
                     Mod::k_le,
                     Mod::k_gt,
                     Mod::k_ge,
                     Mod::k_lo,
                     Mod::k_ls,
                     Mod::k_hi,
                     Mod::k_hs,
                     Mod::k_equ,
                     Mod::k_neu,
                     Mod::k_ltu,
                     Mod::k_leu,
                     Mod::k_gtu,
                     Mod::k_geu,
                     Mod::k_num,
                     Mod::k_nan,
                     Mod::k_and,
                     Mod::k_or,
                     Mod::k_xor,
                     Mod::k_ftz>();
}

// set's destination type, as a SetValue + 1; 0: not a type that set can give.
unsigned set_value(Type type, bool packed) {
    switch (type) {
    case Type::kU32:
    case Type::kS32:
    case Type::kB32:
        return kOnes32 + 1;  // of packed halves: ones in each half that compares true
    case Type::kF32:
        return packed ? 0 : kOne32 + 1;
    case Type::kU16:
    case Type::kS16:
    case Type::kB16:
        return packed ? 0 : kOnes16 + 1;
    case Type::kF16:
        return packed ? 0 : kOneHalf + 1;
    case Type::kBf16:
        return packed ? 0 : kOneBf16 + 1;
    case Type::kF16x2:
        return packed ? kOneHalf2 + 1 : 0;
    case Type::kBf16x2:
        return packed ? kOneBf162 + 1 : 0;
    default:
        return 0;
    }
}

}  // namespace

bool select_compare(const Form& form, Selected& out) {
    const bool set = form.opcode == Opcode::k_set;
    if (!set && form.opcode != Opcode::k_setp) return false;
    if (form.type_count != (set ? 2 : 1)) return false;
    if (!has_only_comparison(form)) return false;
    const Type type = form.type(set ? 1 : 0);
    const bool ftz = form.has(Mod::k_ftz);
    Base base;
    bool negate = false, is_unsigned = false;
    unsigned extra = 0;
    if (ptx::is_float(type)) {
        if (!float_comparison(form, base, negate)) return false;
        if (!bind_float_comparison(type, ftz, base, out)) return false;
        if (ftz && type != Type::kF32) extra |= kFlush;
    } else {
        // set.ftz with an f32 destination and integer sources changes nothing.
        if (!integer_comparison(form, is_unsigned, base, negate)) return false;
        if (!bind_comparison(type, is_unsigned, base, out)) return false;
    }
    if (negate) extra |= kNegate;
    if (form.has(Mod::k_and))
        extra |= kAnd;
    else if (form.has(Mod::k_or))
        extra |= kOr;
    else if (form.has(Mod::k_xor))
        extra |= kXor;
    out.sources = extra & kBoolean ? 3 : 2;
    out.src[0] = out.src[1] = type == Type::kF16 || type == Type::kBf16       ? Type::kB16
                              : type == Type::kF16x2 || type == Type::kBf16x2 ? Type::kB32
                                                                              : type;
    out.src[2] = Type::kPred;
    if (set) {
        const bool packed = type == Type::kF16x2 || type == Type::kBf16x2;
        const unsigned value = set_value(form.type(0), packed);
        if (!value || form.pair) return false;
        extra |= value << kSetShift;
        out.dst = form.type(0);
    } else {
        if (form.pair) extra |= kSecond;
        out.dst = Type::kPred;
        out.has_dst2 = form.pair;
    }
    out.extra = uint16_t(extra);
    return true;
}

}  // namespace machine::LEVEL_NS
