// SPDX-License-Identifier: MIT
// What the tests of the driver API share: a context, and PTX texts loaded into it.
#pragma once

#include <string>

#include "driver/frame.h"
#include "runtime/device_lab.h"

namespace lab {

inline const std::string kHeader = ".version 7.0\n.target sm_75\n.address_size 64\n";

// A clean device, and a context of the driver API that is current.
struct Driver : Device {
    Driver() {
        runtime::thread_state().contexts.clear();
        runtime::thread_state().bound = false;
        REQUIRE(cuInit(0) == CUDA_SUCCESS);
        REQUIRE(cuCtxCreate_v4(&context, nullptr, 0, 0) == CUDA_SUCCESS);
    }
    ~Driver() { runtime::thread_state().contexts.clear(); }
    CUmodule load(const std::string& body) {
        CUmodule module = nullptr;
        REQUIRE(cuModuleLoadData(&module, (kHeader + body).c_str()) == CUDA_SUCCESS);
        return module;
    }
    CUfunction function(CUmodule module, const char* name) {
        CUfunction found = nullptr;
        REQUIRE(cuModuleGetFunction(&found, module, name) == CUDA_SUCCESS);
        return found;
    }
    CUcontext context = nullptr;
};

}  // namespace lab
