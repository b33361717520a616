// SPDX-License-Identifier: MIT
// Device malloc that returned nothing, an index as pointer, a pointer below null.
#include <cuda_runtime.h>

__global__ void scratch(int* out, int n) {
    int* mine = static_cast<int*>(malloc(size_t(n) * sizeof(int)));
    mine[0] = 1;  // expect: invalid-address "null pointer"
    out[threadIdx.x] = mine[0];
    free(mine);
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20);
    // twin: invalid-address
    scratch<<<1, 32>>>(out, 10);
    scratch<<<1, 32>>>(out, 1 << 24);
    cudaDeviceSynchronize();
    cudaFree(out);
}
