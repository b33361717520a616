// SPDX-License-Identifier: MIT
// Null is checked for; pinned, registered and managed memory may be used from the device.
#include <cstdlib>

#include <cuda_runtime.h>

struct Node {
    int value;
    Node* next;
};

__device__ Node nodes[4];

// twin: invalid-address
__global__ void walk(int* out) {
    for (int i = 0; i < 4; ++i) nodes[i] = Node{i, i < 3 ? &nodes[i + 1] : nullptr};
    int sum = 0;
    for (const Node* node = &nodes[0]; node; node = node->next) sum += node->value;
    *out = sum;
}

// twin: invalid-address
__global__ void optional(const int* values, const int* extra, int* out) {
    int i = threadIdx.x;
    out[i] = values[i] + (extra ? extra[i] : 0);
}

int main() {
    const int n = 32;
    int *pinned, *managed, *on_device;
    int* registered = static_cast<int*>(std::aligned_alloc(4096, 4096));
    for (int i = 0; i < n; ++i) registered[i] = i;
    cudaMallocHost(&pinned, n * sizeof(int));
    cudaMallocManaged(&managed, n * sizeof(int));
    cudaHostRegister(registered, 4096, cudaHostRegisterDefault);
    cudaHostGetDevicePointer(&on_device, registered, 0);
    optional<<<1, n>>>(on_device, nullptr, managed);
    cudaDeviceSynchronize();
    // twin: invalid-address
    optional<<<1, n>>>(on_device, managed, pinned);
    walk<<<1, 1>>>(managed);
    const cudaError_t error = cudaDeviceSynchronize();
    const bool right = error == cudaSuccess && pinned[5] == 10 && managed[0] == 6;
    cudaHostUnregister(registered);
    cudaFreeHost(pinned);
    cudaFree(managed);
    std::free(registered);
    return right ? 0 : 1;
}
