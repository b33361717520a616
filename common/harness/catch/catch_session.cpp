// SPDX-License-Identifier: MIT
// Catch2's session, compiled once for all programs (common/cmake/WorkbookCatch2.cmake).
#include "catch_session.h"

#ifdef WORKBOOK_CATCH_RENAMED
extern "C" int workbook_catch_main(int argc, char** argv);
#elif __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

int wb::run_catch(int argc, const char* const* argv) {
#ifdef WORKBOOK_CATCH_RENAMED
    return workbook_catch_main(argc, const_cast<char**>(argv));
#else
    return Catch::Session().run(argc, argv);
#endif
}
