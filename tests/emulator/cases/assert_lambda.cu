// SPDX-License-Identifier: MIT
// Assertions in a lambda, a template and a member, and two that hold.
// nvcc: --extended-lambda
#include <cassert>
#include <cuda_runtime.h>

template <typename T, int kN>
struct Array {
    T v[kN];
    __device__ T& operator[](int i) {
        assert(i >= 0 && i < kN);  // expect: assert "i >= 0 && i < kN"
        return v[i];
    }
};

template <typename F>
__global__ void run(F f, int n) {
    if (threadIdx.x < n) f(threadIdx.x);
}

int main() {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    run<<<1, 64>>>(
        [=] __device__(int i) {
            assert(i < 64);
            out[i] = i;
        },
        64);
    run<<<1, 64>>>(
        [=] __device__(int i) {
            Array<int, 8> a;
            for (int k = 0; k < 8; ++k) a[k] = k;
            out[i] = a[i];
        },
        9);
    cudaDeviceSynchronize();
    cudaFree(out);
}
