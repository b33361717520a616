// SPDX-License-Identifier: MIT
// Every allocation here leaks, and every launch has an error, so that each gives one finding with
// its host line. The lines that must be blamed carry the comment BLAME.
#include <algorithm>
#include <functional>
#include <vector>

template <class T>
__global__ void scale(T* a, T f) {
    a[threadIdx.x] *= f;
}
static __global__ void hidden(int* p) {
    *p = 1;
}
namespace {
__global__ void nameless(int* p) {
    *p = 1;
}
}  // namespace
namespace inner {
__global__ void named(int* p) {
    *p = 1;
}
}  // namespace inner
extern "C" __global__ void plain(int* p) {
    *p = 1;
}

struct Buffer {
    float* p = nullptr;
    bool made = false;
    Buffer() {
        made = cudaMalloc(&p, 4) == cudaSuccess;  // BLAME leak
    }
};
static Buffer global_buffer;

// A block of 2000 threads is more than a device has.
__attribute__((noinline)) void launches(int* p) {
    scale<int><<<1, 2000>>>(p, 2);   // BLAME invalid-launch
    hidden<<<1, 2000>>>(nullptr);    // BLAME invalid-launch
    nameless<<<1, 2000>>>(nullptr);  // BLAME invalid-launch
    inner::named<<<1, 2000>>>(p);    // BLAME invalid-launch
}
// The last call of an optimised function is a jump: this function has no frame then.
__attribute__((noinline)) void last(int* p) {
    plain<<<1, 2000>>>(p);  // BLAME invalid-launch
}
__attribute__((noinline)) static void last_but_one(int* p) {
    last(p);
}

int main() {
    int* p = nullptr;
    cudaMalloc(&p, 10);          // BLAME leak
    cudaMalloc((void**)&p, 10);  // BLAME leak
    std::vector<int> sizes{4, 8};
    std::for_each(sizes.begin(), sizes.end(), [&](int bytes) {
        cudaMalloc(&p, bytes);  // BLAME leak
    });
    std::function<void()> allocate = [&] {
        cudaMalloc(&p, 12);  // BLAME leak
        p = nullptr;
    };
    allocate();
    launches(p);
    last_but_one(p);
    auto generic = [](auto x) { scale<<<1, 2000>>>(x, 1); };  // BLAME invalid-launch
    generic(p);
    void* args[] = {&p};
    const void* kernel = (const void*)plain;
    cudaLaunchKernel(kernel, dim3(1), dim3(2000), args, 0, 0);  // BLAME invalid-launch
    (void)cudaGetLastError();
}
