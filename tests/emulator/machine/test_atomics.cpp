// SPDX-License-Identifier: MIT
// atom and red: every operation on every type, lane after lane, in every space.
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "machine_lab.h"

using namespace machine_lab;

namespace {

// One lane's step: the new value from the old one, b and c.
using Step = std::function<uint64_t(uint64_t old, uint64_t b, uint64_t c)>;

struct Operation {
    const char* name;  // "add.u32"
    unsigned bytes;
    uint64_t start;
    std::function<uint64_t(uint64_t lane)> b;
    Step step;
    bool has_c = false;
    std::function<uint64_t(uint64_t lane)> c = {};
};

template <class T>
uint64_t bits_of(T value) {
    uint64_t out = 0;
    std::memcpy(&out, &value, sizeof value);
    return out;
}
template <class T>
T from_bits(uint64_t bits) {
    T out;
    std::memcpy(&out, &bits, sizeof out);
    return out;
}
// A step given on values of type T.
template <class T, class F>
Step on(F f) {
    return [f](uint64_t old, uint64_t b, uint64_t c) {
        return bits_of<T>(f(from_bits<T>(old), from_bits<T>(b), from_bits<T>(c)));
    };
}

template <class T>
void integer_operations(std::vector<Operation>& all, const char* suffix_) {
    const std::string suffix = suffix_;
    static std::vector<std::unique_ptr<std::string>> names;
    const auto name = [&](const char* op) {
        names.push_back(std::make_unique<std::string>(op + ("." + suffix)));
        return names.back()->c_str();
    };
    const auto scatter = [](uint64_t lane) {
        return bits_of<T>(T((lane + 1) * 0x9e3779b97f4a7c15ull));
    };
    const uint64_t start = bits_of<T>(std::numeric_limits<T>::max() - T(3));
    const unsigned n = sizeof(T);
    all.push_back({name("add"), n, start, scatter, on<T>([](T o, T b, T) {
                       return T(uint64_t(o) + uint64_t(b));
                   })});
    all.push_back(
        {name("min"), n, start, scatter, on<T>([](T o, T b, T) { return std::min(o, b); })});
    all.push_back(
        {name("max"), n, bits_of<T>(std::numeric_limits<T>::min()), scatter, on<T>([](T o, T b, T) {
             return std::max(o, b);
         })});
}

template <class T>
void bit_operations(std::vector<Operation>& all, const char* const names[5]) {
    const auto scatter = [](uint64_t lane) {
        return bits_of<T>(T((lane + 1) * 0x9e3779b97f4a7c15ull));
    };
    const unsigned n = sizeof(T);
    all.push_back({names[0],
                   n,
                   bits_of<T>(T(~T(0))),
                   [](uint64_t lane) { return bits_of<T>(T(~(T(1) << (lane % (8 * sizeof(T)))))); },
                   on<T>([](T o, T b, T) { return T(o & b); })});
    all.push_back({names[1],
                   n,
                   0,
                   [](uint64_t lane) { return bits_of<T>(T(T(1) << (lane % (8 * sizeof(T))))); },
                   on<T>([](T o, T b, T) { return T(o | b); })});
    all.push_back({names[2], n, 1, scatter, on<T>([](T o, T b, T) { return T(o ^ b); })});
    all.push_back({names[3], n, 99, scatter, on<T>([](T, T b, T) { return b; })});
    // Lane i swaps when it finds i, except that lane 7 looks for something else.
    all.push_back({names[4],
                   n,
                   0,
                   [](uint64_t lane) { return lane == 7 ? 200 : lane; },
                   on<T>([](T o, T b, T c) { return o == b ? c : o; }),
                   true,
                   [](uint64_t lane) { return lane == 6 ? 8 : lane + 1; }});
}

std::vector<Operation> operations() {
    std::vector<Operation> all;
    integer_operations<uint32_t>(all, "u32");
    integer_operations<int32_t>(all, "s32");
    integer_operations<uint64_t>(all, "u64");
    integer_operations<int64_t>(all, "s64");
    // The ISA has no add.s64: it is add.u64.
    std::erase_if(all, [](const Operation& op) { return std::string(op.name) == "add.s64"; });
    static const char* const words[] = {"and.b32", "or.b32", "xor.b32", "exch.b32", "cas.b32"};
    static const char* const longs[] = {"and.b64", "or.b64", "xor.b64", "exch.b64", "cas.b64"};
    bit_operations<uint32_t>(all, words);
    bit_operations<uint64_t>(all, longs);
    all.push_back({"cas.b16",
                   2,
                   0,
                   [](uint64_t lane) { return lane == 7 ? 200 : lane; },
                   on<uint16_t>([](uint16_t o, uint16_t b, uint16_t c) { return o == b ? c : o; }),
                   true,
                   [](uint64_t lane) { return lane == 6 ? 8 : lane + 1; }});
    // inc wraps to 0 after its bound; dec to the bound from 0 or from above it.
    all.push_back(
        {"inc.u32",
         4,
         3,
         [](uint64_t lane) { return lane < 20 ? 5 : lane; },
         on<uint32_t>([](uint32_t o, uint32_t b, uint32_t) { return o >= b ? 0 : o + 1; })});
    all.push_back({"dec.u32",
                   4,
                   9,
                   [](uint64_t lane) { return lane < 20 ? 5 : 2; },
                   on<uint32_t>([](uint32_t o, uint32_t b, uint32_t) {
                       return o == 0 || o > b ? b : o - 1;
                   })});
    all.push_back({"add.f32",
                   4,
                   bits_of(1.5f),
                   [](uint64_t lane) { return bits_of(0.1f * float(lane) - 1e-8f); },
                   on<float>([](float o, float b, float) { return o + b; })});
    all.push_back({"add.f64",
                   8,
                   bits_of(-2.5),
                   [](uint64_t lane) { return bits_of(0.1 * double(lane)); },
                   on<double>([](double o, double b, double) { return o + b; })});
    return all;
}

// Runs `atom` (or `red`) of all lanes of `mask` on one address; compares every old value.
void check(const Operation& op, const char* space, bool reduction, uint32_t mask) {
    Lab lab;
    for (uint64_t lane = 0; lane < 32; ++lane) {
        lab.give<uint64_t>(2 * lane, op.b(lane));
        lab.give<uint64_t>(2 * lane + 1, op.has_c ? op.c(lane) : 0);
    }
    lab.give<uint64_t>(100, op.start);
    const bool wide = op.bytes == 8, half = op.bytes == 2;
    const std::string r = wide   ? "%rd"
                          : half ? "%rs"
                                 : "%r",
                      b = wide   ? ".b64 "
                          : half ? ".b16 "
                                 : ".b32 ";
    const bool shared = std::string(space) != "global";
    std::string where = "mov.u64 %rd31, s;\n";
    if (std::string(space) == "global")
        where = "mov.u64 %rd31, %in;\nadd.u64 %rd31, %rd31, 2048;\n";
    const std::string seg = std::string(space) == "generic" ? "" : std::string(".") + space;
    if (seg.empty()) where += "cvta.shared.u64 %rd31, %rd31;\n";
    const std::string type = std::string(op.name).substr(std::string(op.name).find('.'));
    const bool is_float = type[1] == 'f';
    std::string in1 = r + "1", in2 = r + "2", in3 = r + "3";
    if (is_float) {
        const std::string f = wide ? "%d" : "%f";
        in1 = f + "1";
        in2 = f + "2";
        in3 = f + "3";
    }
    const LaunchSummary summary = lab.run(
        ".shared .align 8 .b8 s[8];\n" + where + "ld.global" + b + r + "4, [%in+800];\nst" +
        (seg.empty() ? "" : seg) + b + "[%rd31], " + r + "4;\nmov" + b + r + "9, 0;\n" +
        "mad.wide.u32 %rd30, %lane, 16, %in;\nld.global" + b + in2 + ", [%rd30];\nld.global" + b +
        in3 + ", [%rd30+8];\nmov.u32 %r40, " + std::to_string(mask) +
        ";\nshr.u32 %r40, %r40, %lane;\nand.b32 %r40, %r40, 1;\nsetp.eq.u32 %p1, %r40, 1;\n@%p1 " +
        (reduction ? "red" : "atom") + seg + "." + op.name + (reduction ? " " : " " + in1 + ", ") +
        "[%rd31], " + in2 + (op.has_c ? ", " + in3 : "") + ";\n" +
        (reduction ? "" : "@%p1 st.global" + b + "[%mine8], " + in1 + ";\n") + "ld" + seg + b + r +
        "5, [%rd31];\nst.global" + b + "[%out+1024], " + r + "5;");
    INFO(op.name << " in " << space << (reduction ? " red" : " atom") << " mask " << mask);
    REQUIRE(summary.status == LaunchStatus::kOk);
    uint64_t value = op.start;
    const uint64_t cut = wide ? ~uint64_t(0) : (uint64_t(1) << (8 * op.bytes)) - 1;
    for (uint64_t lane = 0; lane < 32; ++lane) {
        if (!(mask >> lane & 1)) continue;
        if (!reduction) {
            CAPTURE(lane);
            REQUIRE((lab.got<uint64_t>(lane) & cut) == (value & cut));
        }
        value = op.step(value, op.b(lane), op.has_c ? op.c(lane) : 0);
    }
    CHECK((lab.got<uint64_t>(128) & cut) == (value & cut));
    uint32_t events = 0;
    for (const SeenAccess& a : lab.seen.accesses) {
        if (a.kind != AccessKind::kAtomic && a.kind != AccessKind::kReduction) continue;
        ++events;
        CHECK(a.kind == (reduction ? AccessKind::kReduction : AccessKind::kAtomic));
        CHECK(a.mask == mask);
        CHECK(a.bytes == op.bytes);
        CHECK(a.conditional == op.has_c);
        CHECK(a.space == (shared ? ptx::Space::kShared : ptx::Space::kGlobal));
        CHECK((a.before[size_t(std::countr_zero(mask))] & cut) == op.start);
    }
    CHECK(events == 1);
}

// One atomic by lane 0 on a word that starts as `old`; gives old result and new memory.
std::pair<uint64_t, uint64_t> once(const std::string& op, bool wide, uint64_t old, uint64_t b) {
    Lab lab;
    lab.give<uint64_t>(0, old);
    lab.give<uint64_t>(1, b);
    const std::string r = wide ? "%rd" : "%r", t = wide ? ".b64 " : ".b32 ";
    lab.run("setp.eq.u32 %p1, %lane, 0;\nld.global" + t + r + "2, [%in+8];\n@%p1 atom.global." +
            op + " " + r + "1, [%in], " + r + "2;\n@%p1 st.global" + t + "[%out], " + r + "1;");
    const uint64_t cut = wide ? ~uint64_t(0) : 0xffffffffu;
    uint64_t now;
    std::memcpy(&now, lab.in().host, 8);
    return {lab.got<uint64_t>(0) & cut, now & cut};
}

}  // namespace

TEST_CASE("atom: every operation and type returns the old value lane by lane",
          "[machine][atomics]") {
    for (const Operation& op : operations())
        for (const char* space : {"global", "shared", "generic"})
            for (const uint32_t mask : {kAllLanes, 0xa50ff0c4u}) check(op, space, false, mask);
}

TEST_CASE("red: every operation and type leaves what atom leaves", "[machine][atomics]") {
    for (const Operation& op : operations()) {
        const std::string name = op.name;
        if (name.starts_with("cas") || name.starts_with("exch")) continue;  // not in the ISA
        for (const char* space : {"global", "shared", "generic"})
            check(op, space, true, space[0] == 'g' ? kAllLanes : 0x7ffffffeu);
    }
}

TEST_CASE("atom.inc: wraps to zero at the bound and beyond it", "[machine][atomics]") {
    CHECK(once("inc.u32", false, 4, 5) == std::pair<uint64_t, uint64_t>(4, 5));
    CHECK(once("inc.u32", false, 5, 5) == std::pair<uint64_t, uint64_t>(5, 0));
    CHECK(once("inc.u32", false, 9, 5) == std::pair<uint64_t, uint64_t>(9, 0));
    CHECK(once("inc.u32", false, 0xffffffff, 0xffffffff) ==
          std::pair<uint64_t, uint64_t>(0xffffffff, 0));
    CHECK(once("inc.u32", false, 0, 0) == std::pair<uint64_t, uint64_t>(0, 0));
}

TEST_CASE("atom.dec: wraps to the bound at zero and from above it", "[machine][atomics]") {
    CHECK(once("dec.u32", false, 5, 5) == std::pair<uint64_t, uint64_t>(5, 4));
    CHECK(once("dec.u32", false, 0, 5) == std::pair<uint64_t, uint64_t>(0, 5));
    CHECK(once("dec.u32", false, 6, 5) == std::pair<uint64_t, uint64_t>(6, 5));
}

TEST_CASE("atom.min and max: signedness decides", "[machine][atomics]") {
    CHECK(once("min.u32", false, 1, 0xffffffff).second == 1);
    CHECK(once("min.s32", false, 1, 0xffffffff).second == 0xffffffff);
    CHECK(once("max.u32", false, 1, 0xffffffff).second == 0xffffffff);
    CHECK(once("max.s32", false, 1, 0xffffffff).second == 1);
    CHECK(once("min.u64", true, 1, ~uint64_t(0)).second == 1);
    CHECK(once("min.s64", true, 1, ~uint64_t(0)).second == ~uint64_t(0));
    CHECK(once("max.u64", true, 1, ~uint64_t(0)).second == ~uint64_t(0));
    CHECK(once("max.s64", true, 1, ~uint64_t(0)).second == 1);
}

TEST_CASE("atom.add on packed halves: each half by itself, rounded once", "[machine][atomics]") {
    // 1 + 2 = 3 above, 0.5 - 0.5 = 0 below: no carry between them.
    CHECK(once("add.noftz.f16x2", false, 0x3c003800, 0x4000b800).second == 0x42000000);
    // 2048 + 1 is half-way between 2048 and 2050: to even.
    CHECK(once("add.noftz.f16x2", false, 0x68006801, 0x3c003c00).second == 0x68006802);
    CHECK(once("add.noftz.f16x2", false, 0x7bff7bff, 0x7bff0000).second == 0x7c007bff);
    CHECK(once("add.noftz.bf16x2", false, 0x3f803f00, 0x4000bf00).second == 0x40400000);
}

TEST_CASE("atom.add on one half leaves its neighbour alone", "[machine][atomics]") {
    Lab lab;
    lab.give<uint32_t>(0, 0x12343c00);
    lab.run("mov.b16 %rs2, 0x3c00;\nsetp.lt.u32 %p1, %lane, 3;\n"
            "@%p1 atom.global.add.noftz.f16 %rs1, [%in], %rs2;\n"
            "mad.wide.u32 %rd1, %lane, 2, %out;\n@%p1 st.global.b16 [%rd1], %rs1;");
    uint32_t now;
    std::memcpy(&now, lab.in().host, 4);
    CHECK(now == 0x12344400);  // 1 + 3 = 4
    CHECK(lab.got<uint16_t>(0) == 0x3c00);
    CHECK(lab.got<uint16_t>(2) == 0x4200);
    CHECK(lab.got<uint16_t>(3) == 0xeeee);
}

TEST_CASE("atom: lanes at different addresses do not meet", "[machine][atomics]") {
    Lab lab;
    for (uint32_t i = 0; i < 8; ++i) lab.give<uint32_t>(i, 100 * i);
    lab.run("and.b32 %r1, %lane, 7;\nmad.wide.u32 %rd1, %r1, 4, %in;\n"
            "atom.global.add.u32 %r2, [%rd1], 1;\nst.global.u32 [%mine], %r2;");
    CHECK(lab.words() == each([](uint32_t i) { return 100 * (i % 8) + i / 8; }));
}

TEST_CASE("atom: lanes out of range get poison and change nothing", "[machine][atomics]") {
    Lab lab;
    Allocation* small = lab.memory.allocate(MemoryKind::kDevice, 8, 0, 0);
    std::memset(small->host, 0, 8);
    lab.give<uint64_t>(0, small->address);
    lab.run("ld.global.u64 %rd1, [%in];\nmad.wide.u32 %rd2, %lane, 4, %rd1;\nmov.u32 %r1, 3;\n"
            "atom.global.add.u32 %r1, [%rd2], 5;\nst.global.u32 [%mine], %r1;");
    CHECK(lab.words() == each([](uint32_t i) { return i < 2 ? 0 : 0xffffffffu; }));
    CHECK(lab.seen.accesses[1].bad == 0xfffffffcu);
    CHECK(small->host[4] == std::byte{5});
}

TEST_CASE("atom: order and scope are reported as written", "[machine][atomics]") {
    Lab lab;
    lab.run("atom.global.add.u32 %r1, [%in], 1;\natom.acquire.cta.global.add.u32 %r1, [%in], 1;\n"
            "red.release.sys.global.add.u32 [%in], 1;\n"
            "atom.acq_rel.gpu.global.cas.b32 %r1, [%in], 0, 1;");
    const auto& a = lab.seen.accesses;
    REQUIRE(a.size() == 4);
    CHECK((a[0].order == MemoryOrder::kUnstated && a[0].scope == Scope::kGpu));
    CHECK((a[1].order == MemoryOrder::kAcquire && a[1].scope == Scope::kCta));
    CHECK((a[2].order == MemoryOrder::kRelease && a[2].scope == Scope::kSys));
    CHECK((a[3].order == MemoryOrder::kAcqRel && a[3].conditional));
}

TEST_CASE("atom: the result may be thrown away", "[machine][atomics]") {
    Lab lab;
    lab.run("atom.global.add.u32 _, [%out], 1;\natom.global.add.u64 _, [%out+8], 1;");
    CHECK(lab.got(0) == kOldWord + 32);
    CHECK(lab.got<uint64_t>(1) == 0xEEEEEEEEEEEEEEEEull + 32);
}

TEST_CASE("atom: to constant memory changes nothing", "[machine][atomics]") {
    Lab lab;
    lab.run("mov.u64 %rd1, c;\ncvta.const.u64 %rd1, %rd1;\natom.add.u32 %r1, [%rd1], 1;\n"
            "ld.const.u32 %r2, [c];\nst.global.u32 [%mine], %r2;",
            {},
            ".const .align 4 .u32 c = 3;\n");
    CHECK(lab.got(0) == 3);
}
