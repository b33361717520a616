// SPDX-License-Identifier: MIT
// The launch that the occupancy calculator proposes, a block with all the shared memory that a
// kernel can ask for, and launch attributes.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#include "expect.h"

extern __shared__ float tile[];
__global__ void big(const float* in, float* out, int n, int words) {
    for (int i = threadIdx.x; i < words; i += blockDim.x) tile[i] = i < n ? in[i] : 0.0f;
    __syncthreads();
    float s = 0;
    for (int i = threadIdx.x; i < words; i += blockDim.x) s += tile[words - 1 - i];
    atomicAdd(out, s);
}
__global__ void plain(float* x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        x[i] = 2 * x[i] + 1;
}
int main() {
    int optin = 0, perblock = 0, sms = 0, grid = 0, block = 0, per = 0;
    CHECK(cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CHECK(cudaDeviceGetAttribute(&perblock, cudaDevAttrMaxSharedMemoryPerBlock, 0));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    EXPECT(optin > perblock && perblock == 49152);
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 0));
    EXPECT(grid > 0 && block > 0 && block <= 1024 && block % 32 == 0);
    CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(
        &grid, &block, big, [](int b) { return size_t(b) * 4; }, 0));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, plain, block, 0));
    EXPECT(per >= 1);
    size_t dyn = 0;
    CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&dyn, plain, 1, 256));
    EXPECT(dyn > 0);
    const int n = 10000;
    std::vector<float> h(n, 1.0f);
    float *d, *out;
    CHECK(cudaMalloc(&d, n * 4));
    CHECK(cudaMalloc(&out, 4));
    CHECK(cudaMemcpy(d, h.data(), n * 4, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(out, 0, 4));
    CHECK(cudaFuncSetAttribute(big, cudaFuncAttributeMaxDynamicSharedMemorySize, optin));
    CHECK(cudaFuncSetAttribute(
        big, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
    cudaFuncAttributes a;
    CHECK(cudaFuncGetAttributes(&a, big));
    EXPECT(a.maxDynamicSharedSizeBytes == optin && a.maxThreadsPerBlock == 1024);
    big<<<1, 256, optin>>>(d, out, n, optin / 4);
    CHECK(cudaGetLastError());
    float r;
    CHECK(cudaMemcpy(&r, out, 4, cudaMemcpyDeviceToHost));
    EXPECT(r == n);
    plain<<<grid, block>>>(d, n);
    CHECK(cudaMemcpy(h.data(), d, n * 4, cudaMemcpyDeviceToHost));
    for (float v : h) EXPECT(v == 3.0f);
    cudaLaunchConfig_t c{};
    c.gridDim = 4;
    c.blockDim = 64;
    c.stream = nullptr;
    cudaLaunchAttribute at[1];
    at[0].id = cudaLaunchAttributePriority;
    at[0].val.priority = 0;
    c.attrs = at;
    c.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&c, plain, d, n));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(d));
    CHECK(cudaFree(out));
    std::puts("ok");
}
