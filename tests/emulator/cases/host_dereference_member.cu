// SPDX-License-Identifier: MIT
// A member function of a class whose object lies on the device is called on the host.
#include <cstdio>
#include <cuda_runtime.h>

struct Image {
    int width, height;
    float* pixels;
    __host__ __device__ int size() const { return width * height; }  // expect: host-dereference
};

int main() {
    Image host = {3, 4, nullptr}, *device;
    cudaMalloc(&host.pixels, sizeof(float) * host.size());
    cudaMalloc(&device, sizeof(Image));
    cudaMemcpy(device, &host, sizeof host, cudaMemcpyHostToDevice);
    std::printf("%d\n", device->size());
    cudaFree(device);
    cudaFree(host.pixels);
}
