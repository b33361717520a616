// SPDX-License-Identifier: MIT
// Waiting for a later block in loops that do more than poll: branches, barriers, votes. And loops
// that poll very often, and end by counting.
// env: EMULATOR_BUDGET=2000000000
#include <cuda_runtime.h>

constexpr int kThreads = 64;

// twin: hang
// Each thread looks at several marks, some of them at a second one, until all are set.
__global__ void wait_for_all(volatile int* marks, int* out) {
    const int t = threadIdx.x;
    if (blockIdx.x == 1) {
        marks[t] = 1;
        return;
    }
    bool missing;
    do {
        missing = false;
        for (int i = t; i < 3 * kThreads; i += kThreads) {
            const int mark = i % 7 == 0 ? (i + 1) % kThreads : i % kThreads;
            if (marks[mark] == 0) missing = missing || i % 3 == 0 || marks[t] == 0;
        }
    } while (missing);
    out[t] = 1;
}

// twin: hang
// One thread polls, and the block decides together whether to go on.
__global__ void wait_together(volatile int* flag, int* out) {
    __shared__ int seen;
    if (blockIdx.x == 1) {
        if (threadIdx.x == 0) *flag = 1;
        return;
    }
    for (bool done = false; !done;) {
        if (threadIdx.x == 0) seen = *flag;
        __syncthreads();
        done = seen != 0;
        __syncthreads();
    }
    out[threadIdx.x] = 1;
}

// twin: hang
__global__ void wait_by_vote(volatile int* flag, int* out) {
    if (blockIdx.x == 1) {
        if (threadIdx.x == 0) *flag = 1;
        return;
    }
    while (!__syncthreads_or(threadIdx.x % 2 ? *flag : 0)) {
    }
    out[threadIdx.x] = 1;
}

// twin: hang
__global__ void read_often(volatile int* in, int* out) {
    int sum = 0;
    for (int i = 0; i < 300000; ++i) sum += in[i % kThreads];
    out[threadIdx.x] = sum;
}

int main() {
    int *marks, *out, host[4 * kThreads];
    cudaMalloc(&marks, 2 * kThreads * sizeof(int));
    cudaMemset(marks, 0, 2 * kThreads * sizeof(int));
    cudaMalloc(&out, sizeof host);
    wait_for_all<<<2, kThreads>>>(marks, out);
    wait_together<<<2, kThreads>>>(marks + kThreads, out + kThreads);
    wait_by_vote<<<2, kThreads>>>(marks + kThreads + 1, out + 2 * kThreads);
    read_often<<<1, kThreads>>>(marks, out + 3 * kThreads);
    const cudaError_t error = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(marks);
    cudaFree(out);
    for (int i = 0; i < 3 * kThreads; ++i)
        if (error != cudaSuccess || host[i] != 1) return 1;
    return host[4 * kThreads - 1] == 300000 ? 0 : 1;
}
