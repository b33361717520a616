// SPDX-License-Identifier: MIT
// CUB's reduction, scan, histogram and sort, which use their scratch memory in ways of their own.
#include <vector>

#include <cub/cub.cuh>

int main() {
    const int n = 10000, bins = 20;
    std::vector<int> host(n), sums(n), sorted(n);
    for (int i = 0; i < n; ++i) host[i] = int((i * 7919u) % 1000);
    int *in, *out, *counts;
    cudaMalloc(&in, n * sizeof(int));
    cudaMalloc(&out, n * sizeof(int));
    cudaMalloc(&counts, bins * sizeof(int));
    cudaMemcpy(in, host.data(), n * sizeof(int), cudaMemcpyHostToDevice);

    void* scratch = nullptr;
    size_t bytes = 0, most = 0;
    cub::DeviceReduce::Sum(nullptr, most, in, out, n);
    cub::DeviceScan::InclusiveSum(nullptr, bytes, in, out, n);
    most = bytes > most ? bytes : most;
    cub::DeviceRadixSort::SortKeys(nullptr, bytes, in, out, n);
    most = bytes > most ? bytes : most;
    cub::DeviceHistogram::HistogramEven(nullptr, bytes, in, counts, bins + 1, 0, 1000, n);
    most = bytes > most ? bytes : most;
    cudaMalloc(&scratch, most);

    int total = 0;
    cub::DeviceReduce::Sum(scratch, most, in, out, n);
    cudaMemcpy(&total, out, sizeof(int), cudaMemcpyDeviceToHost);
    cub::DeviceScan::InclusiveSum(scratch, most, in, out, n);
    cudaMemcpy(sums.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cub::DeviceRadixSort::SortKeys(scratch, most, in, out, n);
    cudaMemcpy(sorted.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost);
    cub::DeviceHistogram::HistogramEven(scratch, most, in, counts, bins + 1, 0, 1000, n);
    int first = 0;
    cudaMemcpy(&first, counts, sizeof(int), cudaMemcpyDeviceToHost);
    const cudaError_t error = cudaDeviceSynchronize();

    bool right = error == cudaSuccess && first == n / bins;
    for (int i = 0, running = 0; i < n; ++i) {
        running += host[i];
        right = right && sums[i] == running && (i == 0 || sorted[i - 1] <= sorted[i]);
    }
    right = right && total == sums[n - 1];
    cudaFree(in);
    cudaFree(out);
    cudaFree(counts);
    cudaFree(scratch);
    return right ? 0 : 1;
}
