// SPDX-License-Identifier: MIT
// Writes findings: as text to stderr when the program ends, as JSON lines to a file while it runs.
#pragma once

#include <cstdint>
#include <string>

#include "checks/report/report.h"

namespace emulator {

class Output {
public:
    // Opens the JSON file; an empty path means none. `append`: keeps the file's contents, for a
    // child of a process that writes the same file. If the path is not writable, prints a message
    // and returns false.
    bool open(const std::string& path, bool append);

    // Sends JSON lines to a function instead of a file; `last`: it is the last one.
    using Sink = void (*)(const char* line, uint64_t bytes, int last);
    void open(Sink sink);

    // Appends the findings that are new since the last call to the file. Cheap when there are none.
    void stream(const checks::Report& report);

    // Prints the findings that have not been printed yet.
    void print(const checks::Report& report);

    // Called whenever the process ends: updates the file (counts grow after a finding is first
    // written), prints the remaining findings, and the summary unless it would be empty. A second
    // call (a handler within a handler) repeats nothing.
    void finish(const checks::Report& report, uint64_t launches, bool ended_early);

    // The emulated device itself has failed: prints one line with the code `internal-error`.
    void internal_error(const std::string& what);

    // After fork(), in the child: the parent reports the findings so far.
    void forget(const checks::Report& report);

private:
    void rewrite(const checks::Report& report);
    void send(const checks::Report& report, size_t index);
    bool append_line(const std::string& text);

    std::string path_;
    Sink sink_ = nullptr;
    int file_ = -1;
    int64_t start_ = 0, end_ = 0;                                    // our part of the file
    size_t streamed_ = 0, first_ = 0, printed_ = 0, summed_up_ = 0;  // findings
    bool failed_ = false;
};

// "2 errors, 1 warning in 3 launches"; empty when there is neither.
std::string summary(const checks::Report& report, size_t first, uint64_t launches);

}  // namespace emulator
