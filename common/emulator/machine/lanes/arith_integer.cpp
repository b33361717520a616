// SPDX-License-Identifier: MIT
// PTX ISA "Integer Arithmetic Instructions": add, sub, div, rem, abs, neg, min, max, sad, dp4a,
// dp2a. The products are in arith_multiply.cpp, the carry forms in arith_carry.cpp.
//
// Division by zero is unspecified in PTX. As in the code that ptxas generates, quotient and
// remainder then have all bits set. INT_MIN / -1 wraps to INT_MIN with remainder 0.
#include "machine/lanes/arith_core.h"

namespace machine::LEVEL_NS {
namespace {

template <class T>
struct Add {
    static T apply(T a, T b) { return T(Bits<T>(a) + Bits<T>(b)); }
};
template <class T>
struct Sub {
    static T apply(T a, T b) { return T(Bits<T>(a) - Bits<T>(b)); }
};
struct AddSat {
    static int32_t apply(int32_t a, int32_t b) {
        const uint32_t sum = uint32_t(a) + uint32_t(b);
        const bool overflow = int32_t((uint32_t(a) ^ sum) & (uint32_t(b) ^ sum)) < 0;
        return overflow ? (a < 0 ? INT32_MIN : INT32_MAX) : int32_t(sum);
    }
};
struct SubSat {
    static int32_t apply(int32_t a, int32_t b) {
        const uint32_t difference = uint32_t(a) - uint32_t(b);
        const bool overflow = int32_t((uint32_t(a) ^ uint32_t(b)) & (uint32_t(a) ^ difference)) < 0;
        return overflow ? (a < 0 ? INT32_MIN : INT32_MAX) : int32_t(difference);
    }
};

template <class T>
struct Neg {
    static T apply(T a) { return T(Bits<T>(0) - Bits<T>(a)); }
};
template <class T>
struct Abs {
    static T apply(T a) { return a < 0 ? T(Bits<T>(0) - Bits<T>(a)) : a; }
};
template <class T>
struct Min {
    static T apply(T a, T b) { return a < b ? a : b; }
};
template <class T>
struct Max {
    static T apply(T a, T b) { return a > b ? a : b; }
};
template <class Op>
struct Relu {
    static int32_t apply(int32_t a, int32_t b) {
        const int32_t result = Op::apply(a, b);
        return result < 0 ? 0 : result;
    }
};
template <class T>
struct Sad {
    static T apply(T a, T b, T c) {
        const Bits<T> distance =
            a < b ? Bits<T>(Bits<T>(b) - Bits<T>(a)) : Bits<T>(Bits<T>(a) - Bits<T>(b));
        return T(Bits<T>(c) + distance);
    }
};

// Two 16-bit elements in a word (.u16x2, .s16x2).
template <class T, template <class> class Op, bool relu>
struct Pair16 {
    static T element(T a, T b) {
        const T result = Op<T>::apply(a, b);
        return relu && result < 0 ? T(0) : result;
    }
    static uint32_t apply(uint32_t a, uint32_t b) {
        const uint32_t low = Bits<T>(element(T(a), T(b)));
        const uint32_t high = Bits<T>(element(T(a >> 16), T(b >> 16)));
        return low | high << 16;
    }
};

// x86 divides integers one at a time and traps on zero. A correctly rounded floating-point quotient
// of n-bit integers, truncated to an integer, is exact if the format has more than 2n bits, less
// the n bits of the quotient's own size: the true quotient is an integer or differs from one by at
// least 2^-n.
[[gnu::always_inline]] inline uint32_t quotient(uint32_t a, uint32_t b) {
    constexpr uint64_t kTwo52 = 0x4330000000000000;  // 2^52: the unit of its low bits is 1
    const double x = bits_as<double>(kTwo52 | a) - 0x1p52;
    const double y = bits_as<double>(kTwo52 | b) - 0x1p52;
    const double q = __builtin_floor(x / y);
    return b ? uint32_t(bits_as<uint64_t>(q + 0x1p52)) : ~uint32_t(0);
}
[[gnu::always_inline]] inline uint16_t quotient(uint16_t a, uint16_t b) {
    const int32_t y = b ? b : 1;
    const int32_t q = int32_t(float(int32_t(a)) / float(y));
    return b ? uint16_t(q) : uint16_t(0xffff);
}
[[gnu::always_inline]] inline uint64_t quotient(uint64_t a, uint64_t b) {
    return b ? a / b : ~uint64_t(0);
}

template <class T>
struct Div {
    static constexpr bool kPerLane = sizeof(T) == 8;
    static T apply(T a, T b) {
        using U = Bits<T>;
        if constexpr (std::is_unsigned_v<T>) return quotient(a, b);
        const U x = a < 0 ? U(U(0) - U(a)) : U(a), y = b < 0 ? U(U(0) - U(b)) : U(b);
        const U q = quotient(x, y);
        return b != 0 && (a < 0) != (b < 0) ? T(U(U(0) - q)) : T(q);
    }
};
template <class T>
struct Rem {
    static constexpr bool kPerLane = sizeof(T) == 8;
    static T apply(T a, T b) {
        using U = Bits<T>;
        using Wide = std::conditional_t<sizeof(T) == 2, uint32_t, U>;  // no signed promotion
        const U q = U(Div<T>::apply(a, b));
        return b != 0 ? T(U(Wide(U(a)) - Wide(q) * Wide(U(b)))) : T(~U(0));
    }
};

// 64-bit divisions mostly divide sizes and indexes, which fit 32 bits: those vectorise.
template <class T, bool remainder>
void divide64(Lanes& lanes, const Instr& in) {
    using Op = std::conditional_t<remainder, Rem<T>, Div<T>>;
    uint64_t* const d = lanes.row<uint64_t>(in.dst);
    const uint64_t* const a = lanes.row<uint64_t>(in.src[0]);
    const uint64_t* const b = lanes.row<uint64_t>(in.src[1]);
    uint64_t any = 0;
    if (lanes.mask == kAllLanes)
        for (uint32_t i = 0; i < kWarpSize; ++i) any |= a[i] | b[i];
    if (lanes.mask != kAllLanes || any >> 32) return run<Op>(lanes, in);
    map_row(
        d, kAllLanes, [&](uint32_t i) __attribute__((always_inline)) {
            const uint64_t x = a[i], y = b[i], q = quotient(uint32_t(x), uint32_t(y));
            return y ? (remainder ? x - q * y : q) : ~uint64_t(0);
        });
}
template <bool remainder>
bool bind_division(Type type, Selected& out) {
    const bool known = remainder ? bind_integer<Rem>(type, out) : bind_integer<Div>(type, out);
    if (known && ptx::byte_size(type) == 8)
        out.handler =
            ptx::is_signed(type) ? &divide64<int64_t, remainder> : &divide64<uint64_t, remainder>;
    return known;
}

// dp4a: four 8-bit products; dp2a: two of 16 by 8 bits, with the lower or the upper half of b.
template <class A, class B>
struct Dp4a {
    static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
        for (unsigned k = 0; k < 32; k += 8)
            c += uint32_t(int32_t(A(uint8_t(a >> k))) * int32_t(B(uint8_t(b >> k))));
        return c;
    }
};
template <class A, class B>
struct Dp2a {
    static uint32_t apply(Extra high, uint32_t a, uint32_t b, uint32_t c) {
        const uint32_t bytes = uint16_t(high) ? b >> 16 : b;
        const int32_t a0 = std::make_signed_t<A>(0) < A(-1) ? int32_t(uint16_t(a)) : int16_t(a);
        const int32_t a1 =
            std::make_signed_t<A>(0) < A(-1) ? int32_t(uint16_t(a >> 16)) : int16_t(a >> 16);
        return c + uint32_t(a0 * int32_t(B(uint8_t(bytes)))) +
               uint32_t(a1 * int32_t(B(uint8_t(bytes >> 8))));
    }
};

template <template <class, class> class Op>
bool bind_dot(const Form& form, Selected& out, unsigned extra) {
    const bool a = form.type(0) == Type::kS32, b = form.type(1) == Type::kS32;
    if (form.type_count != 2 || (!a && form.type(0) != Type::kU32) ||
        (!b && form.type(1) != Type::kU32))
        return false;
    if (a) return b ? bind<Op<int8_t, int8_t>>(out, extra) : bind<Op<int8_t, uint8_t>>(out, extra);
    return b ? bind<Op<uint8_t, int8_t>>(out, extra) : bind<Op<uint8_t, uint8_t>>(out, extra);
}

template <template <class> class Op>
bool bind_pair16(const Form& form, Selected& out) {
    if (form.type_count != 0) return false;
    if (form.has(Mod::k_u16x2))
        return !form.has(Mod::k_relu) && bind<Pair16<uint16_t, Op, false>>(out);
    return form.has(Mod::k_relu) ? bind<Pair16<int16_t, Op, true>>(out)
                                 : bind<Pair16<int16_t, Op, false>>(out);
}

template <template <class> class Op>
bool bind_signed(Type type, Selected& out) {
    return ptx::is_signed(type) && bind_integer<Op>(type, out);
}

}  // namespace

bool select_integer(const Form& form, Selected& out) {
    const Type type = form.type();
    const unsigned bytes = ptx::byte_size(type);
    if (form.opcode == Opcode::k_dp4a) return form.only<>() && bind_dot<Dp4a>(form, out, 0);
    if (form.opcode == Opcode::k_dp2a)
        return form.only<Mod::k_lo, Mod::k_hi>() && bind_dot<Dp2a>(form, out, form.has(Mod::k_hi));
    if (form.has(Mod::k_u16x2) || form.has(Mod::k_s16x2)) {
        if (!form.only<Mod::k_u16x2, Mod::k_s16x2, Mod::k_relu>()) return false;
        switch (form.opcode) {
        case Opcode::k_add:
            return !form.has(Mod::k_relu) && bind_pair16<Add>(form, out);
        case Opcode::k_min:
            return bind_pair16<Min>(form, out);
        case Opcode::k_max:
            return bind_pair16<Max>(form, out);
        default:
            return false;
        }
    }
    if (form.type_count != 1 || !is_integer(type) || bytes < 2) return false;
    if (form.only<Mod::k_sat>() && form.has(Mod::k_sat) && type == Type::kS32) {
        if (form.opcode == Opcode::k_add) return bind<AddSat>(out);
        if (form.opcode == Opcode::k_sub) return bind<SubSat>(out);
    }
    if (form.only<Mod::k_relu>() && form.has(Mod::k_relu) && type == Type::kS32) {
        if (form.opcode == Opcode::k_min) return bind<Relu<Min<int32_t>>>(out);
        if (form.opcode == Opcode::k_max) return bind<Relu<Max<int32_t>>>(out);
    }
    if (!form.only<>()) return false;
    switch (form.opcode) {
    case Opcode::k_add:
        return bind_width<Add>(bytes, out);
    case Opcode::k_sub:
        return bind_width<Sub>(bytes, out);
    case Opcode::k_neg:
        return bind_width<Neg>(bytes, out);
    case Opcode::k_abs:
        return bind_signed<Abs>(type, out);
    case Opcode::k_min:
        return bind_integer<Min>(type, out);
    case Opcode::k_max:
        return bind_integer<Max>(type, out);
    case Opcode::k_sad:
        return bind_integer<Sad>(type, out);
    case Opcode::k_div:
        return bind_division<false>(type, out);
    case Opcode::k_rem:
        return bind_division<true>(type, out);
    default:
        return false;
    }
}

}  // namespace machine::LEVEL_NS
