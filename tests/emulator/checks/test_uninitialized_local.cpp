// SPDX-License-Identifier: MIT
// What is said of a variable that a thread uses without a value.
#include "bench.h"
#include "checks/uninitialized/local.h"

using bench::Bench;
using machine::UndefinedOrigin;
using machine::UndefinedUse;

namespace {

struct LocalBench : Bench {
    LocalBench() : checker(report) { origin.site = site(10, "ld.local.u32"); }
    void use(UndefinedUse::How how, uint32_t line, uint32_t lanes = 0x30) {
        checker.on_undefined_use({how, &warp, site(line, "st.global.u32"), lanes, &origin});
    }
    static void in_library(machine::SiteId site) { bench::sites()[site].library = true; }
    UndefinedOrigin origin;
    checks::UninitializedLocal checker;
};

}  // namespace

TEST_CASE("uninitialized-local: names the line that read it, and what came of it",
          "[checks][uninitialized]") {
    LocalBench bench;
    const auto [how, note] = GENERATE(table<UndefinedUse::How, std::string>(
        {{UndefinedUse::How::kBranch, "it decides a branch on line 12"},
         {UndefinedUse::How::kAddress, "it is used as an address or an index on line 12"},
         {UndefinedUse::How::kStored, "it is stored on line 12"}}));
    bench.origin.kind = UndefinedOrigin::Kind::kLocal;
    bench.use(how, 12);
    CHECK(bench.only().code == "uninitialized-local");
    CHECK(bench.only().severity == checks::Severity::kError);
    CHECK(bench.only().place.line == 10);
    CHECK(bench.only().place.thread == machine::Dim3{4, 0, 0});
    CHECK(bench.only().count == 2);
    CHECK(bench.only().notes.at(0) == note);
    CHECK(bench.only().message ==
          "an element or member of a local variable is used, but this thread has never given it a "
          "value");
}

TEST_CASE("uninitialized-local: a register that is used where it is read",
          "[checks][uninitialized]") {
    LocalBench bench;
    bench.origin.site = 0;  // nothing but the use has read it
    bench.use(UndefinedUse::How::kStored, 14);
    CHECK(bench.only().place.line == 14);
    CHECK(bench.only().message ==
          "a local variable is used, but this thread has never given it a value");
    CHECK(bench.only().notes.at(0) == "it is stored there");
}

TEST_CASE("uninitialized-local: other memory and shuffles belong to other checkers",
          "[checks][uninitialized]") {
    LocalBench bench;
    bench.origin.kind = GENERATE(UndefinedOrigin::Kind::kLoad, UndefinedOrigin::Kind::kShuffle);
    bench.use(UndefinedUse::How::kStored, 14);
    CHECK(bench.report.findings().empty());
}

TEST_CASE(
    "uninitialized-local: a library's own variable is no finding until the user's code reads it",
    "[checks][uninitialized]") {
    LocalBench bench;
    bench.in_library(bench.origin.site);
    const machine::SiteId used = bench.site(14, "st.global.u32");
    const auto read = [&] {
        bench.checker.on_undefined_use(
            {UndefinedUse::How::kAddress, &bench.warp, used, 1, &bench.origin});
    };
    SECTION("used in the library") {
        bench.in_library(used);
        read();
        CHECK(bench.report.findings().empty());
    }
    SECTION("used in a function that the user handed in") {
        read();
        CHECK(bench.report.findings().size() == 1);
    }
}
