// Unusual: The pipeline keeps its memory in a unique_ptr with a deleter, without the class; an
// empty input never reaches the device.
// SPDX-License-Identifier: MIT
// Lesson 05, host and device memory: who owns device memory, and how often data are copied.
// Start with README.md in this directory; `make 05` checks this file.
#include "host_device_memory.h"

#include <memory>
#include <stdexcept>
#include <utility>

DeviceFloats::DeviceFloats([[maybe_unused]] size_t size) {
    if (size > 0) CUDA_CHECK(cudaMalloc(&data_, size * sizeof(float)));
    size_ = size;
}

DeviceFloats::~DeviceFloats() {
    cudaFree(data_);  // a destructor must not throw; freeing null does nothing
}

DeviceFloats::DeviceFloats(DeviceFloats&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

DeviceFloats& DeviceFloats::operator=(DeviceFloats&& other) noexcept {
    if (this == &other) return *this;
    cudaFree(data_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
}

void DeviceFloats::upload(const std::vector<float>& host) {
    if (host.size() != size_) throw std::invalid_argument("upload: the sizes differ");
    if (size_ == 0) return;
    CUDA_CHECK(cudaMemcpy(data_, host.data(), size_ * sizeof(float), cudaMemcpyHostToDevice));
}

std::vector<float> DeviceFloats::download() const {
    std::vector<float> host(size_);
    if (size_ == 0) return host;
    CUDA_CHECK(cudaMemcpy(host.data(), data_, size_ * sizeof(float), cudaMemcpyDeviceToHost));
    return host;
}

// Any number of threads for n elements (lesson 03).
static __global__ void step_kernel(float* data, size_t n, Step step) {
    const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (; i < n; i += stride) data[i] = data[i] * step.factor + step.summand;
}

void start_step(float* d_data, size_t n, Step step) {
    if (n == 0) return;
    step_kernel<<<128, 256>>>(d_data, n, step);
    CUDA_CHECK(cudaGetLastError());
}

std::vector<float> run_pipeline(const std::vector<float>& input,
                                [[maybe_unused]] const std::vector<Step>& steps) {
    if (input.empty()) return {};
    const size_t bytes = input.size() * sizeof(float);
    float* raw = nullptr;
    CUDA_CHECK(cudaMalloc(&raw, bytes));
    struct Free {
        void operator()(float* data) const { cudaFree(data); }
    };
    const std::unique_ptr<float, Free> data(raw);
    CUDA_CHECK(cudaMemcpy(data.get(), input.data(), bytes, cudaMemcpyHostToDevice));
    for (size_t i = 0; i < steps.size(); ++i) start_step(data.get(), input.size(), steps[i]);
    std::vector<float> output(input.size());
    CUDA_CHECK(cudaMemcpy(output.data(), data.get(), bytes, cudaMemcpyDeviceToHost));
    return output;
}
