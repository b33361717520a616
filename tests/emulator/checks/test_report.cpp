// SPDX-License-Identifier: MIT
// Merging of findings, and their two renderings to the letter.
#include "bench.h"
#include "checks/report/places.h"
#include "checks/source/source.h"

#include <filesystem>

using checks::Finding;
using checks::Report;
using checks::Severity;

namespace {

Finding sample(const std::string& file, uint32_t line, uint32_t other_line) {
    Finding finding;
    finding.code = "race-shared";
    finding.message = "`tile[128]` is read while another thread may still be writing it";
    finding.kernel = "tree_reduction";
    finding.place = {file, line, machine::Dim3{0, 0, 0}, machine::Dim3{0, 0, 0}, "tree_reduction"};
    finding.other =
        checks::Place{file, other_line, machine::Dim3{0, 0, 0}, machine::Dim3{128, 0, 0}, ""};
    finding.other_text = "thread (128,0,0) wrote it on line " + std::to_string(other_line) +
                         ", and no barrier lies between";
    finding.count_text = "more pairs of threads on the same two lines";
    finding.address = "0x100200";
    finding.allocation = "`tile`, shared, 256 floats";
    finding.bytes = 4;
    return finding;
}

std::string lines(uint32_t count) {
    std::string text;
    for (uint32_t i = 1; i <= count; ++i) {
        text += i == 19 ? "        if (t < half) tile[t] += tile[t + half];  \r\n" : "\n";
    }
    return text;
}

}  // namespace

TEST_CASE("report: a library's kernel is blamed on the line that called it", "[checks][report]") {
    static machine::CodeSite site;
    site.user = {"/opt/cuda/include/cub/reduce.cuh", 175, 0, "reduce"};
    checks::set_site_resolver([](machine::SiteId) -> const machine::CodeSite& { return site; });
    checks::set_host_resolver([](machine::HostSite) {
        return ptx::SourceLine{"main.cu", 7, 0, ""};
    });
    machine::LaunchInfo launch;
    launch.launched_at = 1;
    const auto where = [&](bool library) {
        site.library = library;
        const checks::Place place = checks::place_of(5, launch);
        return place.file + ':' + std::to_string(place.line) + ' ' + place.library_line;
    };
    CHECK(where(true) == "main.cu:7 reduce.cuh:175");
    CHECK(where(false) == "/opt/cuda/include/cub/reduce.cuh:175 ");
    // Without debug information of the host, the header's line is better than none.
    checks::set_host_resolver([](machine::HostSite) { return ptx::SourceLine{}; });
    CHECK(where(true) == "/opt/cuda/include/cub/reduce.cuh:175 ");
    checks::set_site_resolver(nullptr);
    checks::set_host_resolver(nullptr);
}

TEST_CASE("report: the same code on the same two lines is one finding", "[checks][report]") {
    Report report;
    for (int i = 0; i < 5; ++i) report.add(sample("a.cu", 19, 13));
    REQUIRE(report.findings().size() == 1);
    CHECK(report.findings()[0].count == 5);
}

TEST_CASE("report: another line, another second line or another code is another finding",
          "[checks][report]") {
    Report report;
    report.add(sample("a.cu", 19, 13));
    report.add(sample("a.cu", 20, 13));
    report.add(sample("a.cu", 19, 14));
    report.add(sample("b.cu", 19, 13));
    Finding other = sample("a.cu", 19, 13);
    other.code = "race-global";
    report.add(other);
    CHECK(report.findings().size() == 5);
}

TEST_CASE("report: the races of one line are one finding, with notes", "[checks][report]") {
    Report report;
    report.merge_races_of_a_line();
    for (const uint32_t other : {13, 14, 13, 15, 16, 17}) {
        Finding finding = sample("a.cu", 19, other);
        finding.code = "race-shared";
        report.add(finding);
    }
    REQUIRE(report.findings().size() == 1);
    const Finding& found = report.findings()[0];
    CHECK(found.count == 6);
    REQUIRE(found.notes.size() == 3);
    CHECK(found.notes[0] == "as well: " + found.message + " (line 14)");
    CHECK(found.count_text == "more pairs of threads");

    Finding warning = sample("a.cu", 19, 13);
    warning.code = "race-shared";
    warning.severity = checks::Severity::kWarning;
    report.add(warning);
    Finding other_code = sample("a.cu", 19, 14);
    other_code.code = "deadlock";
    report.add(other_code);
    CHECK(report.findings().size() == 3);
}

TEST_CASE("report: two lines that race in both directions are one finding", "[checks][report]") {
    Report report;
    report.merge_races_of_a_line();
    for (const auto& [line, other] : {std::pair{19u, 13u}, {13u, 19u}, {13u, 15u}, {19u, 13u}}) {
        Finding finding = sample("a.cu", line, other);
        finding.code = "race-shared";
        report.add(finding);
    }
    REQUIRE(report.findings().size() == 2);
    CHECK(report.findings()[0].place.line == 19);
    CHECK(report.findings()[0].count == 3);
    CHECK(report.findings()[1].other->line == 15);
}

TEST_CASE("report: without a line the message tells findings apart", "[checks][report]") {
    Report report;
    Finding finding;
    finding.code = "leak";
    finding.message = "4 bytes";
    report.add(finding);
    report.add(finding);
    finding.message = "8 bytes";
    report.add(finding);
    CHECK(report.findings().size() == 2);
}

TEST_CASE("report: bump counts only what was remembered", "[checks][report]") {
    Report report;
    CHECK_FALSE(report.bump("race-shared", 7, 8));
    report.add(sample("a.cu", 19, 13));
    report.remember("race-shared", 7, 8);
    CHECK(report.bump("race-shared", 7, 8, 10));
    CHECK_FALSE(report.bump("race-shared", 7, 9));
    CHECK_FALSE(report.bump("race-global", 7, 8));
    CHECK(report.findings()[0].count == 11);
}

TEST_CASE("report: a second pair of instructions of the same lines bumps the same finding",
          "[checks][report]") {
    Report report;
    report.add(sample("a.cu", 19, 13));
    report.remember("race-shared", 1, 2);
    report.add(sample("a.cu", 20, 13));
    report.remember("race-shared", 3, 2);
    report.add(sample("a.cu", 19, 13));
    report.remember("race-shared", 5, 6);
    report.bump("race-shared", 5, 6);
    CHECK(report.findings()[0].count == 3);
    CHECK(report.findings()[1].count == 1);
}

TEST_CASE("report: codes that are not asked for are dropped, cheaply", "[checks][report]") {
    Report report;
    report.restrict_to({"leak"});
    CHECK(report.add(sample("a.cu", 19, 13)) == Report::kDropped);
    report.remember("race-shared", 1, 2);
    CHECK(report.bump("race-shared", 1, 2));
    CHECK(report.findings().empty());
}

TEST_CASE("report: errors and warnings are counted apart, and clear forgets", "[checks][report]") {
    Report report;
    report.add(sample("a.cu", 1, 2));
    Finding warning = sample("a.cu", 3, 4);
    warning.severity = Severity::kWarning;
    report.add(warning);
    report.remember("race-shared", 1, 2);
    CHECK(report.errors() == 1);
    CHECK(report.warnings() == 1);
    report.clear();
    CHECK(report.findings().empty());
    CHECK_FALSE(report.bump("race-shared", 1, 2));
}

TEST_CASE("render: text has the shape of the design, with the line as typed", "[checks][render]") {
    const bench::SourceFile source(lines(20), "tree_reduction.cu");
    const auto here = std::filesystem::current_path();
    std::filesystem::current_path(std::filesystem::path(source.path()).parent_path());
    Finding finding = sample(source.path(), 19, 13);
    finding.count = 128;
    const std::string text = checks::render_text(finding, false);
    std::filesystem::current_path(here);
    CHECK(text ==
          "error[race-shared]: `tile[128]` is read while another thread may still be writing it\n"
          "  --> tree_reduction.cu:19\n"
          "   |\n"
          "19 |         if (t < half) tile[t] += tile[t + half];\n"
          "   |\n"
          "   = where: kernel tree_reduction, block (0,0,0), thread (0,0,0)\n"
          "   = other: thread (128,0,0) wrote it on line 13, and no barrier lies between\n"
          "   = note:  127 more pairs of threads on the same two lines\n"
          "   = help:  make explain-race-shared\n");
}

TEST_CASE("render: a path below the working directory is shown relative to it",
          "[checks][render]") {
    const std::string here = std::filesystem::current_path().string();
    const std::string text = checks::render_text(sample(here + "/lessons/x.cu", 4, 2), false);
    CHECK(text.find(" --> lessons/x.cu:4\n") != std::string::npos);
}

TEST_CASE("render: a file that is not there costs only the source line", "[checks][render]") {
    Finding finding = sample("/nowhere/x.cu", 1234, 2);
    finding.other_text.clear();
    CHECK(checks::render_text(finding, false) ==
          "error[race-shared]: `tile[128]` is read while another thread may still be writing it\n"
          "    --> /nowhere/x.cu:1234\n"
          "     = where: kernel tree_reduction, block (0,0,0), thread (0,0,0)\n"
          "     = help:  make explain-race-shared\n");
}

TEST_CASE("render: without debug information the kernel is still named", "[checks][render]") {
    Finding finding = sample("", 0, 0);
    const std::string text = checks::render_text(finding, false);
    CHECK(text.find("compile with -lineinfo") != std::string::npos);
    CHECK(text.find("kernel tree_reduction") != std::string::npos);
}

TEST_CASE("render: one remaining is singular, none is not mentioned", "[checks][render]") {
    Finding finding = sample("/nowhere/x.cu", 3, 2);
    CHECK(checks::render_text(finding, false).find("more") == std::string::npos);
    finding.count = 2;
    CHECK(checks::render_text(finding, false).find("1 more pair of threads") != std::string::npos);
}

TEST_CASE("render: colour only when asked", "[checks][render]") {
    const Finding finding = sample("/nowhere/x.cu", 3, 2);
    CHECK(checks::render_text(finding, false).find('\033') == std::string::npos);
    CHECK(checks::render_text(finding, true).find("\033[1;31merror") == 0);
}

TEST_CASE("render: json has the keys of the design", "[checks][render]") {
    Finding finding = sample("/src/tree_reduction.cu", 19, 13);
    finding.count = 128;
    CHECK(
        checks::render_json(finding) ==
        "{\"code\": \"race-shared\", \"severity\": \"error\", \"message\": \"`tile[128]` is read "
        "while another thread may still be writing it\", \"kernel\": \"tree_reduction\", "
        "\"file\": \"tree_reduction.cu\", \"line\": 19, \"block\": [0,0,0], \"thread\": [0,0,0], "
        "\"other\": {\"line\": 13, \"block\": [0,0,0], \"thread\": [128,0,0]}, \"count\": 128, "
        "\"address\": \"0x100200\", \"allocation\": \"`tile`, shared, 256 floats\", \"bytes\": 4, "
        "\"path\": \"/src/tree_reduction.cu\", \"function\": \"tree_reduction\", \"other_text\": "
        "\"thread (128,0,0) wrote it on line 13, and no barrier lies between\", \"notes\": [], "
        "\"inlined_at\": [], \"facts\": {}}");
}

TEST_CASE("render: json of a host finding has nulls for what does not exist", "[checks][render]") {
    Finding finding;
    finding.code = "leak";
    finding.severity = Severity::kWarning;
    const std::string text = checks::render_json(finding);
    CHECK(text.find("\"severity\": \"warning\"") != std::string::npos);
    CHECK(text.find("\"block\": null, \"thread\": null, \"other\": null") != std::string::npos);
}

TEST_CASE("render: the other place names its file when that differs", "[checks][render]") {
    Finding finding = sample("/src/a.cu", 19, 13);
    finding.other->file = "/src/b.cuh";
    CHECK(checks::render_json(finding).find("\"file\": \"b.cuh\"}") != std::string::npos);
}

TEST_CASE("render: json escapes quotes, controls and broken UTF-8", "[checks][render]") {
    Finding finding;
    finding.message = "a\"b\\c\nd\te\x01"
                      "f\xc3\xa9g\xffh\xe2\x82";
    CHECK(checks::render_json(finding).find(
              "a\\\"b\\\\c\\nd\\te\\u0001f\xc3\xa9g\\ufffdh\\ufffd\\ufffd") != std::string::npos);
}

TEST_CASE("report: a source that was compiled at run time shows its line", "[checks][report]") {
    const std::string file = "no_such_folder/generated.cu";
    Finding finding = sample(file, 2, 1);
    CHECK(checks::render_json(finding).find("compiled_line") == std::string::npos);
    checks::set_source(file, "first();\nout[i] = 1;\n");
    CHECK(checks::render_json(finding).find(R"("compiled_line": "out[i] = 1;")") !=
          std::string::npos);
    CHECK(checks::render_text(finding, false).find("2 | out[i] = 1;") != std::string::npos);
    // Compilers write the whole path of the file into PTX.
    finding.place.file = std::filesystem::absolute(file).string();
    CHECK(checks::run_time_line(finding.place.file, 1) == "first();");
    // The same name again is the next text.
    checks::set_source(file, "\nout[i] = 2;\n");
    CHECK(checks::run_time_line(file, 2) == "out[i] = 2;");
    CHECK(!checks::run_time_line(__FILE__, 1));
}
