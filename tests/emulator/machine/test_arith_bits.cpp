// SPDX-License-Identifier: MIT
// Logic, shifts and bit fields, against formulas bit by bit.
#include <random>

#include "arith_lab.h"

using namespace lab;

TEST_CASE("logic: all widths", "[machine][arith]") {
    check({
        {"and.b16", {0xff0f, 0x0ff0}, 0x0f00},
        {"or.b16", {0xf000, 0x000f}, 0xf00f},
        {"xor.b32", {0xffffffff, 0x12345678}, 0xedcba987},
        {"and.b64", {0xff00000000000001, 0x8000000000000001}, 0x8000000000000001},
        {"not.b16", {0x00ff}, 0xff00},
        {"not.b32", {0}, 0xffffffff},
        {"not.b64", {1}, ~uint64_t(1)},
        {"cnot.b16", {0}, 1},
        {"cnot.b32", {5}, 0},
        {"cnot.b64", {uint64_t(1) << 40}, 0},
    });
}

TEST_CASE("logic: predicates", "[machine][arith]") {
    for (uint64_t a : {0, 1})
        for (uint64_t b : {0, 1}) {
            CHECK(eval("and.pred", {a, b}) == (a & b));
            CHECK(eval("or.pred", {a, b}) == (a | b));
            CHECK(eval("xor.pred", {a, b}) == (a ^ b));
        }
    CHECK(eval("not.pred", {0}) == 1);
    CHECK(eval("not.pred", {1}) == 0);
    CHECK(eval("mov.pred", {1}) == 1);
}

TEST_CASE("lop3: every table applies to every bit pattern", "[machine][arith]") {
    // These three words have all eight combinations of bits in each byte.
    const uint64_t a = 0xf0f0f0f0, b = 0xcccccccc, c = 0xaaaaaaaa;
    for (uint64_t table = 0; table < 256; ++table) {
        Setup setup{.mnemonic = "lop3.b32", .sources = {{a}, {b}, {c}}};
        setup.table = table;
        if (run(setup).dst[3] != table * 0x01010101) FAIL(table);
    }
}

TEST_CASE("shift: amounts at and past the width", "[machine][arith]") {
    check({
        {"shl.b32", {0x80000001, 1}, 2},
        {"shl.b32", {1, 31}, 0x80000000},
        {"shl.b32", {1, 32}, 0},
        {"shl.b32", {1, 0xffffffff}, 0},
        {"shl.b16", {0x8001, 1}, 2},
        {"shl.b16", {1, 16}, 0},
        {"shl.b64", {1, 63}, 0x8000000000000000},
        {"shl.b64", {1, 64}, 0},
        {"shl.b64", {1, 0x100000001}, 2},  // only 32 bits of the amount are read
        {"shr.u32", {0x80000000, 31}, 1},
        {"shr.u32", {0x80000000, 32}, 0},
        {"shr.u32", {0x80000000, 0x80000000}, 0},
        {"shr.s32", {0x80000000, 31}, 0xffffffff},
        {"shr.s32", {0x80000000, 99}, 0xffffffff},
        {"shr.s32", {0x7fffffff, 99}, 0},
        {"shr.b32", {0x80000000, 4}, 0x08000000},
        {"shr.s16", {0x8000, 4}, 0xf800},
        {"shr.s16", {0x8000, 16}, 0xffff},
        {"shr.u16", {0x8000, 15}, 1},
        {"shr.u16", {0x8000, 16}, 0},
        {"shr.u64", {0x8000000000000000, 63}, 1},
        {"shr.u64", {0x8000000000000000, 64}, 0},
        {"shr.s64", {0x8000000000000000, 200}, ~uint64_t(0)},
    });
}

TEST_CASE("shf: both directions, clamped and wrapped", "[machine][arith]") {
    for (const uint64_t n : {0, 1, 8, 31, 32, 33, 40, 64, 1000}) {
        CAPTURE(n);
        const uint64_t a = 0x89abcdef, b = 0x01234567, both = b << 32 | a;
        const uint64_t clamped = n < 32 ? n : 32, wrapped = n % 32;
        CHECK(eval("shf.l.clamp.b32", {a, b, n}) == uint32_t((both << clamped) >> 32));
        CHECK(eval("shf.l.wrap.b32", {a, b, n}) == uint32_t((both << wrapped) >> 32));
        CHECK(eval("shf.r.clamp.b32", {a, b, n}) == uint32_t(both >> clamped));
        CHECK(eval("shf.r.wrap.b32", {a, b, n}) == uint32_t(both >> wrapped));
    }
}

TEST_CASE("bfe and bfi: places and lengths past the width, as PTX's loop defines them",
          "[machine][arith][slow]") {
    std::mt19937_64 random(4);
    const uint64_t places[] = {0, 1, 5, 15, 30, 31, 32, 33, 62, 63, 64, 65, 200, 255, 256, 0x107};
    for (int round = 0; round < 300; ++round) {
        const uint64_t a = random(), b = random();
        const uint64_t place = places[random() % 16], length = places[random() % 16];
        for (const unsigned bits : {32u, 64u}) {
            const uint64_t mask = ~uint64_t(0) >> (64 - bits);
            // Of 32-bit forms the low 8 bits count, as PTX says; of 64-bit forms on an H200 all.
            const unsigned msb = bits - 1, pos = bits == 32 ? place & 0xff : unsigned(place);
            const unsigned len = bits == 32 ? length & 0xff : unsigned(length);
            const auto bit = [](uint64_t x, unsigned i) { return x >> i & 1; };
            for (const bool is_signed : {false, true}) {
                const uint64_t sign = is_signed && len ? bit(a, std::min(pos + len - 1, msb)) : 0;
                uint64_t want = 0;
                for (unsigned i = 0; i <= msb; ++i)
                    want |= (i < len && pos + i <= msb ? bit(a, pos + i) : sign) << i;
                const std::string name =
                    std::string("bfe.") + (is_signed ? "s" : "u") + std::to_string(bits);
                if (eval(name, {a & mask, place, length}) != want)
                    FAIL(name << " " << std::hex << a << " " << place << " " << length);
            }
            uint64_t want = b & mask;
            for (unsigned i = 0; i < len && pos + i <= msb; ++i)
                want = (want & ~(uint64_t(1) << (pos + i))) | bit(a, i) << (pos + i);
            const std::string name = "bfi.b" + std::to_string(bits);
            if (eval(name, {a & mask, b & mask, place, length}) != want)
                FAIL(name << " " << std::hex << a << " " << b << " " << place << " " << length);
        }
    }
}

TEST_CASE("bit counts: popc, clz, brev and bfind of random words with few and many bits",
          "[machine][arith][slow]") {
    std::mt19937_64 random(6);
    std::vector<uint64_t> words = {0, 1, 0x80000000, 0xffffffff, ~uint64_t(0), uint64_t(1) << 63};
    for (int i = 0; i < 100; ++i) words.push_back(random() >> (random() % 64));
    for (const uint64_t word : words)
        for (const unsigned bits : {32u, 64u}) {
            const uint64_t x = bits == 32 ? uint32_t(word) : word;
            const std::string b = std::to_string(bits);
            unsigned count = 0, highest = ~0u, differs = ~0u;
            uint64_t reversed = 0;
            const uint64_t sign = x >> (bits - 1);
            for (unsigned i = 0; i < bits; ++i) {
                const uint64_t bit = x >> i & 1;
                count += unsigned(bit);
                reversed |= bit << (bits - 1 - i);
                if (bit) highest = i;
                if (bit != sign) differs = i;
            }
            CHECK(eval("popc.b" + b, {x}) == count);
            CHECK(eval("clz.b" + b, {x}) == (highest == ~0u ? bits : bits - 1 - highest));
            CHECK(eval("brev.b" + b, {x}) == reversed);
            CHECK(eval("bfind.u" + b, {x}) == highest);
            CHECK(eval("bfind.s" + b, {x}) == differs);
            CHECK(eval("bfind.shiftamt.u" + b, {x}) == (highest == ~0u ? ~0u : bits - 1 - highest));
            CHECK(eval("bfind.shiftamt.s" + b, {x}) == (differs == ~0u ? ~0u : bits - 1 - differs));
        }
}

TEST_CASE("fns: the n-th set bit in either direction", "[machine][arith]") {
    check({
        {"fns.b32", {0xaaaaaaaa, 3, 1}, 3},
        {"fns.b32", {0xaaaaaaaa, 3, uint32_t(-1)}, 3},
        {"fns.b32", {0xaaaaaaaa, 2, 1}, 3},
        {"fns.b32", {0xaaaaaaaa, 2, uint32_t(-1)}, 1},
        {"fns.b32", {0xaaaaaaaa, 3, 0}, 3},
        {"fns.b32", {0xaaaaaaaa, 2, 0}, 0xffffffff},
        {"fns.b32", {0xaaaaaaaa, 0, 16}, 31},
        {"fns.b32", {0xaaaaaaaa, 0, 17}, 0xffffffff},
        {"fns.b32", {0xaaaaaaaa, 0, 0x80000000}, 0xffffffff},
    });
}

TEST_CASE("szext and bmsk: counts of zero, of 32 and beyond", "[machine][arith]") {
    check({
        {"szext.wrap.u32", {0xffffffff, 0}, 0},
        {"szext.clamp.s32", {0xffffffff, 0}, 0},
        {"szext.wrap.s32", {0x8, 4}, 0xfffffff8},
        {"szext.wrap.u32", {0xf8, 4}, 8},
        {"szext.wrap.s32", {0x1, 33}, 0xffffffff},
        {"szext.clamp.s32", {0x12345678, 33}, 0x12345678},
        {"szext.clamp.u32", {0x92345678, 32}, 0x92345678},
        {"szext.wrap.u32", {0x92345678, 32}, 0},
        {"bmsk.wrap.b32", {1, 2}, 6},
        {"bmsk.clamp.b32", {0, 32}, 0xffffffff},
        {"bmsk.wrap.b32", {0, 32}, 0},
        {"bmsk.clamp.b32", {30, 5}, 0xc0000000},
        {"bmsk.wrap.b32", {30, 5}, 0xc0000000},
        {"bmsk.clamp.b32", {32, 5}, 0},
        {"bmsk.wrap.b32", {33, 1}, 2},
        {"bmsk.clamp.b32", {4, 0}, 0},
    });
}

TEST_CASE("prmt: picks, signs and all modes", "[machine][arith]") {
    const uint64_t a = 0x83828180, b = 0x07060504;
    check({
        {"prmt.b32", {a, b, 0x3210}, a},
        {"prmt.b32", {a, b, 0x7654}, b},
        {"prmt.b32", {a, b, 0x0426}, 0x80048206},
        {"prmt.b32", {a, b, 0x8c9b}, 0xff00ffff},
        {"prmt.b32", {a, b, 0xabcd0000}, 0x80808080},  // upper bits do not count
        {"prmt.b32.f4e", {a, b, 0}, 0x83828180},
        {"prmt.b32.f4e", {a, b, 1}, 0x04838281},
        {"prmt.b32.f4e", {a, b, 3}, 0x06050483},
        {"prmt.b32.f4e", {a, b, 7}, 0x06050483},
        {"prmt.b32.b4e", {a, b, 0}, 0x05060780},
        {"prmt.b32.b4e", {a, b, 3}, 0x80818283},
        {"prmt.b32.rc8", {a, b, 2}, 0x82828282},
        {"prmt.b32.ecl", {a, b, 1}, 0x83828181},
        {"prmt.b32.ecl", {a, b, 3}, 0x83838383},
        {"prmt.b32.ecr", {a, b, 1}, 0x81818180},
        {"prmt.b32.ecr", {a, b, 3}, 0x83828180},
        {"prmt.b32.rc16", {a, b, 0}, 0x81808180},
        {"prmt.b32.rc16", {a, b, 1}, 0x83828382},
    });
}

TEST_CASE("prmt: one selector for all lanes and one for each", "[machine][arith]") {
    std::mt19937 random(8);
    for (int round = 0; round < 60; ++round) {
        Setup setup{.mnemonic = "prmt.b32", .sources = {{}, {}, {}}};
        for (unsigned i = 0; i < kWarpSize; ++i) {
            setup.sources[0].push_back(uint32_t(random()));
            setup.sources[1].push_back(uint32_t(random()));
        }
        const bool same = round % 2;
        for (unsigned i = 0; i < (same ? 1 : kWarpSize); ++i)
            setup.sources[2].push_back(random() & (round % 4 < 2 ? 0x7777 : 0xffffffff));
        const Outcome outcome = run(setup);
        for (unsigned i = 0; i < kWarpSize; ++i) {
            const uint64_t bytes = setup.sources[1][i] << 32 | setup.sources[0][i];
            const uint64_t selector = setup.sources[2][same ? 0 : i];
            uint64_t want = 0;
            for (unsigned k = 0; k < 4; ++k) {
                const uint64_t pick = selector >> (4 * k) & 15;
                const uint64_t byte = bytes >> (8 * (pick & 7)) & 0xff;
                want |= (pick & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << (8 * k);
            }
            if (outcome.dst[i] != want) FAIL(std::hex << selector);
        }
    }
}

TEST_CASE("mov, selp and slct: every width", "[machine][arith]") {
    check({
        {"mov.b16", {0x1234}, 0x1234},
        {"mov.u32", {0x12345678}, 0x12345678},
        {"mov.f32", {0x7fa00001}, 0x7fa00001},  // a NaN's bits pass
        {"mov.b64", {0x123456789abcdef0}, 0x123456789abcdef0},
        {"mov.f64", {0x7ff0000000000001}, 0x7ff0000000000001},
        {"selp.b16", {1, 2, 1}, 1},
        {"selp.b32", {1, 2, 0}, 2},
        {"selp.f64", {1, 2, 1}, 1},
        {"slct.b32.s32", {1, 2, 0}, 1},
        {"slct.b32.s32", {1, 2, 0x80000000}, 2},
        {"slct.u64.f32", {1, 2, bits(-1.0f)}, 2},
        {"slct.u64.f32", {1, 2, bits(-0.0f)}, 1},
        {"slct.b16.f32", {1, 2, 0x7fc00000}, 2},
        {"slct.f32.f32", {1, 2, 0x80000001}, 2},
        {"slct.ftz.f32.f32", {1, 2, 0x80000001}, 1},
    });
}

TEST_CASE("selp: each lane follows its own predicate", "[machine][arith]") {
    for (const char* mnemonic : {"selp.u16", "selp.u32", "selp.u64"}) {
        Setup setup{.mnemonic = mnemonic, .sources = {{}, {}, {}}};
        for (uint64_t i = 0; i < kWarpSize; ++i) {
            setup.sources[0].push_back(100 + i);
            setup.sources[1].push_back(200 + i);
            setup.sources[2].push_back(0x9a3c5f01u >> i & 1);
        }
        const Outcome outcome = run(setup);
        for (uint64_t i = 0; i < kWarpSize; ++i)
            CHECK(outcome.dst[i] == (0x9a3c5f01u >> i & 1 ? 100 : 200) + i);
    }
}
