// SPDX-License-Identifier: MIT
// Lesson 06, timing and bandwidth: meaningful times, and what to compare them with.
// Start with README.md in this directory; `make 06` checks this file.
#include "timing_and_bandwidth.h"

#include <algorithm>
#include <cmath>

// Owns a CUDA event: a point in a stream, with the time at which the device passed it.
class Event {
public:
    Event() { CUDA_CHECK(cudaEventCreate(&event_)); }
    ~Event() { cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    cudaEvent_t get() const { return event_; }

private:
    cudaEvent_t event_ = nullptr;
};

double median(std::vector<double> times) {
    // TODO 1 (about 4 lines): sort the times and return the middle one, or the mean of the middle
    // two.
    return times[0];  // placeholder
    // END 1
}

double elapsed_ms([[maybe_unused]] const Work& work, [[maybe_unused]] cudaStream_t stream) {
    // TODO 2 (about 8 lines): create two events, and record one before and one after the work, in
    // the work's stream. Wait for the second one, then get the time between them.
    return 0.0;  // placeholder
    // END 2
}

double time_ms(const Work& work, [[maybe_unused]] int warmup, [[maybe_unused]] int repeats,
               cudaStream_t stream) {
    // TODO 3 (about 5 lines): run the work `warmup` times untimed, then time it `repeats` times,
    // one by one, and return the median.
    return elapsed_ms(work, stream);  // placeholder
    // END 3
}

size_t moved_bytes([[maybe_unused]] size_t elements, [[maybe_unused]] int arrays_read,
                   [[maybe_unused]] int arrays_written, [[maybe_unused]] size_t element_bytes) {
    // TODO 4 (1 line): count the bytes of all arrays that are read or written.
    return elements;  // placeholder
    // END 4
}

double gigabytes_per_second([[maybe_unused]] size_t bytes, [[maybe_unused]] double ms) {
    // TODO 5 (1 line): return the rate in units of 10^9 bytes per second; `ms` is in milliseconds.
    return 1.0;  // placeholder
    // END 5
}

Verdict judge([[maybe_unused]] double ms, [[maybe_unused]] size_t bytes,
              [[maybe_unused]] double operations, [[maybe_unused]] Peak peak) {
    // TODO 6 (about 5 lines): refuse a value that is not a time. Work out how long moving and
    // computing take at peak rate; the work takes at least the longer of the two. It is too fast
    // when that least time is more than 1.05 times `ms`.
    return Verdict::kPlausible;  // placeholder
    // END 6
}

// Adds 1 to each of n doubles, with any number of threads (lesson 03).
static __global__ void increment_kernel(double* data, size_t n) {
    const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
    size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    for (; i < n; i += stride) data[i] += 1.0;
}

static void start_increment(double* d_data, size_t n, cudaStream_t stream) {
    // The third number is the shared memory (lesson 14), the fourth the stream.
    increment_kernel<<<256, 256, 0, stream>>>(d_data, n);
    CUDA_CHECK(cudaGetLastError());
}

Measurement measure_increment(double* d_data, size_t n, [[maybe_unused]] int warmup,
                              [[maybe_unused]] int repeats, cudaStream_t stream) {
    // TODO 7 (about 5 lines): time start_increment with your functions, and turn the time into a
    // rate. Which bytes does the kernel read and write, and of which type?
    start_increment(d_data, n, stream);
    return {0.0, 0.0};  // placeholder
    // END 7
}
