// SPDX-License-Identifier: MIT
// Updates in two steps: a volatile or relaxed load and a store of what was made of it. Right with a
// single writer, under a lock, or where every thread would store the same.
// also: -G
#include <cuda/atomic>
#include <cuda_runtime.h>

__global__ void counted(volatile int* count) {
    *count = *count + 1;  // expect: race-global "written back while another thread"
}

__global__ void between_blocks(volatile float* sum, const float* in) {
    if (threadIdx.x == 0) {
        const float old = *sum;
        const float more = in[blockIdx.x] * 2;
        // expect: race-global "written back"
        *sum = old + more;
    }
}

__global__ void in_shared_memory(int* out) {
    __shared__ volatile int hits;
    if (threadIdx.x == 0) hits = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 5) hits += 1;  // expect: race-shared "written back"
    __syncthreads();
    if (threadIdx.x == 0) *out = hits;
}

struct Ticket {
    unsigned next;
    volatile unsigned serving;
};

// twin: race-global
__global__ void in_turn(Ticket* lock, int* count) {
    if (threadIdx.x != 0) return;
    const unsigned mine = atomicAdd(&lock->next, 1);
    while (lock->serving != mine) {
    }
    __threadfence();
    *count += 1;
    __threadfence();
    lock->serving = lock->serving + 1;
}

// One thread writes each of the two indices.
// twin: race-shared
__global__ void ring(const int* in, int* out, int n) {
    __shared__ int slot[4];
    __shared__ volatile int head, tail;
    if (threadIdx.x == 0) head = tail = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 0; k < n; ++k) {
            while (tail - head == 4) {
            }
            slot[tail % 4] = in[k];
            __threadfence_block();
            tail = tail + 1;
        }
    } else if (threadIdx.x == 32) {
        for (int k = 0; k < n; ++k) {
            while (tail == head) {
            }
            out[k] = slot[head % 4];
            __threadfence_block();
            head = head + 1;
        }
    }
}

// twin: race-global
__global__ void raised(volatile int* found, const int* in) {
    if (in[threadIdx.x] > 3 && *found == 0) *found = 1;
}

// Nobody's mark is another's.
// twin: race-global
__global__ void marked(volatile int* marks) {
    marks[0] = marks[0] | 4;
}

// twin: race-global
__global__ void own_words(volatile int* counts) {
    counts[threadIdx.x] = counts[threadIdx.x] + 1;
    counts[threadIdx.x] = counts[threadIdx.x] + 1;
}

int main() {
    int* words;
    cudaMalloc(&words, 1024);
    cudaMemset(words, 0, 1024);
    counted<<<2, 32>>>(words);
    between_blocks<<<3, 32>>>((float*)words + 1, (float*)words + 2);
    in_shared_memory<<<1, 128>>>(words);
    in_turn<<<4, 32>>>((Ticket*)(words + 8), words + 10);
    ring<<<1, 64>>>(words + 32, words + 64, 20);
    raised<<<1, 64>>>(words + 12, words + 32);
    marked<<<2, 64>>>(words + 13);
    own_words<<<1, 64>>>(words + 100);
    cudaDeviceSynchronize();
    cudaFree(words);
}
