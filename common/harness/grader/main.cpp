// SPDX-License-Identifier: MIT
// The main function of every lesson's program: a Catch2 session that reports to the grader, or an
// ordinary one where somebody starts the program by hand. A program that calls exit() in the middle
// of a test is ended with a code of its own, so that the grader can say so.
#if __has_include(<catch2/catch_test_macros.hpp>)
#define WB_CATCH_3 1
#include <catch2/catch_test_case_info.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>
#include <catch2/reporters/catch_reporter_streaming_base.hpp>
#else
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>
#endif

#include <cstdlib>
#include <string>

#include <unistd.h>

#include "catch/catch_session.h"
#include "channel.h"
#include "intact.h"
#include "report/details.h"
#include "test_body.h"

namespace {

constexpr int kExitCalled = 86;  // common/workbook/running/case_run.py knows it
bool finished = false;
size_t bodies_begun = 0, bodies_ended = 0;

// Sends what Catch2 reports, each failure at once.
#ifdef WB_CATCH_3
using Streaming = Catch::StreamingReporterBase;
#else
using Streaming = Catch::StreamingReporterBase<class GraderReporter>;
#endif
class GraderReporter : public Streaming {
public:
    using Streaming::Streaming;
    static std::string getDescription() { return "Reports to the workbook's grader"; }

#ifdef WB_CATCH_3
    void assertionEnded(const Catch::AssertionStats& stats) override {
        tell(stats);
    }
#else
    void assertionStarting(const Catch::AssertionInfo&) override {}
    bool assertionEnded(const Catch::AssertionStats& stats) override {
        tell(stats);
        return true;
    }
#endif

    void testCaseEnded(const Catch::TestCaseStats& stats) override {
#ifdef WB_CATCH_3
        const std::string& name = stats.testInfo->name;
#else
        const std::string& name = stats.testInfo.name;
#endif
        const auto& counts = stats.totals.assertions;
        wb::grader::tell("{\"event\": \"case\", \"name\": " + wb::grader::json_text(name) +
                         ", \"passed\": " + std::to_string(counts.passed) +
                         ", \"failed\": " + std::to_string(counts.failed) +
                         ", \"begun\": " + std::to_string(bodies_begun) +
                         ", \"ended\": " + std::to_string(bodies_ended) + "}");
        Streaming::testCaseEnded(stats);
    }

    void testRunEnded(const Catch::TestRunStats& stats) override {
        wb::grader::tell("{\"event\": \"run\"}");
        Streaming::testRunEnded(stats);
    }

private:
    static void tell(const Catch::AssertionStats& stats) {
        using wb::grader::json_text;
        const auto& result = stats.assertionResult;
        const auto type = result.getResultType();
        const std::string message(result.getMessage());
        if (type == Catch::ResultWas::Warning) {
            wb::grader::tell("{\"event\": \"warning\", \"text\": " + json_text(message) + "}");
            return;
        }
        if (result.isOk()) return;
        std::string infos;
        for (const auto& info : stats.infoMessages)
            if (info.type == Catch::ResultWas::Info)
                infos += (infos.empty() ? "" : ", ") + json_text(info.message);
        std::string record =
            "{\"event\": \"failure\", \"line\": " + std::to_string(result.getSourceInfo().line) +
            ", \"infos\": [" + infos + "], \"expression\": " + json_text(result.getExpression());
        auto& compared = wb::details::compared();
        compared.shown = false;
        if (!std::string(result.getExpression()).empty())
            record += ", \"expansion\": " + json_text(result.getExpandedExpression());
        // Otherwise the last comparison was another one, as a condition of the test.
        if (compared.shown && !compared.told.empty()) record += ", \"compared\": " + compared.told;
        const char* kind = type == Catch::ResultWas::ThrewException        ? "exception"
                           : type == Catch::ResultWas::FatalErrorCondition ? "fatal"
                           : type == Catch::ResultWas::ExplicitFailure     ? "failure"
                                                                           : nullptr;
        if (kind) record += ", \"" + std::string(kind) + "\": " + json_text(message);
        wb::grader::tell(record + "}");
    }
};
CATCH_REGISTER_REPORTER("grader", GraderReporter)

}  // namespace

void wb::grader::run_body(void (*body)()) {
    ++bodies_begun;
    body();
    ++bodies_ended;
}

int main(int argc, char** argv) {
    std::atexit([] {
        if (!finished) _exit(kExitCalled);
    });
    int failed;
    if (wb::grader::present()) {
        const char* arguments[] = {argv[0], wb::grader::test_spec(), "-r", "grader"};
        failed = wb::run_catch(4, arguments);
    } else {
        failed = wb::run_catch(argc, argv);
    }
    finished = true;
    if (wb::grader::present())
        if (const char* what = wb::grader::what_has_changed()) wb::grader::tampered(what);
    wb::grader::tell("{\"event\": \"end\"}");
    // mpirun ends the other ranks at once when one returns anything but 0, before they have
    // reported. Whether a rank has passed is known from its records.
    if (wb::grader::is_rank()) return 0;
    // Catch2's number of failed checks could be any code, also one that means something else.
    return failed == 0 ? 0 : 1;
}
