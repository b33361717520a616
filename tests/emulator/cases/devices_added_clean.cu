// SPDX-License-Identifier: MIT
// Devices that the program asks for while it runs: emulatorDevicesSet.
#include <cstdio>
#include <cuda_runtime.h>
#include <dlfcn.h>

#include "../../../common/emulator/emulator_api.h"

__global__ void mark(int* out, int value) {
    *out = value;
}

int main() {
    const auto set = (int (*)(uint32_t))dlsym(RTLD_DEFAULT, "emulatorDevicesSet");
    int count = 0, current = -1;
    if (!set || set(17) == 0 || set(3) != 0 || set(2) == 0) return 1;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count != 3) return 2;
    if (cudaGetDevice(&current) != cudaSuccess || current != 0) return 3;
    for (int device = 0; device < count; ++device) {
        int *d_out, out = -1;
        if (cudaSetDevice(device) != cudaSuccess) return 4;
        if (cudaMalloc(&d_out, sizeof(int)) != cudaSuccess) return 5;
        mark<<<1, 1>>>(d_out, device);
        if (cudaGetLastError() != cudaSuccess) return 6;
        if (cudaMemcpy(&out, d_out, sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess) return 7;
        if (cudaFree(d_out) != cudaSuccess || out != device) return 8;
    }
    std::printf("ok\n");
}
