// SPDX-License-Identifier: MIT
// For case programs that also look at their own results: what fails is printed with its line.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t error_ = (call);                                                         \
        if (error_ != cudaSuccess) {                                                               \
            std::printf("%d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error_));              \
            std::exit(2);                                                                          \
        }                                                                                          \
    } while (0)
#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::printf("%d: failed: %s\n", __LINE__, #condition);                                 \
            std::exit(3);                                                                          \
        }                                                                                          \
    } while (0)
