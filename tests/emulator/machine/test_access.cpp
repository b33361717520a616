// SPDX-License-Identifier: MIT
// Loads and stores: widths, vectors, masks, spaces, and what happens to lanes
// whose address belongs to no allocation.
#include "machine_lab.h"

using namespace machine_lab;

namespace {

struct Width {
    const char* type;
    unsigned bytes;
    bool is_signed;
};
const Width kWidths[] = {{"u8", 1, false},
                         {"s8", 1, true},
                         {"b8", 1, false},
                         {"u16", 2, false},
                         {"s16", 2, true},
                         {"b16", 2, false},
                         {"u32", 4, false},
                         {"s32", 4, true},
                         {"b32", 4, false},
                         {"u64", 8, false},
                         {"s64", 8, true},
                         {"b64", 8, false}};

// Bytes whose top bit is set in about every other one.
uint8_t pattern(size_t i) {
    return uint8_t(i * 0x9d + 0x81);
}
void fill(Lab& lab) {
    for (size_t i = 0; i < 4096; ++i) lab.give<uint8_t>(i, pattern(i));
}
uint64_t element(size_t at, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned k = 0; k < bytes; ++k) value |= uint64_t(pattern(at + k)) << (8 * k);
    return value;
}
uint64_t extended(uint64_t value, const Width& w, unsigned to_bytes) {
    if (w.is_signed && w.bytes < 8 && value >> (8 * w.bytes - 1) & 1)
        value |= ~uint64_t(0) << (8 * w.bytes);
    return to_bytes == 8 ? value : value & ((uint64_t(1) << (8 * to_bytes)) - 1);
}
std::string reg(unsigned bytes, unsigned n) {
    return (bytes == 8 ? "%rd" : bytes == 4 ? "%r" : "%rs") + std::to_string(n);
}

}  // namespace

TEST_CASE("ld: every width extends into every wider register", "[machine][access]") {
    for (const bool observed : {true, false})
        for (const unsigned stride : {1u, 3u})  // neighbours, and with gaps
            for (const bool partial : {false, true})
                for (const Width& w : kWidths)
                    for (const unsigned to : {2u, 4u, 8u}) {
                        if (to < w.bytes) continue;
                        Lab lab(observed ? uint32_t(kAllEvents) : 0);
                        fill(lab);
                        const std::string r = reg(to, 1), store = "st.global.b";
                        lab.run("mad.wide.u32 %rd9, %lane, " + std::to_string(stride * w.bytes) +
                                ", %in;\nmad.wide.u32 %rd10, %lane, " + std::to_string(to) +
                                ", %out;\nmov.b" + std::to_string(8 * to) + " " + r + ", 77;\n" +
                                "and.b32 %r9, %lane, 5;\nsetp.ne.u32 %p1, %r9, 0;\n" +
                                (partial ? "@%p1 " : "") + "ld.global." + w.type + " " + r +
                                ", [%rd9];\nst.global.b" + std::to_string(8 * to) + " [%rd10], " +
                                r + ";");
                        INFO(w.type << " to " << to << " bytes, stride " << stride << " partial "
                                    << partial);
                        for (unsigned lane = 0; lane < 32; ++lane) {
                            uint64_t got = 0;
                            std::memcpy(&got, lab.out().host + lane * to, to);
                            const uint64_t want =
                                partial && !(lane & 5)
                                    ? 77
                                    : extended(element(lane * stride * w.bytes, w.bytes), w, to);
                            if (got != want) {
                                CAPTURE(lane);
                                REQUIRE(got == want);
                            }
                        }
                    }
}

TEST_CASE("st: every width truncates and leaves the neighbours alone", "[machine][access]") {
    for (const unsigned gap : {1u, 2u})
        for (const Width& w : kWidths)
            for (const unsigned from : {2u, 4u, 8u}) {
                if (from < w.bytes) continue;
                Lab lab;
                const std::string r = reg(from, 1);
                lab.run("cvt.u64.u32 %rd5, %lane;\nmul.lo.u64 %rd6, %rd5, 0x9e3779b97f4a7c15;\n" +
                        std::string(from == 8   ? "mov.b64 %rd1, %rd6;"
                                    : from == 4 ? "cvt.u32.u64 %r1, %rd6;"
                                                : "cvt.u16.u64 %rs1, %rd6;") +
                        "\nmad.lo.u64 %rd9, %rd5, " + std::to_string(gap * w.bytes) +
                        ", %out;\nst.global." + w.type + " [%rd9], " + r + ";");
                INFO(w.type << " from " << from << " bytes, gap " << gap);
                for (unsigned lane = 0; lane < 32; ++lane) {
                    const uint64_t value = lane * 0x9e3779b97f4a7c15ull;
                    REQUIRE(std::memcmp(lab.out().host + lane * gap * w.bytes, &value, w.bytes) ==
                            0);
                    if (gap == 2)
                        REQUIRE(lab.got<uint8_t>((2 * lane + 1) * w.bytes) == Lab::kUntouched);
                }
            }
}

TEST_CASE("ld.f32 and ld.f64: bits pass unchanged, NaN payloads too", "[machine][access]") {
    Lab lab;
    lab.give<uint32_t>(0, 0x7fa12345);  // a signalling NaN
    lab.give<uint64_t>(1, 0xfff4123456789abcull);
    lab.run("ld.global.f32 %f1, [%in];\nst.global.f32 [%out], %f1;\n"
            "ld.global.f64 %d1, [%in+8];\nst.global.f64 [%out+8], %d1;");
    CHECK(lab.got<uint32_t>(0) == 0x7fa12345);
    CHECK(lab.got<uint64_t>(1) == 0xfff4123456789abcull);
}

TEST_CASE("ld and st: vectors keep their elements in order", "[machine][access]") {
    struct Form {
        const char* type;
        unsigned bytes, count, width;
    };
    for (const bool partial : {false, true})
        for (const Form f : {Form{"u8", 1, 2, 2},
                             {"u8", 1, 4, 2},
                             {"s8", 1, 4, 4},
                             {"u16", 2, 2, 2},
                             {"u16", 2, 4, 2},
                             {"b32", 4, 2, 4},
                             {"b32", 4, 4, 4},
                             {"u64", 8, 2, 8}}) {
            Lab lab;
            fill(lab);
            std::string list;
            for (unsigned e = 0; e < f.count; ++e) list += (e ? ", " : "{") + reg(f.width, 1 + e);
            list += "}";
            const std::string v = ".v" + std::to_string(f.count) + "." + f.type + " ",
                              guard = partial ? "@%p1 " : "";
            const unsigned bytes = f.bytes * f.count;
            lab.run("mad.wide.u32 %rd20, %lane, " + std::to_string(bytes) +
                    ", %in;\nmad.wide.u32 %rd21, %lane, " + std::to_string(bytes) +
                    ", %out;\nsetp.gt.u32 %p1, %lane, 6;\n" + guard + "ld.global" + v + list +
                    ", [%rd20];\n" + guard + "st.global" + v + "[%rd21], " + list + ";");
            INFO(f.type << " x " << f.count << " partial " << partial);
            for (unsigned i = 0; i < bytes * 32; ++i) {
                const bool skipped = partial && i / bytes <= 6;
                REQUIRE(lab.got<uint8_t>(i) == (skipped ? Lab::kUntouched : pattern(i)));
            }
            REQUIRE(lab.seen.accesses.size() == 2);
            CHECK(lab.seen.accesses[0].bytes == bytes);
            CHECK(lab.seen.accesses[0].element_bytes == f.bytes);
            CHECK(lab.seen.accesses[1].stored[9] == element(9 * bytes, std::min(8u, bytes)));
        }
}

TEST_CASE("ld: unwanted vector elements go nowhere", "[machine][access]") {
    for (const char* list : {"{_, %r2}", "{%r1, _}"}) {
        Lab lab;
        fill(lab);
        lab.run(std::string("mov.u32 %r1, 11;\nmov.u32 %r2, 22;\nmov.u32 %r3, 33;\n") +
                "mad.wide.u32 %rd1, %lane, 8, %in;\nld.global.v2.u32 " + list +
                ", [%rd1];\nmad.wide.u32 %rd2, %lane, 12, %out;\nst.global.u32 [%rd2], %r1;\n"
                "st.global.u32 [%rd2+4], %r2;\nst.global.u32 [%rd2+8], %r3;");
        INFO(list);
        const bool first = list[1] == '%';
        for (unsigned lane = 0; lane < 32; ++lane) {
            REQUIRE(lab.got(3 * lane) == (first ? element(8 * lane, 4) : 11));
            REQUIRE(lab.got(3 * lane + 1) == (first ? 22 : element(8 * lane + 4, 4)));
            REQUIRE(lab.got(3 * lane + 2) == 33);
        }
    }
}

TEST_CASE("st: constants among vector elements", "[machine][access]") {
    Lab lab;
    lab.run("mad.wide.u32 %rd1, %lane, 4, %out;\nst.global.v4.u8 [%rd1], {%lane, 7, 8, %lane};");
    for (uint32_t lane = 0; lane < 32; ++lane)
        REQUIRE(lab.got(lane) == (lane | 7u << 8 | 8u << 16 | lane << 24));
}

TEST_CASE("ld: lanes out of range get poison, the others their value", "[machine][access]") {
    Lab lab;
    Allocation* small = lab.memory.allocate(MemoryKind::kDevice, 40, 0, 0);
    for (uint32_t i = 0; i < 10; ++i) std::memcpy(small->host + 4 * i, &i, 4);
    lab.give<uint64_t>(0, small->address);
    const LaunchSummary summary =
        lab.run("ld.global.u64 %rd1, [%in];\nmad.wide.u32 %rd2, %lane, 4, %rd1;\n"
                "ld.global.u32 %r1, [%rd2];\nst.global.u32 [%mine], %r1;");
    CHECK(lab.words() == each([](uint32_t i) { return i < 10 ? i : 0xffffffffu; }));
    CHECK(lab.seen.accesses[1].bad == 0xfffffc00u);
    CHECK_FALSE(lab.seen.accesses[1].one_owner);
    // So near the end hardware would notice nothing: the finding is the observer's business.
    CHECK(summary.status == LaunchStatus::kOk);
}

TEST_CASE("st: lanes out of range are dropped, before and after the array", "[machine][access]") {
    Lab lab;
    Allocation* small = lab.memory.allocate(MemoryKind::kDevice, 40, 0, 0);
    std::memset(small->host, 0, 40);
    lab.give<uint64_t>(0, small->address);
    lab.run("ld.global.u64 %rd1, [%in];\nmad.wide.u32 %rd2, %lane, 4, %rd1;\n"
            "st.global.u32 [%rd2-16], %lane;\nst.global.u32 [%mine], 1;");
    for (uint32_t i = 0; i < 10; ++i) {
        uint32_t value;
        std::memcpy(&value, small->host + 4 * i, 4);
        CHECK(value == i + 4);
    }
    CHECK(lab.seen.accesses[1].bad == 0xffffc00fu);
    CHECK(lab.words() == each([](uint32_t) { return 1; }));
}

TEST_CASE("ld: an access that straddles the end is out of range", "[machine][access]") {
    Lab lab;
    Allocation* small = lab.memory.allocate(MemoryKind::kDevice, 20, 0, 0);
    std::memset(small->host, 1, 20);
    lab.give<uint64_t>(0, small->address);
    lab.run("ld.global.u64 %rd1, [%in];\nmad.wide.u32 %rd2, %lane, 8, %rd1;\n"
            "ld.global.u64 %rd3, [%rd2];\nst.global.u64 [%mine8], %rd3;");
    CHECK(lab.got<uint64_t>(1) == 0x0101010101010101ull);
    CHECK(lab.got<uint64_t>(2) == ~uint64_t(0));
    CHECK(lab.seen.accesses[1].bad == 0xfffffffcu);
}

TEST_CASE("ld: a null pointer stops nothing but fails the launch", "[machine][access]") {
    Lab lab;
    const LaunchSummary summary =
        lab.run("mov.u64 %rd1, 0;\nmov.u32 %r1, 5;\nld.global.u32 %r1, [%rd1];\n"
                "st.global.u32 [%mine], %r1;\nst.global.u32 [%rd1], %r1;");
    CHECK(summary.status == LaunchStatus::kIllegalAddress);
    CHECK(lab.words() == each([](uint32_t) { return 0xffffffffu; }));
    CHECK(lab.seen.accesses.back().bad == kAllLanes);
}

TEST_CASE("ld: freed memory is out of range", "[machine][access]") {
    Lab lab;
    Allocation* old = lab.memory.allocate(MemoryKind::kDevice, 128, 0, 0);
    lab.give<uint64_t>(0, old->address);
    LoadedModule& module =
        lab.load(kernel_text("ld.global.u64 %rd1, [%in];\nmad.wide.u32 %rd2, %lane, 4, %rd1;\n"
                             "ld.global.u32 %r1, [%rd2];\nst.global.u32 [%mine], %r1;"));
    lab.launch(module, "k");  // the instruction now remembers its allocation
    CHECK(lab.got(0) == 0xcdcdcdcd);
    lab.memory.release(*old, 0);
    lab.launch(module, "k");
    CHECK(lab.got(0) == 0xffffffff);
    CHECK(lab.seen.accesses[4].bad == kAllLanes);
}

TEST_CASE("ld: an address far from its array is an illegal address", "[machine][access]") {
    Lab lab;
    CHECK(lab.run("ld.global.u32 %r1, [%out+0x40000000];").status == LaunchStatus::kIllegalAddress);
}

TEST_CASE("ld.shared: a 64-bit register is truncated to the space's 32 bits", "[machine][access]") {
    // What inline assembly does that forgets to convert a generic pointer. PTX ISA "Addresses as
    // Operands": truncated if the register is wider than the state space.
    Lab lab;
    const LaunchSummary summary =
        lab.run(".shared .align 4 .b8 s[256];\nmov.u64 %rd1, s;\ncvta.shared.u64 %rd2, %rd1;\n"
                "xor.b32 %r1, %lane, 5;\nmad.wide.u32 %rd3, %r1, 4, %rd2;\n"
                "st.shared.u32 [%rd3], %lane;\nld.shared.u32 %r2, [%rd3];\n"
                "add.u64 %rd4, %rd1, 20;\nld.shared.u32 %r3, [%rd4];\nadd.u32 %r2, %r2, %r3;\n"
                "st.global.u32 [%mine], %r2;");
    CHECK(summary.status == LaunchStatus::kOk);
    CHECK(lab.words() == each([](uint32_t i) { return i; }));
    for (const SeenAccess& a : lab.seen.accesses)
        if (a.space == ptx::Space::kShared) CHECK(a.address[9] >> 32 == 0);
}

TEST_CASE("shared: an overrun does not reach the neighbouring variable", "[machine][access]") {
    Lab lab;
    lab.run(".shared .align 4 .b8 a[64];\n.shared .align 4 .b8 b[128];\n"
            "mov.u32 %r1, a;\nmov.u32 %r2, b;\nmad.lo.u32 %r3, %lane, 4, %r2;\n"
            "st.shared.u32 [%r3], 1;\nmad.lo.u32 %r4, %lane, 4, %r1;\nst.shared.u32 [%r4], 2;\n"
            "ld.shared.u32 %r5, [%r3];\nld.shared.u32 %r6, [%r4];\n"
            "mad.lo.u32 %r5, %r6, 16, %r5;\nst.global.u32 [%mine], %r5;");
    CHECK(lab.words() == each([](uint32_t i) { return i < 16 ? 33u : 0xfffffff1u; }));
    CHECK(lab.seen.accesses[1].bad == 0xffff0000u);
    CHECK(lab.seen.accesses[0].variable == "b");
}

TEST_CASE("shared: dynamic memory has the size of the launch", "[machine][access]") {
    Lab lab;
    lab.run("mov.u32 %r1, d;\nmad.lo.u32 %r2, %lane, 8, %r1;\nst.shared.u32 [%r2], %lane;\n"
            "ld.shared.u32 %r3, [%r2];\nst.global.u32 [%mine], %r3;",
            {.dynamic_shared = 100},
            ".extern .shared .align 16 .b8 d[];\n");
    CHECK(lab.words() == each([](uint32_t i) { return i <= 12 ? i : 0xffffffffu; }));
}

TEST_CASE("local: every lane has its own", "[machine][access]") {
    Lab lab;
    lab.run(".local .align 4 .b8 l[64];\nmov.u64 %rd1, l;\nst.local.u32 [l+8], %lane;\n"
            "st.local.u32 [%rd1+12], 5;\nld.local.u32 %r1, [%rd1+8];\nld.local.u32 %r2, [l+12];\n"
            "add.u32 %r1, %r1, %r2;\nst.global.u32 [%mine], %r1;",
            {.block = {64, 1, 1}});
    CHECK(lab.words(64) == each([](uint32_t i) { return i % 32 + 5; }, 64));
}

TEST_CASE("local: an index past the array is out of range", "[machine][access]") {
    Lab lab;
    lab.run(".local .align 4 .b8 l[64];\nmov.u64 %rd1, l;\nmad.wide.u32 %rd2, %lane, 4, %rd1;\n"
            "st.local.u32 [%rd2], %lane;\nld.local.u32 %r1, [%rd2];\nst.global.u32 [%mine], %r1;");
    CHECK(lab.words() == each([](uint32_t i) { return i < 16 ? i : 0xffffffffu; }));
    CHECK(lab.seen.accesses[0].bad == 0xffff0000u);
}

TEST_CASE("const: initial values, and every lane its own index", "[machine][access]") {
    Lab lab;
    lab.run("mov.u64 %rd1, c;\nand.b32 %r1, %lane, 3;\nmad.wide.u32 %rd2, %r1, 4, %rd1;\n"
            "ld.const.u32 %r2, [%rd2];\nld.const.u32 %r3, [c+4];\nadd.u32 %r2, %r2, %r3;\n"
            "cvta.const.u64 %rd3, %rd2;\nld.u32 %r4, [%rd3];\nadd.u32 %r2, %r2, %r4;\n"
            "st.global.u32 [%mine], %r2;",
            {},
            ".const .align 4 .u32 c[4] = {10, 20, 30, 40};\n");
    CHECK(lab.words() == each([](uint32_t i) { return 20 * (i % 4 + 1) + 20; }));
}

TEST_CASE("const: a store to it is dropped", "[machine][access]") {
    Lab lab;
    lab.run("mov.u64 %rd1, c;\ncvta.const.u64 %rd1, %rd1;\nst.u32 [%rd1], 9;\n"
            "ld.const.u32 %r1, [c];\nst.global.u32 [%mine], %r1;",
            {},
            ".const .align 4 .u32 c = 3;\n");
    CHECK(lab.got(0) == 3);
    CHECK(lab.seen.accesses[0].bad == kAllLanes);
}

TEST_CASE("ld.param: a kernel's parameters of every type", "[machine][access]") {
    Lab lab;
    LoadedModule& module = lab.load(R"(
.visible .entry k(.param .u8 a, .param .s16 b, .param .u64 out, .param .align 8 .b8 s[24])
{
.reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .b16 %rs<4>; .reg .pred %p1;
ld.param.u64 %rd1, [out];
mov.u32 %r7, %tid.x;
setp.lt.u32 %p1, %r7, 20;
mad.wide.u32 %rd1, %r7, 32, %rd1;
mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u64 %rd2, 0;
@%p1 ld.param.u8 %r1, [a];
@%p1 ld.param.s16 %r2, [b];
@%p1 ld.param.u64 %rd2, [s+8];
@%p1 ld.param.v2.u32 {%r3, %r4}, [s+16];
st.global.u32 [%rd1], %r1;
st.global.u32 [%rd1+4], %r2;
st.global.u64 [%rd1+8], %rd2;
st.global.v2.u32 [%rd1+16], {%r3, %r4};
mov.b64 %rd3, s;
mad.wide.u32 %rd3, %r7, 0, %rd3;
ld.param.u32 %r5, [%rd3+12];
st.global.u32 [%rd1+24], %r5;
cvta.param.u64 %rd4, %rd3;
ld.u32 %r6, [%rd4+20];
st.global.u32 [%rd1+28], %r6;
ret;
})");
    LaunchRequest request;
    request.kernel = module.kernel("k");
    request.block = {32, 1, 1};
    REQUIRE(request.kernel->parameter_bytes() == 40);
    request.arguments.resize(40);
    const auto set = [&](size_t at, auto value) {
        std::memcpy(request.arguments.data() + at, &value, sizeof value);
    };
    set(0, uint8_t(200));
    set(2, int16_t(-2));
    set(8, lab.out().address);
    set(24, 0x1122334455667788ull);
    set(32, uint32_t(77));
    set(36, uint32_t(78));
    machine::LaunchSummary summary = lab.machine->launch(request);
    CHECK(summary.status == LaunchStatus::kOk);
    for (uint32_t lane : {0u, 19u, 20u, 31u}) {
        const bool on = lane < 20;
        CAPTURE(lane);
        CHECK(lab.got(8 * lane) == (on ? 200u : 0u));
        CHECK(lab.got(8 * lane + 1) == (on ? uint32_t(-2) : 0u));
        CHECK(lab.got<uint64_t>(4 * lane + 1) == (on ? 0x1122334455667788ull : 0));
        CHECK(lab.got(8 * lane + 4) == (on ? 77u : 0u));
        CHECK(lab.got(8 * lane + 5) == (on ? 78u : 0u));
        CHECK(lab.got(8 * lane + 6) == 0x11223344u);
        CHECK(lab.got(8 * lane + 7) == 78u);
    }
}

TEST_CASE("misaligned: reported per lane, and the launch fails", "[machine][access]") {
    for (const char* space : {"global", "shared", "local"}) {
        Lab lab;
        const LaunchSummary summary =
            lab.run(std::string(".shared .align 16 .b8 s[512];\n.local .align 16 .b8 l[512];\n") +
                    "mov.u64 %rd1, " +
                    (*space == 'g'   ? "%in"
                     : *space == 's' ? "s"
                                     : "l") +
                    ";\nmad.wide.u32 %rd2, %lane, 6, %rd1;\nld." + space + ".u32 %r1, [%rd2];\n");
        INFO(space);
        CHECK(lab.seen.accesses[0].misaligned == 0xaaaaaaaa);
        CHECK(lab.seen.accesses[0].bad == 0);
        CHECK(summary.status == LaunchStatus::kMisaligned);
    }
}

TEST_CASE("misaligned: a vector needs the alignment of the whole", "[machine][access]") {
    Lab lab;
    lab.run("mad.wide.u32 %rd1, %lane, 4, %in;\nld.global.v2.u32 {%r1, %r2}, [%rd1];\n"
            "mad.wide.u32 %rd1, %lane, 4, %in;\nld.global.u32 %r1, [%rd1+2];");
    CHECK(lab.seen.accesses[0].misaligned == 0xaaaaaaaa);
    CHECK(lab.seen.accesses[1].misaligned == kAllLanes);
}

TEST_CASE("access: 32-bit addresses wrap as the hardware's do", "[machine][access]") {
    Lab lab;
    lab.run(".shared .align 4 .b8 s[256];\nmov.u32 %r1, s;\nsub.u32 %r2, 0, 64;\n"
            "add.u32 %r3, %r1, 64;\nst.shared.u32 [%r3], 9;\nadd.u32 %r4, %r1, %r2;\n"
            "ld.shared.u32 %r5, [%r4+128];\nst.global.u32 [%mine], %r5;");
    CHECK(lab.got(4) == 9);
}
