// SPDX-License-Identifier: MIT
// TEST_CASE as in Catch2, where the program also counts the bodies that reach their end: an
// exception of Catch2's own type, thrown by the code under test, ends a body quietly and is no
// failure.
#pragma once

#include "catch/catch.h"

namespace wb::grader {

// Runs the body of a test case; Catch2 may do so several times for one case.
void run_body(void (*body)());

}  // namespace wb::grader

#define WB_JOINED(a, b) a##b
#define WB_NAME(a, b) WB_JOINED(a, b)
#define WB_TEST_CASE(body, run, known, ...)                                                        \
    static void body();                                                                            \
    static void run() {                                                                            \
        ::wb::grader::run_body(body);                                                              \
    }                                                                                              \
    [[maybe_unused]] static const bool known = [] {                                                \
        REGISTER_TEST_CASE(run, __VA_ARGS__);                                                      \
        return true;                                                                               \
    }();                                                                                           \
    static void body()

#define WB_TEST_CASE_NUMBER(number, ...)                                                           \
    WB_TEST_CASE(WB_NAME(wb_test_body_, number),                                                   \
                 WB_NAME(wb_test_run_, number),                                                    \
                 WB_NAME(wb_test_known_, number),                                                  \
                 __VA_ARGS__)

#undef TEST_CASE
#define TEST_CASE(...) WB_TEST_CASE_NUMBER(__COUNTER__, __VA_ARGS__)
