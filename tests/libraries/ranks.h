// SPDX-License-Identifier: MIT
// The ranks of a communicator, one on each device, all called by this thread.
#pragma once

#include <functional>
#include <memory>
#include <nccl.h>

#include "lab.h"

namespace lab {

// As many as there are, up to 4.
inline int devices() {
    int count = 0;
    REQUIRE(cudaGetDeviceCount(&count) == cudaSuccess);
    return std::min(count, 4);
}

// One array for each rank, in its device's memory.
template <class T>
using Arrays = std::vector<std::unique_ptr<Device<T>>>;

class Ranks {
public:
    Ranks() : comms(size_t(devices())), streams(comms.size()) {
        REQUIRE(ncclCommInitAll(comms.data(), count(), nullptr) == ncclSuccess);
        each([&](int rank) { REQUIRE(cudaStreamCreate(&streams[size_t(rank)]) == cudaSuccess); });
    }
    ~Ranks() {
        each([&](int rank) {
            cudaStreamDestroy(streams[size_t(rank)]);
            ncclCommDestroy(comms[size_t(rank)]);
        });
    }
    int count() const { return int(comms.size()); }
    void each(const std::function<void(int)>& work) const {
        for (int rank = 0; rank < count(); ++rank) {
            cudaSetDevice(rank);
            work(rank);
        }
        cudaSetDevice(0);
    }
    template <class T>
    Arrays<T> arrays(const std::function<std::vector<T>(int)>& values) const {
        Arrays<T> out;
        each([&](int rank) { out.push_back(std::make_unique<Device<T>>(values(rank))); });
        return out;
    }
    template <class T>
    std::vector<std::vector<T>> values(const Arrays<T>& arrays) const {
        std::vector<std::vector<T>> out;
        each([&](int rank) {
            REQUIRE(cudaStreamSynchronize(streams[size_t(rank)]) == cudaSuccess);
            out.push_back(arrays[size_t(rank)]->values());
        });
        return out;
    }
    // One call for each rank, in a group.
    ncclResult_t
    group(const std::function<ncclResult_t(int, ncclComm_t, cudaStream_t)>& call) const {
        ncclResult_t result = ncclGroupStart();
        for (int rank = 0; rank < count(); ++rank)
            if (const ncclResult_t one = call(rank, comms[size_t(rank)], streams[size_t(rank)]))
                result = one;
        const ncclResult_t end = ncclGroupEnd();
        return result == ncclSuccess ? end : result;
    }

    std::vector<ncclComm_t> comms;
    std::vector<cudaStream_t> streams;
};

}  // namespace lab
