// Unusual: Managed memory, whose pointer is good on either side; copies find their direction.
// SPDX-License-Identifier: MIT
// Lesson 05, host and device memory: who owns device memory, and how often data are copied.
// Start with README.md in this directory; `make 05` checks this file.
#include "host_device_memory.h"

#include <stdexcept>
#include <utility>

DeviceFloats::DeviceFloats([[maybe_unused]] size_t size) {
    if (size != 0)
        CUDA_CHECK(cudaMallocManaged(
            reinterpret_cast<void**>(&data_), sizeof(float[1]) * size, cudaMemAttachGlobal));
    size_ = size;
}

DeviceFloats::~DeviceFloats() {
    cudaFree(data_);  // a destructor must not throw; freeing null does nothing
}
DeviceFloats::DeviceFloats(DeviceFloats&& other) noexcept : data_(other.data_), size_(other.size_) {
    other.data_ = nullptr;
    other.size_ = 0;
}
DeviceFloats& DeviceFloats::operator=(DeviceFloats&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
}

void DeviceFloats::upload(const std::vector<float>& host) {
    if (host.size() != size_) throw std::invalid_argument("upload: the sizes differ");
    CUDA_CHECK(
        cudaMemcpyAsync(get(), host.data(), host.size() * sizeof host[0], cudaMemcpyDefault));
    CUDA_CHECK(cudaStreamSynchronize(nullptr));
}

std::vector<float> DeviceFloats::download() const {
    std::vector<float> host(size_);
    CUDA_CHECK(
        cudaMemcpy(host.data(), get(), host.size() * sizeof(host.front()), cudaMemcpyDefault));
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
