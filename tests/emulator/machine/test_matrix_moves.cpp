// SPDX-License-Identifier: MIT
// ldmatrix, stmatrix, movmatrix and wmma: which lane has which element.
#include "matrix_lab.h"

using namespace matrix_lab;

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
    CHECK(good == 64);  // lanes that load two floats at once
    CHECK(bad == 64);
    REQUIRE(lab.seen.syncs.size() == 1);
    CHECK(lab.seen.syncs[0].kind == WarpSyncKind::kMatrix);
}

TEST_CASE("wmma: what a lane loads and stores at once", "[machine][matrix]") {
    struct Wide {
        const char *mnemonic, *address, *stride;
        AccessKind kind;
        size_t accesses;
        uint32_t bytes;
    };
    const std::string halves = list("%r", 10, 8), floats = list("%f", 0, 8);
    const std::string tile =
        "mov.u32 %r1, tile;\nmov.u64 %rd1, tile;\ncvta.shared.u64 %rd2, %rd1;\n";
    using enum AccessKind;
    for (const Wide& wide : {Wide{"load.a%.row.m16n16k16.shared.f16", "[%r1]", "24", kLoad, 1, 16},
                             {"load.a%.col.m16n16k16.f16", "[%rd2]", "24", kLoad, 1, 16},
                             {"load.b%.row.m16n16k16.shared.f16", "[%r1]", "24", kLoad, 1, 16},
                             {"load.b%.col.m32n8k16.shared.f16", "[%r1]", "24", kLoad, 1, 16},
                             {"load.a%.row.m16n16k16.f16", "[%in]", "24", kLoad, 4, 4},
                             {"load.b%.row.m16n16k16.global.f16", "[%in]", "16", kLoad, 4, 4},
                             {"load.b%.row.m8n32k16.global.f16", "[%in]", "32", kLoad, 8, 4},
                             {"load.c%.row.m16n16k16.shared.f32", "[%r1]", "20", kLoad, 4, 8},
                             {"load.c%.col.m16n16k16.shared.f32", "[%r1]", "20", kLoad, 8, 4},
                             {"store.d%.row.m16n16k16.f32", "[%out]", "16", kStore, 4, 8},
                             {"store.d%.col.m16n16k16.f32", "[%out]", "16", kStore, 8, 4}}) {
        std::string mnemonic = std::string("wmma.") + wide.mnemonic;
        mnemonic.replace(mnemonic.find('%'), 1, ".sync.aligned");
        const std::string& list = mnemonic.ends_with("f32") ? floats : halves;
        const std::string place = std::string(wide.address);
        Lab lab;
        INFO(mnemonic);
        lab.run(tile + mnemonic + " " +
                    (wide.kind == kLoad ? list + ", " + place : place + ", " + list) + ", " +
                    wide.stride + ";",
                {},
                ".shared .align 32 .b8 tile[2048];\n");
        size_t accesses = 0;
        for (const SeenAccess& access : lab.seen.accesses) {
            REQUIRE(access.kind == wide.kind);
            CHECK(access.bytes == wide.bytes);
            CHECK(access.bad == 0);
            ++accesses;
        }
        CHECK(accesses == wide.accesses);
    }
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
