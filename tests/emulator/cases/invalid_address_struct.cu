// SPDX-License-Identifier: MIT
// A struct whose member points to host memory.
#include <cuda_runtime.h>
#include <vector>

struct Batch {
    const float* values;
    int n;
};

__global__ void sum(Batch batch, float* out) {
    float s = 0;
    // expect: invalid-address "host memory"
    for (int i = 0; i < batch.n; ++i) s += batch.values[i];
    *out = s;
}

int main() {
    std::vector<float> host(100, 1.0f);
    float* out;
    cudaMalloc(&out, sizeof(float));
    sum<<<1, 1>>>({host.data(), 100}, out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
