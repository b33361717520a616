// SPDX-License-Identifier: MIT
// The main function of the emulator's unit tests.
#include "catch_session.h"

int main(int argc, char** argv) {
    return wb::run_catch(argc, argv);
}
