// SPDX-License-Identifier: MIT
// Catch2's session, without the header that takes so long to compile.
#pragma once

namespace wb {

// Runs the test cases that the command line chooses; returns how many checks failed, as Catch2
// does.
int run_catch(int argc, const char* const* argv);

}  // namespace wb
