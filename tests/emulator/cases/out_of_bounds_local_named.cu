// SPDX-License-Identifier: MIT
// The only local array of a kernel, one with rows, one of structs, and two on one line: each is
// called by its name.
// also: -G
#include <cuda_runtime.h>

struct Hit {
    float t;
    int id;
};

__global__ void insert(int* out, int n, int last) {
    int best[4] = {1 << 20, 1 << 20, 1 << 20, 1 << 20};
    for (int k = 0; k < n; ++k) {
        int v = (k * 7 + threadIdx.x) % 11, j = last;
        for (; j > 0 && best[j - 1] > v; --j)
            // expect: out-of-bounds-local "`best[4]` is written, but `best` has 4 elements"
            best[j] = best[j - 1];
        if (j < 4) best[j] = v;
    }
    out[threadIdx.x] = best[threadIdx.x % 4];
}

__global__ void rotate(float* out, int r, int c) {
    float m[3][4];
    for (int i = 0; i < 12; ++i) m[i / 4][i % 4] = out[i];
    out[threadIdx.x] = m[r][c];  // expect: out-of-bounds-local "`m[3][1]` is read"
}

__global__ void trace(int* out, int n) {
    Hit hits[5];
    for (int i = 0; i < n; ++i)
        hits[i].id = i;  // expect: out-of-bounds-local "`hits[5].id` is written"
    out[threadIdx.x] = hits[threadIdx.x % 5].id;
}

__global__ void copied(int* out, int n) {
    int from[12], to[8];
    for (int i = 0; i < 12; ++i) from[i] = out[i];
    for (int i = 0; i < n; ++i)
        // expect: out-of-bounds-local "`to[8]` is written, but `to` has 8 elements"
        to[i] = from[i];
    out[threadIdx.x] = to[threadIdx.x % 8] + from[n];
}

int main() {
    int* out;
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMemset(out, 0, 32 * sizeof(int));
    // twin: out-of-bounds-local
    insert<<<1, 1>>>(out, 20, 3);
    rotate<<<1, 1>>>((float*)out, 2, 3);
    trace<<<1, 1>>>(out, 5);
    copied<<<1, 1>>>(out, 8);
    insert<<<1, 1>>>(out, 20, 4);
    rotate<<<1, 1>>>((float*)out, 3, 1);
    trace<<<1, 1>>>(out, 6);
    copied<<<1, 1>>>(out, 9);
    cudaDeviceSynchronize();
    cudaFree(out);
}
