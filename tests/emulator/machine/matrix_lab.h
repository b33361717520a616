// SPDX-License-Identifier: MIT
// What the tests of matrix instructions share: element formats, layouts of fragments, and a product
// by hand. The layouts are written down here and in the tests as the PTX ISA's sections "Matrix
// Fragments for ..." give them, one by one; the products are small integers, so every result is
// exact.
#pragma once

#include <bit>
#include <functional>
#include <random>
#include <string>

#include "host_half.h"
#include "machine_lab.h"

namespace matrix_lab {

using namespace machine_lab;

struct At {
    int row, column;
};
using Layout = std::function<At(int lane, int i)>;
constexpr int kGroup = 2;  // lane >> 2: the section's groupID; lane & 3: its threadID_in_group

// How an element of a type is written into bits, and read from a result.
struct Format {
    int bits;
    uint64_t (*encode)(int);
    double (*decode)(uint64_t);
};
inline uint64_t as_half(int x) {
    return std::bit_cast<uint16_t>(HostHalf(x));
}
inline uint64_t as_bf16(int x) {
    return std::bit_cast<uint32_t>(float(x)) >> 16;
}
inline uint64_t as_float(int x) {
    return std::bit_cast<uint32_t>(float(x));
}
inline uint64_t as_tf32(int x) {
    return as_float(x) | 0x1abc;  // the low 13 bits do not count
}
inline uint64_t as_double(int x) {
    return std::bit_cast<uint64_t>(double(x));
}
inline uint64_t as_integer(int x) {
    return uint64_t(uint32_t(x));
}
// 4 bits of exponent with bias 7, 3 of fraction; and 5 with bias 15, 2 of fraction. -2 to 2 only.
inline uint64_t as_e4m3(int x) {
    constexpr int kCodes[] = {0, 0x38, 0x40};
    return uint64_t(kCodes[std::abs(x)] | (x < 0 ? 0x80 : 0));
}
inline uint64_t as_e5m2(int x) {
    constexpr int kCodes[] = {0, 0x3c, 0x40};
    return uint64_t(kCodes[std::abs(x)] | (x < 0 ? 0x80 : 0));
}
inline double from_half(uint64_t b) {
    return double(std::bit_cast<HostHalf>(uint16_t(b)));
}
inline double from_float(uint64_t b) {
    return double(std::bit_cast<float>(uint32_t(b)));
}
inline double from_double(uint64_t b) {
    return std::bit_cast<double>(b);
}
inline double from_integer(uint64_t b) {
    return double(int32_t(uint32_t(b)));
}
const Format kHalf{16, as_half, from_half}, kBf16{16, as_bf16, nullptr},
    kFloat{32, as_float, from_float}, kTf32{32, as_tf32, nullptr},
    kDouble{64, as_double, from_double}, kInt{32, as_integer, from_integer},
    kByte{8, as_integer, nullptr}, kNibble{4, as_integer, nullptr}, kBit{1, as_integer, nullptr},
    kE4m3{8, as_e4m3, nullptr}, kE5m2{8, as_e5m2, nullptr};

struct Case {
    std::string mnemonic;
    int m, n, k;
    const Format *ab, *b_format, *c, *d;
    int a_regs, b_regs, c_regs, d_regs;
    Layout a, b, cd;
    int low = -4, high = 4;
    enum { kMultiply, kXor, kAnd } operation = kMultiply;
    const Layout* d_layout = nullptr;
};

inline std::string list(const char* prefix, int first, int count) {
    std::string out = "{";
    for (int i = 0; i < count; ++i)
        out += (i ? ", " : "") + std::string(prefix) + std::to_string(first + i);
    return out + "}";
}

inline void check(const Case& t, int copies = 1, std::function<int(int)> copy_of = {}) {
    std::mt19937 random(7);
    const auto value = [&] { return t.low + int(random() % unsigned(t.high - t.low + 1)); };
    const size_t mk = size_t(t.m * t.k), kn = size_t(t.k * t.n), mn = size_t(t.m * t.n);
    std::vector<int> a(mk * size_t(copies)), b(kn * size_t(copies)), c(mn * size_t(copies));
    for (int& x : a) x = value();
    for (int& x : b) x = value();
    for (int& x : c) x = value();
    Lab lab;
    // Each lane's registers, 64 words apart: a from 0, b from 16, c from 32; eight bytes each.
    const auto give = [&](int lane,
                          int slot,
                          const Format& f,
                          int regs,
                          const Layout& layout,
                          const std::vector<int>& matrix,
                          int columns,
                          size_t size) {
        const int bits = f.bits, per = bits >= 32 ? 1 : 32 / bits;
        for (int r = 0; r < regs; ++r) {
            uint64_t word = 0;
            for (int j = 0; j < per; ++j) {
                const At at = layout(lane, r * per + j);
                const size_t base = copies > 1 ? size * size_t(copy_of(lane)) : 0;
                const uint64_t code = f.encode(matrix[base + size_t(at.row * columns + at.column)]);
                word |= bits >= 32 ? code : (code & ((1ull << bits) - 1)) << (bits * j);
            }
            lab.give<uint64_t>(size_t(lane * 64 + slot + r), word);
        }
    };
    for (int lane = 0; lane < 32; ++lane) {
        give(lane, 0, *t.ab, t.a_regs, t.a, a, t.k, mk);
        give(lane, 16, *t.b_format, t.b_regs, t.b, b, t.n, kn);
        give(lane, 32, *t.c, t.c_regs, t.cd, c, t.n, mn);
    }
    const bool wide = t.ab->bits == 64;
    const std::string type = wide ? "b64" : "b32", prefix = wide ? "%rd" : "%r";
    std::string body = "mad.wide.u32 %rd60, %lane, 512, %in;\n";
    const auto load = [&](int first, int slot, int count) {
        for (int r = 0; r < count; ++r)
            body += "ld.global." + type + " " + prefix + std::to_string(first + r) + ", [%rd60+" +
                    std::to_string((slot + r) * 8) + "];\n";
    };
    load(0, 0, t.a_regs);
    load(10, 16, t.b_regs);
    load(20, 32, t.c_regs);
    body += t.mnemonic + " " + list(prefix.c_str(), 40, t.d_regs) + ", " +
            list(prefix.c_str(), 0, t.a_regs) + ", " + list(prefix.c_str(), 10, t.b_regs) + ", " +
            list(prefix.c_str(), 20, t.c_regs) + ";\nmad.wide.u32 %rd61, %lane, 64, %out;\n";
    for (int r = 0; r < t.d_regs; ++r)
        body += "st.global." + type + " [%rd61+" + std::to_string(8 * r) + "], " + prefix +
                std::to_string(40 + r) + ";\n";
    INFO(t.mnemonic);
    REQUIRE(lab.run(body).status == LaunchStatus::kOk);
    const int per = t.d->bits >= 32 ? 1 : 32 / t.d->bits;
    for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < t.d_regs * per; ++i) {
            const At at = (t.d_layout ? *t.d_layout : t.cd)(lane, i);
            const size_t q = copies > 1 ? size_t(copy_of(lane)) : 0;
            int64_t want = c[q * mn + size_t(at.row * t.n + at.column)];
            for (int k = 0; k < t.k; ++k) {
                const int x = a[q * mk + size_t(at.row * t.k + k)];
                const int y = b[q * kn + size_t(k * t.n + at.column)];
                want += t.operation == Case::kXor   ? (x ^ y)
                        : t.operation == Case::kAnd ? (x & y)
                                                    : x * y;
            }
            const uint64_t whole = wide ? lab.got<uint64_t>(size_t(lane * 8 + i / per))
                                        : lab.got<uint32_t>(size_t(lane * 16 + i / per * 2));
            const uint64_t code = t.d->bits >= 32 ? whole : whole >> (16 * (i % per)) & 0xffff;
            CAPTURE(lane, i, at.row, at.column);
            REQUIRE(t.d->decode(code) == double(want));
        }
}

inline At c_16x8(int lane, int i) {
    return {(lane >> kGroup) + (i < 2 ? 0 : 8), (lane & 3) * 2 + (i & 1)};
}
inline At c_8x8(int lane, int i) {
    return {lane >> kGroup, (lane & 3) * 2 + i};
}

}  // namespace matrix_lab
