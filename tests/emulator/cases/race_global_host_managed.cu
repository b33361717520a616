// SPDX-License-Identifier: MIT
// also: -O2
// Managed memory that the host reads before it has waited for the kernel: one number, an array of
// which the kernel writes the inside only, and a member of a struct.
#include <algorithm>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>

struct Result {
    int limit;
    float sum;
};

__global__ void square(int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= x[i];
}

__global__ void smooth(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) out[i] = (in[i - 1] + in[i] + in[i + 1]) / 3.0f;
}

__global__ void total(const float* in, Result* result) {
    float sum = 0.0f;
    for (int i = 0; i < result->limit; ++i) sum += in[i];
    result->sum = sum;
}

int main() {
    const int n = 100;
    int* x;
    float *in, *out;
    Result* result;
    cudaMallocManaged(&x, n * sizeof(int));
    cudaMallocManaged(&in, n * sizeof(float));
    cudaMallocManaged(&out, n * sizeof(float));
    cudaMallocManaged(&result, sizeof(Result));
    for (int i = 0; i < n; ++i) x[i] = i, in[i] = float(i), out[i] = 0.0f;
    result->limit = n;

    square<<<1, 128>>>(x, n);
    // expect: race-global "`x[7]` is read by the host while a kernel may still be writing it"
    std::printf("%d\n", x[7]);
    cudaDeviceSynchronize();

    smooth<<<1, 128>>>(in, out, n);
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) {
        // expect: race-global "`out[1]` is read by the host"
        sum += out[i];
    }
    cudaDeviceSynchronize();

    total<<<1, 1>>>(in, result);
    std::printf("%d\n", result->limit);  // of which the kernel only reads
    // expect: race-global "`result[0].sum` is read by the host"
    std::printf("%g\n", result->sum);
    cudaDeviceSynchronize();

    // Through the C++ library, whose functions are not to blame; a copy may begin at either end.
    square<<<1, 128>>>(x, n);
    // expect: race-global "is read by the host"
    const std::vector<int> kept(x, x + n);
    cudaDeviceSynchronize();
    square<<<1, 128>>>(x, n);
    // expect: race-global "is read by the host"
    std::sort(x, x + n);
    cudaDeviceSynchronize();
    std::printf("%g %d\n", sum, kept[3]);
    cudaFree(x);
    cudaFree(in);
    cudaFree(out);
    cudaFree(result);
}
