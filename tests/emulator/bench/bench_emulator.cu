// SPDX-License-Identifier: MIT
// How fast the emulated device is: thread-instructions a second on one core, with all checks and
// with none, for three kernels over 2^20 elements. Run by `make bench-emulator`.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

#include "common/emulator/emulator_api.h"
#include "cuda_check.h"
#include "data.h"

namespace {

constexpr int kElements = 1 << 20;
constexpr int kThreads = 256;
constexpr int kRuns = 9;

__global__ void saxpy(const float* x, float* y, float a, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void tree_reduction(const float* in, float* out, int n) {
    __shared__ float tile[kThreads];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) tile[threadIdx.x] += tile[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = tile[0];
}

__global__ void atomic_histogram(const unsigned* keys, unsigned* bins, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[keys[i] >> 24], 1u);
}

// Thread-instructions of one run, by the device's own counters; 0 when they are off.
double instructions(const std::function<void()>& work) {
    const auto reset = (void (*)())dlsym(RTLD_DEFAULT, "emulatorCountersReset");
    const auto get = (int (*)(EmulatorCounters*))dlsym(RTLD_DEFAULT, "emulatorCountersGet");
    if (!reset || !get) return 0;
    reset();
    work();
    EmulatorCounters counters{};
    counters.size = sizeof counters;
    return get(&counters) == 0 ? double(counters.thread_instructions) : 0;
}

// Prints "name milliseconds thread-instructions": the best of some runs, as the rest is noise.
void measure(const char* name, const std::function<void()>& launch) {
    const auto run = [&] {
        launch();
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaDeviceSynchronize());
    };
    const double count = instructions(run);
    double best = 1e300;
    for (int k = 0; k < kRuns; ++k) {
        const auto start = std::chrono::steady_clock::now();
        run();
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - start;
        best = took.count() < best ? took.count() : best;
    }
    std::printf("%s %.6f %.0f\n", name, best, count);
}

int child() {
    const auto numbers = wb::random_floats(kElements, 1);
    std::vector<unsigned> keys(kElements);
    for (int i = 0; i < kElements; ++i) keys[i] = unsigned(wb::splitmix64(i));
    float *x, *y;
    unsigned *d_keys, *bins;
    CUDA_CHECK(cudaMalloc(&x, kElements * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&y, kElements * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_keys, kElements * sizeof(unsigned)));
    CUDA_CHECK(cudaMalloc(&bins, 256 * sizeof(unsigned)));
    CUDA_CHECK(cudaMemcpy(x, numbers.data(), kElements * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(y, numbers.data(), kElements * sizeof(float), cudaMemcpyHostToDevice));
    CUDA_CHECK(
        cudaMemcpy(d_keys, keys.data(), kElements * sizeof(unsigned), cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemset(bins, 0, 256 * sizeof(unsigned)));
    const int blocks = kElements / kThreads;
    measure("saxpy", [&] { saxpy<<<blocks, kThreads>>>(x, y, 0.5f, kElements); });
    measure("tree_reduction", [&] { tree_reduction<<<blocks, kThreads>>>(x, y, kElements); });
    measure("atomic_histogram",
            [&] { atomic_histogram<<<blocks, kThreads>>>(d_keys, bins, kElements); });
    CUDA_CHECK(cudaFree(x));
    CUDA_CHECK(cudaFree(y));
    CUDA_CHECK(cudaFree(d_keys));
    CUDA_CHECK(cudaFree(bins));
    return 0;
}

struct Result {
    double milliseconds = 0, instructions = 0;
};

// Runs this program again with the checks switched to `checks`.
std::map<std::string, Result> results(const std::string& program, const char* checks) {
    setenv("EMULATOR_CHECKS", checks, 1);
    std::map<std::string, Result> out;
    FILE* pipe = popen(("'" + program + "' --child").c_str(), "r");
    char name[64];
    Result r;
    while (pipe && std::fscanf(pipe, "%63s %lf %lf", name, &r.milliseconds, &r.instructions) == 3)
        out[name] = r;
    if (!pipe || pclose(pipe) != 0 || out.empty()) {
        std::fprintf(stderr, "the benchmark's run with EMULATOR_CHECKS=%s failed\n", checks);
        std::exit(1);
    }
    return out;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "--child") == 0) return child();
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) return 1;
    self[length] = 0;
    auto checked = results(self, "all");
    auto bare = results(self, "none");
    std::printf(
        "million PTX thread-instructions a second on one core, 2^20 elements, best of %d\n\n",
        kRuns);
    std::printf(
        "%-18s %14s %10s %10s %8s\n", "kernel", "instructions", "checked", "unchecked", "ratio");
    bool reached = true;
    for (const char* name : {"saxpy", "tree_reduction", "atomic_histogram"}) {
        const double count = checked[name].instructions;
        const double fast = count / bare[name].milliseconds / 1e3;
        const double safe = count / checked[name].milliseconds / 1e3;
        reached &= safe >= 1000 && fast >= 6000;
        std::printf("%-18s %14.0f %10.0f %10.0f %7.1fx\n", name, count, safe, fast, fast / safe);
    }
    std::printf("\ntargets: checked 1000, unchecked 6000 (%s)\n",
                reached ? "reached" : "not reached in this run");
    return 0;
}
