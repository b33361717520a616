// Unusual: Asks again and again whether the event has passed, instead of waiting; nth_element
// instead of sort, and the verdict by rates.
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
    std::sort(times.begin(), times.end());
    const size_t middle = times.size() / 2;
    if (times.size() % 2 == 1) return times[middle];
    return (times[middle - 1] + times[middle]) / 2;
}

double elapsed_ms([[maybe_unused]] const Work& work, [[maybe_unused]] cudaStream_t stream) {
    const Event start, stop;
    CUDA_CHECK(cudaEventRecord(start.get(), stream));
    work(stream);
    CUDA_CHECK(cudaEventRecord(stop.get(), stream));
    cudaError_t state = cudaErrorNotReady;
    while (state == cudaErrorNotReady) state = cudaEventQuery(stop.get());
    CUDA_CHECK(state);
    float ms = 0;
    CUDA_CHECK(cudaEventElapsedTime(&ms, start.get(), stop.get()));
    return ms;
}

double time_ms(const Work& work, [[maybe_unused]] int warmup, [[maybe_unused]] int repeats,
               cudaStream_t stream) {
    while (warmup-- > 0) work(stream);
    while (cudaStreamQuery(stream) == cudaErrorNotReady) continue;
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) times.push_back(elapsed_ms(work, stream));
    return median(times);
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
    const bool moves_too_fast = gigabytes_per_second(bytes, ms) > 1.05 * peak.gigabytes_per_second;
    const bool computes_too_fast = operations / ms / 1e6 > 1.05 * peak.gigaflops;
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
