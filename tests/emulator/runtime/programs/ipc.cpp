// SPDX-License-Identifier: MIT
// Memory and events of another process: the device says that it has none of that, and refuses.
#include <cstdio>

#include <cuda_runtime.h>

int main() {
    int* data = nullptr;
    cudaEvent_t event;
    cudaIpcMemHandle_t memory{};
    cudaIpcEventHandle_t shared{};
    void* opened = nullptr;
    int supported = -1;
    cudaDeviceProp properties{};
    if (cudaMalloc(&data, 64) ||
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess) ||
        cudaDeviceGetAttribute(&supported, cudaDevAttrIpcEventSupport, 0) ||
        cudaGetDeviceProperties(&properties, 0))
        return 1;
    std::printf("%d %d\n", supported, properties.ipcEventSupported);
    const cudaError_t results[] = {
        cudaIpcGetMemHandle(&memory, data),
        cudaIpcOpenMemHandle(&opened, memory, cudaIpcMemLazyEnablePeerAccess),
        cudaIpcCloseMemHandle(data),
        cudaIpcGetEventHandle(&shared, event),
        cudaIpcOpenEventHandle(&event, shared)};
    for (const cudaError_t error : results) std::puts(cudaGetErrorName(error));
    cudaEventDestroy(event);
    cudaFree(data);
}
