// SPDX-License-Identifier: MIT
// PTX ISA "Integer Arithmetic Instructions", the bit-field ones: popc, clz, bfind, fns, brev, bfe,
// bfi, szext, bmsk; and prmt. All loops are free of branches, so that they vectorise.
#include "machine/lanes/arith_core.h"

namespace machine::LEVEL_NS {
namespace {

// Sums of adjacent bits, then pairs, then nibbles; the multiplication adds the bytes.
template <class T>
[[gnu::always_inline]] inline uint32_t ones(T x) {
    constexpr T kAll = T(~T(0));
    x = T(x - (x >> 1 & kAll / 3));
    x = T((x & kAll / 5) + (x >> 2 & kAll / 5));
    x = T((x + (x >> 4)) & kAll / 17);
    if constexpr (sizeof(T) == 4) {
        // Shifts instead of a multiplication, which is more expensive in a vector.
        x += x >> 8;
        x += x >> 16;
        return x & 0x3f;
    } else {
        x += x >> 8;
        x += x >> 16;
        x += x >> 32;
        return uint32_t(x) & 0x7f;
    }
}
// All bits from the highest one downwards.
template <class T>
[[gnu::always_inline]] inline T smear(T x) {
    x |= x >> 1;
    x |= x >> 2;
    x |= x >> 4;
    x |= x >> 8;
    x |= x >> 16;
    if constexpr (sizeof(T) == 8) x |= x >> 32;
    return x;
}

template <class T>
struct Popc {
    static uint32_t apply(T a) { return ones(a); }
};
template <class T>
struct Clz {
    static uint32_t apply(T a) { return uint32_t(8 * sizeof(T)) - ones(smear(a)); }
};
// The position of the highest bit that differs from the sign; 0xffffffff if there is none.
template <class T>
struct Bfind {
    static uint32_t apply(T a) {
        const Bits<T> x = std::is_signed_v<T> && a < T(0) ? Bits<T>(~Bits<T>(a)) : Bits<T>(a);
        return ones(smear(x)) - 1;
    }
};
template <class T>
struct BfindShift {
    static uint32_t apply(T a) {
        const uint32_t place = Bfind<T>::apply(a);
        return place == ~uint32_t(0) ? place : uint32_t(8 * sizeof(T) - 1) - place;
    }
};
template <class T>
struct Brev {
    static T apply(T x) {
        constexpr T kAll = T(~T(0));
        x = T((x >> 1 & kAll / 3) | (x & kAll / 3) << 1);
        x = T((x >> 2 & kAll / 5) | (x & kAll / 5) << 2);
        x = T((x >> 4 & kAll / 17) | (x & kAll / 17) << 4);
        x = T((x >> 8 & kAll / 257) | (x & kAll / 257) << 8);
        if constexpr (sizeof(T) == 8) {
            x = (x >> 16 & kAll / 65537) | (x & kAll / 65537) << 16;
            return x >> 32 | x << 32;
        } else {
            return x >> 16 | x << 16;
        }
    }
};

// fns: the |offset|-th set bit, counted from `base` upwards (offset > 0) or downwards.
struct Fns {
    static constexpr bool kPerLane = true;
    static uint32_t apply(uint32_t mask, uint32_t base, int32_t offset) {
        if (base > 31) return ~uint32_t(0);  // undefined in PTX
        if (offset == 0) return mask >> base & 1 ? base : ~uint32_t(0);
        const int step = offset > 0 ? 1 : -1;
        int64_t left = offset > 0 ? int64_t(offset) : -int64_t(offset);
        for (int place = int(base); place >= 0 && place < 32; place += step)
            if ((mask >> place & 1) && --left == 0) return uint32_t(place);
        return ~uint32_t(0);
    }
};

// `count` low bits set; any count is valid.
template <class T>
[[gnu::always_inline]] inline T low_bits(uint32_t count) {
    constexpr uint32_t kBits = 8 * sizeof(T);
    return count < kBits ? T((T(1) << (count & (kBits - 1))) - 1) : T(~T(0));
}
template <class T>
[[gnu::always_inline]] inline T shifted_left(T x, uint32_t n) {
    constexpr uint32_t kBits = 8 * sizeof(T);
    return n < kBits ? T(x << (n & (kBits - 1))) : T(0);
}

// A position or length of bfe and bfi. In a 32-bit form it is the low 8 bits of the operand, as PTX
// says; in a 64-bit form all bits count on an H200.
template <class T>
[[gnu::always_inline]] inline uint32_t field_operand(uint32_t x) {
    if constexpr (sizeof(T) == 4) return x & 0xff;
    return x < 64 ? x : 64;
}

template <class T>
struct Bfe {
    static T apply(T a, uint32_t b, uint32_t c) {
        using U = Bits<T>;
        constexpr uint32_t kTop = 8 * sizeof(T) - 1;
        const uint32_t place = field_operand<T>(b), length = field_operand<T>(c);
        const U field = (place <= kTop ? U(U(a) >> (place & kTop)) : U(0)) & low_bits<U>(length);
        if constexpr (std::is_unsigned_v<T>) return field;
        const uint32_t last = place + length - 1 < kTop ? place + length - 1 : kTop;
        const bool sign = length != 0 && (U(a) >> (last & kTop) & 1);
        // Bits of the field beyond the msb are sign bits as well.
        const uint32_t have =
            place <= kTop ? (length < kTop + 1 - place ? length : kTop + 1 - place) : 0;
        return T(sign ? U(field | ~low_bits<U>(have)) : field);
    }
};
template <class T>
struct Bfi {
    static T apply(T a, T b, uint32_t c, uint32_t d) {
        const uint32_t place = field_operand<T>(c), length = field_operand<T>(d);
        const T field = shifted_left<T>(low_bits<T>(length), place);
        return T((b & ~field) | (shifted_left<T>(a, place) & field));
    }
};

// szext: the low b bits of a, extended. b of 32 and more: taken modulo 32 (.wrap) or as 32
// (.clamp).
template <class T, bool wrap>
struct Szext {
    static T apply(T a, uint32_t b) {
        const uint32_t n = wrap ? b & 31 : (b < 32 ? b : 32);
        const uint32_t mask = low_bits<uint32_t>(n);
        const uint32_t field = uint32_t(a) & mask;
        if constexpr (std::is_unsigned_v<T>) return field;
        const bool sign = n != 0 && (field >> ((n - 1) & 31) & 1);
        return T(sign ? field | ~mask : field);
    }
};
// bmsk: b set bits from bit a upwards; those beyond bit 31 are lost.
template <bool wrap>
struct Bmsk {
    static uint32_t apply(uint32_t a, uint32_t b) {
        const uint32_t place = wrap ? a & 31 : a, count = wrap ? b & 31 : b;
        return shifted_left<uint32_t>(low_bits<uint32_t>(count), place);
    }
};

// prmt selects four bytes of the eight in b:a. The modes are abbreviations for a selector.
enum PermuteMode { kIndexed, kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };
constexpr uint16_t kSelectors[7][4] = {
    {},
    {0x3210, 0x4321, 0x5432, 0x6543},  // f4e: forward from byte c
    {0x5670, 0x6701, 0x7012, 0x0123},  // b4e: backward from byte c
    {0x0000, 0x1111, 0x2222, 0x3333},  // rc8: replicate byte c
    {0x3210, 0x3211, 0x3222, 0x3333},  // ecl: clamp to the left edge
    {0x0000, 0x1110, 0x2210, 0x3210},  // ecr: clamp to the right edge
    {0x1010, 0x3232, 0x1010, 0x3232},  // rc16: replicate a half-word
};
[[gnu::always_inline]] inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
    const uint64_t bytes = uint64_t(b) << 32 | a;
    uint32_t result = 0;
    for (unsigned k = 0; k < 4; ++k) {
        const uint32_t pick = selector >> (4 * k) & 15;
        const uint32_t byte = uint32_t(bytes >> (8 * (pick & 7))) & 0xff;
        // The selector's top bit replicates the byte's sign to all eight bits.
        const uint32_t sign = (byte >> 7) * 0xff;
        result |= (pick & 8 ? sign : byte) << (8 * k);
    }
    return result;
}
struct Permute {
    static uint32_t apply(uint32_t a, uint32_t b, uint32_t c) { return permute(a, b, c); }
};
struct PermuteByMode {
    static constexpr bool kPerLane = true;
    static uint32_t apply(Extra mode, uint32_t a, uint32_t b, uint32_t c) {
        return permute(a, b, kSelectors[uint16_t(mode)][c & 3]);
    }
};

// The selector is nearly always a constant, and so the same in all lanes: then each byte of the
// result comes from a fixed row and position, and the loop vectorises.
void permute_rows(Lanes& lanes, const Instr& in) {
    const uint32_t* const a = lanes.row<uint32_t>(in.src[0]);
    const uint32_t* const b = lanes.row<uint32_t>(in.src[1]);
    const uint32_t* const c = lanes.row<uint32_t>(in.src[2]);
    uint32_t signs = c[0] & 0x8888;
    for (uint32_t i = 0; i < kWarpSize; ++i) signs |= c[i] ^ c[0];
    if (lanes.mask != kAllLanes || signs) return run<Permute>(lanes, in);
    const uint32_t selector = c[0];
    const auto source = [&](unsigned k) { return selector >> (4 * k) & 4 ? b : a; };
    const auto place = [&](unsigned k) { return (selector >> (4 * k) & 3) * 8; };
    const uint32_t *const p = source(0), *const q = source(1), *const r = source(2),
                          *const s = source(3);
    const uint32_t pn = place(0), qn = place(1), rn = place(2), sn = place(3);
    map_row(
        lanes.row<uint32_t>(in.dst), kAllLanes, [&](uint32_t i) __attribute__((always_inline)) {
            return (p[i] >> pn & 0xff) | (q[i] >> qn & 0xff) << 8 | (r[i] >> rn & 0xff) << 16 |
                   (s[i] >> sn & 0xff) << 24;
        });
}

}  // namespace

bool select_fields(const Form& form, Selected& out) {
    const Type type = form.type();
    const unsigned bytes = ptx::byte_size(type);
    if (form.type_count != 1 || !is_integer(type) || (bytes != 4 && bytes != 8)) return false;
    switch (form.opcode) {
    case Opcode::k_bfind:
        if (!form.only<Mod::k_shiftamt>()) return false;
        return form.has(Mod::k_shiftamt) ? bind_wide_integer<BfindShift>(type, out)
                                         : bind_wide_integer<Bfind>(type, out);
    case Opcode::k_szext: {
        if (!form.only<Mod::k_wrap, Mod::k_clamp>() || bytes != 4) return false;
        const bool wrap = form.has(Mod::k_wrap);
        if (ptx::is_signed(type))
            return wrap ? bind<Szext<int32_t, true>>(out) : bind<Szext<int32_t, false>>(out);
        return wrap ? bind<Szext<uint32_t, true>>(out) : bind<Szext<uint32_t, false>>(out);
    }
    case Opcode::k_bmsk:
        if (!form.only<Mod::k_wrap, Mod::k_clamp>() || bytes != 4) return false;
        return form.has(Mod::k_wrap) ? bind<Bmsk<true>>(out) : bind<Bmsk<false>>(out);
    case Opcode::k_prmt:
        if (!form.only<Mod::k_f4e, Mod::k_b4e, Mod::k_rc8, Mod::k_ecl, Mod::k_ecr, Mod::k_rc16>() ||
            bytes != 4)
            return false;
        if (form.only<>()) {
            bind<Permute>(out);
            out.handler = &permute_rows;
            return true;
        }
        return bind<PermuteByMode>(out,
                                   form.has(Mod::k_f4e)   ? kF4e
                                   : form.has(Mod::k_b4e) ? kB4e
                                   : form.has(Mod::k_rc8) ? kRc8
                                   : form.has(Mod::k_ecl) ? kEcl
                                   : form.has(Mod::k_ecr) ? kEcr
                                                          : kRc16);
    default:
        break;
    }
    if (!form.only<>()) return false;
    switch (form.opcode) {
    case Opcode::k_popc:
        return bytes == 4 ? bind<Popc<uint32_t>>(out) : bind<Popc<uint64_t>>(out);
    case Opcode::k_clz:
        return bytes == 4 ? bind<Clz<uint32_t>>(out) : bind<Clz<uint64_t>>(out);
    case Opcode::k_brev:
        return bytes == 4 ? bind<Brev<uint32_t>>(out) : bind<Brev<uint64_t>>(out);
    case Opcode::k_fns:
        return bytes == 4 && bind<Fns>(out);
    case Opcode::k_bfe:
        return bind_wide_integer<Bfe>(type, out);
    case Opcode::k_bfi:
        return bytes == 4 ? bind<Bfi<uint32_t>>(out) : bind<Bfi<uint64_t>>(out);
    default:
        return false;
    }
}

}  // namespace machine::LEVEL_NS
