// SPDX-License-Identifier: MIT
// Lesson 36, several devices: each works on its part of the data, and one all-reduce combines the
// results. Start with README.md in this directory; `make 36` checks this file.
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
    __syncthreads();  // another thread reads this partial sum
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (t < half) partial[t] += partial[t + half];
        __syncthreads();  // also in the next round
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
    __syncthreads();  // the first warp reads the sums of all warps
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

Slice slice_of([[maybe_unused]] int n, [[maybe_unused]] int ranks, [[maybe_unused]] int rank) {
    // TODO 1 (about 2 lines): where does the slice of this rank begin, and how many elements does
    // it have? Some slices have one element more than others if n is not a multiple of ranks.
    //| return {0, 0};
    const int each = n / ranks, left = n % ranks;
    return {rank * each + std::min(rank, left), each + (rank < left)};
    // END 1
}

double sum_of_squares([[maybe_unused]] Communicator& communicator,
                      [[maybe_unused]] const double* in, [[maybe_unused]] int n,
                      [[maybe_unused]] double* const* d_in, [[maybe_unused]] double* const* d_sum) {
    double sum = 0;
    // TODO 2 (about 12 lines): for each rank, upload its slice and launch its sum, on its device
    // and in its stream. When the work of all ranks is queued, combine their sums, and read the
    // result of one rank.
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
    // END 2
    return sum;
}

void start([[maybe_unused]] const Communicator& communicator, [[maybe_unused]] const double* x,
           [[maybe_unused]] const double* y, [[maybe_unused]] Shape shape,
           [[maybe_unused]] unsigned seed, [[maybe_unused]] Shard* shards) {
    // TODO 3 (about 15 lines): for each rank, set the number of its rows, upload its rows of x and
    // of y, and make its start weights. Which of this differs from rank to rank?
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
    // END 3
}

void step([[maybe_unused]] Communicator& communicator, [[maybe_unused]] Shape shape,
          [[maybe_unused]] const Shard* shards, [[maybe_unused]] double rate) {
    // TODO 4 (about 13 lines): launch the gradients of all ranks, combine them, and launch the
    // updates of all ranks. The combined gradient is that of a sum: which factor does the update
    // need?
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
    // END 4
}

void meet([[maybe_unused]] const Communicator& communicator,
          [[maybe_unused]] const cudaEvent_t* events) {
    // TODO 5 (about 5 lines): record each rank's event in its stream, then let each stream wait for
    // the events of the other ranks. The host does not wait.
    const int count = communicator.count();
    for (int r = 0; r < count; ++r)
        CUDA_CHECK(cudaEventRecord(events[r], communicator.rank(r).stream));
    for (int r = 0; r < count; ++r)
        for (int other = 0; other < count; ++other)
            if (other != r)
                CUDA_CHECK(cudaStreamWaitEvent(communicator.rank(r).stream, events[other], 0));
    // END 5
}

// Lets kernels of one device access another's memory, and copies use the direct link.
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

void LocalCommunicator::all_reduce_sum([[maybe_unused]] double* const* d_data,
                                       [[maybe_unused]] int n) {
    // TODO 6 (about 22 lines): rank r receives its slice of the data of every other rank, one after
    // the other, and adds it to its own. Then it copies the sums of the other slices from their
    // ranks. When must the ranks meet?
    meet(*this, events_);  // all data is there
    // In each round every rank sends to one other rank, so no link has to carry two copies.
    for (int round = 1; round < count(); ++round)
        for (int r = 0; r < count(); ++r) {
            const auto [device, stream] = rank(r);
            const Slice own = slice_of(n, count(), r);
            const int s = (r + round) % count();
            CUDA_CHECK(cudaSetDevice(device));
            CUDA_CHECK(cudaMemcpyPeerAsync(d_received_[r],
                                           device,
                                           d_data[s] + own.first,
                                           rank(s).device,
                                           bytes_of(own.count),
                                           stream));
            launch_add(d_data[r] + own.first, d_received_[r], own.count, stream);
        }
    meet(*this, events_);  // all slices are summed
    for (int round = 1; round < count(); ++round)
        for (int r = 0; r < count(); ++r) {
            const auto [device, stream] = rank(r);
            const int s = (r + round) % count();
            const Slice other = slice_of(n, count(), s);
            CUDA_CHECK(cudaMemcpyPeerAsync(d_data[r] + other.first,
                                           device,
                                           d_data[s] + other.first,
                                           rank(s).device,
                                           bytes_of(other.count),
                                           stream));
        }
    meet(*this, events_);  // no rank reads another rank's data any more
    // END 6
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
    // TODO 7 (about 5 lines): call ncclAllReduce for each rank, in place, in its stream. Put all
    // calls into one group.
    NCCL_CHECK(ncclGroupStart());
    for (int r = 0; r < count(); ++r)
        NCCL_CHECK(
            ncclAllReduce(d_data[r], d_data[r], n, ncclDouble, ncclSum, comms_[r], rank(r).stream));
    NCCL_CHECK(ncclGroupEnd());
    // END 7
}
