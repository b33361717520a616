// SPDX-License-Identifier: MIT
// A class on the device whose own pointer nobody has set on the device; `this` is a host address.
#include <cuda_runtime.h>

class Counter {
public:
    __device__ void add() { atomicAdd(&count_, 1); }  // expect: invalid-address "host memory"
    void run();

private:
    int count_ = 0;
};

__global__ void many(Counter* counter) {
    counter->add();
}

void Counter::run() {
    many<<<1, 32>>>(this);
}

int main() {
    Counter counter;
    counter.run();
    cudaDeviceSynchronize();
}
