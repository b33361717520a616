// SPDX-License-Identifier: MIT
// Lesson 05, host and device memory: what host_device_memory.cu implements and the test calls.
//
// Every function except the destructor throws wb::CudaError when a CUDA call fails.
#pragma once

#include <cstddef>
#include <vector>

#include "cuda_check.h"

// Owns `size` floats in device memory, from construction to destruction. It can be moved but not
// copied: there is always one owner.
class DeviceFloats {
public:
    // Allocates memory, without initialising it. Nothing is allocated for size 0.
    explicit DeviceFloats(size_t size);
    // Frees the memory.
    ~DeviceFloats();

    // Takes over the memory of `other`, which then owns nothing: get() is null and size() is 0.
    DeviceFloats(DeviceFloats&& other) noexcept;
    // Takes over the memory of `other`. What this object owned before is freed, either now or when
    // `other` is destroyed. An object that is assigned to itself keeps its memory.
    DeviceFloats& operator=(DeviceFloats&& other) noexcept;

    DeviceFloats(const DeviceFloats&) = delete;
    DeviceFloats& operator=(const DeviceFloats&) = delete;

    // The address in device memory, for kernels and CUDA calls; the host must not dereference it.
    // Null for size 0.
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

// Applies all steps to `input`, in order. The data are copied to the device once and back once;
// each step is one start_step. Frees its memory even when a call fails.
std::vector<float> run_pipeline(const std::vector<float>& input, const std::vector<Step>& steps);
