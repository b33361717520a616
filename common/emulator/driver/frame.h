// SPDX-License-Identifier: MIT
// The frame of every driver API function. Most are runtime functions under another name: the frame
// checks that the driver is initialised and has a current context, puts the driver function's name
// into messages, and does not store the error for cudaGetLastError.
#pragma once

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL  // declares every version of a function by its exported name
#endif
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "runtime/core/api.h"

#define DRIVER_API extern "C" __attribute__((visibility("default")))

namespace driver {

// The driver's code for a runtime error; most are the same number.
CUresult result_of(cudaError_t error);
inline CUresult result_of(CUresult result) {
    return result;
}

enum class Needs : uint8_t { kNothing, kInit, kContext };

// A running driver call. A call within another one keeps the outer name.
class Frame {
public:
    Frame(const char* name, Needs needs);
    ~Frame();
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;
    CUresult refused = CUDA_SUCCESS;  // the error if the body must not run

private:
    const char* const outer_;
};

template <class F>
CUresult run(const char* name, Needs needs, F&& body) {
    const Frame frame(name, needs);
    return frame.refused != CUDA_SUCCESS ? frame.refused : result_of(body());
}
template <class F>
CUresult run(const char* name, F&& body) {
    return run(name, Needs::kContext, static_cast<F&&>(body));
}

// The current context of this thread, or null.
runtime::DriverContext* current_context();
// A live context of the program, or null.
runtime::DriverContext* find_context(CUcontext handle);
inline CUcontext handle_of(runtime::DriverContext* context) {
    return reinterpret_cast<CUcontext>(context);
}
bool valid_device(CUdevice device);
// Whether a handle refers to a live kernel.
bool is_kernel(const void* handle);

// Runs body() with `device` as the thread's device, whatever context is current.
template <class F>
auto on_device(int device, F&& body) {
    runtime::ThreadState& thread = runtime::thread_state();
    const int before = std::exchange(thread.device, device);
    const auto result = body();
    thread.device = before;
    return result;
}

inline void* pointer(CUdeviceptr address) {
    return reinterpret_cast<void*>(address);
}

}  // namespace driver
