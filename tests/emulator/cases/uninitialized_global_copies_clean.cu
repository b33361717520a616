// SPDX-License-Identifier: MIT
// Clean: padding copied with a struct, partly written arrays of which only that part is used, sums
// that start from memset, managed by host.
#include <cstring>
#include <cuda_runtime.h>

struct Item {
    char kind;
    double value;
    short tail;
};

__global__ void make(Item* items, int n) {
    int i = threadIdx.x;
    if (i < n) {
        items[i].kind = 'a';
        items[i].value = i;
        items[i].tail = 3;
    }
}
// twin: uninitialized-global
__global__ void copy(const Item* in, Item* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[n - 1 - i] = in[i];
}
__global__ void use(const Item* in, double* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = in[i].value + in[i].kind + in[i].tail;
}
// twin: uninitialized-global
__global__ void swap_through_shared(int* data, int n) {
    __shared__ int tile[128];
    int t = threadIdx.x;
    if (t < n) tile[t] = data[t];
    __syncthreads();
    int v = tile[127 - t];
    if (127 - t < n) data[127 - t] = v + 1;
}
// twin: uninitialized-global
__global__ void vectors(const float4* in, float* out, int n) {
    int i = threadIdx.x;
    float4 v = in[i / 4];
    float a[4] = {v.x, v.y, v.z, v.w};
    if (i < n) out[i] = a[i % 4];
}
// twin: uninitialized-global
__global__ void from_host(const int* values, int* out, int n) {
    int i = threadIdx.x;
    if (i < n) out[i] = 2 * values[i];
}
// twin: uninitialized-global
__global__ void select(const bool* keep, const int* in, int* out) {
    int i = threadIdx.x;
    int v = in[i];
    out[i] = keep[i] ? v : 0;
}

int main() {
    const int n = 30;
    Item *a, *b;
    double* sums;
    cudaMalloc(&a, n * sizeof(Item));
    cudaMalloc(&b, n * sizeof(Item));
    cudaMalloc(&sums, n * sizeof(double));
    make<<<1, 32>>>(a, n);
    copy<<<1, 32>>>(a, b, n);
    cudaMemcpy(a, b, n * sizeof(Item), cudaMemcpyDeviceToDevice);
    use<<<1, 32>>>(a, sums, n);
    int* data;
    cudaMalloc(&data, 100 * sizeof(int));
    cudaMemset(data, 0, 100 * sizeof(int));
    swap_through_shared<<<1, 128>>>(data, 100);
    float *v, *w;
    cudaMalloc(&v, 8 * sizeof(float));
    cudaMalloc(&w, 8 * sizeof(float));
    cudaMemset(v, 0, 7 * sizeof(float));
    vectors<<<1, 8>>>(reinterpret_cast<float4*>(v), w, 7);
    int* managed;
    cudaMallocManaged(&managed, 64 * sizeof(int));
    for (int i = 0; i < 32; ++i) managed[i] = i;
    from_host<<<1, 32>>>(managed, managed + 32, 32);
    bool* keep;
    cudaMalloc(&keep, 32);
    cudaMemset(keep, 0, 32);
    int* some;
    cudaMalloc(&some, 32 * sizeof(int));
    select<<<1, 32>>>(keep, some, managed);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
    cudaFree(sums);
    cudaFree(data);
    cudaFree(v);
    cudaFree(w);
    cudaFree(managed);
    cudaFree(keep);
    cudaFree(some);
}
