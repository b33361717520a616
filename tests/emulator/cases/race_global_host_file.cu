// SPDX-License-Identifier: MIT
// Files: a picture that is written before the kernel is done, and a buffer that is read into while
// the upload from it is going on. The system touches the memory, not the program.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <unistd.h>
#include <vector>

__global__ void paint(unsigned char* picture, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) picture[i] = (unsigned char)(i % 251);
}

int main() {
    const int n = 20000;
    unsigned char *picture, *staging, *device;
    cudaMallocManaged(&picture, n);
    cudaMallocHost(&staging, n);
    cudaMalloc(&device, n);
    std::memset(staging, 1, n);
    std::FILE* file = std::tmpfile();

    paint<<<(n + 255) / 256, 256>>>(picture, n);
    // expect: race-global "`picture[0]` is read by the host while a kernel may still be writing it"
    if (std::fwrite(picture, 1, n, file) != size_t(n)) return 1;
    cudaDeviceSynchronize();
    std::fflush(file);

    cudaMemcpyAsync(device, staging, n, cudaMemcpyHostToDevice);
    // expect: race-global "of `staging` is written by the host while a copy may"
    if (pread(fileno(file), staging, n, 0) != n) return 2;
    cudaDeviceSynchronize();

    // The work went on as if nobody had looked.
    std::vector<unsigned char> again(n);
    if (pread(fileno(file), again.data(), n, 0) != n) return 3;
    for (int i = 0; i < n; ++i)
        if (again[i] != i % 251 || staging[i] != i % 251) return 4;
    std::fclose(file);
    cudaFree(picture);
    cudaFree(device);
    cudaFreeHost(staging);
}
