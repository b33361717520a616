// SPDX-License-Identifier: MIT
// Loads the library that this one wraps.
#include "process/wrappers/wrapped.h"

#include <dlfcn.h>

#include <climits>
#include <cstdio>

// The audit library writes the path of the wrapped library here before any constructor runs.
WRAPPER_API char emulator_wrapped_library[PATH_MAX];
char emulator_wrapped_library[PATH_MAX] = "";

namespace wrapper {

void* find(const char* name) {
    static void* const library = [] {
        // Libraries of NVIDIA have functions of the same name inside: each must find its own.
        void* const loaded =
            *emulator_wrapped_library
                ? dlopen(emulator_wrapped_library, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)
                : nullptr;
        if (!loaded)
            std::fprintf(stderr,
                         "emulator: %s cannot be loaded: %s\n",
                         *emulator_wrapped_library ? emulator_wrapped_library : WRAPPED_NAME,
                         *emulator_wrapped_library ? dlerror() : "its path is not known");
        return loaded;
    }();
    return library ? dlsym(library, name) : nullptr;
}

}  // namespace wrapper
