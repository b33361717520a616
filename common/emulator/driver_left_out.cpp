// SPDX-License-Identifier: MIT
// Replaces the layer driver/ in builds without the driver API (EMULATOR_DRIVER=OFF): every function
// prints that and fails.
#include <cuda.h>

#include "runtime/core/context.h"

extern "C" __attribute__((visibility("hidden"))) int emulator_driver_unsupported(const char* name) {
    runtime::warn_once(std::string(name) +
                       ": this build of the emulated device has no driver API (EMULATOR_DRIVER is "
                       "OFF)");
    return CUDA_ERROR_NOT_SUPPORTED;
}
