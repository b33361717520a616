// SPDX-License-Identifier: MIT
// Calls the solution of one lesson (compiled with -DLESSON=number) with sizes that give every
// kernel full and ragged warps. Nsight Compute or the emulated device counts; nothing is printed.
#if LESSON == 1
#include "solutions/01_indexing_1d/indexing_1d.cu"
#elif LESSON == 2
#include "solutions/02_boundary_checks/boundary_checks.cu"
#elif LESSON == 14
#include "solutions/14_shared_memory_barriers/shared_memory_barriers.cu"
#elif LESSON == 18
#include "solutions/18_tree_reduction/tree_reduction.cu"
#elif LESSON == 20
#include "solutions/20_histogram_rows_vs_atomics/histogram_rows_vs_atomics.cu"
#elif LESSON == 22
#include "solutions/22_rng_seeding/rng_seeding.cu"
#endif

#include <cstdint>
#include <vector>

namespace {

constexpr int kCount = 20000;  // not a multiple of a warp

// `count` elements on the device: element i is `value(i)`.
template <class T, class Value>
T* filled(int count, Value value) {
    std::vector<T> host(count);
    for (int i = 0; i < count; ++i) host[i] = value(i);
    T* device = nullptr;
    CUDA_CHECK(cudaMalloc(&device, count * sizeof(T)));
    CUDA_CHECK(cudaMemcpy(device, host.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

// The same numbers everywhere: the upper bits of a linear congruential sequence.
[[maybe_unused]] unsigned scrambled(int i) {
    return (unsigned(i) * 1664525u + 1013904223u) * 22695477u >> 12;
}

void launches() {
#if LESSON == 1
    float* floats = filled<float>(kCount, [](int i) { return float(i); });
    int* ints = filled<int>(kCount, [](int i) { return i; });
    int* more = filled<int>(kCount, [](int i) { return i; });
    for (const int threads : {32, 100, 256}) {
        zero_out(floats, 7, threads);
        increment(ints, 7, threads);
        iota(ints, 7, threads);
        reverse(ints, more, 7, threads);
    }
#elif LESSON == 2
    float* a = filled<float>(kCount, [](int i) { return float(i); });
    float* b = filled<float>(kCount, [](int i) { return float(i); });
    float* c = filled<float>(kCount, [](int i) { return float(i); });
    int* index = filled<int>(kCount, [](int i) { return int(scrambled(i) % 3000) - 1000; });
    int* errors = filled<int>(1, [](int) { return 0; });
    for (const int n : {1000, 1024, kCount}) {
        vector_add(a, b, c, n);
        vector_add_on_grid(a, b, c, n, (n + 99) / 100, 100);
        for (const auto policy : {OutOfRange::kWrap, OutOfRange::kClamp, OutOfRange::kCount})
            gather(a, 1000, index, c, n, policy, errors);
    }
#elif LESSON == 14
    float* in = filled<float>(kCount, [](int i) { return float(i); });
    float* out = filled<float>(kCount, [](int i) { return float(i); });
    for (const int n : {1000, 1024, kCount}) {
        for (const int threads : {32, 100, 256}) {
            differences(in, out, n, threads);
            reverse_blocks(out, n, threads);
            reverse_array(in, out, n, threads);
        }
    }
#elif LESSON == 18
    float* data = filled<float>(kCount, [](int i) { return float(i % 5); });
    float* scratch = filled<float>(kCount, [](int) { return 0.0f; });
    float* sum = filled<float>(1, [](int) { return 0.0f; });
    for (const int n : {1000, 1024, kCount}) {
        block_sums(data, scratch, n);
        tree_sum(data, n, scratch, sum);
        sum_by_halving(data, n, sum);
    }
#elif LESSON == 20
    float* x = filled<float>(kCount, [](int i) { return float(scrambled(i) % 1000) / 1000; });
    for (const int bins : {16, 100}) {
        const Axis axis{bins, 0.1f, 0.9f};
        unsigned* rows = filled<unsigned>(kRows * bins, [](int) { return 0u; });
        unsigned* counts = filled<unsigned>(bins, [](int) { return 0u; });
        histogram_rows(x, kCount, axis, Overflow::kDrop, rows, counts);
        histogram_atomics(x, kCount, axis, Overflow::kClamp, counts);
    }
#elif LESSON == 22
    float* out = filled<float>(kCount, [](int) { return 0.0f; });
    fill(7, out, 500, 40, 3, 128);
    uint64_t* positions = filled<uint64_t>(500, [](int i) { return uint64_t(i); });
    float2* points = filled<float2>(500 * 20, [](int) { return float2{}; });
    draw_points(7, 3, positions, points, 500, 20, 128);
    auto* states = reinterpret_cast<CurandState*>(
        filled<uint64_t>(500 * kCurandStateBytes / 8, [](int) { return uint64_t(0); }));
    curand_start(7, 3, states, 500, 128);
    curand_points(states, points, 500, 20, 128);
#endif
}

}  // namespace

int main() {
    launches();
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaDeviceReset());
}
