// SPDX-License-Identifier: MIT
// The line of a Python script that called into the library. To a debugger the caller is a function
// of the interpreter or of an extension module; a user wants to see the script's line.
#pragma once

#include "ptx/module.h"

namespace runtime {

// While one of these exists, current_script_line() is the line that runs in this thread.
// Constructed by every API call before it takes the library's lock: the interpreter's own lock
// comes first. Costs a comparison in a process without an interpreter.
class ScriptCall {
public:
    ScriptCall();
    ~ScriptCall();
    ScriptCall(const ScriptCall&) = delete;
    ScriptCall& operator=(const ScriptCall&) = delete;
};

// Null: no script called. The innermost frame of a file that belongs to no library, else the
// innermost of all. Valid as long as the call.
const ptx::SourceLine* current_script_line();

}  // namespace runtime
