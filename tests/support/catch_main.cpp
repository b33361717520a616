// SPDX-License-Identifier: MIT
// The main function of every Catch2 program here, compiled once because version 2 takes long. A
// program that calls exit() in the middle of a test is ended with a code of its own, so that the
// grader can say so.
#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include <cstdlib>
#include <unistd.h>

namespace {
constexpr int kExitCalled = 86;  // common/workbook/grade.py knows it
bool finished = false;
}  // namespace

int main(int argc, char** argv) {
    std::atexit([] {
        if (!finished) _exit(kExitCalled);
    });
    const int failed = Catch::Session().run(argc, argv);
    finished = true;
    return failed;
}
