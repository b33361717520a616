// SPDX-License-Identifier: MIT
// An array inside a struct that is passed by value has four elements, not eight.
#include <cuda_runtime.h>

struct Filter {
    float weights[4];
};

__global__ void apply(float* out, Filter filter) {
    int i = threadIdx.x;
    out[i] = filter.weights[i];  // expect: out-of-bounds-local
}

int main() {
    float* out;
    cudaMalloc(&out, 8 * sizeof(float));
    apply<<<1, 8>>>(out, Filter{{1, 2, 3, 4}});
    cudaDeviceSynchronize();
    cudaFree(out);
}
