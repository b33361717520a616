// SPDX-License-Identifier: MIT
// Runs a lesson's workloads: on a card with a clock, or `--tiny` for the values alone (which works
// on the emulator), `--elements N,N,...` for other sizes, `--cost N` for the host's clock alone and
// one core's time for the same work, `--model` for the time on the emulator's model timeline.
// `--sweep` times the points of curves instead, `--seconds S` bounds the runs of one workload,
// `--only TEXT` chooses by name, `--cards N` lets work of several cards use that many. Prints one
// JSON object a line: the copy ceiling of the card first, then each workload. A wrong result is
// reported in "wrong" and by exit status 1; slowness never is.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>

#include "common/host/range.h"
#include "model_clock.h"
#include "workload_data.h"

// Header only; a part of the toolkit that not every installation has.
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define WORKBOOK_NVTX 1
#endif

namespace {

constexpr int kWarmUps = 3;
constexpr int kMostRuns = 25, kFewestRuns = 3;  // of each of the two halves

struct Options {
    bool tiny = false, sweep = false, cost = false, model = false;
    std::vector<size_t> elements;  // none: each workload's own number
    double seconds = 3.0;          // a slow answer is not timed fifty times
    std::string only;
};

using Steady = std::chrono::steady_clock;

double seconds_since(Steady::time_point begin) {
    return std::chrono::duration<double>(Steady::now() - begin).count();
}

// A larger array than the L2 cache, written between two runs, so that each run finds a cold one.
// The writing is still under way when the run is put into the queue, so that the time for the
// launches themselves, which the host needs, is not measured either.
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

    // Milliseconds of one call of `work`, after what is already in the queue.
    double time(const std::function<void()>& work) {
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

// Milliseconds of one call of `work` by the host's clock, until the device is idle again.
double host_time(const std::function<void()>& work) {
    CUDA_CHECK(cudaDeviceSynchronize());
    const auto begin = Steady::now();
    work();
    CUDA_CHECK(cudaDeviceSynchronize());
    return 1e3 * seconds_since(begin);
}

double median(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

struct Times {
    double median = 0, fastest = 0, slowest = 0;
    double halves[2] = {};  // the same version timed twice: how far apart is noise
    size_t runs = 0;
};

Times measured(const std::function<void()>& prepare, const std::function<void()>& work,
               bool by_host, double seconds) {
    CacheFlush flush;
    Clock clock;
    for (int i = 0; i < kWarmUps; ++i) {
        prepare();
        work();
    }
    Times result;
    std::vector<double> all;
    for (double& half : result.halves) {
        std::vector<double> times;
        const auto begin = Steady::now();
        while (times.size() < kFewestRuns ||
               (times.size() < kMostRuns && seconds_since(begin) < seconds / 2)) {
            prepare();
            CUDA_CHECK(cudaDeviceSynchronize());
            flush();
            times.push_back(by_host ? host_time(work) : clock.time(work));
        }
        half = median(times);
        all.insert(all.end(), times.begin(), times.end());
    }
    std::sort(all.begin(), all.end());
    result.median = all[all.size() / 2];
    result.fastest = all.front();
    result.slowest = all.back();
    result.runs = all.size();
    return result;
}

// The fastest of five by the host's clock, for devices that have no other: the emulator.
Times costs(const std::function<void()>& prepare, const std::function<void()>& work) {
    Times result;
    for (int i = 0; i < 5; ++i) {
        prepare();
        const double ms = host_time(work);
        result.fastest = i ? std::min(result.fastest, ms) : ms;
        result.slowest = std::max(result.slowest, ms);
    }
    result.median = result.halves[0] = result.halves[1] = result.fastest;
    result.runs = 5;
    return result;
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
    const Times times =
        measured([] {},
                 [&] { CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice)); },
                 false,
                 0.5);
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
bool run(const wb::RegisteredWorkload& entry, const Options& options, size_t elements,
         wb::ModelClock* model) {
    std::string wrong, library;
    uint64_t digest = 0;
    Times times;
    double bytes = 0, operations = 0, reference_ms = 0;
    std::string unit;
    size_t reference_elements = 0;
    try {
        const std::unique_ptr<wb::Workload> work = made(entry, elements);
        bytes = work->bytes();
        operations = work->operations();
        unit = work->unit();
        const auto prepare = [&] { work->prepare(); };
        const auto once = [&] { work->run(); };
        if (options.tiny) {
            for (int i = 0; i < 2; ++i) {  // twice: run() must be repeatable
                prepare();
                once();
            }
        } else if (options.cost) {
            times = costs(prepare, once);
            wb::host_threads() = 1;
        } else if (model) {
            prepare();
            const double ms = model->time(once);
            times = {ms, ms, ms, {ms, ms}, 1};
        } else {
            times = measured(prepare, once, work->on_host(), options.seconds);
        }
        CUDA_CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < (options.cost ? 5 : 1); ++i) {  // the first time also makes room
            const auto begin = Steady::now();
            work->reference();
            const double ms = 1e3 * seconds_since(begin);
            reference_ms = i ? std::min(reference_ms, ms) : ms;
        }
        reference_elements = work->reference_elements();
        wrong = work->verify();
        digest = work->digest();
        library = work->library();
    } catch (const std::exception& error) {
        wrong = error.what();
        if (wrong.empty()) wrong = "an exception without a text";
    }
    std::printf("{\"workload\": {\"name\": \"%s\", \"elements\": %zu, \"bytes\": %.0f, "
                "\"operations\": %.0f, \"unit\": \"%s\", \"wrong\": \"%s\"",
                escaped(entry.name).c_str(),
                elements,
                bytes,
                operations,
                escaped(unit).c_str(),
                escaped(wrong).c_str());
    if (times.runs)
        std::printf(", \"runs\": %zu, \"median_ms\": %.6f, \"fastest_ms\": %.6f, "
                    "\"slowest_ms\": %.6f, \"halves_ms\": [%.6f, %.6f]",
                    times.runs,
                    times.median,
                    times.fastest,
                    times.slowest,
                    times.halves[0],
                    times.halves[1]);
    if (options.cost)
        std::printf(", \"one_core_ms\": %.6f, \"one_core_elements\": %zu",
                    reference_ms,
                    reference_elements);
    if (digest) std::printf(", \"digest\": \"%016llx\"", (unsigned long long)digest);
    if (!library.empty()) std::printf(", \"library\": \"%s\"", escaped(library).c_str());
    std::printf("}}\n");
    std::fflush(stdout);
    return wrong.empty();
}

// "1,20,300" as numbers; none where it is something else.
std::vector<size_t> numbers(const char* text) {
    std::vector<size_t> found;
    for (char* end = nullptr;; text = end + 1) {
        found.push_back(std::strtoull(text, &end, 10));
        if (end == text || (*end && *end != ',')) return {};
        if (!*end) return found;
    }
}

bool read(Options& options, int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
        if (word == "--tiny") {
            options.tiny = true;
        } else if (word == "--sweep") {
            options.sweep = true;
        } else if (word == "--model") {
            options.model = true;
        } else if (value && word == "--cards") {
            wb::cards() = std::atoi(value);
            ++i;
        } else if (value && (word == "--elements" || word == "--cost") &&
                   !(options.elements = numbers(value)).empty()) {
            options.cost = word == "--cost";
            ++i;
        } else if (value && word == "--seconds") {
            options.seconds = std::strtod(value, nullptr);
            ++i;
        } else if (value && word == "--only") {
            options.only = value;
            ++i;
        } else {
            std::fprintf(stderr,
                         "%s: the options are --tiny, --elements N,N,..., --cost N, --model, "
                         "--sweep, --seconds S, --only TEXT and --cards N\n",
                         argv[i]);
            return false;
        }
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    if (!read(options, argc, argv)) return 2;
    if (wb::helper_main) return wb::helper_main();
#ifdef WORKBOOK_NVTX
    wb::range_listener = {[](const char* name) { nvtxRangePushA(name); }, [] { nvtxRangePop(); }};
#endif
    std::unique_ptr<wb::ModelClock> model;
    try {
        if (options.model)
            model = std::make_unique<wb::ModelClock>();
        else if (!options.tiny && !options.cost)
            print_copy_ceiling(options.elements.empty() ? 0 : options.elements.front());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "nothing can be timed here: %s\n", error.what());
        return 3;
    }
    bool right = true;
    for (const wb::RegisteredWorkload& entry : wb::workloads()) {
        if (entry.in_sweep != options.sweep && !options.tiny) continue;
        if (entry.name.find(options.only) == std::string::npos) continue;
        std::vector<size_t> sizes = options.elements;
        if (sizes.empty()) sizes.push_back(options.tiny ? entry.tiny_elements : entry.elements);
        for (const size_t elements : sizes)
            right = run(entry, options, elements, model.get()) && right;
    }
    return right ? 0 : 1;
}
