// SPDX-License-Identifier: MIT
// Values that nobody has set, and that nobody uses: members that are valid at times, padding,
// unions, both sides of a branch, lanes that do not look.
// also: -G
// also: -Xcicc -O0
#include <cuda_runtime.h>

struct Found {
    bool is;
    float value;
    int path[3];
};

// twin: uninitialized-local
__global__ void sometimes(Found* out) {
    Found f;
    f.is = threadIdx.x > 4;
    if (f.is) f.value = 2;
    out[threadIdx.x] = f;
}

__device__ __noinline__ float value_of(Found f) {
    return f.is ? f.value : -1;
}

// twin: uninitialized-local
__global__ void by_value(const Found* in, float* out) {
    Found f = in[threadIdx.x];
    out[threadIdx.x] = value_of(f);
}

struct Padded {
    char c;
    double d;
    char e;
};

__global__ void swap(Padded* a) {
    Padded p;
    p.c = 'a';
    p.d = threadIdx.x;
    p.e = 'b';
    a[threadIdx.x] = p;
    __syncthreads();
    Padded mine = a[threadIdx.x], other = a[31 - threadIdx.x];
    __syncthreads();
    a[31 - threadIdx.x] = mine;
    if (other.d < 0) a[threadIdx.x] = other;
}

union Number {
    int i;
    double d;
};

// twin: uninitialized-local
__global__ void either(Number* out) {
    Number n;
    if (threadIdx.x & 1)
        n.i = 5;
    else
        n.d = 0.5;
    out[threadIdx.x] = n;
}

// The best so far only counts when there is one.
__global__ void best(const int* in, int* out, int n) {
    int at;
    bool any = false;
    for (int i = 0; i < n; ++i)
        if (!any || in[i] > in[at]) {
            at = i;
            any = true;
        }
    out[threadIdx.x] = any ? at : -1;
}

// A tile whose tail nobody fills, and nobody reads.
__global__ void tail(const int* in, int* out, int n) {
    __shared__ int tile[32];
    int t = threadIdx.x, v;
    if (t < n) v = in[t];
    tile[t] = v;
    __syncthreads();
    out[t] = t + 1 < n ? tile[t + 1] : 0;
}

// Every element is written before it is read, but in a loop of its own.
// twin: uninitialized-local
__global__ void window(const int* in, int* out, int n) {
    int recent[5];
    int sum = 0;
    for (int i = 0; i < n; ++i) {
        if (i >= 5) sum -= recent[i % 5];
        recent[i % 5] = in[i];
        sum += in[i];
    }
    out[threadIdx.x] = sum;
}

// A stack, and a pointer to a variable that the callee fills.
__device__ __noinline__ void split(int v, int* high, int* low) {
    *high = v >> 4;
    if (low) *low = v & 15;
}

// twin: uninitialized-local
__global__ void stack(int* out, int depth) {
    int pending[32], top = 0;
    pending[top++] = depth;
    int leaves = 0;
    while (top) {
        int v = pending[--top], high, low;
        split(v, &high, &low);
        if (v == 0) {
            leaves += low + 1;
            continue;
        }
        pending[top++] = v - 1;
        if (v > 1) pending[top++] = v - 2;
    }
    out[threadIdx.x] = leaves;
}

int main() {
    Found* found;
    Padded* padded;
    Number* numbers;
    int *in, *out;
    float* values;
    cudaMalloc(&found, 32 * sizeof(Found));
    cudaMalloc(&padded, 32 * sizeof(Padded));
    cudaMalloc(&numbers, 32 * sizeof(Number));
    cudaMalloc(&in, 32 * sizeof(int));
    cudaMalloc(&out, 32 * sizeof(int));
    cudaMalloc(&values, 32 * sizeof(float));
    cudaMemset(in, 1, 32 * sizeof(int));
    sometimes<<<1, 32>>>(found);
    by_value<<<1, 32>>>(found, values);
    swap<<<1, 32>>>(padded);
    either<<<1, 32>>>(numbers);
    best<<<1, 32>>>(in, out, 32);
    tail<<<1, 32>>>(in, out, 20);
    window<<<1, 32>>>(in, out, 32);
    stack<<<1, 32>>>(out, 6);
    int result[32];
    bool good = cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost) == cudaSuccess;
    cudaFree(found);
    cudaFree(padded);
    cudaFree(numbers);
    cudaFree(in);
    cudaFree(out);
    cudaFree(values);
    return good ? 0 : 1;
}
