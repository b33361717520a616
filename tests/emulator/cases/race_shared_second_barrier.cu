// SPDX-License-Identifier: MIT
// Tiles one after another, with a barrier after the stores and none before the next ones.
#include <cuda_runtime.h>

__global__ void shift(const int* in, int* out, int tiles) {
    __shared__ int tile[128];
    int t = threadIdx.x;
    for (int i = 0; i < tiles; ++i) {
        tile[t] = in[i * 128 + t];  // expect: race-shared "written while another thread may"
        __syncthreads();
        out[i * 128 + t] = tile[(t + 32) % 128];
    }
}

int main() {
    int *in, *out;
    cudaMalloc(&in, 512 * sizeof(int));
    cudaMalloc(&out, 512 * sizeof(int));
    cudaMemset(in, 0, 512 * sizeof(int));
    shift<<<2, 128>>>(in, out, 4);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
