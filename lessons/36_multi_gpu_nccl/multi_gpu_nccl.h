// SPDX-License-Identifier: MIT
// Lesson 36, several devices: what multi_gpu_nccl.cu implements and the test calls.
//
// A rank is a device with one of its streams. Rank r works on its own part of the data, in its own
// stream, and d_NAME[r] is memory of its device. All ranks belong to one host thread. Several ranks
// may have the same device, except with NcclCommunicator.
//
// Functions queue their work in the streams of the ranks, and use no other streams. The host does
// not wait, unless a comment says so. Source arrays on the host are pinned. Any device may be
// current before and after a call. A CUDA call that fails, or a refused launch, throws
// wb::CudaError; an NCCL call that fails throws NcclError.
#pragma once

#include <nccl.h>

#include <cstdio>

#include "cuda_check.h"

constexpr int kMaxRanks = 16;

struct Rank {
    int device;           // as cudaSetDevice takes it
    cudaStream_t stream;  // of this device; not the default stream
};

// Operations of all ranks together. `ranks` stays valid as long as the communicator; count is 1 to
// kMaxRanks.
class Communicator {
public:
    Communicator(const Rank* ranks, int count) : ranks_(ranks), count_(count) {}
    virtual ~Communicator() = default;
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    int count() const { return count_; }
    const Rank& rank(int r) const { return ranks_[r]; }

    // d_data[r] has n >= 1 doubles. Afterwards d_data[r][i] is the sum of the d_data[s][i] of all
    // ranks s: the same bits on every rank. It waits for earlier work in the streams of all ranks,
    // and later work of any rank may change that rank's d_data again.
    virtual void all_reduce_sum(double* const* d_data, int n) = 0;

private:
    const Rank* ranks_;
    int count_;
};

// Task 1. A slice of n elements.
struct Slice {
    int first, count;
};

// The slice of rank `rank`, 0 <= rank < ranks. The slices of ranks 0, 1, 2, ... lie one after the
// other and hold each of the n elements once; each has n / ranks elements or one more. n is 0 to
// 2^31 - 1.
Slice slice_of(int n, int ranks, int rank);

// Task 2. The sum of the squares of in[0] to in[n - 1]; n is 0 to 2^27. Rank r sums its slice:
// d_in[r] has room for the slice and one element more, and d_sum[r] is one double. Afterwards each
// d_sum[r] is the whole sum, which is also returned. One all-reduce combines the ranks. The host
// waits only after all work of all ranks is queued.
double sum_of_squares(Communicator& communicator, const double* in, int n, double* const* d_in,
                      double* const* d_sum);

// Linear regression with several outputs: y = x w. Matrices are stored by rows: x has rows of
// `features` doubles, y rows of `outputs` doubles, w has `features` rows of `outputs` doubles.
struct Shape {
    int rows;               // of x and y on all ranks together: 1 to 2^24
    int features, outputs;  // 1 to 1024; rows times either of them is at most 2^27
};

// The data of one rank.
struct Shard {
    int rows;            // in its slice of the rows
    double *d_x, *d_y;   // its slice of x and y; room for one row more than rows / ranks
    double* d_errors;    // as large as d_y: room for launch_gradient
    double* d_w;         // its copy of the weights
    double* d_gradient;  // as large as d_w
};

// Task 3. Gives each rank its slice of the rows of x and y, and the start weights that
// launch_start_weights makes for `seed`, the same on all ranks. Sets shards[r].rows. The caller has
// allocated the arrays of the shards.
void start(const Communicator& communicator, const double* x, const double* y, Shape shape,
           unsigned seed, Shard* shards);

// Task 4. One step of gradient descent on all ranks: w -= rate * gradient. The gradient is that of
// the mean over all rows of |x w - y|^2, where the squares of all outputs of a row are summed. One
// all-reduce combines the ranks. All ranks have the same weights before, and the same bits
// afterwards.
void step(Communicator& communicator, Shape shape, const Shard* shards, double rate);

// Task 5. Work that any rank queues after this call begins when all ranks have finished the work
// that they queued before it. events[r] belongs to rank r's device.
void meet(const Communicator& communicator, const cudaEvent_t* events);

// An all-reduce by copies between the devices.
class LocalCommunicator final : public Communicator {
public:
    // For arrays of up to max_n doubles. Given.
    LocalCommunicator(const Rank* ranks, int count, int max_n);
    ~LocalCommunicator() override;

    // Task 6. Each rank sums one slice, and copies the sums of the other slices. So a rank receives
    // at most 2 (ranks - 1) slices.
    void all_reduce_sum(double* const* d_data, int n) override;

private:
    cudaEvent_t events_[kMaxRanks] = {};
    double* d_received_[kMaxRanks] = {};  // for each rank: room for a slice of another rank
};

// An all-reduce by NVIDIA's library, NCCL.
class NcclCommunicator final : public Communicator {
public:
    // Each rank has a different device. Given.
    NcclCommunicator(const Rank* ranks, int count);
    ~NcclCommunicator() override;

    // Task 7. One collective of NCCL with all ranks.
    void all_reduce_sum(double* const* d_data, int n) override;

private:
    ncclComm_t comms_[kMaxRanks] = {};
};

// The following functions are given.

// *d_sum = the sum of the squares of n >= 0 doubles.
void launch_sum_of_squares(const double* d_in, int n, double* d_sum, cudaStream_t stream);
// d_w[0] to d_w[n - 1], become small random numbers, the same for the same seed.
void launch_start_weights(double* d_w, int n, unsigned seed, cudaStream_t stream);
// d_gradient = the gradient of the SUM of |x w - y|^2 over the shard's rows; the shard may have no
// rows.
void launch_gradient(const Shard& shard, int features, int outputs, cudaStream_t stream);
// d_w -= factor * d_gradient, n >= 1 elements.
void launch_update(double* d_w, const double* d_gradient, int n, double factor,
                   cudaStream_t stream);
// d_out += d_in, n >= 0 elements.
void launch_add(double* d_out, const double* d_in, int n, cudaStream_t stream);

// A failed call of NCCL.
class NcclError : public std::exception {
public:
    NcclError(ncclResult_t result, const char* call, const char* file, int line) : code(result) {
        std::snprintf(
            text_, sizeof text_, "%s:%d: %s: %s", file, line, call, ncclGetErrorString(result));
    }
    const char* what() const noexcept override { return text_; }
    const ncclResult_t code;

private:
    char text_[1024];
};

// Put this around every call that returns an ncclResult_t.
#define NCCL_CHECK(call)                                                                           \
    do {                                                                                           \
        const ncclResult_t result_ = (call);                                                       \
        if (result_ != ncclSuccess) throw NcclError(result_, #call, __FILE__, __LINE__);           \
    } while (false)
