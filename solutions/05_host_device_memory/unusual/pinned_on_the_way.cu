// Unusual: Uploads go through page-locked memory, and downloads through a stream.
// SPDX-License-Identifier: MIT
// Lesson 05, host and device memory: who owns device memory, and how often data are copied.
// Start with README.md in this directory; `make 05` checks this file.
#include "host_device_memory.h"

#include <algorithm>
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
    const size_t bytes = size_ * sizeof(float);
    float* pinned = nullptr;
    CUDA_CHECK(cudaMallocHost(&pinned, bytes));
    std::copy(host.begin(), host.end(), pinned);
    const cudaError_t copied = cudaMemcpy(data_, pinned, bytes, cudaMemcpyHostToDevice);
    cudaFreeHost(pinned);
    CUDA_CHECK(copied);
}

std::vector<float> DeviceFloats::download() const {
    std::vector<float> host(size_);
    if (size_ == 0) return host;
    const size_t bytes = size_ * sizeof(float);
    CUDA_CHECK(cudaMemcpyAsync(host.data(), data_, bytes, cudaMemcpyDeviceToHost, nullptr));
    CUDA_CHECK(cudaStreamSynchronize(nullptr));
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
    DeviceFloats data(input.size());
    data.upload(input);
    for (const Step& step : steps) start_step(data.get(), data.size(), step);
    return data.download();
}
