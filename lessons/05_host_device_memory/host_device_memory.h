// SPDX-License-Identifier: MIT
// Lesson 05, host and device memory: what host_device_memory.cu implements and the test calls.
//
// Every function throws wb::CudaError when a CUDA call fails, the destructor excepted.
#pragma once

#include <cstddef>
#include <vector>

#include "cuda_check.h"

// Owns `size` floats in device memory, from construction to destruction. It can be moved and not
// copied: there is always one owner.
class DeviceFloats {
public:
    // Allocates; the values are whatever is there. Nothing is allocated for size 0.
    explicit DeviceFloats(size_t size);
    // Frees what is owned, once.
    ~DeviceFloats();

    // Takes the memory over. `other` then owns nothing: get() is null and size() is 0.
    DeviceFloats(DeviceFloats&& other) noexcept;
    // The same, and what this owned before is freed, now or when `other` is destroyed. Afterwards
    // this has the memory that `other` had.
    DeviceFloats& operator=(DeviceFloats&& other) noexcept;

    DeviceFloats(const DeviceFloats&) = delete;
    DeviceFloats& operator=(const DeviceFloats&) = delete;

    // The address in device memory: for kernels and CUDA calls, never to be looked behind on the
    // host. Null for size 0.
    float* get() { return data_; }
    const float* get() const { return data_; }
    size_t size() const { return size_; }  // floats

    // Copies host -> device. Throws std::invalid_argument unless host.size() == size().
    void upload(const std::vector<float>& host);
    // Copies device -> host: size() floats.
    std::vector<float> download() const;

private:
    float* data_ = nullptr;
    size_t size_ = 0;
};

// One step of a pipeline: x becomes x * factor + summand.
struct Step {
    float factor;
    float summand;
};

// Starts one step on the n floats at d_data, in place. n = 0 launches nothing.
void start_step(float* d_data, size_t n, Step step);

// What becomes of `input` after all steps, in order. The data travel to the device once and back
// once; each step is one start_step.
std::vector<float> run_pipeline(const std::vector<float>& input, const std::vector<Step>& steps);
