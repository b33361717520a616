// SPDX-License-Identifier: MIT
// Finds CPython's functions by name, since nothing links this library with an interpreter. All of
// them are in its stable interface, or have kept their meaning since Python 3.9.
#include "runtime/host_watch/script_lines.h"

#include <dlfcn.h>

#include "ptx/source_map.h"

namespace runtime {
namespace {

struct Object;  // PyObject

struct Python {
    int (*is_initialized)() = nullptr;
    int (*is_finalizing)() = nullptr;  // may be missing
    void* (*this_thread)() = nullptr;
    int (*holds_lock)() = nullptr;
    int (*take_lock)() = nullptr;
    void (*give_lock)(int) = nullptr;
    Object* (*current_frame)() = nullptr;
    Object* (*caller)(Object*) = nullptr;
    Object* (*code)(Object*) = nullptr;
    int (*line)(Object*) = nullptr;
    Object* (*attribute)(Object*, const char*) = nullptr;
    const char* (*text)(Object*, ptrdiff_t*) = nullptr;
    void (*release)(Object*) = nullptr;
    bool is_here = true;

    Python() {
        find(is_initialized, "Py_IsInitialized");
        find(this_thread, "PyGILState_GetThisThreadState");
        find(holds_lock, "PyGILState_Check");
        find(take_lock, "PyGILState_Ensure");
        find(give_lock, "PyGILState_Release");
        find(current_frame, "PyEval_GetFrame");
        find(caller, "PyFrame_GetBack");
        find(code, "PyFrame_GetCode");
        find(line, "PyFrame_GetLineNumber");
        find(attribute, "PyObject_GetAttrString");
        find(text, "PyUnicode_AsUTF8AndSize");
        find(release, "Py_DecRef");
        const bool all = is_here;
        find(is_finalizing, "Py_IsFinalizing");
        if (!is_finalizing) find(is_finalizing, "_Py_IsFinalizing");
        is_here = all;
    }

private:
    template <class Function>
    void find(Function& function, const char* name) {
        function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
        is_here &= function != nullptr;
    }
};

// An interpreter is there from the start: `emulate` runs one, or a program is linked with it.
const Python& python() {
    static const Python instance;
    return instance;
}

std::string attribute_text(const Python& py, Object* object, const char* name) {
    Object* const value = py.attribute(object, name);
    if (!value) return "";
    const char* const text = py.text(value, nullptr);
    std::string copy = text ? text : "";
    py.release(value);
    return copy;
}

// Returns whether the frame is the user's.
bool read_frame(const Python& py, Object* frame, ptx::SourceLine& line) {
    Object* const code = py.code(frame);
    if (!code) return false;
    line.file = attribute_text(py, code, "co_filename");
    const std::string function = attribute_text(py, code, "co_name");
    line.function = function.starts_with("<") ? "" : function;
    line.line = uint32_t(std::max(py.line(frame), 0));
    py.release(code);
    return !ptx::is_python_library(line.file);
}

bool find_line(const Python& py, ptx::SourceLine& found) {
    Object* const innermost = py.current_frame();  // borrowed
    if (!innermost) return false;
    Object* frame = innermost;
    bool user = read_frame(py, frame, found);
    while (!user) {
        Object* const outer = py.caller(frame);
        if (frame != innermost) py.release(frame);
        frame = outer;
        if (!frame) break;
        user = read_frame(py, frame, found);
    }
    if (!user) read_frame(py, innermost, found);
    if (frame && frame != innermost) py.release(frame);
    return true;
}

struct Current {
    int depth = 0;
    bool known = false;
    ptx::SourceLine line;
};
Current& current() {
    static thread_local auto* const instance = new Current;  // used until the thread ends
    return *instance;
}

}  // namespace

ScriptCall::ScriptCall() {
    const Python& py = python();
    if (!py.is_here) return;
    Current& here = current();
    if (here.depth++ > 0) return;
    here.known = false;
    // Neither before nor after the interpreter's life, and in no thread that it does not know:
    // taking its lock there would create a state, or never return.
    if (!py.is_initialized() || (py.is_finalizing && py.is_finalizing()) || !py.this_thread())
        return;
    const bool held = py.holds_lock();
    const int state = held ? 0 : py.take_lock();
    here.known = find_line(py, here.line);
    if (!held) py.give_lock(state);
}

ScriptCall::~ScriptCall() {
    if (python().is_here && --current().depth == 0) current().known = false;
}

const ptx::SourceLine* current_script_line() {
    if (!python().is_here) return nullptr;
    const Current& here = current();
    return here.known ? &here.line : nullptr;
}

}  // namespace runtime
