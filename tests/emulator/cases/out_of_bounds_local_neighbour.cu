// SPDX-License-Identifier: MIT
// One local array overrun into the next one, which lies right behind it.
// also: -G
#include <cuda_runtime.h>

__global__ void past_the_end(int* out, int n) {
    int a[8], b[8];
    for (int i = 0; i < 8; ++i) b[i] = out[i];
    for (int i = 0; i < n; ++i)
        // expect: out-of-bounds-local "`a[8]` is written, but `a` has 8 elements"
        a[i] = i * threadIdx.x;
    int sum = 0;
    for (int i = 0; i < 8; ++i) sum += a[(i + n) % 8] + b[(i * 3 + n) % 8];
    out[threadIdx.x] = sum;
}

__global__ void before_the_start(int* out, int n) {
    int low[16], high[16];
    for (int i = 0; i < 16; ++i) {
        low[i] = out[i];
        high[i] = i;
    }
    int sum = 0;
    for (int i = 0; i < 16; ++i) sum += low[(i * 3 - n) % 16];
    for (int i = 15; i >= n; --i)
        sum += high[i];  // expect: out-of-bounds-local "`high[-1]` is read"
    out[threadIdx.x] = sum;
}

struct Pair {
    int key, value;
};

__global__ void structs(int* out, int n) {
    Pair left[4], right[4];
    for (int i = 0; i < 4; ++i) {
        left[i] = {i, out[i]};
        right[i] = {n, i};
    }
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += left[i].value;  // expect: out-of-bounds-local
    out[threadIdx.x] = sum + right[n % 4].value;
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(out, 0, 32 * sizeof(int));
    past_the_end<<<1, 1>>>(out, 9);
    before_the_start<<<1, 1>>>(out, -1);
    structs<<<1, 1>>>(out, 5);
    cudaDeviceSynchronize();
    cudaFree(out);
}
