// SPDX-License-Identifier: MIT
// The parts of the decoder, each alone: rows and constants, launch invariants, fused products, and
// instructions that leave the body.
#include "catch/catch.h"
#include "machine/decode/fusion.h"
#include "machine/decode/invariants.h"
#include "machine/decode/removals.h"
#include "machine/decode/row_layout.h"
#include "machine/machine.h"
#include "machine_lab.h"

using namespace machine;

namespace {

// A kernel `k` with that body; p_out and p_in are its parameters.
struct Parsed {
    explicit Parsed(const std::string& body)
        : module(ptx::Module::open(".version 9.0\n.target sm_100\n.address_size 64\n"
                                   ".visible .entry k(.param .u64 p_out, .param .u64 p_in)\n{\n" +
                                       body + "ret;\n}\n",
                                   "parts")),
          function(*module->function("k")) {}
    std::unique_ptr<ptx::Module> module;
    const ptx::Function& function;
};

const char* const kRegisters = ".reg .pred %p<3>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n";
// Uses one register of each kind; registers that no instruction uses have no row.
const std::string kThree =
    std::string(kRegisters) + "mov.u32 %r1, 1;\nmov.u64 %rd1, 2;\nsetp.eq.u32 %p1, %r1, 0;\n";

}  // namespace

TEST_CASE("row layout: registers, scratch rows and constants", "[machine][decode]") {
    Parsed parsed(kThree);
    Code code;
    RowLayout rows(parsed.function, code);
    REQUIRE(parsed.function.registers.size() == 3);
    for (uint32_t i = 0; i < parsed.function.registers.size(); ++i) {
        if (rows.is_predicate(i)) continue;
        CHECK(rows.of_register(i) % 64 == 0);
        CHECK(rows.of_register(i) + rows.register_bytes(i) * kWarpSize <= code.row_bytes);
    }
    CHECK(rows.scratch(8) == rows.scratch(8));
    CHECK(rows.scratch(8) != rows.scratch(4));

    uint32_t five = rows.constant(ptx::Type::kU32, 5);
    uint32_t same = rows.constant(ptx::Type::kB32, 5);
    uint32_t wide = rows.constant(ptx::Type::kU64, 5);
    uint32_t yes = rows.constant(ptx::Type::kPred, 1);
    CHECK(five == same);
    CHECK(five != wide);
    for (uint32_t* row : {&five, &wide, &yes}) rows.resolve_later(*row);
    const uint32_t before = code.row_bytes;
    rows.place_constants();
    CHECK(code.constants_begin >= before);
    for (const uint32_t row : {five, wide, yes}) {
        CHECK(row >= code.constants_begin);
        CHECK(row < code.row_bytes);
    }
    uint32_t last = 0, mask = 0;
    const std::byte* const begin = code.constants.data();
    std::memcpy(&last, begin + (five - code.constants_begin) + 31 * 4, 4);
    std::memcpy(&mask, begin + (yes - code.constants_begin), 4);
    CHECK(last == 5);
    CHECK(mask == kAllLanes);
}

TEST_CASE("row layout: placeholders in instructions are resolved", "[machine][decode]") {
    Parsed parsed(kThree);
    Code code;
    RowLayout rows(parsed.function, code);
    Instr in;
    in.src[0] = rows.constant(ptx::Type::kU32, 7);
    in.dst = rows.of_register(0);
    code.instructions.push_back(in);
    rows.place_constants();
    CHECK(code.instructions[0].src[0] >= code.constants_begin);
    CHECK(code.instructions[0].src[0] < code.row_bytes);
    CHECK(code.instructions[0].dst == rows.of_register(0));
}

TEST_CASE("launch invariants: parameters, sizes and arithmetic on them", "[machine][decode]") {
    Parsed parsed(std::string(kRegisters) +
                  "ld.param.u64 %rd1, [p_out];\n"   // 0: the same in all threads
                  "mov.u32 %r1, %ntid.x;\n"         // 1: the same
                  "mov.u32 %r2, %tid.x;\n"          // 2: each thread's own
                  "add.u32 %r3, %r1, 4;\n"          // 3: of an invariant
                  "add.u32 %r4, %r1, %r2;\n"        // 4: of a thread's own
                  "mov.u32 %r5, 1;\n"               // 5: written again below
                  "setp.eq.u32 %p1, %r2, 0;\n"      // 6
                  "@%p1 mov.u32 %r5, 2;\n"          // 7
                  "ld.global.u32 %r6, [%rd1];\n");  // 8: memory may change
    LaunchInvariants invariants(parsed.function,
                                [](const ptx::Operand&) { return ptx::Space::kGlobal; });
    std::vector<bool> found;
    for (size_t i = 0; i < 9; ++i) found.push_back(invariants.note(parsed.function.body[i]));
    CHECK(found == std::vector<bool>{true, true, false, true, false, false, false, false, false});
}

TEST_CASE("product fusion: finds the product that only an addition uses", "[machine][decode]") {
    const auto fused = [](const std::string& body, uint32_t addition) {
        Parsed parsed(kRegisters + body);
        Code code;
        const size_t count = parsed.function.body.size();
        code.instructions.resize(count);
        std::vector<uint32_t> pc_of(count + 1);
        for (uint32_t i = 0; i <= count; ++i) pc_of[i] = i;
        const auto found = ProductFusion(parsed.function).find(addition, pc_of, code, Removals());
        return found ? int(found->product) : -1;
    };
    CHECK(fused("mov.u32 %r1, %tid.x;\nmul.lo.u32 %r2, %r1, 6;\nadd.u32 %r3, %r2, %r1;\n", 2) == 1);
    CHECK(fused("mov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\nadd.u32 %r3, %r1, %r2;\n", 2) == 1);
    // A second use, a factor that changes in between, and a subtraction.
    CHECK(fused("mov.u32 %r1, %tid.x;\nmul.lo.u32 %r2, %r1, 6;\nadd.u32 %r3, %r2, %r1;\n"
                "xor.b32 %r4, %r2, %r3;\n",
                2) == -1);
    CHECK(fused("mov.u32 %r1, %tid.x;\nmul.lo.u32 %r2, %r1, 6;\nmov.u32 %r1, 0;\n"
                "add.u32 %r3, %r2, 1;\n",
                3) == -1);
    CHECK(fused("mov.u32 %r1, %tid.x;\nmul.lo.u32 %r2, %r1, 6;\nsub.u32 %r3, %r2, %r1;\n", 2) ==
          -1);
}

TEST_CASE("removals: removed instructions are counted with the next one that stays",
          "[machine][decode]") {
    Code code;
    for (uint32_t i = 0; i < 4; ++i) {
        Instr in;
        in.site = 100 + i;
        code.instructions.push_back(in);
    }
    std::vector<uint32_t> pc_of{0, 1, 2, 3, 4};
    Removals removals;
    removals.hoist(0);
    removals.drop(2);
    CHECK(removals.hoisted(0));
    CHECK_FALSE(removals.hoisted(2));
    removals.apply(code, pc_of);
    REQUIRE(code.instructions.size() == 2);
    CHECK(code.instructions[0].site == 101);
    CHECK(code.instructions[1].site == 103);
    REQUIRE(code.invariants.size() == 1);
    CHECK(code.invariants[0].site == 100);
    CHECK(pc_of == std::vector<uint32_t>{0, 0, 1, 1, 2});
    REQUIRE(code.counted_with.size() == 2);
    CHECK(code.counted_with[0].pc == 0);
    CHECK(code.counted_with[0].site == 100);
    CHECK(code.counted_with[1].pc == 1);
    CHECK(code.counted_with[1].site == 102);
}
