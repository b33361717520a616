// SPDX-License-Identifier: MIT
// Launches that cannot be: zero blocks from a division, a block of 33 x 32, a cooperative grid
// that is too large, dynamic shared memory.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

template <int kThreads>
__global__ void __launch_bounds__(kThreads) bounded(int* out) {
    out[threadIdx.x] = 1;
}

__global__ void cooperative(int* out) {
    out[0] = gridDim.x;
}

template <typename K, typename... A>
void launch(K kernel, dim3 grid, dim3 block, size_t shared, A... a) {
    kernel<<<grid, block, shared>>>(a...);  // expect: invalid-launch
}

int main() {
    int* out;
    cudaMalloc(&out, 4096);
    // twin: invalid-launch
    launch(bounded<128>, 1, 128, 0, out);
    launch(bounded<128>, 100 / 128, 128, 0, out);
    launch(bounded<128>, 1, 256, 0, out);
    launch(bounded<128>, 1, 64, 50000, out);
    // twin: invalid-launch
    cudaFuncSetAttribute(bounded<128>, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000);
    launch(bounded<128>, 1, 64, 50000, out);
    void* arguments[] = {&out};
    // expect: invalid-launch
    cudaError_t error = cudaLaunchCooperativeKernel(
        reinterpret_cast<void*>(cooperative), dim3(100000), dim3(256), arguments, 0, nullptr);
    // twin: invalid-launch
    error = cudaLaunchCooperativeKernel(
        reinterpret_cast<void*>(cooperative), dim3(40), dim3(256), arguments, 0, nullptr);
    if (error != cudaSuccess) return 1;
    cudaGetLastError();
    cudaDeviceSynchronize();
    cudaFree(out);
}
