// SPDX-License-Identifier: MIT
// The main function of the emulator's unit tests, compiled once because version 2 takes long.
#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

int main(int argc, char** argv) {
    return Catch::Session().run(argc, argv);
}
