// SPDX-License-Identifier: MIT
// A lesson's program reports to the grader over a socket, record by record as things happen: what
// has been sent cannot be taken back, and the grader keeps it outside of this process.
//
// The grader starts the program with one end of a socket and first sends the settings: a random
// token, the device, and the test case to run. They are read before any other code of the program
// runs (.preinit_array, which the student's file may not have), and they are there only once: a
// program that starts itself again has no token. Each record carries the token. A program that
// somebody starts by hand has no socket, and all of this does nothing.
//
// What this cannot prevent: code in the same process can find the token in memory if it sets out
// to. Against that only a second process in a sandbox helps.
#pragma once

#include <string>
#include <string_view>

namespace wb::grader {

// Whether a grader has started this program.
bool present();

// Whether the program is one of several ranks, which mpirun has started for the grader.
bool is_rank();

// The one test case to run, as a Catch2 test specification.
const char* test_spec();

// Sends one record, a JSON object. Can be called in a signal handler.
void tell(std::string_view record);

// The program has done what no lesson's file needs: says so to the grader and ends the process.
[[noreturn]] void tampered(std::string_view what);

// `text` as a JSON string with its quotation marks; what exceeds a few kilobytes is cut off.
std::string json_text(std::string_view text);

}  // namespace wb::grader
