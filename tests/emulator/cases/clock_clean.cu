// SPDX-License-Identifier: MIT
// Clean: the clock of a warp never goes back, counts what was executed and nothing that was
// skipped, and a wait for a round number of cycles ends a little past it, as it does on a card.
#include <cstdio>
#include <cuda_runtime.h>

__global__ void watch(int* data, int never, int* backwards, long long* longest) {
    long long last = clock64();
    for (int i = 0; i < 100; ++i) {
        long long now = clock64();
        if (now < last) ++*backwards;
        last = now;
        if (i == never) {  // hundreds of instructions in between, none of them executed
#pragma unroll
            for (int j = 0; j < 64; ++j) data[j] = data[j] * 3 + data[(j * 7) % 64] / (j + 1);
        }
        now = clock64();
        if (now < last) ++*backwards;
        if (now - last > *longest) *longest = now - last;
        last = now;
    }
}

__global__ void wait(unsigned cycles, unsigned* waited) {
    const unsigned start = unsigned(clock());
    while (unsigned(clock()) - start < cycles) {
    }
    *waited = unsigned(clock()) - start;
}

int main() {
    int *data, *backwards;
    long long* longest;
    unsigned* waited;
    cudaMalloc(&data, 64 * sizeof(int));
    cudaMemset(data, 0, 64 * sizeof(int));
    cudaMallocManaged(&backwards, sizeof *backwards);
    cudaMallocManaged(&longest, sizeof *longest);
    cudaMallocManaged(&waited, 3 * sizeof *waited);
    *backwards = 0;
    *longest = 0;
    watch<<<1, 1>>>(data, -1, backwards, longest);
    const unsigned cycles[] = {1000, 12345, 1500000};
    for (int i = 0; i < 3; ++i) wait<<<1, 1>>>(cycles[i], waited + i);
    cudaDeviceSynchronize();
    bool right = *backwards == 0 && *longest > 0 && *longest < 500;
    for (int i = 0; i < 3; ++i) right &= waited[i] > cycles[i] && waited[i] < cycles[i] + 500;
    if (!right) std::printf("%d %lld %u\n", *backwards, *longest, waited[2]);
    cudaFree(waited);
    cudaFree(longest);
    cudaFree(backwards);
    cudaFree(data);
    return right ? 0 : 1;
}
