// SPDX-License-Identifier: MIT
// What the tests of the stand-ins share: device arrays, test data and comparisons. Nothing here is
// the emulated device's: the same tests pass with NVIDIA's libraries on a card.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <vector>

#include "catch/catch.h"

namespace lab {

// The emulated device refuses some calls that NVIDIA's libraries let pass.
inline bool emulated() {
    return dlsym(RTLD_DEFAULT, "emulatorCountersReset") != nullptr;
}

template <class T>
class Device {
public:
    explicit Device(size_t count) : count_(count) {
        REQUIRE(cudaMalloc(&data_, std::max<size_t>(1, count) * sizeof(T)) == cudaSuccess);
    }
    explicit Device(const std::vector<T>& values) : Device(values.size()) {
        REQUIRE(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice) ==
                cudaSuccess);
    }
    ~Device() { cudaFree(data_); }
    Device(const Device&) = delete;
    operator T*() { return data_; }
    std::vector<T> values() const {
        std::vector<T> out(count_);
        REQUIRE(cudaMemcpy(out.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost) ==
                cudaSuccess);
        return out;
    }

private:
    size_t count_;
    T* data_ = nullptr;
};

// Numbers in [-1, 1], the same each time.
template <class T>
std::vector<T> numbers(size_t count, uint64_t seed = 1) {
    std::vector<T> out(count);
    for (T& value : out) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        value = T(int64_t(seed >> 33)) / T(1u << 30) - T(1);
    }
    return out;
}

// The largest difference, in units of `scale`.
template <class T, class U>
double difference(const std::vector<T>& got, const std::vector<U>& want) {
    REQUIRE(got.size() == want.size());
    double worst = 0;
    for (size_t i = 0; i < got.size(); ++i) {
        const double one = std::fabs(double(got[i]) - double(want[i]));
        if (!(one <= worst)) worst = one;
    }
    return worst;
}

template <class T>
constexpr double kBound = sizeof(T) == 4 ? 2e-5 : 1e-12;

// Column-major op(A)(i, j).
template <class T>
double at(const std::vector<T>& a, int lda, bool transposed, int i, int j) {
    return transposed ? a[size_t(j + i * lda)] : a[size_t(i + j * lda)];
}

}  // namespace lab
