// SPDX-License-Identifier: MIT
// PTX ISA "Integer Arithmetic Instructions": mul, mad, mul24, mad24.
#include "machine/lanes/arith_core.h"

namespace machine::LEVEL_NS {
namespace {

__extension__ typedef __int128 Signed128;
__extension__ typedef unsigned __int128 Unsigned128;

template <class T>
struct WiderType;
template <>
struct WiderType<uint16_t> {
    using type = uint32_t;
};
template <>
struct WiderType<int16_t> {
    using type = int32_t;
};
template <>
struct WiderType<uint32_t> {
    using type = uint64_t;
};
template <>
struct WiderType<int32_t> {
    using type = int64_t;
};
template <>
struct WiderType<uint64_t> {
    using type = Unsigned128;
};
template <>
struct WiderType<int64_t> {
    using type = Signed128;
};
template <class T>
using Wider = typename WiderType<T>::type;

template <class T>
struct Low {
    static T product(T a, T b) {
        using W = std::conditional_t<sizeof(T) == 2, uint32_t, Bits<T>>;
        return T(W(Bits<T>(a)) * W(Bits<T>(b)));
    }
};
template <class T>
struct High {
    static T product(T a, T b) {
        // The largest unsigned product of two 16-bit numbers still fits Wider's 32 bits.
        return T((Wider<T>(a) * Wider<T>(b)) >> (8 * sizeof(T)));
    }
};

template <class T>
struct MulLow {
    static T apply(T a, T b) { return Low<T>::product(a, b); }
};
template <class T>
struct MulHigh {
    static T apply(T a, T b) { return High<T>::product(a, b); }
};
template <class T>
struct MadLow {
    static T apply(T a, T b, T c) { return T(Bits<T>(Low<T>::product(a, b)) + Bits<T>(c)); }
};
template <class T>
struct MadHigh {
    static T apply(T a, T b, T c) { return T(Bits<T>(High<T>::product(a, b)) + Bits<T>(c)); }
};
struct MadHighSat {
    static int32_t apply(int32_t a, int32_t b, int32_t c) {
        const int64_t sum = int64_t(High<int32_t>::product(a, b)) + c;
        return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : int32_t(sum);
    }
};
template <class T>
struct MulWide {
    static Wider<T> apply(T a, T b) { return Wider<T>(a) * Wider<T>(b); }
};
template <class T>
struct MadWide {
    static Wider<T> apply(T a, T b, Wider<T> c) {
        using U = Bits<Wider<T>>;
        return Wider<T>(U(Wider<T>(a) * Wider<T>(b)) + U(c));
    }
};

// The 48-bit product of the low 24 bits: its lower or its upper 32 bits.
template <class T>
[[gnu::always_inline]] inline int64_t product24(T a, T b) {
    if constexpr (std::is_signed_v<T>)
        return int64_t(int32_t(uint32_t(a) << 8) >> 8) * int64_t(int32_t(uint32_t(b) << 8) >> 8);
    else
        return int64_t(uint64_t(a & 0xffffff) * uint64_t(b & 0xffffff));
}
template <class T>
struct Mul24Low {
    static T apply(T a, T b) { return T(uint64_t(product24(a, b))); }
};
template <class T>
struct Mul24High {
    static T apply(T a, T b) { return T(uint64_t(product24(a, b)) >> 16); }
};
template <class T>
struct Mad24Low {
    static T apply(T a, T b, T c) { return T(uint32_t(Mul24Low<T>::apply(a, b)) + uint32_t(c)); }
};
template <class T>
struct Mad24High {
    static T apply(T a, T b, T c) { return T(uint32_t(Mul24High<T>::apply(a, b)) + uint32_t(c)); }
};
struct Mad24HighSat {
    static int32_t apply(int32_t a, int32_t b, int32_t c) {
        const int64_t sum = int64_t(Mul24High<int32_t>::apply(a, b)) + c;
        return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : int32_t(sum);
    }
};

template <template <class> class Op>
bool bind_narrow(Type type, Selected& out) {
    switch (type) {
    case Type::kU16:
        return bind<Op<uint16_t>>(out);
    case Type::kS16:
        return bind<Op<int16_t>>(out);
    case Type::kU32:
        return bind<Op<uint32_t>>(out);
    case Type::kS32:
        return bind<Op<int32_t>>(out);
    default:
        return false;
    }
}
template <template <class> class Op>
bool bind_24(Type type, Selected& out) {
    return ptx::byte_size(type) == 4 && bind_narrow<Op>(type, out);
}

}  // namespace

bool select_multiply(const Form& form, Selected& out) {
    const Type type = form.type();
    if (form.type_count != 1 || !is_integer(type) || ptx::byte_size(type) < 2) return false;
    if (!form.only<Mod::k_lo, Mod::k_hi, Mod::k_wide, Mod::k_sat>()) return false;
    const bool high = form.has(Mod::k_hi), wide = form.has(Mod::k_wide);
    if (form.has(Mod::k_sat)) {
        if (!high || type != Type::kS32) return false;
        if (form.opcode == Opcode::k_mad) return bind<MadHighSat>(out);
        if (form.opcode == Opcode::k_mad24) return bind<Mad24HighSat>(out);
        return false;
    }
    switch (form.opcode) {
    case Opcode::k_mul:
        if (wide) return bind_narrow<MulWide>(type, out);
        return high ? bind_integer<MulHigh>(type, out)
                    : bind_width<MulLow>(ptx::byte_size(type), out);
    case Opcode::k_mad:
        if (wide) return bind_narrow<MadWide>(type, out);
        return high ? bind_integer<MadHigh>(type, out)
                    : bind_width<MadLow>(ptx::byte_size(type), out);
    case Opcode::k_mul24:
        return high ? bind_24<Mul24High>(type, out) : bind_24<Mul24Low>(type, out);
    case Opcode::k_mad24:
        return high ? bind_24<Mad24High>(type, out) : bind_24<Mad24Low>(type, out);
    default:
        return false;
    }
}

}  // namespace machine::LEVEL_NS
