// Unusual: Memory from the pool of the default stream, copies in that stream with a wait, and a
// pipeline whose result is moved into place.
// SPDX-License-Identifier: MIT
// Lesson 05, host and device memory: who owns device memory, and how often data are copied.
// Start with README.md in this directory; `make 05` checks this file.
#include "host_device_memory.h"

#include <stdexcept>
#include <utility>

DeviceFloats::DeviceFloats([[maybe_unused]] size_t size) {
    if (size > 0) {
        void* memory = nullptr;
        CUDA_CHECK(cudaMallocAsync(&memory, sizeof(float) * size, nullptr));
        data_ = static_cast<float*>(memory);
    }
    size_ = size;
}

DeviceFloats::~DeviceFloats() {
    if (data_) cudaFreeAsync(data_, nullptr);
}

DeviceFloats::DeviceFloats(DeviceFloats&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

DeviceFloats& DeviceFloats::operator=(DeviceFloats&& other) noexcept {
    DeviceFloats taken(std::move(other));
    std::swap(data_, taken.data_);
    std::swap(size_, taken.size_);
    return *this;  // what this owned dies with `taken`
}

void DeviceFloats::upload(const std::vector<float>& host) {
    if (host.size() != size_) throw std::invalid_argument("upload: the sizes differ");
    if (size_ == 0) return;
    CUDA_CHECK(cudaMemcpy(data_, host.data(), size_ * sizeof(float), cudaMemcpyHostToDevice));
}

std::vector<float> DeviceFloats::download() const {
    std::vector<float> host(size_);
    if (size_ == 0) return host;
    CUDA_CHECK(cudaMemcpyAsync(
        host.data(), data_, host.size() * sizeof host[0], cudaMemcpyDeviceToHost, nullptr));
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
    DeviceFloats data(0);
    data = DeviceFloats(input.size());
    data.upload(input);
    auto step = steps.begin();
    while (step != steps.end()) start_step(data.get(), input.size(), *step++);
    CUDA_CHECK(cudaDeviceSynchronize());
    return data.download();
}
