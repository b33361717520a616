// SPDX-License-Identifier: MIT
// The old pointer is used after the array has grown.
#include <cuda_runtime.h>

__global__ void append(int* list, int at) {
    list[at] = at;  // expect: use-after-free
}

int main() {
    int *list, *grown;
    cudaMalloc(&list, 64);
    append<<<1, 1>>>(list, 0);
    cudaMalloc(&grown, 128);
    cudaMemcpy(grown, list, 64, cudaMemcpyDeviceToDevice);
    cudaFree(list);
    append<<<1, 1>>>(list, 1);
    cudaDeviceSynchronize();
    cudaFree(grown);
}
