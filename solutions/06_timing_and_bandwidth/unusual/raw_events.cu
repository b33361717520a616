// Unusual: Events in a unique_ptr with blocking waits, warm-up runs that are measured and dropped,
// rates instead of times in the verdict.
// SPDX-License-Identifier: MIT
// Lesson 06, timing and bandwidth: meaningful times, and what to compare them with.
// Start with README.md in this directory; `make 06` checks this file.
#include "timing_and_bandwidth.h"

#include <algorithm>
#include <cmath>
#include <memory>

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
    const size_t middle = times.size() / 2;
    if (times.size() % 2 == 1) return times[middle];
    return (times[middle - 1] + times[middle]) / 2;
}

double elapsed_ms([[maybe_unused]] const Work& work, [[maybe_unused]] cudaStream_t stream) {
    const auto make = [] {
        cudaEvent_t event = nullptr;
        CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventBlockingSync));
        return std::unique_ptr<CUevent_st, decltype(&cudaEventDestroy)>(event, cudaEventDestroy);
    };
    const auto first = make(), second = make();
    CUDA_CHECK(cudaEventRecord(first.get(), stream));
    work(stream);
    CUDA_CHECK(cudaEventRecord(second.get(), stream));
    CUDA_CHECK(cudaDeviceSynchronize());
    float ms = -1;
    CUDA_CHECK(cudaEventElapsedTime(&ms, first.get(), second.get()));
    return ms;
}

double time_ms(const Work& work, [[maybe_unused]] int warmup, [[maybe_unused]] int repeats,
               cudaStream_t stream) {
    std::vector<double> times;
    for (int i = -warmup; i < repeats; ++i) {
        const double ms = elapsed_ms(work, stream);
        if (i >= 0) times.push_back(ms);
    }
    return median(times);
}

size_t moved_bytes([[maybe_unused]] size_t elements, [[maybe_unused]] int arrays_read,
                   [[maybe_unused]] int arrays_written, [[maybe_unused]] size_t element_bytes) {
    return elements * (arrays_read + arrays_written) * element_bytes;
}

double gigabytes_per_second([[maybe_unused]] size_t bytes, [[maybe_unused]] double ms) {
    return bytes * 1e-6 / ms;
}

Verdict judge([[maybe_unused]] double ms, [[maybe_unused]] size_t bytes,
              [[maybe_unused]] double operations, [[maybe_unused]] Peak peak) {
    if (!(ms > 0) || std::isinf(ms)) return Verdict::kNotMeasured;
    const double seconds = ms / 1000;
    const bool moves_too_fast = bytes / seconds > 1.05 * 1e9 * peak.gigabytes_per_second;
    const bool computes_too_fast = operations / seconds > 1.05 * 1e9 * peak.gigaflops;
    return moves_too_fast || computes_too_fast ? Verdict::kTooFast : Verdict::kPlausible;
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
    const Work work = [=](cudaStream_t where) { start_increment(d_data, n, where); };
    const double ms = time_ms(work, warmup, repeats, stream);
    return {ms, gigabytes_per_second(moved_bytes(n, 1, 1, sizeof(double)), ms)};
}
