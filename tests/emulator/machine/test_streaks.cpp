// SPDX-License-Identifier: MIT
// A single lane: observers that agree receive its loads and stores in runs, which describe the same
// accesses as one by one.
#include <algorithm>
#include <map>
#include <tuple>

#include "machine_lab.h"

using namespace machine_lab;

namespace {

// One access of one lane.
using Touch = std::tuple<uint64_t, uint32_t, AccessKind, std::string>;  // address, bytes

// Accepts `allowed` accesses at a time, and splits the runs that it receives.
class Counting final : public Observer {
public:
    explicit Counting(uint64_t allowed) : allowed_(allowed) {}

    void on_access(const AccessEvent& event) override {
        ++events;
        for (uint32_t lane = 0; lane < kWarpSize; ++lane)
            if (event.mask >> lane & 1) touch(event, event.address[lane]);
        bad += event.bad_lanes != 0;
        if (event.kind >= AccessKind::kAtomic) before_atomic = touched.size() - 1;
    }
    uint64_t foresee(const AccessEvent& next, int64_t, uint64_t most) override {
        CHECK(next.values == nullptr);
        return std::min(most, allowed_);
    }
    void on_access_run(const AccessEvent& first, int64_t step, uint64_t count) override {
        ++events;
        ++runs;
        const uint64_t start = first.address[std::countr_zero(first.mask)];
        for (uint64_t k = 0; k < count; ++k) touch(first, start + k * uint64_t(step));
    }
    void on_launch_begin(const LaunchInfo&) override { ++launches; }

    std::vector<Touch> touched;
    size_t events = 0, runs = 0, bad = 0, launches = 0, before_atomic = 0;

private:
    void touch(const AccessEvent& event, uint64_t address) {
        touched.emplace_back(address, event.bytes, event.kind, code_site(event.site).function);
    }
    uint64_t allowed_;
};

struct Outcome {
    std::vector<Touch> touched;
    std::vector<uint32_t> words;
    size_t events = 0, runs = 0, bad = 0, before_atomic = 0;
};

// Runs a body of which lane 0 reaches everything after the first branch, alone.
Outcome run_alone(const std::string& body, uint64_t allowed, Shape shape = {}) {
    Lab lab(0);
    Counting counting(allowed);
    lab.observers.add(&counting, kGlobalAccess | kSharedAccess);
    for (uint32_t i = 0; i < 4096; ++i) {
        const uint32_t value = i * 2654435761u;
        std::memcpy(lab.in().host + i * 4, &value, 4);
    }
    lab.run("setp.ne.u32 %p1, %tid, 7;\n@%p1 bra END;\n" + body + "\nEND:", shape);
    Outcome out{
        counting.touched, {}, counting.events, counting.runs, counting.bad, counting.before_atomic};
    out.words.resize(4096);
    std::memcpy(out.words.data(), lab.out().host, 4096 * 4);
    return out;
}

// `body` for %r1 = 0 ... count - 1, with %rd1 and %rd2 moved on by `step` in `in` and `out`.
std::string loop(const std::string& body, int count, int step = 4, int first = 0) {
    return "add.s64 %rd1, %in, " + std::to_string(first) + ";\nadd.s64 %rd2, %out, " +
           std::to_string(first) + ";\nmov.u32 %r1, 0;\nL1:\n" + body + "\nadd.s64 %rd1, %rd1, " +
           std::to_string(step) + ";\nadd.s64 %rd2, %rd2, " + std::to_string(step) +
           ";\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, " + std::to_string(count) +
           ";\n@%p2 bra L1;\n";
}

std::vector<Touch> sorted(std::vector<Touch> touched) {
    std::sort(touched.begin(), touched.end());
    return touched;
}

const std::string kCopy = "ld.global.u32 %r2, [%rd1];\nst.global.u32 [%rd2], %r2;";

struct Body {
    const char* what;
    std::string text;
};
const std::vector<Body> kBodies = {
    {"upwards", loop(kCopy, 200)},
    {"downwards", loop(kCopy, 200, -4, 1200)},
    {"in place",
     loop("ld.global.u32 %r2, [%rd2];\nadd.u32 %r2, %r2, 3;\n"
          "st.global.u32 [%rd2], %r2;",
          100)},
    {"a running sum",
     loop("ld.global.u32 %r2, [%rd2];\nld.global.u32 %r3, [%rd1];\n"
          "add.u32 %r2, %r2, %r3;\nst.global.u32 [%rd2+4], %r2;",
          100)},
    {"one address",
     loop("ld.global.u32 %r2, [%out+64];\nadd.u32 %r2, %r2, %r1;\n"
          "st.global.u32 [%out+64], %r2;",
          100)},
    {"unrolled",
     loop("ld.global.u32 %r2, [%rd1];\nld.global.u32 %r3, [%rd1+4];\n"
          "ld.global.u32 %r4, [%rd1+8];\nld.global.u32 %r5, [%rd1+12];\n"
          "st.global.u32 [%rd2], %r3;\nst.global.u32 [%rd2+4], %r2;\n"
          "st.global.u32 [%rd2+8], %r5;\nst.global.u32 [%rd2+12], %r4;",
          40, 16)},
    {"bytes", loop("ld.global.u8 %r2, [%rd1];\nst.global.u8 [%rd2], %r2;", 300, 1)},
    {"sign", loop("ld.global.s16 %r2, [%rd1];\nst.global.u32 [%rd2], %r2;", 100, 4)},
    {"vectors",
     loop("ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1];\n"
          "st.global.v2.u32 [%rd2], {%r5, %r3};",
          60, 16)},
    {"wide words", loop("ld.global.u64 %rd3, [%rd1];\nst.global.u64 [%rd2], %rd3;", 80, 8)},
    {"long steps", loop(kCopy, 20, 1024)},
    {"generic", loop("ld.u32 %r2, [%rd1];\nst.u32 [%rd2], %r2;", 90)},
    {"guarded",
     loop("and.b32 %r3, %r1, 4;\nsetp.ne.u32 %p3, %r3, 0;\n"
          "@%p3 ld.global.u32 %r2, [%rd1];\n@!%p3 st.global.u32 [%rd2], %r1;",
          100)},
    {"shared",
     ".shared .align 4 .b8 s[1024];\nmov.u32 %r9, s;\n" +
         loop("st.shared.u32 [%r9], %r1;\nadd.u32 %r9, %r9, 4;", 200) +
         "mov.u32 %r9, s;\nmov.u32 %r1, 0;\nmov.u64 %rd2, %out;\nL2:\n"
         "ld.shared.u32 %r2, [%r9];\nst.global.u32 [%rd2], %r2;\n"
         "add.u32 %r9, %r9, 4;\nadd.u64 %rd2, %rd2, 4;\nadd.u32 %r1, %r1, 1;\n"
         "setp.lt.u32 %p2, %r1, 200;\n@%p2 bra L2;"},
    {"nested",
     "mov.u32 %r8, 0;\nL3:\n" + loop(kCopy, 9, 4, 64) +
         "add.u32 %r8, %r8, 1;\nsetp.lt.u32 %p4, %r8, 30;\n@%p4 bra L3;"},
    {"all over",
     loop("mad.lo.u32 %r3, %r1, 40503, 7;\nand.b32 %r3, %r3, 1023;\n"
          "mad.wide.u32 %rd4, %r3, 4, %out;\nld.global.u32 %r2, [%rd4];\n"
          "add.u32 %r2, %r2, 1;\nst.global.u32 [%rd4], %r2;",
          150)},
};

}  // namespace

TEST_CASE("runs: observers receive the same accesses as one by one", "[machine][runs]") {
    for (const Body& body : kBodies) {
        INFO(body.what);
        const Outcome single = run_alone(body.text, 0);
        CHECK(single.runs == 0);
        CHECK(single.events == single.touched.size());
        for (const uint64_t allowed : {uint64_t(1), uint64_t(3), ~uint64_t(0)}) {
            INFO("allowed " << allowed);
            const Outcome together = run_alone(body.text, allowed);
            CHECK(sorted(together.touched) == sorted(single.touched));
            CHECK(together.words == single.words);
        }
    }
}

TEST_CASE("runs: even steps are a few events", "[machine][runs]") {
    for (size_t k = 0; k < 10; ++k) {
        INFO(kBodies[k].what);
        const Outcome out = run_alone(kBodies[k].text, ~uint64_t(0));
        CHECK(out.runs > 0);
        CHECK(out.events <= 30);  // three for each instruction before its run begins
    }
    // The four loads of an unrolled loop go through memory together, and so do its stores.
    const Outcome unrolled = run_alone(kBodies[5].text, ~uint64_t(0));
    CHECK(unrolled.runs <= 4);
}

TEST_CASE("runs: a store is reported before another instruction reads it", "[machine][runs]") {
    const std::string body = loop("st.global.u32 [%rd2], %r1;", 50) +
                             "mov.u64 %rd2, %out;\nmov.u32 %r1, 0;\nL2:\n"
                             "ld.global.u32 %r2, [%rd2+100];\nadd.u64 %rd2, %rd2, 4;\n"
                             "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 20;\n@%p2 bra L2;";
    const Outcome out = run_alone(body, ~uint64_t(0));
    std::map<uint64_t, bool> stored;
    size_t loads = 0;
    for (const auto& [address, bytes, kind, function] : out.touched) {
        if (kind == AccessKind::kStore) stored[address] = true;
        if (kind != AccessKind::kLoad) continue;
        ++loads;
        CHECK(stored[address]);
    }
    CHECK(loads == 20);
}

TEST_CASE("runs: loops are reported one after the other", "[machine][runs]") {
    const std::string body = loop("st.global.u32 [%rd2], %r1;", 50) +
                             "mov.u64 %rd1, %in;\nmov.u32 %r1, 0;\nL2:\n"
                             "ld.global.u32 %r2, [%rd1];\nadd.u64 %rd1, %rd1, 4;\n"
                             "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 20;\n@%p2 bra L2;";
    const Outcome out = run_alone(body, ~uint64_t(0));
    const auto is_load = [](const Touch& t) { return std::get<2>(t) == AccessKind::kLoad; };
    CHECK(out.touched.size() == 70);
    CHECK(std::is_partitioned(
        out.touched.begin(), out.touched.end(), [&](const Touch& t) { return !is_load(t); }));
}

TEST_CASE("runs: all other events are reported in their order", "[machine][runs]") {
    const std::string body =
        loop(kCopy, 50) + "atom.global.add.u32 %r2, [%out], 1;\n" + "ld.global.u32 %r2, [%in];";
    const Outcome out = run_alone(body, ~uint64_t(0));
    CHECK(out.before_atomic == 100);
    CHECK(out.touched.size() == 102);
}

TEST_CASE("runs: end where their array ends", "[machine][runs]") {
    const int inside = (64 << 10) / 4;
    const Outcome out = run_alone(loop("ld.global.u32 %r2, [%rd1];", inside + 3), ~uint64_t(0));
    CHECK(out.runs > 0);
    CHECK(out.bad == 3);
    const Outcome below = run_alone(loop("ld.global.u32 %r2, [%rd1];", 12, -4, 32), ~uint64_t(0));
    CHECK(below.bad == 3);
}

TEST_CASE("runs: an access that is not aligned has none", "[machine][runs]") {
    const Outcome out = run_alone(loop("ld.global.u32 %r2, [%rd1+2];", 1), ~uint64_t(0));
    CHECK(out.runs == 0);
    CHECK(out.bad == 0);
}

TEST_CASE("runs: two lanes have none", "[machine][runs]") {
    Lab lab(0);
    Counting counting(~uint64_t(0));
    lab.observers.add(&counting, kGlobalAccess);
    lab.run("setp.gt.u32 %p1, %tid, 1;\n@%p1 bra END;\n" + loop(kCopy, 50) + "END:");
    CHECK(counting.runs == 0);
    CHECK(counting.events == 100);
}

TEST_CASE("runs: volatile accesses have none", "[machine][runs]") {
    const Outcome out = run_alone(loop("ld.volatile.global.u32 %r2, [%rd1];", 50), ~uint64_t(0));
    CHECK(out.runs == 0);
    CHECK(out.events == 50);
}
