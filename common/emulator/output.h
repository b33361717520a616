// SPDX-License-Identifier: MIT
// Where findings go: text on stderr when the program ends, JSON lines in a file while it runs.
#pragma once

#include <cstdint>
#include <string>

#include "checks/report.h"

namespace emulator {

class Output {
public:
    // `path` of the JSON file; empty: none. With `append` the file keeps what is in it (a child of
    // a process that writes the same file). An unwritable path is said on stderr; false then.
    bool open(const std::string& path, bool append);

    // Adds the findings that are new since the last call to the file. Cheap when there are none.
    void stream(const checks::Report& report);

    // Prints the findings that have not been printed yet.
    void print(const checks::Report& report);

    // The end of the process, however it comes: brings the file up to date (counts grow after a
    // finding is first written), prints what is still to print, and the summary when there is
    // anything to sum up. A second end (a handler after a handler) repeats nothing.
    void finish(const checks::Report& report, uint64_t launches, bool ended_early);

    // The emulated device itself has failed: a line of its own, with the code `internal-error`.
    void internal_error(const std::string& what);

    // After fork(), in the child: the parent reports what was found so far.
    void forget(const checks::Report& report);

private:
    void rewrite(const checks::Report& report);
    bool append_line(const std::string& text);

    std::string path_;
    int file_ = -1;
    int64_t start_ = 0, end_ = 0;                                    // our part of the file
    size_t streamed_ = 0, first_ = 0, printed_ = 0, summed_up_ = 0;  // findings
    bool failed_ = false;
};

// "2 errors, 1 warning in 3 launches"; empty when there is neither.
std::string summary(const checks::Report& report, size_t first, uint64_t launches);

}  // namespace emulator
