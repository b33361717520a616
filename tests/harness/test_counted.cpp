// SPDX-License-Identifier: MIT
// Numbers that know their counters: what a comparison that fails tells the grader.
#include "lesson_test.h"

// Of the harness's own tests the bodies are not counted.
void wb::grader::run_body(void (*body)()) {
    body();
}

namespace {

wb::Counters counters() {
    EmulatorCounters counted{};
    counted.threads = 512;
    counted.blocks = 2;
    counted.global_load_bytes = 4096;
    return wb::Counters(counted);
}

// What the grader is told of the comparison, as a condition.
std::string told(const wb::Comparison& comparison) {
    wb::details::compared().told = "of an earlier one";
    if (comparison) return wb::details::compared().told + "holds";
    return wb::details::compared().told;
}

// Whether two of them make a condition.
template <class T, class = void>
constexpr bool kJoins = false;
template <class T>
constexpr bool kJoins<T, std::void_t<decltype(std::declval<T>() && std::declval<T>())>> = true;
static_assert(kJoins<bool> && !kJoins<wb::Comparison>);

}  // namespace

TEST_CASE("a comparison that fails names its counter, both numbers and the relation", "[counted]") {
    CHECK(told(counters().threads <= 256) ==
          R"({"left": "threads", "relation": "<=", "right": 256, "got": 512, "want": 256})");
    CHECK(told(counters().launches > 0) ==
          R"({"left": "launches", "relation": ">", "right": 0, "got": 0, "want": 0})");
}

TEST_CASE("a comparison that holds tells nothing", "[counted]") {
    CHECK(told(counters().threads == 512) == "holds");
    CHECK(told(counters().threads >= 2 * counters().blocks) == "holds");
    CHECK(told(counters().threads != 511) == "holds");
    CHECK(told(1000 > counters().threads) == "holds");
}

TEST_CASE("arithmetic keeps the counters of both sides", "[counted]") {
    const auto sum = counters().global_load_bytes + 2 * counters().blocks;
    CHECK(sum.plain_number() == 4100);
    CHECK(sum.origin() == R"(["+", "global_load_bytes", ["*", 2, "blocks"]])");
    const auto each = 8.0 * counters().global_load_bytes / 1024;
    CHECK(each.plain_number() == 32.0);
    CHECK(each.origin() == R"(["/", ["*", 8.0, "global_load_bytes"], 1024])");
    const auto less = 1.0 * counters().blocks - 5;
    CHECK(less.plain_number() == -3.0);
}

TEST_CASE("a share of nothing is 0", "[counted]") {
    CHECK((counters().threads / counters().launches).plain_number() == 0);
    CHECK(counters().active_lanes().plain_number() == 0.0);
    CHECK(counters().block_size() == 256);
}

TEST_CASE("what a test measures has the name that it is given", "[counted]") {
    CHECK(wb::measured("timeline_waits", size_t(3)).origin() == R"("timeline_waits")");
    const auto useful = wb::measured("useful", counters().global_load_bytes / 8192.0);
    CHECK(useful.origin() == R"(["useful", ["/", "global_load_bytes", 8192.0]])");
    CHECK(told(useful >= 0.75) ==
          R"({"left": ["useful", ["/", "global_load_bytes", 8192.0]], "relation": ">=", )"
          R"("right": 0.75, "got": 0.5, "want": 0.75})");
}

TEST_CASE("numbers are those of JSON as Python reads it", "[counted]") {
    CHECK(wb::details::json_of(uint64_t(1) << 63) == "9223372036854775808");
    CHECK(wb::details::json_of(1e300) == "1.0000000000000001e+300");
    CHECK(wb::details::json_of(-1.0 / 0.0) == "-Infinity");
    CHECK(wb::details::json_of(std::nan("")) == "NaN");
}

TEST_CASE("a counter is shown as its number, and the reporter knows that it was", "[counted]") {
    auto& compared = wb::details::compared();
    compared.shown = false;
    CHECK(Catch::Detail::stringify(512) == "512 (0x200)");
    CHECK_FALSE(compared.shown);
    CHECK(Catch::Detail::stringify(counters().threads) == "512 (0x200)");
    CHECK(compared.shown);
}
