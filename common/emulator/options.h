// SPDX-License-Identifier: MIT
// What the environment asks of the emulator. One struct, one parser, also used by `emulate` so
// that an option on its command line and a variable mean and reject the same.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace emulator {

struct Options {
    std::string checks = "all";          // EMULATOR_CHECKS: all, none, or a list of names
    std::string report;                  // EMULATOR_REPORT: JSON lines; empty: none
    std::string counters;                // EMULATOR_COUNTERS: JSON; empty: none
    std::string trace;                   // EMULATOR_TRACE: JSON lines; empty: none
    bool writers = false;                // EMULATOR_WRITERS: 0 or 1
    std::optional<uint64_t> budget;      // EMULATOR_BUDGET: thread-instructions of one launch
    std::optional<int> error_exit_code;  // EMULATOR_ERROR_EXITCODE: 1 to 255
    int devices = 1;                     // EMULATOR_DEVICES: 1 to 16
    unsigned arch = 0;  // EMULATOR_ARCH: compute capability as 75 or 90; 0: as compiled
};

// A variable of the environment has a value that means nothing. what() names variable and value.
class BadOption : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// One setting, by the name of its variable. Throws BadOption; false for a name it does not know.
bool set_option(Options& options, const std::string& variable, const std::string& value);

// All EMULATOR_* variables of this process. Throws BadOption. `unknown` gets the names that start
// like ours and mean nothing, which is most likely a typing error.
Options options_from_environment(std::vector<std::string>& unknown);

// Set by the library to the report's name, for the processes that its program starts.
constexpr const char* kSessionVariable = "EMULATOR_SESSION";

// Exit code of a program that was not run, or was stopped at load, because of bad settings.
constexpr int kExitBadUsage = 2;
// Exit code of a program that ended with 0 although device code of it could not be run (no PTX, a
// damaged fat binary, an unsupported instruction): its results cannot be right.
constexpr int kExitUnsupported = 3;
// Exit code where nothing can run: no such program format, a processor that is too old.
constexpr int kExitCannotRun = 126;
// Exit code after the emulated device itself failed: a fault of ours, never of the program's.
// 70 is EX_SOFTWARE of sysexits.h.
constexpr int kExitInternalError = 70;
// Exit code after the host touched device memory, when EMULATOR_ERROR_EXITCODE is not set; what a
// shell shows for a program that a segmentation fault killed.
constexpr int kExitHostDereference = 139;

}  // namespace emulator
