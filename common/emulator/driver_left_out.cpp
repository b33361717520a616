// SPDX-License-Identifier: MIT
// In place of the layer driver/, where a build leaves the driver API out (EMULATOR_DRIVER=OFF):
// every function says so and fails.
#include <cuda.h>

#include "runtime/core/context.h"

extern "C" __attribute__((visibility("hidden"))) int emulator_driver_unsupported(const char* name) {
    runtime::say_once(std::string(name) +
                      ": this build of the emulated device has no driver API (EMULATOR_DRIVER is "
                      "OFF)");
    return CUDA_ERROR_NOT_SUPPORTED;
}
