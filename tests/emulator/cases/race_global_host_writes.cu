// SPDX-License-Identifier: MIT
// The host writes what a kernel still reads; reads what it has only waited for in another stream;
// and prepares the next picture in the buffer that an upload still comes from.
#include <cstring>
#include <cuda_runtime.h>

__global__ void scale(const float* in, float* out, const float* factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = *factor * in[i];
}

int main() {
    const int n = 5000;
    float *in, *out, *factor, *staging, *device;
    cudaStream_t one, two;
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    cudaMallocManaged(&in, n * sizeof(float));
    cudaMallocManaged(&out, n * sizeof(float));
    cudaMallocManaged(&factor, sizeof(float));
    cudaMallocHost(&staging, n * sizeof(float));
    cudaMalloc(&device, n * sizeof(float));
    for (int i = 0; i < n; ++i) in[i] = float(i);

    *factor = 2.0f;
    scale<<<20, 256, 0, one>>>(in, out, factor, n);
    // expect: race-global "`factor[0]` is written by the host while a kernel may"
    *factor = 3.0f;
    cudaStreamSynchronize(two);
    // expect: race-global "`out[4999]` is read by the host"
    const float last = out[4999];
    // expect: race-global "`in[4999]` is written by the host"
    in[4999] = last;
    cudaDeviceSynchronize();

    for (int step = 0; step < 2; ++step) {
        for (int i = 0; i < n; ++i) {
            // expect: race-global "`staging[0]` is written by the host while a copy may"
            staging[i] = float(step + i);
        }
        cudaMemcpyAsync(device, staging, n * sizeof(float), cudaMemcpyHostToDevice, one);
    }
    cudaStreamSynchronize(one);
    cudaStreamDestroy(one);
    cudaStreamDestroy(two);
    cudaFree(in);
    cudaFree(out);
    cudaFree(factor);
    cudaFree(device);
    cudaFreeHost(staging);
}
