// SPDX-License-Identifier: MIT
// A correct program that says what each call returned. Damaged copies of it are run as well.
#include <cstdio>

__global__ void fill(int* out) {
    out[threadIdx.x] = 5;
}

int main() {
    int* p = nullptr;
    int h = 0;
    std::printf("malloc %s\n", cudaGetErrorName(cudaMalloc(&p, 128)));
    fill<<<1, 32>>>(p);
    std::printf("launch %s\n", cudaGetErrorName(cudaGetLastError()));
    std::printf("copy %s\n", cudaGetErrorName(cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost)));
    cudaFree(p);
    std::printf("result %d\n", h);
}
