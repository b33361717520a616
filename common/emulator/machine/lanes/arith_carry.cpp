// SPDX-License-Identifier: MIT
// PTX ISA "Extended-Precision Integer Arithmetic Instructions": add.cc, addc, sub.cc, subc, mad.cc,
// madc. CC.CF is Lanes::carry, one bit per lane; after a subtraction it is set if there was no
// borrow.
#include "machine/lanes/arith_core.h"

namespace machine::LEVEL_NS {
namespace {

__extension__ typedef __int128 Signed128;
__extension__ typedef unsigned __int128 Unsigned128;

enum class Kind { kAdd, kSub, kMadLow, kMadHigh };

template <class T>
[[gnu::always_inline]] inline T high_product(T a, T b) {
    if constexpr (sizeof(T) == 4) {
        using W = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
        return T((W(a) * W(b)) >> 32);
    } else {
        using W = std::conditional_t<std::is_signed_v<T>, Signed128, Unsigned128>;
        return T((W(a) * W(b)) >> 64);
    }
}

template <class T, Kind kind, bool uses, bool sets>
void carry(Lanes& lanes, const Instr& in) {
    using U = Bits<T>;
    U* const d = lanes.row<U>(in.dst);
    const T* const a = lanes.row<T>(in.src[0]);
    const T* const b = lanes.row<T>(in.src[1]);
    constexpr bool mad = kind == Kind::kMadLow || kind == Kind::kMadHigh;
    const U* const c = mad ? lanes.row<U>(in.src[2]) : nullptr;
    uint32_t flags = 0;
    for_lanes(
        lanes.mask, [&](uint32_t i) __attribute__((always_inline)) {
            U x = U(a[i]), y = U(b[i]);
            if constexpr (kind == Kind::kMadLow) x = U(x * y), y = c[i];
            if constexpr (kind == Kind::kMadHigh) x = U(high_product(a[i], b[i])), y = c[i];
            // Like hardware, subtraction adds the complement: CC.CF is then the carry of a + ~b +
            // 1, that is "no borrow", and an addc after sub.cc uses it (measured on an H200; the
            // compiler's 128-bit division relies on it).
            if constexpr (kind == Kind::kSub) y = U(~y);
            const U carried = uses ? lanes.carry >> i & 1 : kind == Kind::kSub;
            const U partial = U(x + y);
            const U result = U(partial + carried);
            const bool out = partial < x || result < partial;
            flags |= uint32_t(out) << i;
            d[i] = result;
        });
    if (sets) lanes.carry = (lanes.carry & ~lanes.mask) | flags;
}

template <class T, Kind kind>
Handler carry_handler(bool uses, bool sets) {
    if (uses) return sets ? &carry<T, kind, true, true> : &carry<T, kind, true, false>;
    return sets ? &carry<T, kind, false, true> : nullptr;
}
template <Kind kind>
Handler carry_of_width(unsigned bytes, bool uses, bool sets) {
    return bytes == 4   ? carry_handler<uint32_t, kind>(uses, sets)
           : bytes == 8 ? carry_handler<uint64_t, kind>(uses, sets)
                        : nullptr;
}

}  // namespace

bool select_carry(const Form& form, Selected& out) {
    const Type type = form.type();
    const unsigned bytes = ptx::byte_size(type);
    if (form.type_count != 1 || !is_integer(type)) return false;
    if (!form.only<Mod::k_lo, Mod::k_hi, Mod::k_cc>()) return false;
    const bool sets = form.has(Mod::k_cc), high = form.has(Mod::k_hi);
    bool mad = false;
    switch (form.opcode) {
    case Opcode::k_add:
        out.handler = carry_of_width<Kind::kAdd>(bytes, false, sets);
        break;
    case Opcode::k_addc:
        out.handler = carry_of_width<Kind::kAdd>(bytes, true, sets);
        break;
    case Opcode::k_sub:
        out.handler = carry_of_width<Kind::kSub>(bytes, false, sets);
        break;
    case Opcode::k_subc:
        out.handler = carry_of_width<Kind::kSub>(bytes, true, sets);
        break;
    case Opcode::k_mad:
    case Opcode::k_madc: {
        const bool uses = form.opcode == Opcode::k_madc;
        mad = true;
        if (!high)
            out.handler = carry_of_width<Kind::kMadLow>(bytes, uses, sets);
        else if (type == Type::kS32)
            out.handler = carry_handler<int32_t, Kind::kMadHigh>(uses, sets);
        else if (type == Type::kS64)
            out.handler = carry_handler<int64_t, Kind::kMadHigh>(uses, sets);
        else
            out.handler = carry_of_width<Kind::kMadHigh>(bytes, uses, sets);
        break;
    }
    default:
        return false;
    }
    out.sources = mad ? 3 : 2;
    out.dst = out.src[0] = out.src[1] = out.src[2] = type;
    return out.handler != nullptr;
}

}  // namespace machine::LEVEL_NS
