// SPDX-License-Identifier: MIT
// The emulator's settings from the environment. `emulate` uses the same struct and parser, so that
// an option on its command line and its variable accept and reject the same values.
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
    std::string timeline;                // EMULATOR_TIMELINE: JSON; empty: none
    bool writers = false;                // EMULATOR_WRITERS: 0 or 1
    std::optional<uint64_t> budget;      // EMULATOR_BUDGET: thread-instructions of one launch
    std::optional<int> error_exit_code;  // EMULATOR_ERROR_EXITCODE: 1 to 255
    int devices = 1;                     // EMULATOR_DEVICES: 1 to 16
    uint64_t memory = 0;                 // EMULATOR_MEMORY: bytes of each device; 0: the default
    unsigned arch = 0;  // EMULATOR_ARCH: compute capability as 75 or 90; 0: as compiled
};

// Bounds of EMULATOR_MEMORY, far below the size of the address space.
constexpr uint64_t kLeastMemory = 1ull << 20, kMostMemory = 1ull << 40;
constexpr unsigned kMostDevices = 16;

// An environment variable has an invalid value. what() names the variable and the value.
class BadOption : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Sets one option by the name of its variable. Throws BadOption; false for an unknown name.
bool set_option(Options& options, const std::string& variable, const std::string& value);

// All EMULATOR_* variables of this process. Throws BadOption. `unknown` gets the names that start
// with EMULATOR_ and are not known, most likely misspelt.
Options options_from_environment(std::vector<std::string>& unknown);

// Set by the library to the report's name, for child processes of the program.
constexpr const char* kSessionVariable = "EMULATOR_SESSION";

// The folder of the emulator's libraries, for a process that looks for others by itself.
constexpr const char* kFolderVariable = "EMULATOR_FOLDER";
// The process that `emulate` became, to tell it from those that it starts.
constexpr const char* kProcessVariable = "EMULATOR_PROCESS";

// Exit code of a program that was not run, or was stopped when it was loaded, because of invalid
// settings.
constexpr int kExitBadUsage = 2;
// Exit code of a program that returned 0 although some of its device code could not be run (no PTX,
// a damaged fat binary, an unsupported instruction): its results cannot be right.
constexpr int kExitUnsupported = 3;
// Exit code when nothing can run: the file is not a program, or the processor is too old.
constexpr int kExitCannotRun = 126;
// Exit code after the emulated device itself failed: a fault of the emulator, not of the program.
// 70 is EX_SOFTWARE of sysexits.h.
constexpr int kExitInternalError = 70;
// Exit code after the program has used up the machine's memory. 71 is EX_OSERR of sysexits.h.
constexpr int kExitOutOfMemory = 71;
// Exit code after the host dereferenced device memory, unless EMULATOR_ERROR_EXITCODE is set: what
// a shell shows for a program that a segmentation fault killed.
constexpr int kExitHostDereference = 139;

}  // namespace emulator
