// SPDX-License-Identifier: MIT
// The choice of checkers by EMULATOR_CHECKS.
#include <set>

#include "bench.h"
#include "checks/checks.h"
#include "checks/report/report.h"

namespace {

std::vector<checks::Checker> make(const std::string& selection, bench::Bench& bench) {
    return checks::make_checkers(checks::select_checkers(selection), bench.report, bench.memory);
}

std::set<std::string> names_of(const std::string& selection) {
    bench::Bench bench;
    std::set<std::string> names;
    for (const auto& checker : make(selection, bench)) {
        CHECK(checker.observer);
        CHECK(checker.interests != 0);
        names.insert(checker.name);
    }
    return names;
}

}  // namespace

TEST_CASE("checkers: all of them by default", "[checks][checkers]") {
    const auto all = names_of("all");
    for (const char* name : {"bounds",
                             "alignment",
                             "uninitialized",
                             "race",
                             "barriers",
                             "stalls",
                             "warp-mask",
                             "faults",
                             "lifetime",
                             "api"}) {
        CHECK(all.count(name));
    }
    CHECK(names_of("") == all);
}

TEST_CASE("checkers: none", "[checks][checkers]") {
    CHECK(names_of("none").empty());
}

TEST_CASE("checkers: full is another word for all", "[checks][checkers]") {
    CHECK(names_of("full") == names_of("all"));
}

TEST_CASE("checkers: quick is all but the races", "[checks][checkers]") {
    auto expected = names_of("all");
    expected.erase("race");
    CHECK(names_of("quick") == expected);
    CHECK(names_of("quick,race-shared").count("race"));
}

TEST_CASE("checkers: a minus leaves one out", "[checks][checkers]") {
    CHECK(names_of("all,-race") == names_of("quick"));
    CHECK(names_of("-race") == names_of("quick"));
    CHECK(names_of("all,-leak") == names_of("all"));  // double-free is left
    CHECK(names_of("bounds,race,-race") == std::set<std::string>{"bounds"});
    CHECK_THROWS(names_of("-leek"));
}

TEST_CASE("checkers: by name and by code", "[checks][checkers]") {
    CHECK(names_of("bounds, race") == std::set<std::string>{"bounds", "race"});
    CHECK(names_of("leak,misaligned") == std::set<std::string>{"alignment", "lifetime"});
    CHECK(names_of("faults") == std::set<std::string>{"faults"});
}

TEST_CASE("checkers: a clean access costs nothing where only bad ones matter",
          "[checks][checkers]") {
    bench::Bench bench;
    for (const auto& checker : make("bounds,misaligned", bench)) {
        CHECK((checker.interests &
               (machine::kGlobalAccess | machine::kSharedAccess | machine::kLocalAccess)) == 0);
        CHECK((checker.interests & machine::kOnlyBadAccess) != 0);
    }
}

TEST_CASE("checkers: a code lets only its own findings through", "[checks][checkers]") {
    bench::Bench bench;
    const auto selection = checks::select_checkers("double-free");
    bench.report.restrict_to(selection.codes);
    const auto checkers = checks::make_checkers(selection, bench.report, bench.memory);
    REQUIRE(checkers.size() == 1);
    bench.device_array(64);
    checkers[0].observer->on_process_end();  // a leak, which was not asked for
    CHECK(bench.report.findings().empty());
    machine::ApiEvent event{};
    event.kind = machine::ApiEvent::Kind::kDoubleFree;
    event.message = "x";
    checkers[0].observer->on_api(event);
    CHECK(bench.report.findings().size() == 1);
}

TEST_CASE("checkers: only a checker of race-global watches the host", "[checks][checkers]") {
    const auto watches = [](const std::string& selection) {
        bench::Bench bench;
        const auto checkers = make(selection, bench);
        return std::any_of(checkers.begin(), checkers.end(), [](const checks::Checker& checker) {
            return checker.host_watch != nullptr;
        });
    };
    CHECK(watches("all"));
    CHECK(watches("race-global"));
    CHECK_FALSE(watches("race-shared"));
    CHECK_FALSE(watches("all,-race-global"));
    CHECK_FALSE(watches("quick"));
}

TEST_CASE("checkers: an unknown word is refused with the known ones", "[checks][checkers]") {
    const auto refuse = [&](const std::string& selection) -> std::string {
        try {
            checks::select_checkers(selection);
        } catch (const std::invalid_argument& error) {
            return error.what();
        }
        return "";
    };
    const std::string text = refuse("bounds,leek");
    CHECK(text.find("`leek`") != std::string::npos);
    CHECK(text.find("leak") != std::string::npos);
    CHECK(text.find("warp-mask") != std::string::npos);
    CHECK_FALSE(refuse("none,bounds").empty());
}
