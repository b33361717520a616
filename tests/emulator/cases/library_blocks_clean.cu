// SPDX-License-Identifier: MIT
// CUB's block-wide sort, histogram and scan, its selection, and Thrust's sort_by_key and
// transform_reduce.
#include <algorithm>
#include <vector>

#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>

constexpr int kThreads = 64, kItems = 4, kAll = kThreads * kItems;

__global__ void sorts(const int* in, int* out, unsigned* bins) {
    using Sort = cub::BlockRadixSort<int, kThreads, kItems>;
    using Histogram = cub::BlockHistogram<unsigned char, kThreads, kItems, 16>;
    __shared__ typename Sort::TempStorage sort_storage;
    __shared__ typename Histogram::TempStorage histogram_storage;
    __shared__ unsigned counts[16];
    int items[kItems];
    unsigned char low[kItems];
    for (int i = 0; i < kItems; ++i) items[i] = in[threadIdx.x * kItems + i];
    for (int i = 0; i < kItems; ++i) low[i] = static_cast<unsigned char>(items[i] & 15);
    Sort(sort_storage).Sort(items);
    Histogram(histogram_storage).Histogram(low, counts);
    __syncthreads();
    for (int i = 0; i < kItems; ++i) out[threadIdx.x * kItems + i] = items[i];
    if (threadIdx.x < 16) bins[threadIdx.x] = counts[threadIdx.x];
}

struct IsOdd {
    __host__ __device__ bool operator()(int x) const { return x % 2 != 0; }
};
struct Squared {
    __host__ __device__ long long operator()(int x) const { return 1ll * x * x; }
};

int main() {
    std::vector<int> host(kAll), sorted(kAll), odd(kAll);
    for (int i = 0; i < kAll; ++i) host[i] = int(i * 7919u % 1009);
    int *in, *out, *count, selected = 0;
    unsigned *bins, counts[16];
    cudaMalloc(&in, kAll * sizeof(int));
    cudaMalloc(&out, kAll * sizeof(int));
    cudaMalloc(&count, sizeof(int));
    cudaMalloc(&bins, sizeof counts);
    cudaMemcpy(in, host.data(), kAll * sizeof(int), cudaMemcpyHostToDevice);
    sorts<<<1, kThreads>>>(in, out, bins);
    cudaMemcpy(sorted.data(), out, kAll * sizeof(int), cudaMemcpyDeviceToHost);
    cudaMemcpy(counts, bins, sizeof counts, cudaMemcpyDeviceToHost);

    size_t bytes = 0;
    void* scratch = nullptr;
    cub::DeviceSelect::If(nullptr, bytes, in, out, count, kAll, IsOdd());
    cudaMalloc(&scratch, bytes);
    cub::DeviceSelect::If(scratch, bytes, in, out, count, kAll, IsOdd());
    cudaMemcpy(&selected, count, sizeof selected, cudaMemcpyDeviceToHost);
    cudaMemcpy(odd.data(), out, selected * sizeof(int), cudaMemcpyDeviceToHost);
    bool right = cudaDeviceSynchronize() == cudaSuccess;

    std::vector<int> want = host, want_odd;
    std::sort(want.begin(), want.end());
    std::copy_if(host.begin(), host.end(), std::back_inserter(want_odd), IsOdd());
    odd.resize(selected);
    unsigned by_hand[16] = {};
    for (int x : host) ++by_hand[x & 15];
    right = right && want == sorted && want_odd == odd && std::equal(counts, counts + 16, by_hand);

    thrust::device_vector<int> keys(host.begin(), host.end()), values(kAll);
    for (int i = 0; i < kAll; ++i) values[i] = i;
    const long long squares = thrust::transform_reduce(
        keys.begin(), keys.end(), Squared(), 0ll, thrust::plus<long long>());
    thrust::sort_by_key(keys.begin(), keys.end(), values.begin());
    long long squares_by_hand = 0;
    for (int x : host) squares_by_hand += 1ll * x * x;
    right = right && squares == squares_by_hand;
    for (int i = 0; i < kAll; ++i)
        right = right && keys[i] == want[i] && host[values[i]] == want[i];
    cudaFree(in);
    cudaFree(out);
    cudaFree(count);
    cudaFree(bins);
    cudaFree(scratch);
    return right ? 0 : 1;
}
