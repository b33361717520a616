// SPDX-License-Identifier: MIT
// Whether the program is still the one that was started: its machine code and constant data.
#pragma once

namespace wb::grader {

// Remembers which files are mapped as machine code, and the data of the program and of the emulated
// device that is constant once they are loaded (function pointers, virtual tables).
void remember_the_program();

// Null where all of it is as it was, else what was done, as words that complete "your code ...".
const char* what_has_changed();

}  // namespace wb::grader
