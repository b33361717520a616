// Unusual: Kernels read and write the memory of the other devices directly, without copies. Slices
// are proportions in 64 bits.
// SPDX-License-Identifier: MIT
// Lesson 36, several devices: each works on its part of the data, and one all-reduce combines them.
// Start with README.md in this directory; `make 36` checks this file.
#include "multi_gpu_nccl.h"

#include <algorithm>

static constexpr int kThreads = 256;
static constexpr int kMostBlocks = 1024;

static int blocks_for(int n) {
    return std::min((n + kThreads - 1) / kThreads, kMostBlocks);
}

static size_t bytes_of(size_t numbers) {
    return numbers * sizeof(double);
}

__global__ void sum_of_squares_kernel(const double* in, int n, double* sum) {
    __shared__ double partial[kThreads];
    const int t = threadIdx.x;
    double own = 0;
    for (long long i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        own += in[i] * in[i];
    partial[t] = own;
    __syncthreads();  // a partial sum is read by another thread
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (t < half) partial[t] += partial[t + half];
        __syncthreads();  // so are those of the next round
    }
    if (t == 0) atomicAdd(sum, partial[0]);
}

void launch_sum_of_squares(const double* d_in, int n, double* d_sum, cudaStream_t stream) {
    CUDA_CHECK(cudaMemsetAsync(d_sum, 0, sizeof(double), stream));
    if (n == 0) return;
    sum_of_squares_kernel<<<blocks_for(n), kThreads, 0, stream>>>(d_in, n, d_sum);
    CUDA_CHECK(cudaGetLastError());
}

// Numbers in [-1/16, 1/16): the upper bits of a product (Knuth's multiplicative hashing).
__global__ void start_weights_kernel(double* w, int n, unsigned seed) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned bits = (i + 1) * 2654435769u ^ (seed + 1) * 2246822519u;
        bits = (bits ^ bits >> 15) * 2654435769u;
        w[i] = (bits >> 8) * 0x1p-27 - 0.0625;
    }
}

void launch_start_weights(double* d_w, int n, unsigned seed, cudaStream_t stream) {
    start_weights_kernel<<<(n + kThreads - 1) / kThreads, kThreads, 0, stream>>>(d_w, n, seed);
    CUDA_CHECK(cudaGetLastError());
}

// errors = x w - y, one thread for each element.
__global__ void errors_kernel(const double* x, const double* y, const double* w, double* errors,
                              int rows, int features, int outputs) {
    const long long all = static_cast<long long>(rows) * outputs;
    const int stride = gridDim.x * blockDim.x;
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < all; i += stride) {
        const double* const row = x + i / outputs * features;
        double sum = 0;
        for (int f = 0; f < features; ++f) sum += row[f] * w[f * outputs + i % outputs];
        errors[i] = sum - y[i];
    }
}

// gradient = 2 x^T errors. A block has 32 features of one output; its warps share the rows.
static constexpr int kWarps = 8;
__global__ void gradient_kernel(const double* x, const double* errors, double* gradient, int rows,
                                int features, int outputs) {
    __shared__ double partial[kWarps][32];
    const int lane = threadIdx.x, warp = threadIdx.y;
    const int feature = blockIdx.x * 32 + lane, output = blockIdx.y;
    double own = 0;
    if (feature < features)
        for (long long row = warp; row < rows; row += kWarps)
            own += x[row * features + feature] * errors[row * outputs + output];
    partial[warp][lane] = own;
    __syncthreads();  // the first warp adds what all have found
    if (warp == 0 && feature < features) {
        double sum = 0;
        for (int other = 0; other < kWarps; ++other) sum += partial[other][lane];
        gradient[feature * outputs + output] = 2 * sum;
    }
}

void launch_gradient(const Shard& shard, int features, int outputs, cudaStream_t stream) {
    if (shard.rows > 0) {
        const int blocks = blocks_for(static_cast<int>(
            std::min<long long>(static_cast<long long>(shard.rows) * outputs, 1 << 30)));
        errors_kernel<<<blocks, kThreads, 0, stream>>>(
            shard.d_x, shard.d_y, shard.d_w, shard.d_errors, shard.rows, features, outputs);
        CUDA_CHECK(cudaGetLastError());
    }
    gradient_kernel<<<dim3((features + 31) / 32, outputs), dim3(32, kWarps), 0, stream>>>(
        shard.d_x, shard.d_errors, shard.d_gradient, shard.rows, features, outputs);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void update_kernel(double* w, const double* gradient, int n, double factor) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) w[i] -= factor * gradient[i];
}

void launch_update(double* d_w, const double* d_gradient, int n, double factor,
                   cudaStream_t stream) {
    update_kernel<<<(n + kThreads - 1) / kThreads, kThreads, 0, stream>>>(
        d_w, d_gradient, n, factor);
    CUDA_CHECK(cudaGetLastError());
}

__global__ void add_kernel(double* out, const double* in, int n) {
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        out[i] += in[i];
}

void launch_add(double* d_out, const double* d_in, int n, cudaStream_t stream) {
    if (n == 0) return;
    add_kernel<<<blocks_for(n), kThreads, 0, stream>>>(d_out, d_in, n);
    CUDA_CHECK(cudaGetLastError());
}

Slice slice_of(int n, int ranks, int rank) {
    const auto bound = [&](int r) {
        return static_cast<int>(static_cast<long long>(n) * r / ranks);
    };
    return {bound(rank), bound(rank + 1) - bound(rank)};
}

double sum_of_squares([[maybe_unused]] Communicator& communicator,
                      [[maybe_unused]] const double* in, [[maybe_unused]] int n,
                      [[maybe_unused]] double* const* d_in, [[maybe_unused]] double* const* d_sum) {
    double sum = 0;
    for (int r = 0; r < communicator.count(); ++r) {
        const Rank rank = communicator.rank(r);
        const Slice slice = slice_of(n, communicator.count(), r);
        CUDA_CHECK(cudaSetDevice(rank.device));
        CUDA_CHECK(cudaMemcpyAsync(
            d_in[r], in + slice.first, bytes_of(slice.count), cudaMemcpyHostToDevice, rank.stream));
        launch_sum_of_squares(d_in[r], slice.count, d_sum[r], rank.stream);
    }
    communicator.all_reduce_sum(d_sum, 1);
    const cudaStream_t stream = communicator.rank(0).stream;
    CUDA_CHECK(cudaMemcpyAsync(&sum, d_sum[0], bytes_of(1), cudaMemcpyDeviceToHost, stream));
    CUDA_CHECK(cudaStreamSynchronize(stream));
    return sum;
}

void start([[maybe_unused]] const Communicator& communicator, [[maybe_unused]] const double* x,
           [[maybe_unused]] const double* y, [[maybe_unused]] Shape shape,
           [[maybe_unused]] unsigned seed, [[maybe_unused]] Shard* shards) {
    for (int r = 0; r < communicator.count(); ++r) {
        const Rank rank = communicator.rank(r);
        const Slice slice = slice_of(shape.rows, communicator.count(), r);
        const size_t first = slice.first, count = slice.count;
        shards[r].rows = slice.count;
        CUDA_CHECK(cudaSetDevice(rank.device));
        CUDA_CHECK(cudaMemcpyAsync(shards[r].d_x,
                                   x + first * shape.features,
                                   bytes_of(count * shape.features),
                                   cudaMemcpyHostToDevice,
                                   rank.stream));
        CUDA_CHECK(cudaMemcpyAsync(shards[r].d_y,
                                   y + first * shape.outputs,
                                   bytes_of(count * shape.outputs),
                                   cudaMemcpyHostToDevice,
                                   rank.stream));
        launch_start_weights(shards[r].d_w, shape.features * shape.outputs, seed, rank.stream);
    }
}

void step([[maybe_unused]] Communicator& communicator, [[maybe_unused]] Shape shape,
          [[maybe_unused]] const Shard* shards, [[maybe_unused]] double rate) {
    const int weights = shape.features * shape.outputs;
    double* d_gradients[kMaxRanks];
    for (int r = 0; r < communicator.count(); ++r) {
        CUDA_CHECK(cudaSetDevice(communicator.rank(r).device));
        launch_gradient(shards[r], shape.features, shape.outputs, communicator.rank(r).stream);
        d_gradients[r] = shards[r].d_gradient;
    }
    communicator.all_reduce_sum(d_gradients, weights);
    for (int r = 0; r < communicator.count(); ++r) {
        const cudaStream_t stream = communicator.rank(r).stream;
        CUDA_CHECK(cudaSetDevice(communicator.rank(r).device));
        launch_update(shards[r].d_w, d_gradients[r], weights, rate / shape.rows, stream);
    }
}

void meet([[maybe_unused]] const Communicator& communicator,
          [[maybe_unused]] const cudaEvent_t* events) {
    const int count = communicator.count();
    for (int r = 0; r < count; ++r)
        CUDA_CHECK(cudaEventRecord(events[r], communicator.rank(r).stream));
    for (int r = 0; r < count; ++r)
        for (int other = 0; other < count; ++other)
            if (other != r)
                CUDA_CHECK(cudaStreamWaitEvent(communicator.rank(r).stream, events[other], 0));
}

// Lets kernels of one device access the other's memory, and copies take the direct way.
static void enable_peers(const Rank* ranks, int count) {
    for (int r = 0; r < count; ++r) {
        CUDA_CHECK(cudaSetDevice(ranks[r].device));
        for (int other = 0; other < count; ++other) {
            int possible = 0;
            if (ranks[other].device != ranks[r].device)
                CUDA_CHECK(
                    cudaDeviceCanAccessPeer(&possible, ranks[r].device, ranks[other].device));
            if (!possible) continue;
            const cudaError_t result = cudaDeviceEnablePeerAccess(ranks[other].device, 0);
            if (result == cudaErrorPeerAccessAlreadyEnabled)
                static_cast<void>(cudaGetLastError());
            else
                CUDA_CHECK(result);
        }
    }
}

LocalCommunicator::LocalCommunicator(const Rank* ranks, int count, int max_n)
    : Communicator(ranks, count) {
    enable_peers(ranks, count);
    for (int r = 0; r < count; ++r) {
        CUDA_CHECK(cudaSetDevice(ranks[r].device));
        CUDA_CHECK(cudaEventCreateWithFlags(&events_[r], cudaEventDisableTiming));
        CUDA_CHECK(cudaMalloc(&d_received_[r], bytes_of(max_n / count + 1)));
    }
}

LocalCommunicator::~LocalCommunicator() {
    for (int r = 0; r < count(); ++r) {
        cudaSetDevice(rank(r).device);
        cudaEventDestroy(events_[r]);
        cudaFree(d_received_[r]);
    }
}

struct Parts {
    double* of_rank[kMaxRanks];
};

// The sum of slice [first, first + count) of all ranks, stored on all of them.
__global__ void reduce_slice_kernel(Parts data, int ranks, int first, int count) {
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += gridDim.x * blockDim.x) {
        double sum = 0;
        for (int r = 0; r < ranks; ++r) sum += data.of_rank[r][first + i];
        for (int r = 0; r < ranks; ++r) data.of_rank[r][first + i] = sum;
    }
}

void LocalCommunicator::all_reduce_sum(double* const* d_data, int n) {
    Parts data{};
    std::copy_n(d_data, count(), data.of_rank);
    for (int r = 0; r < count(); ++r)
        for (int other = 0; other < count(); ++other)
            if (rank(r).device != rank(other).device) {
                int possible = 0;
                CUDA_CHECK(cudaDeviceCanAccessPeer(&possible, rank(r).device, rank(other).device));
                CUDA_CHECK(possible ? cudaSuccess : cudaErrorPeerAccessUnsupported);
            }
    meet(*this, events_);
    for (int r = 0; r < count(); ++r) {
        const Slice own = slice_of(n, count(), r);
        if (own.count == 0) continue;
        CUDA_CHECK(cudaSetDevice(rank(r).device));
        reduce_slice_kernel<<<blocks_for(own.count), kThreads, 0, rank(r).stream>>>(
            data, count(), own.first, own.count);
        CUDA_CHECK(cudaGetLastError());
    }
    meet(*this, events_);
}

NcclCommunicator::NcclCommunicator(const Rank* ranks, int count) : Communicator(ranks, count) {
    int devices[kMaxRanks];
    for (int r = 0; r < count; ++r) devices[r] = ranks[r].device;
    NCCL_CHECK(ncclCommInitAll(comms_, count, devices));
}

NcclCommunicator::~NcclCommunicator() {
    for (int r = 0; r < count(); ++r)
        if (comms_[r]) ncclCommDestroy(comms_[r]);
}

void NcclCommunicator::all_reduce_sum([[maybe_unused]] double* const* d_data,
                                      [[maybe_unused]] int n) {
    NCCL_CHECK(ncclGroupStart());
    for (int r = 0; r < count(); ++r)
        NCCL_CHECK(
            ncclAllReduce(d_data[r], d_data[r], n, ncclDouble, ncclSum, comms_[r], rank(r).stream));
    NCCL_CHECK(ncclGroupEnd());
}
