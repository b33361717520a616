// SPDX-License-Identifier: MIT
// Catch2's session, compiled once for all programs: with version 2 it takes some ten seconds.
#include "catch_session.h"

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

int wb::run_catch(int argc, const char* const* argv) {
    return Catch::Session().run(argc, argv);
}
