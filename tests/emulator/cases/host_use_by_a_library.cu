// SPDX-License-Identifier: MIT
// Memory that a library's host code uses (MPI's buffers): emulatorHostUse says so beforehand.
#include <cstdint>
#include <cstdlib>

#include <cuda_runtime.h>
#include <dlfcn.h>

using Use = int (*)(const char*, const void*, uint64_t, int);

__global__ void fill(double* x, int n) {
    int i = threadIdx.x;
    if (i < n) x[i] = i;
}

int main() {
    const Use use = (Use)dlsym(RTLD_DEFAULT, "emulatorHostUse");
    if (!use) return 1;
    double *device, *pinned;
    double own[4] = {};
    cudaMalloc(&device, 4 * sizeof(double));
    cudaMallocHost(&pinned, 4 * sizeof(double));
    fill<<<1, 32>>>(device, 4);
    // expect: host-dereference "`MPI_Send` reads device memory of 32 bytes"
    int refused = use("MPI_Send", device, sizeof(double), 0);
    // expect: host-dereference "`MPI_Recv` writes to device memory of 32 bytes"
    refused += use("MPI_Recv", device + 1, sizeof(double), 1);

    cudaMemcpyAsync(pinned, device, 2 * sizeof(double), cudaMemcpyDeviceToHost);
    // twin: race-global
    refused += use("MPI_Send", pinned + 2, 2 * sizeof(double), 0);
    refused += use("MPI_Send", own, sizeof own, 0);
    // expect: race-global "`pinned[1]` is read by the host while a copy may still be writing it"
    refused += use("MPI_Send", pinned + 1, sizeof(double), 0);
    cudaDeviceSynchronize();
    // twin: race-global
    refused += use("MPI_Send", pinned, 4 * sizeof(double), 0);

    cudaMemcpyAsync(device, pinned, sizeof(double), cudaMemcpyHostToDevice);
    // twin: race-global
    refused += use("MPI_Send", pinned, sizeof(double), 0);
    // expect: race-global "`pinned[0]` is written by the host while a copy may still be reading it"
    refused += use("MPI_Recv", pinned, sizeof(double), 1);
    cudaDeviceSynchronize();
    cudaFree(device);
    cudaFreeHost(pinned);
    return refused == 2 ? 0 : 1;
}
