// SPDX-License-Identifier: MIT
#include "buffers.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>
#include <map>

#include <mpi-ext.h>

#include "mpi_watch.h"
#include "runtime/core/library_kernel.h"
#include "watch.h"

namespace mpi_watch {
namespace {

constinit bool pretended = false;

bool aware_by_itself() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    static const auto ask =
        reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "MPIX_Query_cuda_support"));
    static const bool answer = ask && ask() == 1;
    return answer;
#else
    return false;
#endif
}

using RunKernel = cudaError_t(const emulator::LibraryKernel&);
RunKernel* run_kernel() {
    static const auto found = of_emulator<RunKernel>("emulatorRunLibraryKernel");
    return found;
}

// Whether device memory goes through host memory of ours.
bool stages() {
    return pretended || (aware_by_itself() && run_kernel());
}

// The device of this memory, or -1 for any other.
int device_of(const void* address) {
    cudaPointerAttributes found{};
    if (cudaPointerGetAttributes(&found, address) != cudaSuccess) {
        cudaGetLastError();
        return -1;
    }
    return found.type == cudaMemoryTypeDevice ? found.device : -1;
}

// A stream of MPI's own on the current device: it waits for no other one.
cudaStream_t own_stream(int device) {
    static auto& streams = *new std::map<int, cudaStream_t>;
    cudaStream_t& stream = streams[device];
    if (!stream && cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
        throw Error("MPI has found no memory for a stream");
    return stream;
}

// Copies between device and host memory, and waits.
void copy(const char* call, void* device_memory, void* host, uint64_t bytes, bool to_device) {
    int before = 0;
    const int device = device_of(device_memory);
    cudaGetDevice(&before);
    if (device >= 0 && device != before) cudaSetDevice(device);
    const cudaStream_t stream = own_stream(std::max(device, 0));
    cudaError_t error = cudaSuccess;
    if (RunKernel* const run = run_kernel()) {
        emulator::LibraryKernel kernel;
        kernel.api = call;
        kernel.stream = stream;
        emulator::Operand operand{"buffer", device_memory};
        operand.row_bytes = bytes;
        operand.reads = !to_device;
        operand.writes = to_device;
        kernel.operands.push_back(operand);
        kernel.compute = [=](std::byte* const* at) {
            std::memcpy(to_device ? at[0] : host, to_device ? host : at[0], bytes);
        };
        kernel.waits = true;
        error = run(kernel);
    } else {
        error = to_device
                    ? cudaMemcpyAsync(device_memory, host, bytes, cudaMemcpyHostToDevice, stream)
                    : cudaMemcpyAsync(host, device_memory, bytes, cudaMemcpyDeviceToHost, stream);
        if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    }
    if (device >= 0 && device != before) cudaSetDevice(before);
    if (error != cudaSuccess) throw Error(std::string(call) + ": " + cudaGetErrorString(error));
}

// Host code reads or writes this memory now.
void uses(const char* call, const void* buffer, uint64_t bytes, bool writes) {
    static const auto use =
        of_emulator<int(const char*, const void*, uint64_t, int)>("emulatorHostUse");
    if (!use || use(call, buffer, bytes, writes ? 1 : 0) == 0) return;
    throw Error(std::string(call) +
                ": the buffer is device memory, and this MPI is not CUDA-aware");
}

}  // namespace

bool cuda_aware() {
    return pretended || aware_by_itself();
}

bool Buffer::host_memory() const {
    return !cuda_aware() || device_of(address_) < 0;
}

Buffer::Buffer(const char* call, const void* address, const Blocks& sent, const Blocks& received)
    : Buffer(persistent(address, sent, received)) {
    begin(call);
}

Buffer Buffer::persistent(const void* address, const Blocks& sent, const Blocks& received) {
    Buffer made;
    made.address_ = const_cast<void*>(address);
    if (!address || address == MPI_IN_PLACE || (sent.empty() && received.empty())) return made;
    made.sent_ = sent;
    made.received_ = received;
    made.stage();
    return made;
}

void Buffer::stage() {
    if (host_memory() || !stages()) return;
    uint64_t end = 0;
    for (const Blocks& all : {sent_, received_})
        for (const Block& one : all) end = std::max(end, one.offset + one.bytes);
    staged_.reset(new std::byte[end]);
}

void Buffer::begin(const char* call) {
    call_ = call;
    const bool host = host_memory();
    if (!host && !staged_) return;
    for (const Block& one : sent_) {
        std::byte* const from = static_cast<std::byte*>(address_) + one.offset;
        if (host)
            uses(call, from, one.bytes, false);
        else
            copy(call, from, staged_.get() + one.offset, one.bytes, false);
    }
    for (const Block& one : received_)
        if (host) uses(call, static_cast<std::byte*>(address_) + one.offset, one.bytes, true);
}

void Buffer::arrived() const {
    for (const Block& one : received_) {
        std::byte* const to = static_cast<std::byte*>(address_) + one.offset;
        if (staged_)
            copy(call_.c_str(), to, staged_.get() + one.offset, one.bytes, true);
        else if (host_memory())
            uses(call_.c_str(), to, one.bytes, true);
    }
}

Blocks elements(int count, MPI_Datatype type) {
    MPI_Aint lower = 0, extent = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL) return {};
    PMPI_Type_get_extent(type, &lower, &extent);
    return {{0, uint64_t(count) * uint64_t(extent)}};
}

Blocks blocks(const int counts[], const int at[], MPI_Datatype type, MPI_Comm comm) {
    int ranks = 0;
    PMPI_Comm_size(comm, &ranks);
    Blocks found;
    for (int r = 0; counts && at && r < ranks; ++r)
        for (const Block& one : elements(counts[r], type)) {
            const uint64_t element = one.bytes / uint64_t(counts[r]);
            found.push_back({uint64_t(at[r]) * element, one.bytes});
        }
    return found;
}

}  // namespace mpi_watch

void mpiWatchCudaAware(bool on) {
    mpi_watch::pretended = on;
}

extern "C" __attribute__((visibility("default"))) int MPIX_Query_cuda_support() {
    return mpi_watch::cuda_aware() ? 1 : 0;
}
