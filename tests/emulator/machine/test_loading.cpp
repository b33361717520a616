// SPDX-License-Identifier: MIT
// Modules in memory: variables and their initial values, symbols between modules, functions found
// by name, shared variables, and what is refused.
#include "machine_lab.h"

using namespace machine_lab;

namespace {
template <class T>
T value(Allocation* a, size_t i = 0) {
    REQUIRE(a);
    REQUIRE((i + 1) * sizeof(T) <= a->bytes);
    T out;
    std::memcpy(&out, a->host + i * sizeof(T), sizeof(T));
    return out;
}
std::string returns(const std::string& name, const std::string& number,
                    const std::string& linkage = "") {
    return linkage + ".func (.param .b32 r) " + name + "()\n{\n.reg .b32 %t;\nmov.u32 %t, " +
           number + ";\nst.param.b32 [r], %t;\nret;\n}\n";
}
std::string call(const std::string& name, const std::string& to) {
    return "{\n.param .b32 r0;\ncall.uni (r0), " + name + ", ();\nld.param.b32 " + to +
           ", [r0];\n}\n";
}
}  // namespace

TEST_CASE("variables: initial values of every type, the rest zero", "[machine][loading]") {
    Lab lab;
    LoadedModule& m =
        lab.load(".visible .global .align 1 .b8 bytes[5] = {1, 255, 3};\n"
                 ".global .u16 half = 65535;\n.global .s32 minus = -7;\n"
                 ".global .u64 big = 0x123456789abcdef0;\n.global .f32 f = 0f3FC00000;\n"
                 ".global .f64 d[2] = {0d4000000000000000};\n.global .align 16 .b8 z[40];\n"
                 ".const .align 8 .b8 c[8] = {9};\n");
    CHECK(value<uint8_t>(m.variable("bytes"), 1) == 255);
    CHECK(value<uint8_t>(m.variable("bytes"), 4) == 0);
    CHECK(m.variable("bytes")->bytes == 5);
    CHECK(value<uint16_t>(m.variable("half")) == 65535);
    CHECK(value<int32_t>(m.variable("minus")) == -7);
    CHECK(value<uint64_t>(m.variable("big")) == 0x123456789abcdef0ull);
    CHECK(value<float>(m.variable("f")) == 1.5f);
    CHECK(value<double>(m.variable("d")) == 2.0);
    CHECK(value<double>(m.variable("d"), 1) == 0.0);
    for (size_t i = 0; i < 40; ++i) CHECK(value<uint8_t>(m.variable("z"), i) == 0);
    CHECK(m.variable("c")->kind == MemoryKind::kConst);
    CHECK(m.variable("z")->kind == MemoryKind::kModule);
    CHECK(m.variable("z")->address % 256 == 0);
    CHECK(m.variable("nobody") == nullptr);
    CHECK(lab.seen.allocated.size() == 8);
}

TEST_CASE("variables: managed ones have the same bytes on host and device", "[machine][loading]") {
    Lab lab;
    LoadedModule& m =
        lab.load(".visible .global .attribute(.managed) .align 4 .u32 shared_count = 41;\n" +
                 kernel_text("atom.global.add.u32 %r1, [shared_count], 1;"));
    Allocation* a = m.variable("shared_count");
    REQUIRE(a);
    CHECK(a->kind == MemoryKind::kManaged);
    lab.launch(m, "k");
    CHECK(*reinterpret_cast<uint32_t*>(a->address) == 73);
}

TEST_CASE("fixups: addresses of variables, with offsets, forward and backward",
          "[machine][loading]") {
    Lab lab;
    LoadedModule& m = lab.load(".global .align 8 .u64 before[2] = {later, generic(later)+8};\n"
                               ".global .align 8 .u64 later[4];\n"
                               ".global .align 8 .u64 after = later+16;\n");
    const uint64_t at = m.variable("later")->address;
    CHECK(value<uint64_t>(m.variable("before"), 0) == at);
    CHECK(value<uint64_t>(m.variable("before"), 1) == at + 8);
    CHECK(value<uint64_t>(m.variable("after")) == at + 16);
}

TEST_CASE("fixups: a pointer in memory leads a kernel to the variable", "[machine][loading]") {
    Lab lab;
    lab.run("ld.global.u64 %rd1, [pointer];\nld.u32 %r1, [%rd1];\nst.global.u32 [%mine], %r1;",
            {},
            ".global .align 4 .u32 data[2] = {5, 6};\n"
            ".global .align 8 .u64 pointer = generic(data)+4;\n");
    CHECK(lab.got(0) == 6);
}

TEST_CASE("extern: a variable of a module loaded before", "[machine][loading]") {
    Lab lab;
    LoadedModule& first = lab.load(".visible .global .align 4 .u32 count = 3;\n");
    lab.run("ld.global.u32 %r1, [count];\nst.global.u32 [%mine], %r1;\nst.global.u32 [count], 8;",
            {},
            ".extern .global .align 4 .u32 count;\n");
    CHECK(lab.got(0) == 3);
    CHECK(value<uint32_t>(first.variable("count")) == 8);
}

TEST_CASE("extern: a function and a variable of a module loaded later", "[machine][loading]") {
    Lab lab;
    LoadedModule& first = lab.load(
        ".extern .func (.param .b32 r) later();\n.extern .global .align 4 .u32 count;\n"
        ".visible .global .align 8 .u64 table[2] = {later, count};\n" +
        kernel_text(call("later", "%r1") + "ld.global.u32 %r2, [count];\nadd.u32 %r1, %r1, %r2;\n"
                                           "st.global.u32 [%mine], %r1;"));
    LoadedModule& second = lab.load(".visible .global .align 4 .u32 count = 30;\n" +
                                    returns("later", "12", ".visible "));
    CHECK(value<uint64_t>(first.variable("table"), 1) == second.variable("count")->address);
    CHECK(value<uint64_t>(first.variable("table"), 0) != 0);
    CHECK(lab.launch(first, "k").status == LaunchStatus::kOk);
    CHECK(lab.got(31) == 42);
}

TEST_CASE("extern: an undefined symbol is refused by name", "[machine][loading]") {
    Lab lab;
    LoadedModule& m = lab.load(".extern .global .align 4 .u32 missing_variable;\n" +
                               kernel_text("ld.global.u32 %r1, [missing_variable];"));
    try {
        lab.launch(m, "k");
        FAIL("it ran");
    } catch (const UnsupportedPtx& error) {
        CHECK(std::string(error.what()).find("missing_variable") != std::string::npos);
    }
}

TEST_CASE("refused: a word that the reader does not know, with both of its lines",
          "[machine][loading]") {
    // Without the word it would be an ordinary load.
    Lab lab;
    LoadedModule& m = lab.load(".file 1 \"mine.cu\"\n" +
                               kernel_text(".loc 1 42 7\nld.global.shiny.u32 %r1, [%in];"));
    try {
        lab.launch(m, "k");
        FAIL("it ran");
    } catch (const UnsupportedPtx& error) {
        const std::string what = error.what();
        CHECK(what.find("ld.global.shiny.u32") != std::string::npos);
        CHECK(what.find("PTX line") != std::string::npos);
        CHECK(what.find("mine.cu:42") != std::string::npos);
    }
}

TEST_CASE("refused: a launch by a kernel, by the name of the function that it calls",
          "[machine][loading]") {
    Lab lab;
    LoadedModule& m =
        lab.load(".extern .func (.param .b64 r) __cuda_syscall_cnpv2GetParameterBufferV2 ();\n" +
                 kernel_text("{.param .b64 back;\n"
                             "call.uni (back), __cuda_syscall_cnpv2GetParameterBufferV2, ();\n}"));
    try {
        lab.launch(m, "k");
        FAIL("it ran");
    } catch (const UnsupportedPtx& error) {
        CHECK(std::string(error.what()).find("__cuda_syscall_cnpv2GetParameterBufferV2") !=
              std::string::npos);
    }
}

TEST_CASE("refused: a launch by a kernel, at its own line and with what it means",
          "[machine][loading]") {
    Lab lab;
    LoadedModule& m = lab.load(returns("__cudaCDP2LaunchDeviceV2", "0") +
                               kernel_text(call("__cudaCDP2LaunchDeviceV2", "%r1")));
    try {
        lab.launch(m, "k");
        FAIL("it ran");
    } catch (const UnsupportedPtx& error) {
        const std::string what = error.what();
        CHECK(what.find("`k` uses") != std::string::npos);
        CHECK(what.find("Dynamic Parallelism") != std::string::npos);
    }
}

TEST_CASE("modules: equal private names stay apart", "[machine][loading]") {
    Lab lab;
    const auto text = [](const char* number) {
        return ".global .align 4 .u32 mine0 = " + std::string(number) + ";\n" +
               returns("helper", number) +
               kernel_text(call("helper", "%r1") + "ld.global.u32 %r2, [mine0];\n"
                                                   "mad.lo.u32 %r1, %r1, 1000, %r2;\n"
                                                   "st.global.u32 [%mine], %r1;");
    };
    LoadedModule& a = lab.load(text("5"));
    LoadedModule& b = lab.load(text("6"));
    CHECK(a.variable("mine0") != b.variable("mine0"));
    lab.launch(b, "k");
    CHECK(lab.got(0) == 6006);
    lab.launch(a, "k");
    CHECK(lab.got(0) == 5005);
}

TEST_CASE("modules: equal private functions have addresses of their own", "[machine][loading]") {
    Lab lab;
    const auto text = [](const char* number) {
        return returns("helper", number) + ".global .align 8 .u64 table[1] = {helper};\n" +
               kernel_text("ld.global.u64 %rd1, [table];\n{\n.param .b32 r0;\n"
                           "proto: .callprototype (.param .b32 _) _ ();\n"
                           "call (r0), %rd1, (), proto;\nld.param.b32 %r1, [r0];\n}\n"
                           "st.global.u32 [%mine], %r1;");
    };
    LoadedModule& a = lab.load(text("5"));
    LoadedModule& b = lab.load(text("6"));
    lab.launch(a, "k");
    CHECK(lab.got(0) == 5);
    lab.launch(b, "k");
    CHECK(lab.got(0) == 6);
}

TEST_CASE("modules: a function of another module brings its own shared memory",
          "[machine][loading]") {
    Lab lab;
    LoadedModule& user = lab.load(
        ".extern .func reverse(.param .b32 p);\n" +
        kernel_text(
            ".shared .align 4 .b8 own[128];\nmov.u32 %r1, own;\nmad.lo.u32 %r1, %lane, 4, %r1;\n"
            "st.shared.u32 [%r1], %lane;\n{\n.param .b32 a0;\nst.param.b32 [a0], %r1;\n"
            "call.uni reverse, (a0);\n}\nld.shared.u32 %r2, [%r1];\n"
            "st.global.u32 [%mine], %r2;"));
    lab.load(
        ".visible .func reverse(.param .b32 p)\n{\n.shared .align 4 .b8 theirs[256];\n"
        ".reg .b32 %a, %b, %c, %l;\nld.param.u32 %a, [p];\nmov.u32 %l, %laneid;\n"
        "mov.u32 %b, theirs;\nmad.lo.u32 %c, %l, 4, %b;\nld.shared.u32 %a, [%a];\n"
        "add.u32 %a, %a, 100;\nst.shared.u32 [%c], %a;\nbar.warp.sync -1;\nxor.b32 %l, %l, 31;\n"
        "mad.lo.u32 %c, %l, 4, %b;\nld.shared.u32 %b, [%c];\nld.param.u32 %a, [p];\n"
        "st.shared.u32 [%a], %b;\nret;\n}\n");
    CHECK(lab.launch(user, "k").status == LaunchStatus::kOk);
    CHECK(lab.words() == each([](uint32_t i) { return 131 - i; }));
    for (const SeenAccess& a : lab.seen.accesses) CHECK(a.bad == 0);
    CHECK(user.kernel("k")->static_shared_bytes() == 384);
}

TEST_CASE("modules: dynamic shared memory is one array for all of them", "[machine][loading]") {
    Lab lab;
    LoadedModule& user =
        lab.load(".extern .shared .align 4 .b8 buffer[];\n.extern .func put();\n" +
                 kernel_text("call.uni put;\nmov.u32 %r1, buffer;\nld.shared.u32 %r2, [%r1+4];\n"
                             "st.global.u32 [%mine], %r2;"));
    lab.load(".extern .shared .align 16 .b8 other[];\n.visible .func put()\n{\n.reg .b32 %b;\n"
             "mov.u32 %b, other;\nst.shared.u32 [%b+4], 77;\nret;\n}\n");
    CHECK(lab.launch(user, "k", {.dynamic_shared = 64}).status == LaunchStatus::kOk);
    CHECK(lab.got(0) == 77);
}

TEST_CASE("shared: static sizes, alignment and layout", "[machine][loading]") {
    Lab lab;
    struct Layout final : Observer {
        std::vector<SharedVariable> variables;
        uint32_t bytes = 0;
        void on_launch_begin(const LaunchInfo& info) override {
            variables = *info.shared;
            bytes = info.shared_bytes;
        }
    } layout;
    lab.observers.add(&layout, kLaunchEvents);
    LoadedModule& m = lab.load(
        ".shared .align 4 .b8 module_level[12];\n.extern .shared .align 8 .b8 tail[];\n" +
        kernel_text(
            ".shared .align 1 .b8 flag[3];\n.shared .align 16 .b8 tile[64];\n"
            "st.shared.u8 [flag], 1;\nst.shared.u32 [tile], 1;\nst.shared.u32 [module_level], 1;\n"
            "st.shared.u32 [tail], 1;") +
        kernel_text("st.shared.u32 [module_level], 1;", "other"));
    CHECK(m.kernel("k")->static_shared_bytes() == 80);
    CHECK(m.kernel("other")->static_shared_bytes() == 12);
    lab.launch(m, "k", {.dynamic_shared = 20});
    REQUIRE(layout.variables.size() == 4);
    CHECK(layout.bytes == 100);
    for (const SharedVariable& v : layout.variables) {
        if (v.name == "tile") CHECK((v.offset == 0 && v.bytes == 64));
        if (v.name == "module_level") CHECK((v.offset == 64 && v.bytes == 12));
        if (v.name == "flag") CHECK((v.offset == 76 && v.bytes == 3));
        if (v.dynamic) CHECK((v.offset == 80 && v.bytes == 20));
    }
}

TEST_CASE("shared: each block starts with its own, not with the last one's", "[machine][loading]") {
    Lab lab;
    lab.run(".shared .align 4 .b8 s[4];\nld.shared.u32 %r1, [s];\nst.global.u32 [%mine], %r1;\n"
            "st.shared.u32 [s], 5;",
            {.grid = {3, 1, 1}});
    CHECK(lab.got(0) == 0xa5a5a5a5);
    CHECK(lab.got(64) == 0xa5a5a5a5);
}

TEST_CASE("kernel: what a launch needs to know of it", "[machine][loading]") {
    Lab lab;
    LoadedModule& m = lab.load(
        ".visible .entry _Z5scalePfi(.param .u64 a, .param .u32 b)\n.maxntid 128, 2, 1\n{\n"
        ".local .align 8 .b8 l[40];\n.reg .b64 %rd<3>;\nmov.u64 %rd1, l;\nret;\n}\n.func f() { "
        "ret; }\n");
    Kernel* k = m.kernel("_Z5scalePfi");
    REQUIRE(k);
    CHECK(k->name() == "scale");
    CHECK(k->mangled() == "_Z5scalePfi");
    CHECK(k->parameter_bytes() == 12);
    CHECK(k->max_threads() == 256);
    CHECK(k->local_bytes() == 40);
    CHECK(k->registers() > 0);
    CHECK(m.kernel("_Z5scalePfi") == k);
    CHECK(m.kernel("f") == nullptr);
    CHECK(m.kernel("nothing") == nullptr);
}

TEST_CASE("unsupported: every opcode and its line is named, and nothing runs",
          "[machine][loading]") {
    Lab lab;
    LoadedModule& m =
        lab.load(kernel_text("st.global.u32 [%mine], 1;\n"
                             "barrier.cluster.arrive;\nredux.sync.add.f32 %f1, %f2, -1;"));
    try {
        lab.launch(m, "k");
        FAIL("it ran");
    } catch (const UnsupportedPtx& error) {
        const std::string what = error.what();
        CHECK(what.find("barrier.cluster.arrive") != std::string::npos);
        CHECK(what.find("redux.sync.add.f32") != std::string::npos);
        CHECK(what.find("line 2") != std::string::npos);
    }
    CHECK(lab.got(0) == kOldWord);
    CHECK(lab.seen.log.empty());
}

TEST_CASE("load: text that is not PTX is refused", "[machine][loading]") {
    Lab lab;
    CHECK_THROWS_AS(lab.load("this is not PTX"), ptx::ParseError);
}
