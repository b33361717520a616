// SPDX-License-Identifier: MIT
// Stands between a lesson's program and NCCL: keeps a list of the calls made, with how deep in
// groups each is, and lets a chosen one fail. Like cuda_calls.h it *defines* the library's
// functions, weakly. Nothing is watched unless a wb::NcclWatch is alive.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <nccl.h>

namespace wb {
inline namespace of_test {

struct NcclCall {
    std::string name;
    ncclComm_t comm = nullptr;
    cudaStream_t stream = nullptr;
    bool collective = false;  // also a send or a receive
    size_t count = 0;         // of elements, where it is a collective
    int depth = 0;            // groups that are open at this call
};

class NcclWatch {
public:
    NcclWatch() { current() = this; }
    ~NcclWatch() { current() = nullptr; }
    NcclWatch(const NcclWatch&) = delete;
    NcclWatch& operator=(const NcclWatch&) = delete;

    std::vector<NcclCall> calls;
    // The first call of this name fails, without doing anything.
    std::string fail_name;

    size_t count(const std::string& name) const {
        size_t found = 0;
        for (const NcclCall& call : calls) found += call.name == name;
        return found;
    }
    std::vector<NcclCall> collectives() const {
        std::vector<NcclCall> found;
        for (const NcclCall& call : calls)
            if (call.collective) found.push_back(call);
        return found;
    }
    static NcclWatch*& current() {
        static NcclWatch* watch = nullptr;
        return watch;
    }
    // Groups that the calling thread has open, whether or not anything is watched.
    static int& depth() {
        thread_local int depth = 0;
        return depth;
    }
    std::mutex mutex;  // of `calls`: a program may have a thread for each rank
};

namespace nccl_detail {

// Notes a call; returns whether it is to fail.
inline bool enter(NcclCall call) {
    NcclWatch* watch = NcclWatch::current();
    if (!watch) return false;
    call.depth = NcclWatch::depth();
    const std::lock_guard lock(watch->mutex);
    const bool fails = watch->fail_name == call.name && watch->count(call.name) == 0;
    watch->calls.push_back(std::move(call));
    return fails;
}

}  // namespace nccl_detail
}  // namespace of_test
}  // namespace wb

// The last call is a jump, so that the emulated device blames the caller's line and not this file.
#define WB_NCCL(function, parameters, arguments, also, ...)                                        \
    extern "C" __attribute__((weak, optimize("O2"))) ncclResult_t function parameters {            \
        using Function = ncclResult_t parameters;                                                  \
        if (wb::nccl_detail::enter({.name = #function __VA_OPT__(, ) __VA_ARGS__}))                \
            return ncclInternalError;                                                              \
        also;                                                                                      \
        return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, #function)) arguments;                 \
    }
#define WB_COLLECTIVE(function, parameters, arguments)                                             \
    WB_NCCL(function,                                                                              \
            parameters,                                                                            \
            arguments,                                                                             \
            (void)0,                                                                               \
            .comm = comm,                                                                          \
            .stream = stream,                                                                      \
            .collective = true,                                                                    \
            .count = count)

WB_NCCL(ncclGroupStart, (), (), ++wb::NcclWatch::depth())
WB_NCCL(ncclGroupEnd, (), (), --wb::NcclWatch::depth())
WB_NCCL(ncclCommInitAll, (ncclComm_t * comms, int count, const int* devices),
        (comms, count, devices), (void)0)
WB_NCCL(ncclCommInitRank, (ncclComm_t * comm, int ranks, ncclUniqueId id, int rank),
        (comm, ranks, id, rank), (void)0)
WB_NCCL(ncclCommDestroy, (ncclComm_t comm), (comm), (void)0, .comm = comm)
WB_COLLECTIVE(ncclAllReduce,
              (const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op,
               ncclComm_t comm, cudaStream_t stream),
              (from, to, count, type, op, comm, stream))
WB_COLLECTIVE(ncclReduce,
              (const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op,
               int root, ncclComm_t comm, cudaStream_t stream),
              (from, to, count, type, op, root, comm, stream))
WB_COLLECTIVE(ncclBroadcast,
              (const void* from, void* to, size_t count, ncclDataType_t type, int root,
               ncclComm_t comm, cudaStream_t stream),
              (from, to, count, type, root, comm, stream))
WB_COLLECTIVE(ncclAllGather,
              (const void* from, void* to, size_t count, ncclDataType_t type, ncclComm_t comm,
               cudaStream_t stream),
              (from, to, count, type, comm, stream))
WB_COLLECTIVE(ncclReduceScatter,
              (const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t op,
               ncclComm_t comm, cudaStream_t stream),
              (from, to, count, type, op, comm, stream))
WB_COLLECTIVE(ncclSend,
              (const void* from, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
               cudaStream_t stream),
              (from, count, type, peer, comm, stream))
WB_COLLECTIVE(ncclRecv,
              (void* to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
               cudaStream_t stream),
              (to, count, type, peer, comm, stream))

#undef WB_NCCL
#undef WB_COLLECTIVE
