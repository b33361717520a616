// Mutant: the middle times are floats on the way.
// verdict: fails "task 1: the middle of an odd number"
// SPDX-License-Identifier: MIT
// Lesson 06, timing and bandwidth: times that mean something, and what they must be compared with.
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
    std::sort(times.begin(), times.end());
    const float lo = times[(times.size() - 1) / 2], hi = times[times.size() / 2];
    return (lo + hi) / 2;
}

double elapsed_ms([[maybe_unused]] const Work& work, [[maybe_unused]] cudaStream_t stream) {
    Event start;
    Event stop;
    CUDA_CHECK(cudaEventRecord(start.get(), stream));
    work(stream);
    CUDA_CHECK(cudaEventRecord(stop.get(), stream));
    CUDA_CHECK(cudaEventSynchronize(stop.get()));
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, start.get(), stop.get()));
    return ms;
}

double time_ms(const Work& work, [[maybe_unused]] int warmup, [[maybe_unused]] int repeats,
               cudaStream_t stream) {
    for (int i = 0; i < warmup; i++) work(stream);
    std::vector<double> times;
    for (int i = 0; i < repeats; i++) times.push_back(elapsed_ms(work, stream));
    return median(times);
}

size_t moved_bytes([[maybe_unused]] size_t elements, [[maybe_unused]] int arrays_read,
                   [[maybe_unused]] int arrays_written, [[maybe_unused]] size_t element_bytes) {
    return elements * (arrays_read + arrays_written) * element_bytes;
}

double gigabytes_per_second([[maybe_unused]] size_t bytes, [[maybe_unused]] double ms) {
    return bytes / 1e9 / (ms / 1000);
}

Verdict judge([[maybe_unused]] double ms, [[maybe_unused]] size_t bytes,
              [[maybe_unused]] double operations, [[maybe_unused]] Peak peak) {
    if (!(ms > 0) || std::isinf(ms)) return Verdict::kNotMeasured;
    double moving = bytes / (peak.gigabytes_per_second * 1e9) * 1000;
    double computing = operations / (peak.gigaflops * 1e9) * 1000;
    double least = std::max(moving, computing);
    if (ms < least * 0.95) return Verdict::kTooFast;
    return Verdict::kPlausible;
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
    auto work = [=](cudaStream_t s) { start_increment(d_data, n, s); };
    double ms = time_ms(work, warmup, repeats, stream);
    return {ms, gigabytes_per_second(moved_bytes(n, 1, 1, sizeof(double)), ms)};
}
