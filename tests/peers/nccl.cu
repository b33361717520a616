// SPDX-License-Identifier: MIT
// NCCL on the all-reduces of lesson 36, called as NVIDIA's nccl-tests call it: in place, one group,
// every rank in a stream of its own, on all cards or as many as wb::cards() says. bytes() is its
// bus bandwidth times its time, by their formula:
// https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md, "AllReduce".
#include <nccl.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "common/harness/workloads/workload_data.h"

namespace {

void check(ncclResult_t result) {
    if (result != ncclSuccess)
        throw std::runtime_error(std::string("NCCL: ") + ncclGetErrorString(result));
}

class AllReduce : public wb::Workload {
public:
    explicit AllReduce(size_t n) : n_(n) {
        int count = 0;
        CUDA_CHECK(cudaGetDeviceCount(&count));
        ranks_.resize(wb::cards() ? std::min(count, wb::cards()) : count);
        std::vector<ncclComm_t> comms(ranks_.size());
        check(ncclCommInitAll(comms.data(), int(ranks_.size()), nullptr));
        for (size_t r = 0; r < ranks_.size(); ++r) {
            ranks_[r].comm = comms[r];
            CUDA_CHECK(cudaSetDevice(int(r)));
            CUDA_CHECK(cudaStreamCreateWithFlags(&ranks_[r].stream, cudaStreamNonBlocking));
            CUDA_CHECK(cudaMalloc(&ranks_[r].d_data, n * sizeof(double)));
            CUDA_CHECK(cudaMalloc(&ranks_[r].d_ones, n * sizeof(double)));
            fill(ranks_[r].d_ones);
        }
        CUDA_CHECK(cudaSetDevice(0));
    }
    ~AllReduce() override {
        for (const Rank& one : ranks_) {
            ncclCommDestroy(one.comm);
            cudaStreamDestroy(one.stream);
            cudaFree(one.d_data);
            cudaFree(one.d_ones);
        }
        cudaSetDevice(0);
    }
    // All elements are 1: each run multiplies them by the number of ranks. All cards copy at the
    // same time, so that none has been idle for long when the run begins.
    void prepare() override {
        for (const Rank& one : ranks_)
            CUDA_CHECK(cudaMemcpyAsync(
                one.d_data, one.d_ones, n_ * sizeof(double), cudaMemcpyDeviceToDevice, one.stream));
        for (const Rank& one : ranks_) CUDA_CHECK(cudaStreamSynchronize(one.stream));
    }
    void run() override {
        check(ncclGroupStart());
        for (const Rank& one : ranks_)
            check(ncclAllReduce(
                one.d_data, one.d_data, n_, ncclDouble, ncclSum, one.comm, one.stream));
        check(ncclGroupEnd());
        for (const Rank& one : ranks_) CUDA_CHECK(cudaStreamSynchronize(one.stream));
    }
    void reference() override { want_.assign(n_, double(ranks_.size())); }
    size_t reference_elements() const override { return n_; }
    std::string verify() override {
        for (const Rank& one : ranks_) {
            std::vector<double> got(n_);
            CUDA_CHECK(
                cudaMemcpy(got.data(), one.d_data, n_ * sizeof(double), cudaMemcpyDeviceToHost));
            const std::string wrong = wb::mismatch(got, want_);
            if (!wrong.empty()) return wrong;
        }
        return "";
    }
    double bytes() const override {
        const double ranks = double(ranks_.size());
        return 8.0 * double(n_) * (ranks > 1 ? 2 * (ranks - 1) / ranks : 1);
    }
    bool on_host() const override { return true; }
    std::string library() const override {
        int version = 0;
        check(ncclGetVersion(&version));
        return wb::nccl_name(version);
    }

private:
    // Of the current device.
    void fill(double* d_ones) const {
        const std::vector<double> ones(std::min(kPart, n_), 1.0);
        for (size_t at = 0; at < n_; at += ones.size())
            CUDA_CHECK(cudaMemcpy(d_ones + at,
                                  ones.data(),
                                  std::min(ones.size(), n_ - at) * sizeof(double),
                                  cudaMemcpyHostToDevice));
        // The ranks' streams do not wait for the default stream, which may still be copying.
        CUDA_CHECK(cudaDeviceSynchronize());
    }
    static constexpr size_t kPart = 1 << 20;
    struct Rank {
        ncclComm_t comm;
        cudaStream_t stream;
        double *d_data, *d_ones;
    };
    size_t n_;
    std::vector<Rank> ranks_;
    std::vector<double> want_;
};
WORKLOAD(AllReduce, "all-reduces by NCCL: bus bandwidth", 1 << 27, 100003);

}  // namespace
