// Variant: the results of each stage are copied to the host and back.
// verdict: efficient "efficient: only the inputs and the counts cross the bus"
// verdict: efficient "efficient: a replay is one launch, which records nothing"
// SPDX-License-Identifier: MIT
// Lesson 40, the dimuon analysis: from the muons of many events to three peaks, on the device.
// Start with README.md in this directory; `make 40` checks this file.
#include "capstone_dimuon.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "device_buffer.h"

static constexpr unsigned kAllLanes = 0xFFFFFFFFu;
static constexpr int kLanes = 32;

// All kThreads threads of a block must call this, and may call it repeatedly. Returns the sum of
// the values of the threads before this one; `total` becomes the sum of all values (lesson 25).
template <class T>
__device__ static T block_scan(T value, T& total) {
    __shared__ T of_warp[kThreads / kLanes];
    const int lane = threadIdx.x % kLanes, warp = threadIdx.x / kLanes;
    T sum = value;
    for (int step = 1; step < kLanes; step *= 2) {
        const T before = __shfl_up_sync(kAllLanes, sum, step);
        if (lane >= step) sum += before;
    }
    if (lane == kLanes - 1) of_warp[warp] = sum;
    __syncthreads();  // all threads read the sums of all warps below
    T before = sum - value;
    total = 0;
    for (int w = 0; w < kThreads / kLanes; ++w) {
        if (w == warp) before += total;
        total += of_warp[w];
    }
    __syncthreads();  // the next call overwrites of_warp, which is read above
    return before;
}

// First launch of a scan: each block stores the sum of one tile.
__global__ void sum_tiles_kernel(const int* in, int n, int* sums) {
    const int end = min((int(blockIdx.x) + 1) * kTile, n);
    int own = 0, total;
    for (int i = blockIdx.x * kTile + threadIdx.x; i < end; i += kThreads) own += in[i];
    block_scan(own, total);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

// Second launch: a single block replaces the sum of each tile by the sum of all tiles before it.
__global__ void scan_sums_kernel(int* sums, int tiles) {
    int carry = 0;
    for (int first = 0; first < tiles; first += kThreads) {
        const int tile = first + threadIdx.x;
        int total;
        const int before = block_scan(tile < tiles ? sums[tile] : 0, total);
        if (tile < tiles) sums[tile] = carry + before;
        carry += total;
    }
}

// Third launch: each block scans one tile, starting from the sum before the tile.
__global__ void scan_tiles_kernel(const int* in, int n, const int* sums, int* out) {
    [[maybe_unused]] const int begin = blockIdx.x * kTile;
    [[maybe_unused]] int carry = sums[blockIdx.x];
    for (int first = begin; first < begin + kTile; first += kThreads) {
        const int i = first + threadIdx.x;
        int total;
        const int before = block_scan(i < n ? in[i] : 0, total);
        if (i <= n) out[i] = carry + before;
        carry += total;
    }
}

void scan(const int* d_in, int n, int* d_out, int* d_sums, cudaStream_t stream) {
    const int tiles = tiles_of(n);
    sum_tiles_kernel<<<tiles, kThreads, 0, stream>>>(d_in, n, d_sums);
    CUDA_CHECK(cudaGetLastError());
    scan_sums_kernel<<<1, kThreads, 0, stream>>>(d_sums, tiles);
    CUDA_CHECK(cudaGetLastError());
    scan_tiles_kernel<<<tiles, kThreads, 0, stream>>>(d_in, n, d_sums, d_out);
    CUDA_CHECK(cudaGetLastError());
}

static unsigned blocks_for(int threads) {
    return (unsigned(threads) + kThreads - 1) / kThreads;
}

__global__ void pair_masses_kernel(Events all, const int* offsets, float* mass, int* valid) {
    const int e = blockIdx.x * kThreads + threadIdx.x;
    if (e >= all.events) return;
    float heaviest = 0;
    int found = 0;
    const int end = offsets[e + 1];
    for (int i = offsets[e]; i < end; ++i)
        for (int j = i + 1; j < end; ++j) {
            if (all.charge[i] == all.charge[j]) continue;
            const float m =
                pair_mass(all.pt[i], all.eta[i], all.phi[i], all.pt[j], all.eta[j], all.phi[j]);
            heaviest = fmaxf(heaviest, m);
            found = 1;
        }
    mass[e] = heaviest;
    valid[e] = found;
}

void pair_masses(Events d_events, const int* d_offsets, float* d_mass, int* d_valid,
                 cudaStream_t stream) {
    if (d_events.events == 0) return;
    pair_masses_kernel<<<blocks_for(d_events.events), kThreads, 0, stream>>>(
        d_events, d_offsets, d_mass, d_valid);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void move_kernel(const float* mass, const int* valid, int events, const int* places,
                            float* kept) {
    const int e = blockIdx.x * kThreads + threadIdx.x;
    if (e < events && valid[e]) kept[places[e]] = mass[e];
}

void compact(const float* d_mass, const int* d_valid, int events, int* d_places, float* d_kept,
             int* d_sums, cudaStream_t stream) {
    scan(d_valid, events, d_places, d_sums, stream);
    if (events == 0) return;
    move_kernel<<<blocks_for(events), kThreads, 0, stream>>>(
        d_mass, d_valid, events, d_places, d_kept);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void histogram_kernel(const float* mass, const int* number, unsigned* counts) {
    [[maybe_unused]] __shared__ unsigned own[kBins];
    for (int b = threadIdx.x; b < kBins; b += kThreads) own[b] = 0;
    __syncthreads();  // threads count in bins that other threads have cleared
    const int end = *number, step = gridDim.x * kThreads;
    for (int i = blockIdx.x * kThreads + threadIdx.x; i < end; i += step) {
        const float m = mass[i];
        if (m >= 0 && m < kLimit) atomicAdd(&own[int(m * 10.0f)], 1u);
    }
    __syncthreads();  // threads merge bins in which other threads have counted
    for (int b = threadIdx.x; b < kBins; b += kThreads)
        if (own[b]) atomicAdd(&counts[b], own[b]);
}

void histogram(const float* d_mass, const int* d_number, int most, unsigned* d_counts,
               cudaStream_t stream) {
    // Each block merges kBins bins, so give it at least 8 masses for each bin.
    const int blocks = std::clamp(most / (8 * kBins), 1, 1024);
    CUDA_CHECK(cudaMemsetAsync(d_counts, 0, kBins * sizeof(unsigned), stream));
    histogram_kernel<<<blocks, kThreads, 0, stream>>>(d_mass, d_number, d_counts);
    CUDA_CHECK(cudaGetLastError());
}

// A copy of kWindows for the device.
__constant__ Window windows[kPeaks] = {kWindows[0], kWindows[1], kWindows[2]};

// One block for each window, and a thread for each of its bins.
__global__ void find_peaks_kernel(const unsigned* counts, Peak* peaks) {
    const Window window = windows[blockIdx.x];
    [[maybe_unused]] const int b = window.first + threadIdx.x;
    unsigned long long events = 0, weighted = 0;
    const unsigned base = max(counts[window.first], counts[window.last - 1]);
    unsigned long long above = 0;
    if (b < window.last && counts[b] > base) above = counts[b] - base;
    block_scan(above, events);
    block_scan(above * b, weighted);
    if (threadIdx.x == 0)
        peaks[blockIdx.x] = {events ? int((weighted + events / 2) / events) : window.first,
                             unsigned(events)};
}

void find_peaks(const unsigned* d_counts, Peak* d_peaks, cudaStream_t stream) {
    find_peaks_kernel<<<kPeaks, kThreads, 0, stream>>>(d_counts, d_peaks);
    CUDA_CHECK(cudaGetLastError());
}

void analyse([[maybe_unused]] Events d_events, [[maybe_unused]] Workspace d,
             [[maybe_unused]] cudaStream_t stream) {
    {
        const wb::Range range("offsets");
        scan(d_events.counts, d_events.events, d.offsets, d.sums, stream);
    }
    {
        const wb::Range range("masses");
        pair_masses(d_events, d.offsets, d.mass, d.valid, stream);
    }
    {
        const wb::Range range("compaction");
        compact(d.mass, d.valid, d_events.events, d.places, d.kept, d.sums, stream);
    }
    {
        const wb::Range range("histogram");
        const int* d_number = d.places + d_events.events;
        histogram(d.kept, d_number, d_events.events, d.counts, stream);
    }
    {
        const wb::Range range("peaks");
        find_peaks(d.counts, d.peaks, stream);
    }
}

// A stream to record in. Its destructor ends a capture that an exception has left open.
struct OwnStream {
    OwnStream() { CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
    ~OwnStream() {
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        cudaStreamIsCapturing(stream, &status);
        if (status != cudaStreamCaptureStatusNone) {
            cudaGraph_t rest = nullptr;
            cudaStreamEndCapture(stream, &rest);
            if (rest) cudaGraphDestroy(rest);
        }
        cudaStreamDestroy(stream);
    }
    cudaStream_t stream = nullptr;
};

struct Analysis::Parts {
    Parts(int events, int muons)
        : counts(events), charge(muons), offsets(events + 1), valid(events), places(events + 1),
          sums(tiles_of(events)), pt(muons), eta(muons), phi(muons), mass(events), kept(events),
          spectrum(kBins), peaks(kPeaks),
          d_events{events, muons, counts.get(), pt.get(), eta.get(), phi.get(), charge.get()},
          d{offsets.get(),
            mass.get(),
            valid.get(),
            places.get(),
            kept.get(),
            sums.get(),
            spectrum.get(),
            peaks.get()} {}

    wb::DeviceBuffer<int> counts, charge, offsets, valid, places, sums;
    wb::DeviceBuffer<float> pt, eta, phi, mass, kept;
    wb::DeviceBuffer<unsigned> spectrum;
    wb::DeviceBuffer<Peak> peaks;
    Events d_events;  // in the buffers above
    Workspace d;
    OwnStream own;
};

Analysis::Analysis(int events, int muons) : parts_(new Parts(events, muons)) {
    CUDA_CHECK(cudaDeviceSynchronize());  // the buffers have been filled in the default stream
}

void Analysis::run([[maybe_unused]] Events from, [[maybe_unused]] unsigned* counts) {
    cudaStream_t stream = parts_->own.stream;
    upload(from, stream);
    replay(stream);
    CUDA_CHECK(cudaMemcpyAsync(
        counts, parts_->d.counts, kBins * sizeof(unsigned), cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
}

Analysis::~Analysis() = default;

void Analysis::upload(Events from, cudaStream_t stream) {
    const Events& to = parts_->d_events;
    const auto copy = [&](auto* there, const auto* here, int n) {
        using T = std::remove_const_t<std::remove_pointer_t<decltype(there)>>;
        // With cudaMemcpyDefault, the addresses decide the direction of the copy.
        if (n > 0)
            CUDA_CHECK(cudaMemcpyAsync(
                const_cast<T*>(there), here, n * sizeof(T), cudaMemcpyDefault, stream));
    };
    copy(to.counts, from.counts, to.events);
    copy(to.pt, from.pt, to.muons);
    copy(to.eta, from.eta, to.muons);
    copy(to.phi, from.phi, to.muons);
    copy(to.charge, from.charge, to.muons);
}

// To the host, where a program could look at it, and back.
template <class T>
static void there_and_back(T* d_array, int n, cudaStream_t stream) {
    std::vector<T> host(n);
    if (n == 0) return;
    CUDA_CHECK(
        cudaMemcpyAsync(host.data(), d_array, n * sizeof(T), cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    CUDA_CHECK(
        cudaMemcpyAsync(d_array, host.data(), n * sizeof(T), cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
}

void Analysis::replay(cudaStream_t stream) {
    const Events& all = parts_->d_events;
    const Workspace& d = parts_->d;
    scan(all.counts, all.events, d.offsets, d.sums, stream);
    there_and_back(d.offsets, all.events + 1, stream);
    pair_masses(all, d.offsets, d.mass, d.valid, stream);
    there_and_back(d.mass, all.events, stream);
    there_and_back(d.valid, all.events, stream);
    compact(d.mass, d.valid, all.events, d.places, d.kept, d.sums, stream);
    there_and_back(d.places, all.events + 1, stream);
    there_and_back(d.kept, all.events, stream);
    histogram(d.kept, d.places + all.events, all.events, d.counts, stream);
    there_and_back(d.counts, kBins, stream);
    find_peaks(d.counts, d.peaks, stream);
}

void Analysis::peaks(Peak* to) const {
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaMemcpy(to, parts_->d.peaks, kPeaks * sizeof(Peak), cudaMemcpyDeviceToHost));
}

void write_csv(std::FILE* file, [[maybe_unused]] const unsigned* counts) {
    std::fprintf(file, "GeV,events\n");
    for (int b = 0; b < kBins; ++b) std::fprintf(file, "%.2f,%u\n", (b + 0.5) / 10, counts[b]);
}
