// SPDX-License-Identifier: MIT
// Barrier objects with a phase: what is ordered by one, in kernels that run.
#include <cstring>
#include <string>
#include <vector>

#include "catch/catch.h"
#include "checks/checks.h"
#include "checks/report/report.h"
#include "machine/machine.h"

namespace {

// A turn of values by two warps; `between` stands between a thread's read and its write. Warp 1
// takes its time before it looks at the barrier object again.
std::vector<std::string> findings_of(const std::string& between) {
    const std::string wait =
        "mbarrier.arrive.shared.b64 %state, [object];\n"
        "WAIT$: mbarrier.test_wait.shared.b64 %p, [object], %state;\n@!%p bra WAIT$;\n";
    std::string text = R"(.version 8.0
.target sm_80
.address_size 64
.file 1 "turn.cu"
.visible .entry turn() {
.reg .pred %p, %first; .reg .b32 %r<8>; .reg .b64 %state;
.shared .align 8 .b64 object;
.shared .align 4 .b8 values[256];
mov.u32 %r1, %tid.x; mov.u32 %r2, values;
setp.ne.u32 %first, %r1, 0; @%first bra READY;
.loc 1 1 0
mbarrier.init.shared.b64 [object], 64;
READY: bar.sync 0;
mad.lo.u32 %r3, %r1, 4, %r2; sub.u32 %r4, 63, %r1; mad.lo.u32 %r4, %r4, 4, %r2;
.loc 1 2 0
st.shared.u32 [%r3], %r1;
FIRST
.loc 1 3 0
ld.shared.u32 %r5, [%r4];
BETWEEN
.loc 1 4 0
st.shared.u32 [%r3], %r5;
LAST
ret;
})";
    const auto put = [&](const std::string& name, std::string code) {
        for (size_t at; (at = code.find('$')) != code.npos;) code.replace(at, 1, name);
        text.replace(text.find(name), name.size(), code);
    };
    put("LAST", wait);
    put("BETWEEN", between == "wait" ? wait : between);
    put("FIRST", wait);

    checks::Report report;
    machine::Memory memory;
    machine::Observers observers;
    std::vector<checks::Checker> checkers =
        checks::make_checkers(checks::select_checkers("race-shared"), report, memory);
    for (const auto& checker : checkers) observers.add(checker.observer.get(), checker.interests);
    const auto machine = machine::Machine::create(memory, observers);
    const auto module = machine->load(text, "turn", 0);
    machine::LaunchRequest request;
    request.kernel = module->kernel("turn");
    REQUIRE(request.kernel);
    request.block = {64, 1, 1};
    machine->launch(request);
    std::vector<std::string> found;
    for (const checks::Finding& f : report.findings())
        found.push_back(f.code + " line " + std::to_string(f.place.line) +
                        (f.other ? " with line " + std::to_string(f.other->line) : ""));
    return found;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("barrier objects: a phase orders what came before it", "[checks][race]") {
    CHECK(findings_of("wait") == Lines{});
}

TEST_CASE("barrier objects: an early arrival for the next phase orders nothing yet",
          "[checks][race]") {
    CHECK(findings_of("") == Lines{"race-shared line 4 with line 3"});
}
