// SPDX-License-Identifier: MIT
// PTX ISA "Logic and Shift Instructions": and, or, xor, not, cnot, lop3, shl, shr, shf.
#include "machine/lanes/arith_core.h"

namespace machine::LEVEL_NS {
namespace {

template <class T>
struct And {
    static T apply(T a, T b) { return T(a & b); }
};
template <class T>
struct Or {
    static T apply(T a, T b) { return T(a | b); }
};
template <class T>
struct Xor {
    static T apply(T a, T b) { return T(a ^ b); }
};
template <class T>
struct Not {
    static T apply(T a) { return T(~a); }
};
template <class T>
struct Cnot {
    static T apply(T a) { return a == 0 ? T(1) : T(0); }
};

// A predicate row is a mask, so one operation covers all lanes.
template <template <class> class Op>
void predicate_two(Lanes& lanes, const Instr& in) {
    const uint32_t result =
        Op<uint32_t>::apply(lanes.predicate(in.src[0]), lanes.predicate(in.src[1]));
    uint32_t& d = lanes.predicate(in.dst);
    d = (d & ~lanes.mask) | (result & lanes.mask);
}
void predicate_not(Lanes& lanes, const Instr& in) {
    const uint32_t result = ~lanes.predicate(in.src[0]);
    uint32_t& d = lanes.predicate(in.dst);
    d = (d & ~lanes.mask) | (result & lanes.mask);
}
template <template <class> class Op>
bool bind_logic(const Form& form, Selected& out) {
    if (form.type() != Type::kPred) return bind_width<Op>(ptx::byte_size(form.type()), out);
    out.sources = 2;
    out.dst = out.src[0] = out.src[1] = Type::kPred;
    out.handler = &predicate_two<Op>;
    return true;
}

// lop3: bit (4a + 2b + c) of the table is the result for the bits a, b, c. By Shannon's expansion
// in c and b, with the table's bits widened to masks outside of the lane loop.
void lop3(Lanes& lanes, const Instr& in) {
    uint32_t term[8];
    for (unsigned k = 0; k < 8; ++k) term[k] = in.extra >> k & 1 ? ~uint32_t(0) : 0;
    // For fixed (a, b): result = c ? term[..1] : term[..0] = term0 ^ (c & (term0 ^ term1)).
    const uint32_t d00 = term[0] ^ term[1], d01 = term[2] ^ term[3], d10 = term[4] ^ term[5],
                   d11 = term[6] ^ term[7];
    const uint32_t* const a = lanes.row<uint32_t>(in.src[0]);
    const uint32_t* const b = lanes.row<uint32_t>(in.src[1]);
    const uint32_t* const c = lanes.row<uint32_t>(in.src[2]);
    map_row(
        lanes.row<uint32_t>(in.dst), lanes.mask, [&](uint32_t i) __attribute__((always_inline)) {
            const uint32_t x = a[i], y = b[i], z = c[i];
            const uint32_t f00 = term[0] ^ (z & d00), f01 = term[2] ^ (z & d01);
            const uint32_t f10 = term[4] ^ (z & d10), f11 = term[6] ^ (z & d11);
            const uint32_t f0 = f00 ^ (y & (f00 ^ f01)), f1 = f10 ^ (y & (f10 ^ f11));
            return f0 ^ (x & (f0 ^ f1));
        });
}
// Amounts beyond the width shift everything out; x86 would use them modulo the width.
template <class T>
struct ShiftLeft {
    static T apply(T a, uint32_t n) {
        using W = std::conditional_t<sizeof(T) == 2, uint32_t, Bits<T>>;
        constexpr unsigned kBits = 8 * sizeof(T);
        return n < kBits ? T(W(Bits<T>(a)) << (n & (kBits - 1))) : T(0);
    }
};
template <class T>
struct ShiftRight {
    static T apply(T a, uint32_t n) {
        constexpr unsigned kBits = 8 * sizeof(T);
        if constexpr (std::is_signed_v<T>) return T(a >> (n < kBits ? n : kBits - 1));
        return n < kBits ? T(a >> (n & (kBits - 1))) : T(0);
    }
};

// shf: the 64-bit number b:a shifted by min(c, 32) or c mod 32; its upper (.l) or lower (.r) half.
template <bool left, bool wrap>
struct Funnel {
    static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) {
        const uint64_t both = uint64_t(b) << 32 | a;
        const uint32_t n = wrap ? c & 31 : (c < 32 ? c : 32);
        return left ? uint32_t((both << n) >> 32) : uint32_t(both >> n);
    }
};

}  // namespace

bool select_bits(const Form& form, Selected& out) {
    const Type type = form.type();
    const unsigned bytes = ptx::byte_size(type);
    if (form.type_count != 1 || ptx::is_float(type) || bytes == 1 || bytes == 16) return false;
    if (form.opcode == Opcode::k_shf) {
        if (!form.only<Mod::k_l, Mod::k_r, Mod::k_wrap, Mod::k_clamp>() || bytes != 4) return false;
        const bool wrap = form.has(Mod::k_wrap);
        if (form.has(Mod::k_l))
            return wrap ? bind<Funnel<true, true>>(out) : bind<Funnel<true, false>>(out);
        return wrap ? bind<Funnel<false, true>>(out) : bind<Funnel<false, false>>(out);
    }
    if (!form.only<>()) return false;
    switch (form.opcode) {
    case Opcode::k_and:
        return bind_logic<And>(form, out);
    case Opcode::k_or:
        return bind_logic<Or>(form, out);
    case Opcode::k_xor:
        return bind_logic<Xor>(form, out);
    case Opcode::k_not:
        if (type != Type::kPred) return bind_width<Not>(bytes, out);
        out.sources = 1;
        out.dst = out.src[0] = Type::kPred;
        out.handler = &predicate_not;
        return true;
    case Opcode::k_cnot:
        return bytes && bind_width<Cnot>(bytes, out);
    case Opcode::k_lop3:
        if (bytes != 4 || form.source_count != 4 || form.pair || !form.immediate[3]) return false;
        out.handler = &lop3;
        out.sources = 3;
        out.extra = uint16_t(form.immediate_bits[3] & 0xff);
        out.dst = out.src[0] = out.src[1] = out.src[2] = Type::kB32;
        return true;
    case Opcode::k_shl:
        return bytes && bind_width<ShiftLeft>(bytes, out);
    case Opcode::k_shr:
        return bytes && bind_integer<ShiftRight>(type, out);
    default:
        return false;
    }
}

}  // namespace machine::LEVEL_NS
