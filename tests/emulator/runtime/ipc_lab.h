// SPDX-License-Identifier: MIT
// What tests of cudaIpc* do with memory of their own and of another process.
#pragma once

#include "process_lab.h"

namespace lab {

constexpr unsigned kLazy = cudaIpcMemLazyEnablePeerAccess;
constexpr unsigned kForProcesses = cudaEventInterprocess | cudaEventDisableTiming;

inline cudaIpcMemHandle_t handle_of(void* memory) {
    cudaIpcMemHandle_t handle{};
    REQUIRE(cudaIpcGetMemHandle(&handle, memory) == cudaSuccess);
    return handle;
}

template <class T>
T* opened(const cudaIpcMemHandle_t& handle) {
    void* memory = nullptr;
    REQUIRE(cudaIpcOpenMemHandle(&memory, handle, kLazy) == cudaSuccess);
    return static_cast<T*>(memory);
}

inline int value_at(const int* memory) {
    int value = -1;
    REQUIRE(cudaMemcpy(&value, memory, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess);
    return value;
}

inline void store(int* memory, int value) {
    REQUIRE(cudaMemcpy(memory, &value, sizeof value, cudaMemcpyHostToDevice) == cudaSuccess);
}

inline const machine::Allocation& allocation(const void* memory) {
    return *runtime::context().memory.find(reinterpret_cast<uint64_t>(memory));
}

}  // namespace lab
