// SPDX-License-Identifier: MIT
// Runs a lesson's workloads: on a card with a clock, or `--tiny` for the values alone (which works
// on the emulator), `--elements N` for another size. Prints one JSON object a line: the copy
// ceiling of the card first, then each workload. A wrong result is told in "wrong" and by exit
// status 1; slowness never is.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "common/host/cuda_check.h"
#include "workload.h"

namespace {

constexpr int kWarmUps = 3;
constexpr int kMostRuns = 50, kFewestRuns = 5;
constexpr double kSecondsForRuns = 3.0;  // a slow answer is not timed fifty times

// A larger array than the L2 cache, written between two runs, so that each run finds a cold one.
class CacheFlush {
public:
    CacheFlush() {
        int device = 0, l2_bytes = 0;
        CUDA_CHECK(cudaGetDevice(&device));
        CUDA_CHECK(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
        bytes_ = std::max<size_t>(2 * size_t(l2_bytes), 32 << 20);
        CUDA_CHECK(cudaMalloc(&data_, bytes_));
    }
    ~CacheFlush() { cudaFree(data_); }
    CacheFlush(const CacheFlush&) = delete;
    CacheFlush& operator=(const CacheFlush&) = delete;
    void operator()() { CUDA_CHECK(cudaMemsetAsync(data_, 0, bytes_)); }

private:
    void* data_ = nullptr;
    size_t bytes_ = 0;
};

class Clock {
public:
    Clock() {
        CUDA_CHECK(cudaEventCreate(&start_));
        CUDA_CHECK(cudaEventCreate(&stop_));
    }
    ~Clock() {
        cudaEventDestroy(start_);
        cudaEventDestroy(stop_);
    }
    Clock(const Clock&) = delete;
    Clock& operator=(const Clock&) = delete;

    // Milliseconds of one call of `work` on an idle device.
    double time(const std::function<void()>& work) {
        CUDA_CHECK(cudaDeviceSynchronize());
        CUDA_CHECK(cudaEventRecord(start_));
        work();
        CUDA_CHECK(cudaEventRecord(stop_));
        CUDA_CHECK(cudaEventSynchronize(stop_));
        float milliseconds = 0;
        CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start_, stop_));
        return milliseconds;
    }

private:
    cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

struct Times {
    double median = 0, fastest = 0, slowest = 0;
    size_t runs = 0;
};

Times measured(const std::function<void()>& prepare, const std::function<void()>& work) {
    CacheFlush flush;
    Clock clock;
    for (int i = 0; i < kWarmUps; ++i) {
        prepare();
        work();
    }
    std::vector<double> times;
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    while (times.size() < kFewestRuns ||
           (times.size() < kMostRuns && seconds() < kSecondsForRuns)) {
        prepare();
        flush();
        times.push_back(clock.time(work));
    }
    std::sort(times.begin(), times.end());
    return {times[times.size() / 2], times.front(), times.back(), times.size()};
}

std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '\n')
            out += "\\n";
        else
            out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out;
}

// {"copy": ...}: cudaMemcpy inside the device, reading and writing, the ceiling of what moves data.
void print_copy_ceiling(size_t wanted) {
    size_t free_bytes = 0, total = 0;
    CUDA_CHECK(cudaMemGetInfo(&free_bytes, &total));
    size_t bytes = wanted ? std::max<size_t>(wanted * sizeof(float), 4096) : size_t(1) << 30;
    while (bytes > free_bytes / 4) bytes /= 2;
    void *from = nullptr, *to = nullptr;
    CUDA_CHECK(cudaMalloc(&from, bytes));
    CUDA_CHECK(cudaMalloc(&to, bytes));
    CUDA_CHECK(cudaMemset(from, 1, bytes));
    const Times times = measured(
        [] {}, [&] { CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice)); });
    CUDA_CHECK(cudaFree(from));
    CUDA_CHECK(cudaFree(to));
    cudaDeviceProp properties{};
    CUDA_CHECK(cudaGetDeviceProperties(&properties, 0));
    std::printf("{\"copy\": {\"device\": \"%s\", \"bytes\": %zu, \"median_ms\": %.6f, "
                "\"gigabytes_per_second\": %.3f}}\n",
                escaped(properties.name).c_str(),
                2 * bytes,
                times.median,
                2.0 * double(bytes) / times.median * 1e-6);
    std::fflush(stdout);
}

// The workload on `elements`, or on half as many while the device or host has no room.
std::unique_ptr<wb::Workload> made(const wb::RegisteredWorkload& entry, size_t& elements) {
    for (;; elements /= 2) {
        try {
            return entry.make(elements);
        } catch (const wb::CudaError& error) {
            if (error.code != cudaErrorMemoryAllocation || elements < 2) throw;
            cudaGetLastError();  // so that the next attempt starts clean
        } catch (const std::bad_alloc&) {
            if (elements < 2) throw;
        }
    }
}

// Returns whether the results were right.
bool run(const wb::RegisteredWorkload& entry, bool tiny, size_t wanted) {
    size_t elements = wanted ? wanted : tiny ? entry.tiny_elements : entry.elements;
    std::string wrong;
    Times times;
    double bytes = 0, operations = 0;
    try {
        const std::unique_ptr<wb::Workload> work = made(entry, elements);
        bytes = work->bytes();
        operations = work->operations();
        if (tiny) {
            for (int i = 0; i < 2; ++i) {  // twice: run() must be repeatable
                work->prepare();
                work->run();
            }
        } else {
            times = measured([&] { work->prepare(); }, [&] { work->run(); });
        }
        CUDA_CHECK(cudaDeviceSynchronize());
        wrong = work->verify();
    } catch (const std::exception& error) {
        wrong = error.what();
        if (wrong.empty()) wrong = "an exception without a text";
    }
    std::printf("{\"workload\": {\"name\": \"%s\", \"elements\": %zu, \"bytes\": %.0f, "
                "\"operations\": %.0f, \"wrong\": \"%s\"",
                escaped(entry.name).c_str(),
                elements,
                bytes,
                operations,
                escaped(wrong).c_str());
    if (!tiny && times.runs)
        std::printf(", \"runs\": %zu, \"median_ms\": %.6f, \"fastest_ms\": %.6f, "
                    "\"slowest_ms\": %.6f",
                    times.runs,
                    times.median,
                    times.fastest,
                    times.slowest);
    std::printf("}}\n");
    std::fflush(stdout);
    return wrong.empty();
}

}  // namespace

int main(int argc, char** argv) {
    bool tiny = false;
    size_t elements = 0;  // 0: each workload's own number
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--tiny") == 0) {
            tiny = true;
        } else if (std::strcmp(argv[i], "--elements") == 0 && i + 1 < argc) {
            elements = std::strtoull(argv[++i], nullptr, 10);
        } else {
            std::fprintf(stderr, "%s: the options are --tiny and --elements N\n", argv[i]);
            return 2;
        }
    }
    try {
        if (!tiny) print_copy_ceiling(elements);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "the copy bandwidth cannot be measured: %s\n", error.what());
        return 3;
    }
    bool right = true;
    for (const wb::RegisteredWorkload& entry : wb::workloads())
        right = run(entry, tiny, elements) && right;
    return right ? 0 : 1;
}
