// Unusual: time_ms records a pair of events for each run and waits once at the end; the median by
// nth_element.
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
    const auto middle = times.begin() + times.size() / 2;
    std::nth_element(times.begin(), middle, times.end());
    if (times.size() % 2 != 0) return *middle;
    return 0.5 * (*middle + *std::max_element(times.begin(), middle));
}

double elapsed_ms([[maybe_unused]] const Work& work, [[maybe_unused]] cudaStream_t stream) {
    const Event start, stop;
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
    while (warmup-- > 0) work(stream);
    std::vector<Event> starts(repeats), stops(repeats);  // made in place, never moved
    for (int i = 0; i < repeats; ++i) {
        CUDA_CHECK(cudaEventRecord(starts[i].get(), stream));
        work(stream);
        CUDA_CHECK(cudaEventRecord(stops[i].get(), stream));
    }
    CUDA_CHECK(cudaStreamSynchronize(stream));
    std::vector<double> times(repeats);
    for (int i = 0; i < repeats; ++i) {
        float ms = 0;
        CUDA_CHECK(cudaEventElapsedTime(&ms, starts[i].get(), stops[i].get()));
        times[i] = ms;
    }
    return median(std::move(times));
}

size_t moved_bytes([[maybe_unused]] size_t elements, [[maybe_unused]] int arrays_read,
                   [[maybe_unused]] int arrays_written, [[maybe_unused]] size_t element_bytes) {
    return elements * (arrays_read + arrays_written) * element_bytes;
}

double gigabytes_per_second([[maybe_unused]] size_t bytes, [[maybe_unused]] double ms) {
    return static_cast<double>(bytes) / 1e9 / (ms / 1e3);
}

Verdict judge([[maybe_unused]] double ms, [[maybe_unused]] size_t bytes,
              [[maybe_unused]] double operations, [[maybe_unused]] Peak peak) {
    if (!std::isfinite(ms) || ms <= 0) return Verdict::kNotMeasured;
    const double moving_ms = static_cast<double>(bytes) / peak.gigabytes_per_second / 1e6;
    const double computing_ms = operations / peak.gigaflops / 1e6;
    const double least_ms = std::max(moving_ms, computing_ms);
    return ms * 1.05 < least_ms ? Verdict::kTooFast : Verdict::kPlausible;
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
