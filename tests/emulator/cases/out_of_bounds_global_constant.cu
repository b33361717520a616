// SPDX-License-Identifier: MIT
// Textures: clean reads beyond the edge, constant memory, surfaces; a kernel that writes the array
// it reads.
#include <cuda_runtime.h>
#include <vector>

__constant__ float filter[9];

__global__ void convolve(cudaTextureObject_t image, float* out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0;
    for (int dy = -1; dy <= 1; ++dy)
        for (int dx = -1; dx <= 1; ++dx)
            sum +=
                filter[(dy + 1) * 3 + dx + 1] * tex2D<float>(image, x + dx + 0.5f, y + dy + 0.5f);
    out[y * w + x] = sum;
}

__global__ void tap(const float* in, float* out, int n) {
    int i = threadIdx.x;
    float s = 0;
    for (int k = 0; k <= n; ++k) s += filter[k] * in[i];  // expect: out-of-bounds-global
    out[i] = s;
}

int main() {
    const int w = 20, h = 10;
    std::vector<float> host(w * h, 1.0f);
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, w, h);
    cudaMemcpy2DToArray(
        array, 0, 0, host.data(), w * sizeof(float), w * sizeof(float), h, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t texture;
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    float f[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    cudaMemcpyToSymbol(filter, f, sizeof f);
    float* out;
    cudaMalloc(&out, w * h * sizeof(float));
    convolve<<<dim3(2, 2), dim3(16, 8)>>>(texture, out, w, h);
    tap<<<1, 32>>>(out, out + 32, 9);
    cudaDeviceSynchronize();
    cudaDestroyTextureObject(texture);
    cudaFreeArray(array);
    cudaFree(out);
}
