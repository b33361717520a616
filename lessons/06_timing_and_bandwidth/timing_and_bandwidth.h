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

// The work to be timed: calling it puts work into the stream and returns, perhaps before the work
// is done. A std::function holds anything that can be called in this way, such as a lambda.
using Work = std::function<void(cudaStream_t)>;

// The middle time in sorted order, or the mean of the middle two when there is an even number.
// There is at least one time; the times may come in any order.
double median(std::vector<double> times);

// The time that one run of `work` in `stream` takes on the device, by two events in that stream.
double elapsed_ms(const Work& work, cudaStream_t stream);

// The median of `repeats` single measurements, after `warmup` runs that do not count. The work runs
// warmup + repeats times in all. warmup >= 0, repeats >= 1.
double time_ms(const Work& work, int warmup, int repeats, cudaStream_t stream);

// The bytes that must at least move between the chip and its memory when `arrays_read` arrays are
// read and `arrays_written` written, each of `elements` elements of `element_bytes` bytes. The
// result fits into a size_t.
size_t moved_bytes(size_t elements, int arrays_read, int arrays_written, size_t element_bytes);

// The rate at which `bytes` moved in `ms`. ms > 0.
double gigabytes_per_second(size_t bytes, double ms);

// The peak rates of a card.
struct Peak {
    double gigabytes_per_second;
    double gigaflops;  // 10^9 arithmetic operations per second
};

enum class Verdict {
    kPlausible,
    kTooFast,      // moving or computing at more than 1.05 times the card's peak rate
    kNotMeasured,  // not a time: zero, negative, infinite or NaN
};

// Judges whether work that moves `bytes` and does `operations` can take `ms`. Moving and computing
// overlap, and each has its peak rate (the roofline); 5 % above a peak is still plausible.
Verdict judge(double ms, size_t bytes, double operations, Peak peak);

struct Measurement {
    double ms;
    double gigabytes_per_second;
};

// Times a kernel that adds 1 to the n doubles at d_data in `stream`: the median of `repeats` runs
// after `warmup` runs, and the rate of that median. Afterwards each element is larger by
// warmup + repeats. n >= 1.
Measurement measure_increment(double* d_data, size_t n, int warmup, int repeats,
                              cudaStream_t stream);
