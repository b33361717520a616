// SPDX-License-Identifier: MIT
// The contract with observers: which events each one receives, in which order, with which data.
#include "machine_lab.h"

using namespace machine_lab;

namespace {
const std::string kBusy =
    ".shared .align 4 .b8 s[128];\n.local .align 4 .b8 l[4];\nld.global.u32 %r1, [%in];\n"
    "st.shared.u32 [s], %r1;\nst.local.u32 [l], %r1;\nbar.sync 0;\nmembar.gl;\nst.global.u32 "
    "[%mine], 1;";
}  // namespace

TEST_CASE("observers: each interest brings its own events and no others", "[machine][observers]") {
    struct Case {
        uint32_t interest;
        size_t accesses, barriers, fences, log;
    };
    for (const Case c : {Case{kGlobalAccess, 2, 0, 0, 0},
                         {kSharedAccess, 1, 0, 0, 0},
                         {kLocalAccess, 1, 0, 0, 0},
                         {kSyncEvents, 0, 1, 1, 0},
                         {kLaunchEvents, 0, 0, 0, 2},
                         {kBlockEvents, 0, 0, 0, 2},
                         {kOnlyBadAccess, 0, 0, 0, 0},
                         {kFaultEvents, 0, 0, 0, 0},
                         {kAllEvents, 4, 1, 1, 4}}) {
        Lab lab(c.interest);
        lab.run(kBusy);
        CAPTURE(c.interest);
        CHECK(lab.seen.accesses.size() == c.accesses);
        CHECK(lab.seen.barriers.size() == c.barriers);
        CHECK(lab.seen.fences.size() == c.fences);
        CHECK(lab.seen.log.size() == c.log);
        CHECK(lab.got(0) == 1);
    }
}

TEST_CASE("observers: the order of a launch and its blocks", "[machine][observers]") {
    Lab lab;
    lab.run("", {.grid = {2, 1, 2}});
    CHECK(lab.seen.log == std::vector<std::string>{"launch k",
                                                   "block 0",
                                                   "done 0",
                                                   "block 1",
                                                   "done 1",
                                                   "block 2",
                                                   "done 2",
                                                   "block 3",
                                                   "done 3",
                                                   "end"});
}

TEST_CASE("observers: an observer of bad accesses receives those of every space",
          "[machine][observers]") {
    Lab lab(kOnlyBadAccess);
    lab.run(".shared .align 4 .b8 s[8];\n.local .align 4 .b8 l[8];\nmov.u64 %rd1, 0;\n"
            "ld.global.u32 %r1, [%in];\nst.shared.u32 [s+8], 1;\nst.shared.u32 [s+4], 1;\n"
            "st.local.u32 [l+8], 1;\nld.global.u32 %r1, [%rd1];\nld.global.u32 %r1, [%in+2];");
    REQUIRE(lab.seen.accesses.size() == 4);
    CHECK(lab.seen.accesses[0].space == ptx::Space::kShared);
    CHECK(lab.seen.accesses[1].space == ptx::Space::kLocal);
    CHECK(lab.seen.accesses[2].bad == kAllLanes);
    CHECK(lab.seen.accesses[3].misaligned == kAllLanes);
}

TEST_CASE("observers: called in the order in which they were added, none after clear()",
          "[machine][observers]") {
    struct Note final : Observer {
        std::string* to;
        char name;
        Note(std::string* text, char letter) : to(text), name(letter) {}
        void on_launch_begin(const LaunchInfo&) override { *to += name; }
    };
    std::string order;
    Note b(&order, 'b'), a(&order, 'a');
    Lab lab(0);
    lab.observers.add(&b, kAllEvents);
    lab.observers.add(&a, kLaunchEvents);
    lab.run("");
    CHECK(order == "ba");
    lab.observers.clear();
    lab.run("");
    CHECK(order == "ba");
}

TEST_CASE("access: fires before the store, with the old and the new bytes",
          "[machine][observers]") {
    for (const char* where : {"%mine8", "%rd1"}) {
        Lab lab;
        lab.run(std::string(".shared .align 8 .b8 s[256];\nmov.u64 %rd2, s;\n") +
                "cvta.shared.u64 %rd2, %rd2;\nmad.wide.u32 %rd1, %lane, 8, %rd2;\n" +
                "cvt.u64.u32 %rd3, %lane;\nst.u64 [" + where + "], %rd3;\nst.u64 [" + where +
                "], 9;");
        REQUIRE(lab.seen.accesses.size() == 2);
        for (const uint32_t lane : {0u, 3u, 31u}) {
            CHECK(lab.seen.accesses[0].stored[lane] == lane);
            CHECK(lab.seen.accesses[1].before[lane] == lane);
            CHECK(lab.seen.accesses[1].stored[lane] == 9);
        }
    }
}

TEST_CASE("access: addresses, contiguity and owner", "[machine][observers]") {
    Lab lab;
    lab.run(
        "mad.wide.u32 %rd1, %lane, 4, %in;\nld.global.u32 %r1, [%rd1+8];\n"
        "mad.wide.u32 %rd2, %lane, 8, %in;\nld.global.u32 %r1, [%rd2];\n"
        "setp.gt.u32 %p1, %lane, 3;\n@%p1 ld.global.u32 %r1, [%rd1];\nld.global.u32 %r1, [%in];\n"
        "xor.b32 %r2, %lane, 1;\nmad.wide.u32 %rd3, %r2, 4, %in;\nld.global.u32 %r1, [%rd3];");
    const auto& a = lab.seen.accesses;
    REQUIRE(a.size() == 5);
    CHECK(a[0].contiguous);
    CHECK_FALSE(a[1].contiguous);
    CHECK_FALSE(a[2].contiguous);
    CHECK_FALSE(a[3].contiguous);
    CHECK_FALSE(a[4].contiguous);
    CHECK(a[2].mask == 0xfffffff0u);
    for (uint32_t lane = 4; lane < 32; ++lane) {
        CHECK(a[0].address[lane] == lab.in().address + 8 + 4 * lane);
        CHECK(a[1].address[lane] == lab.in().address + 8 * lane);
        CHECK(a[3].address[lane] == lab.in().address);
        CHECK(a[4].address[lane] == lab.in().address + 4 * (lane ^ 1));
    }
    for (const SeenAccess& x : a) CHECK(x.one_owner);
}

TEST_CASE("access: no events for masks without lanes", "[machine][observers]") {
    Lab lab;
    lab.run("setp.gt.u32 %p1, %lane, 99;\n@%p1 st.global.u32 [%mine], 1;");
    CHECK(lab.seen.accesses.empty());
    CHECK(lab.got(0) == kOldWord);
}

TEST_CASE("access: order and scope of loads and stores as written", "[machine][observers]") {
    Lab lab;
    lab.run("ld.global.u32 %r1, [%in];\nld.volatile.global.u32 %r1, [%in];\n"
            "ld.relaxed.gpu.global.u32 %r1, [%in];\nld.acquire.sys.global.u32 %r1, [%in];\n"
            "st.release.cta.global.u32 [%in], %r1;\nld.global.nc.u32 %r1, [%in];\n"
            "ld.weak.global.u32 %r1, [%in];");
    const auto& a = lab.seen.accesses;
    REQUIRE(a.size() == 7);
    CHECK(a[0].order == MemoryOrder::kWeak);
    CHECK(a[1].order == MemoryOrder::kVolatile);
    CHECK((a[2].order == MemoryOrder::kRelaxed && a[2].scope == Scope::kGpu));
    CHECK((a[3].order == MemoryOrder::kAcquire && a[3].scope == Scope::kSys));
    CHECK((a[4].order == MemoryOrder::kRelease && a[4].scope == Scope::kCta));
    CHECK(a[5].order == MemoryOrder::kWeak);
    CHECK(a[6].order == MemoryOrder::kWeak);
}

TEST_CASE("fence: scopes", "[machine][observers]") {
    Lab lab;
    lab.run("membar.cta;\nmembar.gl;\nmembar.sys;\nfence.sc.gpu;\nfence.acq_rel.cta;\n"
            "setp.lt.u32 %p1, %lane, 4;\n@%p1 membar.gl;");
    REQUIRE(lab.seen.fences.size() == 6);
    const Scope want[] = {
        Scope::kCta, Scope::kGpu, Scope::kSys, Scope::kGpu, Scope::kCta, Scope::kGpu};
    for (size_t i = 0; i < 6; ++i) CHECK(lab.seen.fences[i].scope == want[i]);
    CHECK(lab.seen.fences[5].mask == 0xf);
}

TEST_CASE("thread_index: x runs fastest", "[machine][observers]") {
    LaunchInfo launch;
    launch.block = {5, 3, 2};
    BlockInfo block;
    block.launch = &launch;
    for (uint32_t t = 0; t < 30; ++t)
        CHECK(thread_index(block, t) == Dim3{t % 5, t / 5 % 3, t / 15});
}

TEST_CASE("special registers: threads, blocks and sizes in three dimensions",
          "[machine][observers]") {
    Lab lab;
    // One number in base 8 from tid, ntid and ctaid, nctaid.
    std::string body = "mov.u32 %r9, 0;\n";
    for (const char* r : {"%tid.x",
                          "%tid.y",
                          "%tid.z",
                          "%ctaid.x",
                          "%ctaid.y",
                          "%ctaid.z",
                          "%nctaid.y",
                          "%ntid.y",
                          "%ntid.z"})
        body += std::string("mov.u32 %r1, ") + r + ";\nmad.lo.u32 %r9, %r9, 8, %r1;\n";
    body += "mov.u32 %r2, %tid.y;\nmov.u32 %r3, %tid.z;\nmad.lo.u32 %r4, %r3, 3, %r2;\n"
            "mad.lo.u32 %r4, %r4, 5, %tid;\nmov.u32 %r5, %ctaid.x;\nmov.u32 %r6, %ctaid.y;\n"
            "mov.u32 %r7, %ctaid.z;\nmad.lo.u32 %r8, %r7, 2, %r6;\nmad.lo.u32 %r8, %r8, 2, %r5;\n"
            "mad.lo.u32 %r4, %r8, 30, %r4;\nmad.wide.u32 %rd1, %r4, 4, %out;\n"
            "st.global.u32 [%rd1], %r9;";
    lab.run(body, {.grid = {2, 2, 3}, .block = {5, 3, 2}});
    for (uint32_t b = 0; b < 12; ++b)
        for (uint32_t t = 0; t < 30; ++t) {
            uint32_t want = 0;
            for (uint32_t digit : {t % 5, t / 5 % 3, t / 15, b % 2, b / 2 % 2, b / 4, 2u, 3u, 2u})
                want = want * 8 + digit;
            REQUIRE(lab.got(30 * b + t) == want);
        }
}

TEST_CASE("special registers: lane masks and warp numbers", "[machine][observers]") {
    Lab lab;
    lab.run("mov.u32 %r1, %lanemask_lt;\nmov.u32 %r2, %lanemask_le;\nmov.u32 %r3, %lanemask_eq;\n"
            "mov.u32 %r4, %lanemask_ge;\nmov.u32 %r5, %lanemask_gt;\nmov.u32 %r6, %warpid;\n"
            "mad.wide.u32 %rd1, %g, 32, %out;\nst.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};\n"
            "st.global.v2.u32 [%rd1+16], {%r5, %r6};",
            {.block = {64, 1, 1}});
    for (uint32_t t = 0; t < 64; ++t) {
        const uint32_t bit = 1u << (t % 32);
        CHECK(lab.got(8 * t) == bit - 1);
        CHECK(lab.got(8 * t + 1) == (bit | (bit - 1)));
        CHECK(lab.got(8 * t + 2) == bit);
        CHECK(lab.got(8 * t + 3) == ~(bit - 1));
        CHECK(lab.got(8 * t + 4) == (~(bit - 1) & ~bit));
        CHECK(lab.got(8 * t + 5) == t / 32);
    }
}

TEST_CASE("counts: instructions by warps and threads, afresh for every launch",
          "[machine][observers]") {
    Lab lab;
    LoadedModule& m = lab.load(kernel_text("setp.lt.u32 %p1, %tid, 36;\n@!%p1 bra END;\n"
                                           "add.u32 %r1, %r1, 1;\nEND:\n"));
    for (int round = 0; round < 2; ++round) {
        const LaunchSummary s = lab.launch(m, "k", {.grid = {3, 1, 1}, .block = {40, 1, 1}});
        CHECK(lab.seen.executed("add.u32") == 6);
        CHECK(lab.seen.executed_threads("add.u32") == 3 * 36);
        CHECK(lab.seen.executed("setp") == 6);
        CHECK(lab.seen.executed_threads("setp") == 3 * 40);
        CHECK(s.thread_instructions > 0);
        CHECK(s.warp_instructions > 0);
    }
}

TEST_CASE("code_site: function, opcode and line of the text", "[machine][observers]") {
    struct Where final : Observer {
        CodeSite site;
        void on_access(const AccessEvent& event) override { site = code_site(event.site); }
    } where;
    Lab lab(0);
    lab.observers.add(&where, kGlobalAccess);
    LoadedModule& m =
        lab.load(".file 1 \"lesson.cu\"\n.visible .entry _Z4fillPj(.param .u64 a, .param .u64 b)\n"
                 "{\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [a];\n.loc 1 17 9\n"
                 "st.global.u32 [%rd1], 5;\nret;\n}\n");
    lab.launch(m, "_Z4fillPj");
    CHECK(where.site.function == "fill");
    CHECK(where.site.mangled == "_Z4fillPj");
    CHECK(where.site.opcode == "st.global.u32");
    CHECK(where.site.ptx_line == 10);
    CHECK(where.site.user.line == 17);
    CHECK(where.site.user.file == "lesson.cu");
    CHECK(code_site(0).function.empty());
}

TEST_CASE("shared_variable_at: any address of a window leads to its variable",
          "[machine][observers]") {
    struct Look final : Observer {
        bool found = false, none = false;
        void on_launch_begin(const LaunchInfo& info) override {
            REQUIRE(info.shared->size() == 1);
            const SharedVariable& v = info.shared->front();
            found = shared_variable_at(info, v.address + v.bytes + 100) == &v &&
                    shared_variable_at(info, v.address - 4) == &v;
            none = shared_variable_at(info, 0) == nullptr;
        }
    } look;
    Lab lab(0);
    lab.observers.add(&look, kLaunchEvents);
    lab.run(".shared .align 4 .b8 s[16];\nst.shared.u32 [s], 1;");
    CHECK(look.found);
    CHECK(look.none);
}

TEST_CASE("observers: watching changes nothing", "[machine][observers]") {
    // The same program with and without observers, and with all paths of access: same memory.
    const std::string body =
        ".shared .align 4 .b8 s[512];\nmov.u32 %r1, s;\nmul.lo.u32 %r2, %tid, 5;\nand.b32 %r2, "
        "%r2, 127;\n"
        "mad.lo.u32 %r3, %r2, 4, %r1;\nst.shared.u32 [%r3], %tid;\nbar.sync 0;\n"
        "mad.lo.u32 %r4, %tid, 4, %r1;\nld.shared.u32 %r5, [%r4];\natom.global.add.u32 %r6, [%in], "
        "%r5;\n"
        "add.u32 %r5, %r5, %r6;\nst.global.u32 [%mine], %r5;";
    Lab watched, alone(0);
    watched.run(body, {.grid = {2, 1, 1}, .block = {128, 1, 1}});
    alone.run(body, {.grid = {2, 1, 1}, .block = {128, 1, 1}});
    CHECK(watched.words(256) == alone.words(256));
    CHECK(watched.got(5) != kOldWord);
}
