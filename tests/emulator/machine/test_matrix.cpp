// SPDX-License-Identifier: MIT
// mma, wmma, ldmatrix, stmatrix, movmatrix. The layouts are written down here as the PTX ISA's
// sections "Matrix Fragments for ..." give them, one by one; the products are small integers, so
// every result is exact.
#include <bit>
#include <functional>
#include <random>

#include "machine_lab.h"

using namespace machine_lab;

namespace {

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
uint64_t as_half(int x) {
    return std::bit_cast<uint16_t>(_Float16(x));
}
uint64_t as_bf16(int x) {
    return std::bit_cast<uint32_t>(float(x)) >> 16;
}
uint64_t as_float(int x) {
    return std::bit_cast<uint32_t>(float(x));
}
uint64_t as_tf32(int x) {
    return as_float(x) | 0x1abc;  // the low 13 bits do not count
}
uint64_t as_double(int x) {
    return std::bit_cast<uint64_t>(double(x));
}
uint64_t as_integer(int x) {
    return uint64_t(uint32_t(x));
}
// 4 bits of exponent with bias 7, 3 of fraction; and 5 with bias 15, 2 of fraction. -2 to 2 only.
uint64_t as_e4m3(int x) {
    constexpr int kCodes[] = {0, 0x38, 0x40};
    return uint64_t(kCodes[std::abs(x)] | (x < 0 ? 0x80 : 0));
}
uint64_t as_e5m2(int x) {
    constexpr int kCodes[] = {0, 0x3c, 0x40};
    return uint64_t(kCodes[std::abs(x)] | (x < 0 ? 0x80 : 0));
}
double from_half(uint64_t b) {
    return double(std::bit_cast<_Float16>(uint16_t(b)));
}
double from_float(uint64_t b) {
    return double(std::bit_cast<float>(uint32_t(b)));
}
double from_double(uint64_t b) {
    return std::bit_cast<double>(b);
}
double from_integer(uint64_t b) {
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

std::string list(const char* prefix, int first, int count) {
    std::string out = "{";
    for (int i = 0; i < count; ++i)
        out += (i ? ", " : "") + std::string(prefix) + std::to_string(first + i);
    return out + "}";
}

void check(const Case& t, int copies = 1, std::function<int(int)> copy_of = {}) {
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

At c_16x8(int lane, int i) {
    return {(lane >> kGroup) + (i < 2 ? 0 : 8), (lane & 3) * 2 + (i & 1)};
}
At c_8x8(int lane, int i) {
    return {lane >> kGroup, (lane & 3) * 2 + i};
}

}  // namespace

TEST_CASE("mma: halves and bfloat16", "[machine][matrix]") {
    const Layout a16 = [](int lane, int i) {
        const bool upper_row = i == 2 || i == 3 || i == 6 || i == 7;
        return At{(lane >> 2) + (upper_row ? 8 : 0), (lane & 3) * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
    };
    const Layout b16 = [](int lane, int i) {
        return At{(lane & 3) * 2 + (i & 1) + (i >= 2 ? 8 : 0), lane >> 2};
    };
    const Layout a8 = [](int lane, int i) {
        return At{(lane >> 2) + (i < 2 ? 0 : 8), (lane & 3) * 2 + (i & 1)};
    };
    const Layout b8 = [](int lane, int i) { return At{(lane & 3) * 2 + i, lane >> 2}; };
    check({"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
           16,
           8,
           16,
           &kHalf,
           &kHalf,
           &kFloat,
           &kFloat,
           4,
           2,
           4,
           4,
           a16,
           b16,
           c_16x8});
    check({"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
           16,
           8,
           16,
           &kHalf,
           &kHalf,
           &kHalf,
           &kHalf,
           4,
           2,
           2,
           2,
           a16,
           b16,
           c_16x8});
    check({"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
           16,
           8,
           16,
           &kBf16,
           &kBf16,
           &kFloat,
           &kFloat,
           4,
           2,
           4,
           4,
           a16,
           b16,
           c_16x8});
    check({"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
           16,
           8,
           8,
           &kHalf,
           &kHalf,
           &kFloat,
           &kFloat,
           2,
           1,
           4,
           4,
           a8,
           b8,
           c_16x8});
    check({"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
           16,
           8,
           8,
           &kBf16,
           &kBf16,
           &kFloat,
           &kFloat,
           2,
           1,
           4,
           4,
           a8,
           b8,
           c_16x8});
}

TEST_CASE("mma: tf32", "[machine][matrix]") {
    const Layout a4 = [](int lane, int i) { return At{(lane >> 2) + 8 * i, lane & 3}; };
    const Layout b4 = [](int lane, int) { return At{lane & 3, lane >> 2}; };
    const Layout a8 = [](int lane, int i) {
        return At{(lane >> 2) + (i == 1 || i == 3 ? 8 : 0), (lane & 3) + (i >= 2 ? 4 : 0)};
    };
    const Layout b8 = [](int lane, int i) { return At{(lane & 3) + 4 * i, lane >> 2}; };
    check({"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
           16,
           8,
           4,
           &kTf32,
           &kTf32,
           &kFloat,
           &kFloat,
           2,
           1,
           4,
           4,
           a4,
           b4,
           c_16x8});
    check({"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
           16,
           8,
           8,
           &kTf32,
           &kTf32,
           &kFloat,
           &kFloat,
           4,
           2,
           4,
           4,
           a8,
           b8,
           c_16x8});
}

TEST_CASE("mma: bytes, signed and not, and 8-bit floats", "[machine][matrix]") {
    const Layout a16 = [](int lane, int i) {
        return At{(lane >> 2) + (i < 4 ? 0 : 8), (lane & 3) * 4 + (i & 3)};
    };
    const Layout b16 = [](int lane, int i) { return At{(lane & 3) * 4 + i, lane >> 2}; };
    const Layout a32 = [](int lane, int i) {
        const bool upper_row = (i >= 4 && i < 8) || i >= 12;
        return At{(lane >> 2) + (upper_row ? 8 : 0), (lane & 3) * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
    };
    const Layout b32 = [](int lane, int i) {
        return At{(lane & 3) * 4 + (i & 3) + (i >= 4 ? 16 : 0), lane >> 2};
    };
    const Layout a8 = [](int lane, int i) { return At{lane >> 2, (lane & 3) * 4 + i}; };
    check({"mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32",
           16,
           8,
           16,
           &kByte,
           &kByte,
           &kInt,
           &kInt,
           2,
           1,
           4,
           4,
           a16,
           b16,
           c_16x8,
           -128,
           127});
    check({"mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32",
           16,
           8,
           32,
           &kByte,
           &kByte,
           &kInt,
           &kInt,
           4,
           2,
           4,
           4,
           a32,
           b32,
           c_16x8,
           0,
           255});
    check({"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32",
           16,
           8,
           32,
           &kByte,
           &kByte,
           &kInt,
           &kInt,
           4,
           2,
           4,
           4,
           a32,
           b32,
           c_16x8,
           0,
           127});
    check({"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32",
           8,
           8,
           16,
           &kByte,
           &kByte,
           &kInt,
           &kInt,
           1,
           1,
           2,
           2,
           a8,
           b16,
           c_8x8,
           -128,
           127});
    check({"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
           16,
           8,
           32,
           &kE4m3,
           &kE5m2,
           &kFloat,
           &kFloat,
           4,
           2,
           4,
           4,
           a32,
           b32,
           c_16x8,
           -2,
           2});
    check({"mma.sync.aligned.m16n8k16.row.col.f32.e5m2.e5m2.f32",
           16,
           8,
           16,
           &kE5m2,
           &kE5m2,
           &kFloat,
           &kFloat,
           2,
           1,
           4,
           4,
           a16,
           b16,
           c_16x8,
           -2,
           2});
}

TEST_CASE("mma: nibbles and bits", "[machine][matrix]") {
    const Layout a64 = [](int lane, int i) {
        const bool upper_row = (i >= 8 && i < 16) || i >= 24;
        return At{(lane >> 2) + (upper_row ? 8 : 0), (lane & 3) * 8 + (i & 7) + (i >= 16 ? 32 : 0)};
    };
    const Layout b64 = [](int lane, int i) {
        return At{(lane & 3) * 8 + (i & 7) + (i >= 8 ? 32 : 0), lane >> 2};
    };
    check({"mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32",
           16,
           8,
           64,
           &kNibble,
           &kNibble,
           &kInt,
           &kInt,
           4,
           2,
           4,
           4,
           a64,
           b64,
           c_16x8,
           -8,
           7});
    const Layout a32 = [](int lane, int i) { return At{lane >> 2, (lane & 3) * 8 + i}; };
    const Layout b32 = [](int lane, int i) { return At{(lane & 3) * 8 + i, lane >> 2}; };
    check({"mma.sync.aligned.m8n8k32.row.col.s32.u4.u4.s32",
           8,
           8,
           32,
           &kNibble,
           &kNibble,
           &kInt,
           &kInt,
           1,
           1,
           2,
           2,
           a32,
           b32,
           c_8x8,
           0,
           15});
    const Layout a256 = [](int lane, int i) {
        const int block = i / 32;
        return At{(lane >> 2) + (block % 2 ? 8 : 0),
                  (lane & 3) * 32 + i % 32 + (block >= 2 ? 128 : 0)};
    };
    const Layout b256 = [](int lane, int i) {
        return At{(lane & 3) * 32 + i % 32 + (i >= 32 ? 128 : 0), lane >> 2};
    };
    check({"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc",
           16,
           8,
           256,
           &kBit,
           &kBit,
           &kInt,
           &kInt,
           4,
           2,
           4,
           4,
           a256,
           b256,
           c_16x8,
           0,
           1,
           Case::kXor});
    check({"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc",
           16,
           8,
           256,
           &kBit,
           &kBit,
           &kInt,
           &kInt,
           4,
           2,
           4,
           4,
           a256,
           b256,
           c_16x8,
           0,
           1,
           Case::kAnd});
}

TEST_CASE("mma: doubles", "[machine][matrix]") {
    const Layout a8 = [](int lane, int) { return At{lane >> 2, lane & 3}; };
    const Layout b8 = [](int lane, int) { return At{lane & 3, lane >> 2}; };
    check({"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
           8,
           8,
           4,
           &kDouble,
           &kDouble,
           &kDouble,
           &kDouble,
           1,
           1,
           2,
           2,
           a8,
           b8,
           c_8x8});
    const Layout a16 = [](int lane, int i) {
        return At{(lane >> 2) + (i % 2 ? 8 : 0), (i / 2) * 4 + (lane & 3)};
    };
    const Layout b16 = [](int lane, int i) { return At{i * 4 + (lane & 3), lane >> 2}; };
    check({"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64",
           16,
           8,
           16,
           &kDouble,
           &kDouble,
           &kDouble,
           &kDouble,
           8,
           4,
           4,
           4,
           a16,
           b16,
           c_16x8});
}

TEST_CASE("mma.m8n8k4 with halves: four matrices, each of eight lanes", "[machine][matrix]") {
    const auto quad = [](int lane) { return lane % 16 / 4; };
    const Layout a_row = [](int lane, int i) { return At{lane % 4 + (lane < 16 ? 0 : 4), i}; };
    const Layout a_col = [](int lane, int i) { return At{i % 4 + (lane < 16 ? 0 : 4), lane % 4}; };
    const Layout b_row = [](int lane, int i) { return At{lane % 4, i + (lane < 16 ? 0 : 4)}; };
    const Layout b_col = [](int lane, int i) { return At{i, lane % 4 + (lane < 16 ? 0 : 4)}; };
    const Layout c_float = [](int lane, int i) {
        const int x = (lane & 1) + (i & 2);
        return At{lane < 16 ? x : x + 4, (i & 4) + (lane & 2) + (i & 1)};
    };
    const Layout c_half = [](int lane, int i) { return At{lane % 4 + (lane < 16 ? 0 : 4), i}; };
    for (const bool a : {false, true})
        for (const bool b : {false, true}) {
            const std::string layouts = std::string(a ? ".col" : ".row") + (b ? ".col" : ".row");
            check({"mma.sync.aligned.m8n8k4" + layouts + ".f32.f16.f16.f32",
                   8,
                   8,
                   4,
                   &kHalf,
                   &kHalf,
                   &kFloat,
                   &kFloat,
                   2,
                   2,
                   8,
                   8,
                   a ? a_col : a_row,
                   b ? b_col : b_row,
                   c_float},
                  4,
                  quad);
            check({"mma.sync.aligned.m8n8k4" + layouts + ".f16.f16.f16.f16",
                   8,
                   8,
                   4,
                   &kHalf,
                   &kHalf,
                   &kHalf,
                   &kHalf,
                   2,
                   2,
                   4,
                   4,
                   a ? a_col : a_row,
                   b ? b_col : b_row,
                   c_half},
                  4,
                  quad);
        }
}

TEST_CASE("mma: saturation, wrap, and what is not a number", "[machine][matrix]") {
    const auto run = [](const std::string& mnemonic, uint32_t ab, uint32_t c) {
        Lab lab;
        const std::string text = std::to_string(ab);
        REQUIRE(lab.run("mov.b32 %r1, " + text + ";\nmov.b32 %r2, " + std::to_string(c) + ";\n" +
                        mnemonic + ";\nst.global.b32 [%mine], %r10;")
                    .status == LaunchStatus::kOk);
        return lab.got(0);
    };
    const std::string bytes = ".s32.s8.s8.s32 {%r10, %r11}, {%r1}, {%r1}, {%r2, %r2}";
    const std::string shape = "mma.sync.aligned.m8n8k16.row.col";
    CHECK(run(shape + ".satfinite" + bytes, 0x7f7f7f7f, 0x7ffffff0) == 0x7fffffff);
    CHECK(run(shape + bytes, 0x7f7f7f7f, 0x7ffffff0) == 0x7ffffff0u + 16 * 127 * 127);
    const std::string floats =
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r10, %r11, %r12, %r13}, {%r1, %r1}, "
        "{%r1}, {%r2, %r2, %r2, %r2}";
    CHECK(run(floats, 0x7e007e00, 0) == 0x7fffffff);           // NaN
    CHECK(run(floats, 0x7c007c00, 0xff800000) == 0x7fffffff);  // infinity - infinity
    CHECK(run(floats, 0x7c007c00, 0) == 0x7f800000);
    CHECK(run(floats, 0x80008000, 0x80000000) == 0);  // 0 * 0 - 0
    // 2^-24 squared, eight times, beside 1: lost; the sum of many halves is rounded once.
    CHECK(run(floats, 0x00010001, 0x3f800000) == 0x3f800000);
    CHECK(run(floats, 0x3c003c00, 0x4b800000) == 0x4b800004);  // 2^24 + 8
}

TEST_CASE("ldmatrix: which lane gets which half", "[machine][matrix]") {
    for (const int count : {1, 2, 4})
        for (const bool transposed : {false, true}) {
            Lab lab;
            const std::string mnemonic = "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                                         (transposed ? ".trans" : "") + ".shared.b16 ";
            // Half h of shared memory is h. Lane l's row is at l * 16 bytes, backwards in each
            // matrix, so that the addresses matter.
            lab.run(
                "mov.u32 %r1, tile;\nmad.lo.u32 %r2, %lane, 16, %r1;\n"
                "mul.lo.u32 %r3, %lane, 8;\nmad.lo.u32 %r4, %r3, 65537, 65536;\n"
                "st.shared.u32 [%r2], %r4;\nadd.u32 %r4, %r4, 131074;\n"
                "st.shared.u32 [%r2+4], %r4;\nadd.u32 %r4, %r4, 131074;\n"
                "st.shared.u32 [%r2+8], %r4;\nadd.u32 %r4, %r4, 131074;\n"
                "st.shared.u32 [%r2+12], %r4;\nbar.sync 0;\n"
                "xor.b32 %r5, %lane, 7;\nmad.lo.u32 %r6, %r5, 16, %r1;\n" +
                    mnemonic + list("%r", 10, count) +
                    ", [%r6];\nmad.wide.u32 %rd1, %lane, 16, %out;\n" +
                    [&] {
                        std::string stores;
                        for (int x = 0; x < count; ++x)
                            stores += "st.global.b32 [%rd1+" + std::to_string(4 * x) + "], %r" +
                                      std::to_string(10 + x) + ";\n";
                        return stores;
                    }(),
                {},
                ".shared .align 16 .b8 tile[512];\n");
            for (uint32_t lane = 0; lane < 32; ++lane)
                for (int x = 0; x < count; ++x)
                    for (uint32_t j = 0; j < 2; ++j) {
                        uint32_t row = lane / 4, column = lane % 4 * 2 + j;
                        if (transposed) std::swap(row, column);
                        const uint32_t stored = (uint32_t(x) * 8 + (row ^ 7)) * 8 + column;
                        CAPTURE(mnemonic, lane, x, j);
                        REQUIRE((lab.got(lane * 4 + uint32_t(x)) >> 16 * j & 0xffff) == stored);
                    }
            size_t loads = 0;
            for (const SeenAccess& access : lab.seen.accesses) {
                if (access.space != ptx::Space::kShared || access.kind != AccessKind::kLoad)
                    continue;
                ++loads;
                CHECK(access.bytes == 16);
                CHECK(access.mask == (count == 4 ? kAllLanes : (1u << 8 * count) - 1));
                CHECK(access.bad == 0);
            }
            CHECK(loads == 1);
        }
}

TEST_CASE("stmatrix and movmatrix are the ways back", "[machine][matrix]") {
    Lab lab;
    lab.run("mov.u32 %r1, tile;\nmad.lo.u32 %r2, %lane, 16, %r1;\n"
            "mad.lo.u32 %r3, %lane, 131074, 65536;\n"  // halves 2l and 2l + 1
            "movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r3;\nst.global.b32 [%mine], %r4;\n"
            "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r2], {%r3, %r4};\nbar.sync 0;\n"
            "ld.shared.b32 %r5, [%r2];\nst.global.b32 [%mine+128], %r5;",
            {},
            ".shared .align 16 .b8 tile[512];\n");
    for (uint32_t lane = 0; lane < 32; ++lane) {
        const uint32_t row = lane / 4, column = lane % 4 * 2;
        const auto transposed = [](uint32_t r, uint32_t c) { return c * 8 + r; };
        CHECK(lab.got(lane) == (transposed(row, column) | transposed(row, column + 1) << 16));
        if (lane < 8)  // row `lane` of the first matrix: the transpose of 0, 1, 2, ...
            CHECK(lab.got(32 + lane) == (transposed(lane, 0) | transposed(lane, 1) << 16));
        else if (lane < 16)  // of the second: the transpose of the transpose
            CHECK(lab.got(32 + lane) == ((lane - 8) * 8 | ((lane - 8) * 8 + 1) << 16));
    }
}

TEST_CASE("wmma: all shapes and layouts against the product by hand", "[machine][matrix]") {
    struct Shape3 {
        int m, n, k;
    };
    for (const Shape3 s : {Shape3{16, 16, 16}, Shape3{32, 8, 16}, Shape3{8, 32, 16}})
        for (const int layouts : {0, 1, 2, 3, 4, 5, 6, 7}) {
            const bool a_col = layouts & 1, b_col = layouts & 2, d_col = layouts & 4;
            const std::string shape =
                ".m" + std::to_string(s.m) + "n" + std::to_string(s.n) + "k16";
            const auto word = [](bool col) { return std::string(col ? ".col" : ".row"); };
            const int lda = (a_col ? s.m : s.k) + 8, ldb = (b_col ? s.k : s.n) + 8,
                      ldd = (d_col ? s.m : s.n) + 4;
            Lab lab;
            std::mt19937 random{uint32_t(layouts)};
            std::vector<int> a(size_t(s.m * s.k)), b(size_t(s.k * s.n));
            for (int m = 0; m < s.m; ++m)
                for (int k = 0; k < s.k; ++k) {
                    const int x = a[size_t(m * s.k + k)] = int(random() % 9) - 4;
                    lab.give(size_t(a_col ? k * lda + m : m * lda + k), uint16_t(as_half(x)));
                }
            for (int k = 0; k < s.k; ++k)
                for (int n = 0; n < s.n; ++n) {
                    const int x = b[size_t(k * s.n + n)] = int(random() % 9) - 4;
                    lab.give(4096 + size_t(b_col ? n * ldb + k : k * ldb + n),
                             uint16_t(as_half(x)));
                }
            const std::string fa = list("%r", 10, 8), fb = list("%r", 20, 8), fc = list("%f", 0, 8);
            std::string body = "mov.u32 %r1, " + std::to_string(lda) + ";\n";
            for (int i = 0; i < 8; ++i)
                body += "mov.f32 %f" + std::to_string(i) + ", 0f3F800000;\n";
            body += "wmma.load.a.sync.aligned" + word(a_col) + shape + ".f16 " + fa +
                    ", [%in], %r1;\nwmma.load.b.sync.aligned" + word(b_col) + shape +
                    ".global.f16 " + fb + ", [%in+8192], " + std::to_string(ldb) +
                    ";\nwmma.mma.sync.aligned" + word(a_col) + word(b_col) + shape + ".f32.f32 " +
                    fc + ", " + fa + ", " + fb + ", " + fc + ";\nwmma.store.d.sync.aligned" +
                    word(d_col) + shape + ".f32 [%out], " + fc + ", " + std::to_string(ldd) + ";";
            INFO(body);
            REQUIRE(lab.run(body).status == LaunchStatus::kOk);
            for (int m = 0; m < s.m; ++m)
                for (int n = 0; n < s.n; ++n) {
                    int want = 1;
                    for (int k = 0; k < s.k; ++k)
                        want += a[size_t(m * s.k + k)] * b[size_t(k * s.n + n)];
                    REQUIRE(lab.got<float>(size_t(d_col ? n * ldd + m : m * ldd + n)) ==
                            float(want));
                }
            // Between the rows nothing was written.
            CHECK(lab.got(size_t(d_col ? s.m : s.n)) == kOldWord);
        }
}

TEST_CASE("wmma: what is read or written outside of memory is seen, and nothing else is lost",
          "[machine][matrix]") {
    Lab lab;
    const std::string fc = list("%f", 0, 8);
    lab.run("mov.u64 %rd1, tile;\ncvta.shared.u64 %rd2, %rd1;\n"
            "wmma.load.c.sync.aligned.row.m16n16k16.f32 " +
                fc + ", [%rd2], 16;\n",
            {},
            ".shared .align 16 .b8 tile[512];\n");  // half of a matrix
    uint32_t good = 0, bad = 0;
    for (const SeenAccess& access : lab.seen.accesses) {
        REQUIRE(access.space == ptx::Space::kShared);
        good += uint32_t(std::popcount(access.mask & ~access.bad));
        bad += uint32_t(std::popcount(access.bad));
    }
    CHECK(good == 128);
    CHECK(bad == 128);
    REQUIRE(lab.seen.syncs.size() == 1);
    CHECK(lab.seen.syncs[0].kind == WarpSyncKind::kMatrix);
}

TEST_CASE("matrix instructions wait for all lanes of the warp", "[machine][matrix]") {
    Lab lab;
    lab.run("setp.lt.u32 %p1, %lane, 7;\nmov.u32 %r3, 1;\n@%p1 bra LOW;\nmov.u32 %r3, 2;\n"
            "add.u32 %r3, %r3, 1;\nbra GO;\nLOW:\nmov.u32 %r3, 5;\nGO:\n"
            "movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r3;\nst.global.b32 [%mine], %r4;");
    CHECK(lab.seen.syncs.empty());
    CHECK(lab.got(0) == 0x00050005);  // halves (0,0) and (1,0): lanes 0 and 4
    CHECK(lab.got(31) == 0);
    CHECK(lab.got(1) == 0x00030003);  // (2,0) and (3,0): lanes 8 and 12
    Lab alone;
    alone.run("setp.lt.u32 %p1, %lane, 7;\n@%p1 exit;\nmov.u32 %r3, 2;\n"
              "movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r3;\nst.global.b32 [%mine], %r4;");
    REQUIRE(alone.seen.syncs.size() == 1);
    CHECK(alone.seen.syncs[0].missing_exited == 0x7f);
}
