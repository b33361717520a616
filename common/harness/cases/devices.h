// SPDX-License-Identifier: MIT
// More than one device, for code that must not count on device 0.
#pragma once

#include <cuda_runtime.h>
#include <dlfcn.h>

#include "cuda_check.h"

namespace wb {
inline namespace of_test {

// How many devices there are: with the emulator at least `wanted`, on a card
// those of this machine.
inline int device_count(int wanted) {
    int count = 0;
    CUDA_CHECK(cudaGetDeviceCount(&count));
    const auto set = (int (*)(uint32_t))dlsym(RTLD_DEFAULT, "emulatorDevicesSet");
    if (count >= wanted || !set || set(wanted) != 0) return count;
    return wanted;
}

// Makes another device current while it lives.
class OnDevice {
public:
    explicit OnDevice(int device) { CUDA_CHECK(cudaSetDevice(device)); }
    ~OnDevice() { cudaSetDevice(0); }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;
};

}  // namespace of_test
}  // namespace wb
