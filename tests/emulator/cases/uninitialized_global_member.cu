// SPDX-License-Identifier: MIT
// One member of each element was never set; two members are updated on one line.
#include <cuda_runtime.h>

struct Particle {
    float x, y;
    float velocity[2];
};

__global__ void begin(Particle* all, bool both) {
    Particle& mine = all[threadIdx.x];
    mine.x = threadIdx.x;
    mine.y = 0;
    mine.velocity[0] = 1;
    if (both) mine.velocity[1] = 2;
}

__global__ void step(Particle* all) {
    Particle& p = all[threadIdx.x];
    // clang-format off
    p.x += p.velocity[0]; p.y += p.velocity[1];  // expect: uninitialized-global "`all[0].velocity[1]` is read"
    // clang-format on
}

int main() {
    Particle *good, *bad;
    cudaMalloc(&good, 32 * sizeof(Particle));
    cudaMalloc(&bad, 32 * sizeof(Particle));
    // twin: uninitialized-global
    begin<<<1, 32>>>(good, true);
    step<<<1, 32>>>(good);
    begin<<<1, 32>>>(bad, false);
    step<<<1, 32>>>(bad);
    cudaDeviceSynchronize();
    cudaFree(good);
    cudaFree(bad);
}
