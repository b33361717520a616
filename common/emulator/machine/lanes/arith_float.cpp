// SPDX-License-Identifier: MIT
// PTX ISA "Floating Point Instructions" for f32 and f64, rounded to nearest even: add, sub, mul,
// fma, mad, div.rn, div.full, rcp.rn, sqrt.rn, neg, abs, min, max, copysign, testp.
#include "machine/lanes/arith_float.h"

namespace machine::LEVEL_NS {
namespace {

template <class T>
constexpr Bits<T> kSignBit = Bits<T>(1) << (8 * sizeof(T) - 1);

// PTX leaves neg and abs of a NaN open: as on an H200 the result is the canonical NaN for f32, and
// the operand, quieted, with its sign for f64.
template <class T, class S>
struct NegFloat {
    static T apply(T a) {
        const T result = bits_as<T>(Bits<T>(bits_as<Bits<T>>(S::in(a)) ^ kSignBit<T>));
        return canonical(prefer_nan(result, a));
    }
};
template <class T, class S>
struct AbsFloat {
    static T apply(T a) {
        const T result = bits_as<T>(Bits<T>(bits_as<Bits<T>>(S::in(a)) & ~kSignBit<T>));
        return canonical(prefer_nan(result, a));
    }
};
template <class T>
struct Copysign {
    static T apply(T a, T b) {
        const Bits<T> sign = bits_as<Bits<T>>(a) & kSignBit<T>;
        return bits_as<T>(Bits<T>(sign | (bits_as<Bits<T>>(b) & ~kSignBit<T>)));
    }
};

// min and max: -0 < +0. `nan`: NaN if either operand is one, otherwise the other operand.
template <class T, bool max, bool nan>
[[gnu::always_inline]] inline T extreme(T a, T b) {
    // Equal operands are the same number or zeros of either sign: min returns the negative one, max
    // the positive one.
    const Bits<T> x = bits_as<Bits<T>>(a), y = bits_as<Bits<T>>(b);
    const T equal = bits_as<T>(max ? Bits<T>(x & y) : Bits<T>(x | y));
    T result = max ? (a > b ? a : b) : (a < b ? a : b);
    result = a == b ? equal : result;
    if constexpr (nan) {
        result = b == b ? result : b;
        return a == a ? result : a;
    } else {
        result = b == b ? result : a;
        return a == a ? result : b;
    }
}
template <class T, class S>
struct MinFloat {
    static T apply(T a, T b) {
        const T result = extreme<T, false, false>(S::in(a), S::in(b));
        return canonical(prefer_nan(result, result));
    }
};
template <class T, class S>
struct MaxFloat {
    static T apply(T a, T b) {
        const T result = extreme<T, true, false>(S::in(a), S::in(b));
        return canonical(prefer_nan(result, result));
    }
};
template <class T, class S>
struct MinNan {
    static T apply(T a, T b) { return canonical(extreme<T, false, true>(S::in(a), S::in(b))); }
};
template <class T, class S>
struct MaxNan {
    static T apply(T a, T b) { return canonical(extreme<T, true, true>(S::in(a), S::in(b))); }
};
// .xorsign.abs: of the magnitudes, with the product's sign.
template <template <class, class> class Op>
struct XorSign {
    template <class T, class S>
    struct Abs {
        static T apply(T a, T b) {
            const Bits<T> x = bits_as<Bits<T>>(S::in(a)), y = bits_as<Bits<T>>(S::in(b));
            const T r = Op<T, S>::apply(bits_as<T>(Bits<T>(x & ~kSignBit<T>)),
                                        bits_as<T>(Bits<T>(y & ~kSignBit<T>)));
            return r == r ? bits_as<T>(Bits<T>(bits_as<Bits<T>>(r) | ((x ^ y) & kSignBit<T>))) : r;
        }
    };
};
// Three operands (.f32 only).
template <template <class, class> class Op>
struct Three {
    template <class T, class S>
    struct Plain {
        static T apply(T a, T b, T c) { return Op<T, S>::apply(Op<T, S>::apply(a, b), c); }
    };
    template <class T, class S>
    struct OfAbs {
        static T apply(T a, T b, T c) {
            return Plain<T, S>::apply(
                AbsFloat<T, S>::apply(a), AbsFloat<T, S>::apply(b), AbsFloat<T, S>::apply(c));
        }
    };
};

enum Property { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };
template <class T, Property property>
struct Test {
    using Lane = LaneOf<T>;
    static bool apply(T a) {
        constexpr Bits<T> kInfinity =
            sizeof(T) == 4 ? Bits<T>(0x7f800000) : Bits<T>(uint64_t(0x7ff) << 52);
        constexpr Bits<T> kSmallest =
            sizeof(T) == 4 ? Bits<T>(0x00800000) : Bits<T>(uint64_t(1) << 52);
        const Bits<T> magnitude = bits_as<Bits<T>>(a) & ~kSignBit<T>;
        switch (property) {
        case kFinite:
            return magnitude < kInfinity;
        case kInfinite:
            return magnitude == kInfinity;
        case kNumber:
            return magnitude <= kInfinity;
        case kNotANumber:
            return magnitude > kInfinity;
        // Zeros count as normal.
        case kNormal:
            return magnitude < kInfinity && (magnitude >= kSmallest || magnitude == 0);
        case kSubnormal:
            return magnitude < kSmallest && magnitude != 0;
        }
    }
};
template <class T>
bool bind_test(const Form& form, Selected& out) {
    if (form.has(Mod::k_finite)) return bind<Test<T, kFinite>>(out);
    if (form.has(Mod::k_infinite)) return bind<Test<T, kInfinite>>(out);
    if (form.has(Mod::k_number)) return bind<Test<T, kNumber>>(out);
    if (form.has(Mod::k_notanumber)) return bind<Test<T, kNotANumber>>(out);
    if (form.has(Mod::k_normal)) return bind<Test<T, kNormal>>(out);
    return form.has(Mod::k_subnormal) && bind<Test<T, kSubnormal>>(out);
}

template <template <class, class> class Op, template <class, class> class NanOp, class Binder>
bool choose_extreme(const Form& form, Binder&& binder) {
    if (!form.only<Mod::k_ftz, Mod::k_NaN, Mod::k_xorsign, Mod::k_abs>()) return false;
    const bool nan = form.has(Mod::k_NaN), abs = form.has(Mod::k_abs);
    if (form.type() == Type::kF64 && !form.only<>()) return false;
    if (form.source_count == 3) {
        if (form.type() != Type::kF32 || form.has(Mod::k_xorsign)) return false;
        if (abs)
            return nan ? choose_plain<Three<NanOp>::template OfAbs>(form, binder)
                       : choose_plain<Three<Op>::template OfAbs>(form, binder);
        return nan ? choose_plain<Three<NanOp>::template Plain>(form, binder)
                   : choose_plain<Three<Op>::template Plain>(form, binder);
    }
    if (abs != form.has(Mod::k_xorsign)) return false;
    if (abs)
        return nan ? choose_plain<XorSign<NanOp>::template Abs>(form, binder)
                   : choose_plain<XorSign<Op>::template Abs>(form, binder);
    return nan ? choose_plain<NanOp>(form, binder) : choose_plain<Op>(form, binder);
}

}  // namespace

bool select_float(const Form& form, Selected& out) {
    const Type type = form.type();
    if (form.type_count != 1 || (type != Type::kF32 && type != Type::kF64)) return false;
    const auto binder = [&]<class Op>(Op*) __attribute__((always_inline)) {
        return bind<Op>(out);
    };
    switch (form.opcode) {
    case Opcode::k_min:
        return choose_extreme<MinFloat, MinNan>(form, binder);
    case Opcode::k_max:
        return choose_extreme<MaxFloat, MaxNan>(form, binder);
    case Opcode::k_copysign:
        return form.only<>() &&
               (type == Type::kF32 ? bind<Copysign<float>>(out) : bind<Copysign<double>>(out));
    case Opcode::k_testp:
        return form.only<Mod::k_finite,
                         Mod::k_infinite,
                         Mod::k_number,
                         Mod::k_notanumber,
                         Mod::k_normal,
                         Mod::k_subnormal>() &&
               (type == Type::kF32 ? bind_test<float>(form, out) : bind_test<double>(form, out));
    default:
        break;
    }
    if (!form.only<Mod::k_rn, Mod::k_ftz, Mod::k_sat, Mod::k_full>()) return false;
    if (form.has(Mod::k_full) && (form.opcode != Opcode::k_div || type != Type::kF32)) return false;
    switch (form.opcode) {
    case Opcode::k_add:
        return choose_style<AddFloat>(form, binder);
    case Opcode::k_sub:
        return choose_style<SubFloat>(form, binder);
    case Opcode::k_mul:
        return choose_style<MulFloat>(form, binder);
    case Opcode::k_fma:
    case Opcode::k_mad:
        return choose_style<FmaFloat>(form, binder);
    case Opcode::k_neg:
        return choose_plain<NegFloat>(form, binder);
    case Opcode::k_abs:
        return choose_plain<AbsFloat>(form, binder);
    // div.full may have an error of 2 ulp; the correctly rounded quotient satisfies that.
    case Opcode::k_div:
        return choose_plain<DivFloat>(form, binder);
    case Opcode::k_sqrt:
        return choose_plain<SqrtFloat>(form, binder);
    case Opcode::k_rcp:
        return choose_plain<RcpFloat>(form, binder);
    default:
        return false;
    }
}

}  // namespace machine::LEVEL_NS
