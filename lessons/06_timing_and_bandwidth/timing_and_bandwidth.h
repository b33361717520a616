// SPDX-License-Identifier: MIT
// Lesson 06, timing and bandwidth: what timing_and_bandwidth.cu implements and the test calls.
//
// Times are in milliseconds, rates in GB/s with 1 GB = 10^9 bytes. A failed CUDA call throws
// wb::CudaError.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "cuda_check.h"

// Something to be timed: puts work into the stream and returns, perhaps before the work is done.
using Work = std::function<void(cudaStream_t)>;

// The middle one of the times, and the mean of the middle two when their number is even. At least
// one time, in any order.
double median(std::vector<double> times);

// What one run of `work` in `stream` takes on the device, by two events in that stream.
double elapsed_ms(const Work& work, cudaStream_t stream);

// The median of `repeats` single measurements, after `warmup` runs that do not count. The work is
// run warmup + repeats times in all. warmup >= 0, repeats >= 1.
double time_ms(const Work& work, int warmup, int repeats, cudaStream_t stream);

// The least that must move between the chip and its memory when `arrays_read` arrays are read and
// `arrays_written` written, each of `elements` elements of `element_bytes` bytes.
size_t moved_bytes(size_t elements, int arrays_read, int arrays_written, size_t element_bytes);

// The rate at which `bytes` moved in `ms`. ms > 0.
double gigabytes_per_second(size_t bytes, double ms);

// What a card can do at best.
struct Peak {
    double gigabytes_per_second;
    double gigaflops;  // 10^9 operations of arithmetic in a second
};

enum class Verdict {
    kPlausible,
    kTooFast,      // more than 5 in 100 faster than the card can be
    kNotMeasured,  // not a time: zero, negative, infinite or NaN
};

// Whether work that moves `bytes` and does `operations` can take `ms`: it cannot be faster than the
// slower one of its two parts, moving at peak rate and computing at peak rate (the roofline).
Verdict judge(double ms, size_t bytes, double operations, Peak peak);

struct Measurement {
    double ms;
    double gigabytes_per_second;
};

// Times a kernel that adds 1 to the n doubles at d_data, after `warmup` runs, and returns the
// median of `repeats` runs and its rate. Afterwards each element is larger by warmup + repeats. n
// >= 1.
Measurement measure_increment(double* d_data, size_t n, int warmup, int repeats,
                              cudaStream_t stream);
