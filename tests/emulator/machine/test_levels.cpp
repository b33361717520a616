// SPDX-License-Identifier: MIT
// Runs the other tests with the handlers of older processors: MACHINE_LEVEL=portable or newer. The
// arithmetic is tested at each level anyway (arith_lab.h), accesses and moves are not.
#include <cstdlib>
#include <string_view>

#include "catch.h"
#include "machine/arith_core.h"

namespace {

std::string_view asked_for() {
    const char* name = std::getenv("MACHINE_LEVEL");
    return name ? name : "";
}

// Before main, as a table of handlers is chosen when the first function is decoded.
const bool kLimited = [] {
    if (asked_for() == "portable") machine::limit_level(machine::ArithmeticLevel::kPortable);
    if (asked_for() == "newer") machine::limit_level(machine::ArithmeticLevel::kNewer);
    return true;
}();

}  // namespace

TEST_CASE("levels: the one that was asked for is in use", "[machine][levels]") {
    REQUIRE(kLimited);
    if (asked_for() == "portable")
        CHECK(machine::best_level() == machine::ArithmeticLevel::kPortable);
    else if (asked_for() == "newer")
        CHECK(machine::best_level() <= machine::ArithmeticLevel::kNewer);
    else
        CHECK(machine::can_run(machine::best_level()));
}
