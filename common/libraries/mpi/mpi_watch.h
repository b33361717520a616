// SPDX-License-Identifier: MIT
// Stands between a program and MPI, by MPI's profiling interface (the standard's chapter "Tool
// Support": each MPI_X is also PMPI_X). Link it, or preload it, before the MPI library.
//
// - Buffers: the emulated device checks them as memory that host code reads or writes. A device
//   pointer is an error unless MPI is CUDA-aware (MPIX_Query_cuda_support); pinned memory that a
//   kernel or copy still uses is race-global. The buffer of MPI_Isend or MPI_Irecv is checked at
//   the call, and that of MPI_Irecv once more when its request completes.
// - Device memory: a CUDA-aware MPI copies it in a stream of its own, which waits for no other one.
//   The emulated device does the same, with all its checks.
// - Waits: a call that waits for more than a second says so, once, with its line.
// - Counts: what this process has sent, and its collective calls, for programs that grade others.
// - An error of MPI is an exception, mpi_watch::Error, instead of the end of all processes.
//
// Without the emulated device the buffers are not checked. Functions that are not in mpi_watch.cpp
// pass through.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace mpi_watch {

class Error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// A message that this process has sent, self included.
struct Message {
    int to;  // a rank of the call's communicator
    uint64_t bytes;
    // Whether a kernel was under way on the device, by the model timeline; see mpiWatchKernels.
    bool beside_kernel;
};

}  // namespace mpi_watch

extern "C" {
// The collective calls of this process so far, barriers included; duplicates and splits of
// communicators are not counted.
uint64_t mpiWatchCollectives();
// The messages that it has sent, in order. False: there is no such one.
bool mpiWatchMessage(uint64_t index, mpi_watch::Message* message);
// Whether each message is compared with the model timeline, which takes time: not at first.
void mpiWatchKernels(bool on);
// MPI_Comm_split_type with MPI_COMM_TYPE_SHARED works as on nodes that have so many ranks of the
// communicator each; 0: as it is.
void mpiWatchPretendNodes(int ranks_per_node);
// MPI_Send returns when its message is being received, as by an MPI that has no buffers: two ranks
// that both send first wait for ever. False: it is as it is by itself.
void mpiWatchUnbuffered(bool on);
// The communicators that this process has made by duplicates and splits, less those it has freed.
int64_t mpiWatchCommunicators();
// The requests of point-to-point messages that have begun and for whose end nothing has waited.
uint64_t mpiWatchRequests();
// Makes an MPI CUDA-aware that is not: MPIX_Query_cuda_support() is 1, and buffers in device memory
// are copied to and from host memory, which the real MPI is given. False: it is as it is by itself.
void mpiWatchCudaAware(bool on);
// Where waits are reported, as JSON objects: {"event": "waits", "call": "MPI_Recv", "on": "a
// message from rank 2", "file": "heat.cu", "line": 12}, and {"event": "goes-on"} where that has
// ended. May be called before anything else.
void mpiWatchReportTo(void (*sink)(const char* record, uint64_t bytes));
}
