// SPDX-License-Identifier: MIT
// Lesson 00, hello device: what hello_device.cu implements and the test calls.
//
// A d_ prefix marks a pointer to device memory.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "cuda_check.h"

// Stores `value` in d_out[0] (room for 1 int), by a kernel of one thread. The kernel may still be
// running when hello returns.
void hello(int* d_out, int value);

// A CUDA call that failed: what() describes it in words, and `code` is the error.
class CudaFailure : public std::runtime_error {
public:
    CudaFailure(cudaError_t error, const std::string& text)
        : std::runtime_error(text), code(error) {}
    const cudaError_t code;
};

// Does nothing for cudaSuccess. For any other error it throws a CudaFailure whose text contains
// `call` (the source text of the call, of any length), the error's name and its description.
void check(cudaError_t error, const char* call);

// Calls check() and fills in the source text: CHECK_CALL(cudaFree(data)).
#define CHECK_CALL(call) check((call), #call)

// Like hello, but waits for the kernel: the value is there when it returns. Throws a CudaFailure
// when the launch is refused and when the kernel fails while it runs. After a refused launch, the
// next valid one succeeds.
void hello_and_wait(int* d_out, int value);

// What a program needs to know about a card.
struct DeviceFacts {
    std::string name;
    int compute_major = 0;  // compute capability, 7 and 5 for 7.5
    int compute_minor = 0;
    int multiprocessors = 0;
    int warp_size = 0;  // threads
    int max_threads_per_block = 0;
    size_t shared_bytes_per_block = 0;
    size_t memory_bytes = 0;
};

// Returns the facts about the current device. Throws a CudaFailure when a call fails.
DeviceFacts describe_device();
