// SPDX-License-Identifier: MIT
// What the parts of mpi_watch share: errors, waits that can be watched, and the emulated device.
#pragma once

#include <mpi.h>

#include <functional>
#include <string>

#include <dlfcn.h>

#define WATCHED extern "C" __attribute__((visibility("default")))

namespace mpi_watch {

// A function of the emulated device (emulator_api.h), null on a card.
template <class Function>
Function* of_emulator(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// Throws Error unless the code is MPI_SUCCESS.
void check(const char* call, int code);

// Returns when `done` does, which makes progress each time it is called. `on`: what `call` waits
// for, in words.
void wait(const char* call, const std::string& on, const std::function<bool()>& done);
void wait_for(const char* call, const std::string& on, MPI_Request& request, MPI_Status* status);

}  // namespace mpi_watch
