// SPDX-License-Identifier: MIT
// Hostile kernels, one by one: sizes, registers, variables and recursion that are refused or end
// with an error, and leave no state.
#include "machine_lab.h"

using namespace machine_lab;

TEST_CASE("hostile: the largest grid ends with its budget", "[machine][slow]") {
    for (const Dim3 grid : {Dim3{0x7fffffff, 65535, 65535}, Dim3{1, 65535, 65535}}) {
        Lab lab;
        lab.machine->set_budget(1 << 16);
        CHECK(lab.run("ret;", {grid, {1024, 1, 1}}).status == LaunchStatus::kBudget);
    }
}

TEST_CASE("hostile: parameters before and after the block of a kernel", "[machine][slow]") {
    for (const char* place : {"p_out+-8", "p_in+4096", "p_out+-2147483648"}) {
        Lab lab;
        INFO(place);
        const auto summary = lab.run("ld.param.u64 %rd1, [" + std::string(place) +
                                     "];\nst.global.u64 [%mine8], %rd1;");
        CHECK(summary.status == LaunchStatus::kIllegalAddress);
        CHECK(lab.got<uint64_t>(0) == ~uint64_t(0));  // poison
    }
}

TEST_CASE("hostile: a register that does not fit is refused", "[machine][slow]") {
    for (const char* statement : {"mov.u32 %rs1, %tid.x;",
                                  "mov.u32 %p1, %laneid;",
                                  "add.u64 %r1, %rd1, %rd2;",
                                  "add.cc.u64 %r1, %rd1, %rd2;",
                                  "mov.b64 %rd1, {%rs1, %rs2};",
                                  "mov.b64 {%r1, %rs1}, %rd1;",
                                  "cvta.to.global.u64 %rd1, %r1;",
                                  "atom.global.add.u64 %r1, [%out], %rd1;",
                                  "atom.global.add.u64 %rd1, [%out], %r1;",
                                  "vote.sync.ballot.b32 %p1, %p2, -1;",
                                  "elect.sync %p2|%p1, -1;",
                                  "activemask.b32 %rs1;",
                                  "bar.red.popc.u32 %p1, 0, %p2;",
                                  "stacksave.u32 %p1;",
                                  "st.v2.u32 [%out], {%r1, -%r2};",
                                  "mul.wide.s32 %rd1, %r1, 4; add.s64 %rd2, -%rd3, %rd1;",
                                  "mov.b64 %rd1, {%r1, !%r2};"}) {
        Lab lab;
        INFO(statement);
        CHECK_THROWS(lab.run(statement));  // a ParseError or UnsupportedPtx
    }
}

TEST_CASE("hostile: a variable of another state space is refused", "[machine][slow]") {
    for (const char* access : {"ld.param.u64 %rd1, [lo];",
                               "st.param.u64 [lo], %rd1;",
                               "ld.shared.u32 %r1, [lo];",
                               "st.global.u32 [lo], %r1;",
                               "ld.const.u32 %r1, [sh];",
                               "atom.shared.add.u32 %r1, [lo], 1;"}) {
        Lab lab;
        INFO(access);
        const std::string variables = ".local .align 8 .b8 lo[64];\n.shared .b32 sh;\n";
        CHECK_THROWS_AS(lab.run(variables + access), UnsupportedPtx);
    }
}

TEST_CASE("hostile: sizes that would overflow are refused", "[machine][slow]") {
    for (const char* declaration : {".local .b8 big[4294967297];", ".local .b8 big[524289];"}) {
        Lab lab;
        INFO(declaration);
        CHECK_THROWS_AS(lab.run(declaration), UnsupportedPtx);
    }
    Lab lab;
    CHECK(lab.run(".local .b8 most[1024];").status == LaunchStatus::kOk);
}

TEST_CASE("hostile: shared memory that no device has is refused", "[machine][slow]") {
    const auto with_arrays = [](uint64_t bytes, unsigned count) {
        std::string declared, used;
        for (unsigned i = 0; i < count; ++i) {
            const std::string name = "big" + std::to_string(i);
            declared += ".shared .b8 " + name + "[" + std::to_string(bytes) + "];\n";
            used += "st.shared.u8 [" + name + "], 1;\n";
        }
        return declared + used;
    };
    // 2^32 bytes and more in one array; several that come to 2^32 only in the sum; a byte too many.
    for (const auto& [bytes, count] :
         {std::pair{4294967296ull, 1u}, {4294967297ull, 1u}, {49152ull, 2000u}, {24577ull, 2u}}) {
        Lab lab;
        INFO(bytes << " bytes, " << count << " times");
        CHECK_THROWS_AS(lab.run(with_arrays(bytes, count)), UnsupportedPtx);
        CHECK(lab.run("ret;").status == LaunchStatus::kOk);
    }
    Lab lab;
    CHECK(lab.run(with_arrays(24576, 2)).status == LaunchStatus::kOk);
}

TEST_CASE("hostile: more registers and parameters than anybody has memory for", "[machine][slow]") {
    const auto many = [](const std::string& before, const std::string& after, int count) {
        std::string all = ".reg .b128 %big<200000>;\n";
        for (int i = 0; i < count; ++i) all += before + std::to_string(i) + after;
        return all;
    };
    Lab lab;
    CHECK_THROWS_AS(lab.run(".param .b8 big[65537];"), UnsupportedPtx);
    CHECK_THROWS_AS(lab.run(many(".param .b8 big", "[65536];\n", 3000)), UnsupportedPtx);
    CHECK_THROWS_AS(lab.run(many("mov.b128 %big", ", {%rd1, %rd1};\n", 132000)), UnsupportedPtx);
    CHECK_THROWS_AS(lab.run(many("add.u64 %rd1, %rd1, ", ";\n", 300000)), UnsupportedPtx);
    CHECK(lab.run(many("add.u64 %rd1, %rd1, ", ";\n", 1000)).status == LaunchStatus::kOk);
}

TEST_CASE("hostile: a recursion with many registers ends as a stack overflow", "[machine][slow]") {
    Lab lab;
    lab.machine->set_stack_bytes(512 << 10);
    std::string body = ".func f() {\n";
    for (int i = 0; i < 20; ++i) body += ".param .b8 big" + std::to_string(i) + "[65536];\n";
    const auto summary = lab.run("call f;", {}, body + "call f; ret; }\n");
    CHECK(summary.status == LaunchStatus::kStackOverflow);
    REQUIRE(lab.seen.faults.size() == 1);
}

TEST_CASE("hostile: a module that cannot be loaded leaves no state", "[machine][slow]") {
    Lab lab;
    const uint64_t used = lab.memory.used(0);
    CHECK_THROWS_AS(lab.load(".visible .func f() { ret; }\n.visible .global .b8 small[8];\n"
                             ".visible .global .b8 big[9000000000];\n"),
                    ptx::ParseError);
    CHECK(lab.memory.used(0) == used);
    CHECK(lab.seen.freed == lab.seen.allocated);
    // Its function is undefined now; a module of the same unit may define it.
    lab.load(".visible .func f() { ret; }");
    CHECK(lab.run("call f;", {}, ".extern .func f();").status == LaunchStatus::kOk);
}

TEST_CASE("hostile: memory of a peer whose access was disabled meanwhile", "[machine][slow]") {
    Lab lab;
    Allocation* const theirs = lab.memory.allocate(MemoryKind::kDevice, 256, 1, 0);
    std::memset(theirs->host, 0, 256);
    lab.give(0, theirs->address);
    LoadedModule& module = lab.load(
        kernel_text("ld.global.u64 %rd1, [%in];\nld.global.u32 %r2, [%rd1];\nadd.u32 %r2, %r2, 1;\n"
                    "st.global.u32 [%rd1], %r2;"));
    for (const uint64_t peers : {3, 1, 3}) {
        lab.machine->set_peers(peers);
        const auto summary = lab.launch(module, "k");
        CHECK(summary.status == (peers == 3 ? LaunchStatus::kOk : LaunchStatus::kIllegalAddress));
    }
    uint32_t value = 0;
    std::memcpy(&value, theirs->host, 4);
    CHECK(value == 2);
}

TEST_CASE("hostile: an election beside a vote", "[machine][slow]") {
    Lab lab;
    lab.run(R"(setp.lt.u32 %p1, %lane, 9;
setp.eq.u32 %p3, %lane, 20;
mov.u32 %r5, 77;
@%p1 bra A;
vote.sync.any.pred %p4, %p3, -1;
selp.u32 %r5, 1, 0, %p4;
bra J;
A:
elect.sync %r5|%p5, -1;
J:
st.global.u32 [%mine], %r5;)");
    CHECK(lab.words() == each([](uint32_t i) { return i < 9 ? 0 : 1; }));
}

TEST_CASE("hostile: a field of printf as wide as a number can say", "[machine][slow]") {
    static std::string output;
    output.clear();
    Lab lab;
    lab.machine->set_printf_sink([](const char* text, size_t size) { output.append(text, size); });
    lab.run(
        R"(.local .align 8 .b8 buffer[32];
setp.ne.u32 %p1, %lane, 0;
@%p1 bra L;
cvta.local.u64 %rd3, buffer;
mov.u64 %rd4, text;
st.u32 [%rd3], 2147483647;
st.u32 [%rd3+4], 5;
st.u32 [%rd3+8], -7;
st.u32 [%rd3+12], 6;
{ .param .b64 a; .param .b64 b; .param .b32 r;
st.param.b64 [a], %rd4;
st.param.b64 [b], %rd3;
call (r), vprintf, (a, b); }
L:)",
        {},
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
        ".global .align 1 .b8 text[9] = {37, 42, 100, 124, 37, 46, 42, 100, 0};\n");  // %*d|%.*d
    CHECK(output == std::string(9998, ' ') + "5|6");
}
