// SPDX-License-Identifier: MIT
// Which handlers run on which processor. With MACHINE_LEVEL=x86-64-v2 or x86-64-v3 the other tests
// of this program run with the handlers of older processors: arithmetic is tested at each level
// anyway (arith_lab.h), accesses and moves are not.
#include <cstdlib>
#include <string_view>

#include "catch/catch.h"
#include "machine/lanes/levels.h"

using machine::ProcessorLevel;
using enum machine::ProcessorLevel;

namespace {

// Empty without MACHINE_LEVEL.
std::string_view asked_for() {
    const char* name = std::getenv("MACHINE_LEVEL");
    return name ? name : "";
}

// Before main, as a table of handlers is chosen when the first function is decoded.
const bool kLimited = [] {
    for (const auto level : {kX86_64_v2, kX86_64_v3})
        if (asked_for() == machine::level_name(level)) machine::limit_level(level);
    return true;
}();

}  // namespace

TEST_CASE("levels: the one that was asked for is in use", "[machine][levels]") {
    REQUIRE(kLimited);
    CHECK(machine::can_run(machine::best_level()));
    if (!asked_for().empty() && asked_for() <= machine::level_name(machine::processor_level()))
        CHECK(asked_for() == machine::level_name(machine::best_level()));
}

TEST_CASE("levels: the processor has the level that PROCESSOR_LEVEL names", "[machine][levels]") {
    if (const char* name = std::getenv("PROCESSOR_LEVEL"))
        CHECK(std::string_view(machine::level_name(machine::processor_level())) == name);
}

TEST_CASE("levels: no level above the processor's own can run", "[machine][levels]") {
    for (const auto level : {kX86_64_v3, kX86_64_v4})
        if (level > machine::processor_level()) CHECK_FALSE(machine::can_run(level));
}

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("levels: this program has all of them, up to the processor's", "[machine][levels]") {
    for (const auto level : {kX86_64_v2, kX86_64_v3, kX86_64_v4})
        CHECK(machine::can_run(level) == (level <= machine::processor_level()));
}
#endif
