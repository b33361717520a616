// SPDX-License-Identifier: MIT
// How fast the emulated device is: thread-instructions a second on one core, with all checks and
// counters and with none, and how much longer a kernel takes than the same loop in C++ (g++ -O2,
// one core). Run by `make bench-emulator`; names of kernels on the command line choose some of
// them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <cub/cub.cuh>
#include <dlfcn.h>
#include <unistd.h>

#include "bench_host.h"
#include "common/emulator/emulator_api.h"
#include "cuda_check.h"
#include "data.h"

namespace {

constexpr int kElements = 1 << 20;
constexpr int kThreads = 256;
constexpr int kRuns = 7;
constexpr int kTile = 16;

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

__global__ void warp_reduction(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? in[i] : 0.0f;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) out[i / 32] = sum;
}

__global__ void atomic_histogram(const unsigned* keys, unsigned* bins, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[keys[i] >> 24], 1u);
}

__global__ void gather(const float* in, const unsigned* keys, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[keys[i] & (kElements - 1)];
}

// Lanes of a warp leave the loop at different times.
__global__ void mandelbrot(int* out, int width, int height) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < width * height) out[i] = escape_time(i % width, i / width, width, height);
}

// c = a b for square matrices whose side is a multiple of kTile.
__global__ void tiled_matmul(const float* a, const float* b, float* c, int side) {
    __shared__ float a_tile[kTile][kTile], b_tile[kTile][kTile];
    const int column = blockIdx.x * kTile + threadIdx.x, row = blockIdx.y * kTile + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < side; k += kTile) {
        a_tile[threadIdx.y][threadIdx.x] = a[row * side + k + threadIdx.x];
        b_tile[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * side + column];
        __syncthreads();
        for (int j = 0; j < kTile; ++j) sum += a_tile[threadIdx.y][j] * b_tile[j][threadIdx.x];
        __syncthreads();
    }
    c[row * side + column] = sum;
}

// One lane works, 31 idle: the worst that can be asked of a device.
__global__ void single_lane(const float* in, float* out, int n) {
    if (threadIdx.x != 0) return;
    float sum = 0;
    for (int i = 0; i < n; ++i) sum += in[i];
    *out = sum;
}

// Thread-instructions of one run, by the device's own counters; 0 when there are none. From then on
// the device counts, so the runs without checks do not ask.
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

// Milliseconds of this process's core time: the best of some runs, as the rest is noise.
double best_of(const std::function<void()>& run) {
    const auto now = [] {
        timespec time{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return double(time.tv_sec) * 1e3 + double(time.tv_nsec) * 1e-6;
    };
    double best = 1e300;
    for (int k = 0; k < kRuns; ++k) {
        const double start = now();
        run();
        best = std::min(best, now() - start);
    }
    return best;
}

struct Kernel {
    std::string name;
    std::function<void()> launch, on_host;
};

// Prints "name milliseconds thread-instructions host-milliseconds" for each kernel asked for.
int child(bool counting, const std::vector<std::string>& chosen) {
    constexpr int kSide = 256, kWidth = 512;
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
    size_t scratch_bytes = 0;
    CUDA_CHECK(cub::DeviceReduce::Sum(nullptr, scratch_bytes, x, y, kElements));
    void* scratch;
    CUDA_CHECK(cudaMalloc(&scratch, scratch_bytes));

    std::vector<float> host_x = numbers, host_y = numbers;
    std::vector<unsigned> host_bins(256);
    std::vector<int> pixels(kWidth * kWidth);
    const int blocks = kElements / kThreads;
    const dim3 tiles(kSide / kTile, kSide / kTile), tile(kTile, kTile);
    const Kernel kernels[] = {
        {"saxpy",
         [&] { saxpy<<<blocks, kThreads>>>(x, y, 0.5f, kElements); },
         [&] { host_saxpy(host_x.data(), host_y.data(), 0.5f, kElements); }},
        {"tree_reduction",
         [&] { tree_reduction<<<blocks, kThreads>>>(x, y, kElements); },
         [&] { host_y[0] = host_sum(host_x.data(), kElements); }},
        {"atomic_histogram",
         [&] { atomic_histogram<<<blocks, kThreads>>>(d_keys, bins, kElements); },
         [&] { host_histogram(keys.data(), host_bins.data(), kElements); }},
        {"warp_reduction",
         [&] { warp_reduction<<<blocks, kThreads>>>(x, y, kElements); },
         [&] { host_y[0] = host_sum(host_x.data(), kElements); }},
        {"gather",
         [&] { gather<<<blocks, kThreads>>>(x, d_keys, y, kElements); },
         [&] { host_gather(host_x.data(), keys.data(), host_y.data(), kElements); }},
        {"mandelbrot",
         [&] {
             mandelbrot<<<kWidth * kWidth / kThreads, kThreads>>>(
                 reinterpret_cast<int*>(y), kWidth, kWidth);
         },
         [&] { host_mandelbrot(pixels.data(), kWidth, kWidth); }},
        {"tiled_matmul",
         [&] { tiled_matmul<<<tiles, tile>>>(x, x + kSide * kSide, y, kSide); },
         [&] { host_matmul(host_x.data(), host_x.data() + kSide * kSide, host_y.data(), kSide); }},
        {"cub_reduce",
         [&] { CUDA_CHECK(cub::DeviceReduce::Sum(scratch, scratch_bytes, x, y, kElements)); },
         [&] { host_y[0] = host_sum(host_x.data(), kElements); }},
        {"single_lane",
         [&] { single_lane<<<1, 32>>>(x, y, kElements / 16); },
         [&] { host_y[0] = host_sum(host_x.data(), kElements / 16); }},
    };
    for (const Kernel& kernel : kernels) {
        bool wanted = chosen.empty();
        for (const std::string& name : chosen) wanted |= name == kernel.name;
        if (!wanted) continue;
        const auto run = [&] {
            kernel.launch();
            CUDA_CHECK(cudaGetLastError());
            CUDA_CHECK(cudaDeviceSynchronize());
        };
        const double count = counting ? instructions(run) : 0;
        const double device = best_of(run), host = best_of(kernel.on_host);
        std::printf("%s %.6f %.0f %.6f\n", kernel.name.c_str(), device, count, host);
    }
    CUDA_CHECK(cudaFree(x));
    CUDA_CHECK(cudaFree(y));
    CUDA_CHECK(cudaFree(d_keys));
    CUDA_CHECK(cudaFree(bins));
    CUDA_CHECK(cudaFree(scratch));
    return 0;
}

struct Result {
    std::string name;
    double milliseconds = 0, instructions = 0, host_milliseconds = 0;
};

// Runs this program again with the checks switched to `checks`.
std::vector<Result> results(const std::string& program, const char* checks, int count,
                            char** names) {
    setenv("EMULATOR_CHECKS", checks, 1);
    std::string command = "'" + program + "' --child " + checks;
    for (int k = 0; k < count; ++k) command += std::string(" ") + names[k];
    std::vector<Result> out;
    FILE* pipe = popen(command.c_str(), "r");
    char name[64];
    Result r;
    while (pipe && std::fscanf(pipe,
                               "%63s %lf %lf %lf",
                               name,
                               &r.milliseconds,
                               &r.instructions,
                               &r.host_milliseconds) == 4) {
        r.name = name;
        out.push_back(r);
    }
    if (!pipe || pclose(pipe) != 0 || out.empty()) {
        std::fprintf(stderr, "the benchmark's run with EMULATOR_CHECKS=%s failed\n", checks);
        std::exit(1);
    }
    return out;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 2 && std::strcmp(argv[1], "--child") == 0)
        return child(std::strcmp(argv[2], "all") == 0, {argv + 3, argv + argc});
    char self[4096];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) return 1;
    self[length] = 0;
    const auto checked = results(self, "all", argc - 1, argv + 1);
    const auto bare = results(self, "none", argc - 1, argv + 1);
    std::printf("million PTX thread-instructions a second on one core, best of %d\n\n", kRuns);
    std::printf("%-18s %12s %9s %10s %7s %22s\n",
                "kernel",
                "instructions",
                "checked",
                "unchecked",
                "ratio",
                "checked / g++ -O2 loop");
    for (size_t k = 0; k < checked.size() && k < bare.size(); ++k) {
        const double count = checked[k].instructions;
        const double fast = count / bare[k].milliseconds / 1e3;
        const double safe = count / checked[k].milliseconds / 1e3;
        std::printf("%-18s %12.0f %9.0f %10.0f %6.1fx %21.0fx\n",
                    checked[k].name.c_str(),
                    count,
                    safe,
                    fast,
                    fast / safe,
                    checked[k].milliseconds / checked[k].host_milliseconds);
    }
    std::printf(
        "\ntargets: checked 2000 on straight-line kernels, 1000 on all with full warps, 300 "
        "with one lane active;\nunchecked 6000 on saxpy, tree_reduction, atomic_histogram\n");
    return 0;
}
