// SPDX-License-Identifier: MIT
// Pairs of ways to do the same work, of which the second may overlap: how long each takes, by the
// host's clock on a card, and by the model timeline (TIMELINE.md) on the emulated device.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        const cudaError_t error = (call);                                                          \
        if (error != cudaSuccess) {                                                                \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));             \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (false)

namespace {

constexpr int kElements = 1 << 20;  // 4 MiB
constexpr int kChunks = 8, kStreams = 4;
constexpr int kCalls = 200;

__global__ void compute(float* x, int n, int steps) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    for (int s = 0; s < steps; ++s) v = v * 0.999f + 0.5f;
    x[i] = v;
}

using Start = void (*)();
using Host = uint64_t (*)();
const auto start_timeline = reinterpret_cast<Start>(dlsym(RTLD_DEFAULT, "emulatorTimelineStart"));
const auto host_time = reinterpret_cast<Host>(dlsym(RTLD_DEFAULT, "emulatorTimelineHost"));

// Milliseconds until the device is idle: of the model, or the best of ten on a card.
double time_of(const std::function<void()>& work) {
    if (start_timeline) {
        start_timeline();
        work();
        CHECK(cudaDeviceSynchronize());
        return double(host_time()) * 1e-6;
    }
    work();
    CHECK(cudaDeviceSynchronize());
    double best = 1e9;
    for (int run = 0; run < 10; ++run) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        CHECK(cudaDeviceSynchronize());
        const std::chrono::duration<double, std::milli> took =
            std::chrono::steady_clock::now() - begin;
        best = std::min(best, took.count());
    }
    return best;
}

void compare(const char* name, const std::function<void()>& one, const std::function<void()>& two) {
    const double first = time_of(one), second = time_of(two);
    std::printf("%s,%.4f,%.4f\n", name, first, second);
    std::fflush(stdout);
}

}  // namespace

int main() {
    float *pinned, *pinned_too, *d_x, *d_y;
    const size_t bytes = kElements * sizeof(float);
    CHECK(cudaMallocHost(&pinned, bytes));
    CHECK(cudaMallocHost(&pinned_too, bytes));
    std::vector<float> pageable(kElements, 1.0f);
    std::fill(pinned, pinned + kElements, 1.0f);
    CHECK(cudaMalloc(&d_x, bytes));
    CHECK(cudaMalloc(&d_y, bytes));
    CHECK(cudaMemset(d_x, 0, bytes));
    CHECK(cudaMemset(d_y, 0, bytes));
    cudaStream_t stream[kStreams];
    for (cudaStream_t& s : stream) CHECK(cudaStreamCreate(&s));

    const auto copies = [&](cudaStream_t up, cudaStream_t down) {
        return [=] {
            CHECK(cudaMemcpyAsync(d_x, pinned, bytes, cudaMemcpyHostToDevice, up));
            CHECK(cudaMemcpyAsync(pinned_too, d_y, bytes, cudaMemcpyDeviceToHost, down));
        };
    };
    compare(
        "copies in both directions", copies(stream[0], stream[0]), copies(stream[0], stream[1]));
    compare(
        "copies in one direction",
        [=] {
            CHECK(cudaMemcpyAsync(d_x, pinned, bytes, cudaMemcpyHostToDevice, stream[0]));
            CHECK(cudaMemcpyAsync(d_y, pinned_too, bytes, cudaMemcpyHostToDevice, stream[0]));
        },
        [=] {
            CHECK(cudaMemcpyAsync(d_x, pinned, bytes, cudaMemcpyHostToDevice, stream[0]));
            CHECK(cudaMemcpyAsync(d_y, pinned_too, bytes, cudaMemcpyHostToDevice, stream[1]));
        });

    // Chunks go up, are computed with, and come back: in one stream, or in several by turns.
    const auto pipeline = [&](float* host, int streams, bool kernels_in_default_stream) {
        return [=] {
            const int part = kElements / kChunks;
            for (int c = 0; c < kChunks; ++c) {
                const cudaStream_t s = stream[c % streams];
                float* const at = d_x + c * part;
                const size_t size = part * sizeof(float);
                CHECK(cudaMemcpyAsync(at, host + c * part, size, cudaMemcpyHostToDevice, s));
                compute<<<part / 256, 256, 0, kernels_in_default_stream ? nullptr : s>>>(
                    at, part, 1000);
                CHECK(cudaMemcpyAsync(host + c * part, at, size, cudaMemcpyDeviceToHost, s));
            }
        };
    };
    compare("chunks of pinned memory", pipeline(pinned, 1, false), pipeline(pinned, 4, false));
    compare("chunks of pageable memory",
            pipeline(pageable.data(), 1, false),
            pipeline(pageable.data(), 4, false));
    compare("chunks with kernels in the default stream",
            pipeline(pinned, 1, false),
            pipeline(pinned, 4, true));

    const auto kernels = [&](int n, int steps, int streams) {
        return [=] {
            for (int k = 0; k < kStreams; ++k)
                compute<<<(n + 255) / 256, 256, 0, stream[k % streams]>>>(
                    d_x + k * (kElements / kStreams), n, steps);
        };
    };
    compare("kernels of one block", kernels(256, 50'000, 1), kernels(256, 50'000, kStreams));
    compare("kernels that fill the device",
            kernels(kElements / kStreams, 2000, 1),
            kernels(kElements / kStreams, 2000, kStreams));

    const auto many = [=](cudaStream_t s) {
        for (int k = 0; k < kCalls; ++k) compute<<<1, 32, 0, s>>>(d_x, 32, 0);
    };
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    CHECK(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal));
    many(stream[0]);
    CHECK(cudaStreamEndCapture(stream[0], &graph));
    CHECK(cudaGraphInstantiate(&replay, graph, 0));
    compare(
        "200 tiny kernels as launches and as a graph",
        [=] { many(stream[0]); },
        [=] { CHECK(cudaGraphLaunch(replay, stream[0])); });
    compare(
        "waiting after each tiny kernel, or once",
        [=] {
            for (int k = 0; k < kCalls; ++k) {
                compute<<<1, 32, 0, stream[0]>>>(d_x, 32, 0);
                CHECK(cudaStreamSynchronize(stream[0]));
            }
        },
        [=] { many(stream[0]); });

    CHECK(cudaGraphExecDestroy(replay));
    CHECK(cudaGraphDestroy(graph));
    for (const cudaStream_t s : stream) CHECK(cudaStreamDestroy(s));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_y));
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFreeHost(pinned_too));
    return 0;
}
