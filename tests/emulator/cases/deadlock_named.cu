// SPDX-License-Identifier: MIT
// Two groups of a block wait for each other's named barrier, through a class.
#include <cuda_runtime.h>

template <int kId>
struct Named {
    int threads;
    __device__ void wait() const {
        // expect: deadlock
        asm volatile("bar.sync %0, %1;" ::"n"(kId), "r"(threads) : "memory");
    }
    __device__ void arrive() const {
        asm volatile("bar.arrive %0, %1;" ::"n"(kId), "r"(threads) : "memory");
    }
};

__global__ void exchange(int* data) {
    Named<1> full{64};
    Named<2> empty{64};
    if (threadIdx.x < 32) {
        empty.wait();
        data[threadIdx.x] = 1;
        full.arrive();
    } else {
        full.wait();  // before anybody said that it is empty
        data[threadIdx.x] = data[threadIdx.x - 32];
        empty.arrive();
    }
}

int main() {
    int* data;
    cudaMalloc(&data, 64 * sizeof(int));
    exchange<<<1, 64>>>(data);
    cudaDeviceSynchronize();
    cudaFree(data);
}
