// SPDX-License-Identifier: MIT
// Lesson 05, host and device memory: who owns device memory, and how often data are copied.
// Start with README.md in this directory; `make 05` checks this file.
#include "host_device_memory.h"

#include <stdexcept>
#include <utility>

DeviceFloats::DeviceFloats([[maybe_unused]] size_t size) {
    // TODO 1 (about 3 lines): allocate `size` floats, unless size is 0, and store the size.
    // cudaMalloc takes bytes.
    if (size > 0) CUDA_CHECK(cudaMalloc(&data_, size * sizeof(float)));
    size_ = size;
    // END 1
}

// TODO 2 (about 13 lines): replace the next five lines. The destructor frees. The constructor and
// the assignment take the memory away from `other`. The assignment must not leak what this object
// owned before, and must leave an object that is assigned to itself as it is.
//| DeviceFloats::~DeviceFloats() {}
//| DeviceFloats::DeviceFloats(DeviceFloats&&) noexcept {}
//| DeviceFloats& DeviceFloats::operator=(DeviceFloats&&) noexcept {
//|     return *this;
//| }
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
// END 2

void DeviceFloats::upload(const std::vector<float>& host) {
    if (host.size() != size_) throw std::invalid_argument("upload: the sizes differ");
    // TODO 3 (about 2 lines): copy the bytes of `host` to the device.
    if (size_ == 0) return;
    CUDA_CHECK(cudaMemcpy(data_, host.data(), size_ * sizeof(float), cudaMemcpyHostToDevice));
    // END 3
}

std::vector<float> DeviceFloats::download() const {
    std::vector<float> host(size_);
    // TODO 4 (about 2 lines): copy the bytes on the device to `host`.
    if (size_ == 0) return host;
    CUDA_CHECK(cudaMemcpy(host.data(), data_, size_ * sizeof(float), cudaMemcpyDeviceToHost));
    // END 4
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
    // TODO 5 (about 4 lines): upload `input` once, start every step on the device, download once.
    //| return input;  // placeholder
    DeviceFloats data(input.size());
    data.upload(input);
    for (const Step& step : steps) start_step(data.get(), data.size(), step);
    return data.download();
    // END 5
}
