// SPDX-License-Identifier: MIT
// Guards, strides, sub-arrays of one allocation, the exact end, a struct's pointer.
#include <cuda_runtime.h>

struct View {
    int n;
    float* cells;
};

__constant__ float weights[4] = {1, 2, 3, 4};

// twin: out-of-bounds-global
__global__ void guarded(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i];
}

// twin: out-of-bounds-global
__global__ void strided(View view) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < view.n; i += gridDim.x * blockDim.x) {
        view.cells[i] = weights[i % 4];
    }
}

// twin: out-of-bounds-global
__global__ void backwards(float* end, int n) {
    int i = threadIdx.x + 1;
    if (i <= n) end[-i] = float(i);
}

// twin: out-of-bounds-global
__global__ void vectors(const float4* in, float4* out, int quads) {
    int i = threadIdx.x;
    if (i < quads) out[i] = in[i];
}

int main() {
    const int n = 1000;
    float* pool;
    cudaMalloc(&pool, 2 * n * sizeof(float));
    cudaMemset(pool, 0, 2 * n * sizeof(float));
    guarded<<<4, 256>>>(pool, pool + n, n);
    strided<<<2, 64>>>(View{n, pool + n});
    backwards<<<1, 128>>>(pool + 2 * n, 100);
    vectors<<<1, 256>>>(
        reinterpret_cast<float4*>(pool), reinterpret_cast<float4*>(pool + n), n / 4);
    const cudaError_t error = cudaDeviceSynchronize();
    cudaFree(pool);
    return error != cudaSuccess;
}
