// SPDX-License-Identifier: MIT
#include "runtime/core/ipc.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <sys/random.h>
#include <unistd.h>

#include "machine/shared_file.h"

namespace runtime {
namespace {

constexpr char kMagic[8] = {'e', 'm', 'u', ' ', 'i', 'p', 'c', '1'};

struct HandleBytes {
    char magic[8];
    IpcHandle handle;
    uint64_t sum;
};
static_assert(sizeof(HandleBytes) <= CUDA_IPC_HANDLE_SIZE);

uint64_t sum_of(const IpcHandle& handle) {
    uint64_t sum = 0xcbf29ce484222325ull;
    for (const uint64_t word : {uint64_t(handle.kind),
                                uint64_t(uint32_t(handle.owner)),
                                uint64_t(uint32_t(handle.file)),
                                uint64_t(handle.unused),
                                handle.serial,
                                handle.bytes})
        sum = (sum ^ word) * 0x9e3779b97f4a7c15ull;
    return sum;
}

}  // namespace

std::string IpcHandle::file_name() const {
    char name[64];
    std::snprintf(name,
                  sizeof name,
                  "cuda-ipc-%s-%016llx",
                  kind == Kind::kMemory ? "memory" : "event",
                  static_cast<unsigned long long>(serial));
    return name;
}

void IpcHandle::write(char (&to)[CUDA_IPC_HANDLE_SIZE]) const {
    HandleBytes bytes{};
    std::memcpy(bytes.magic, kMagic, sizeof kMagic);
    bytes.handle = *this;
    bytes.sum = sum_of(*this);
    std::memset(to, 0, sizeof to);
    std::memcpy(to, &bytes, sizeof bytes);
}

bool IpcHandle::read(const char (&from)[CUDA_IPC_HANDLE_SIZE], Kind wanted) {
    HandleBytes bytes;
    std::memcpy(&bytes, from, sizeof bytes);
    if (std::memcmp(bytes.magic, kMagic, sizeof kMagic) != 0 || bytes.sum != sum_of(bytes.handle) ||
        bytes.handle.kind != wanted)
        return false;
    *this = bytes.handle;
    return true;
}

IpcHandle new_ipc_handle(IpcHandle::Kind kind, uint64_t bytes) {
    IpcHandle handle;
    handle.kind = kind;
    handle.owner = int(getpid());
    handle.bytes = bytes;
    while (getrandom(&handle.serial, sizeof handle.serial, 0) < 0 && errno == EINTR) {
    }
    return handle;
}

cudaError_t open_ipc_handle(const IpcHandle& handle, int& file) {
    file = -1;
    if (handle.owner == int(getpid())) return cudaErrorDeviceUninitialized;
    const int opened = machine::open_shared_file(
        handle.owner, handle.file, handle.file_name(), handle.file_bytes());
    // The owner has freed it or has ended, or the system does not let this process look there.
    if (opened < 0)
        return errno == ENOENT ? cudaErrorInvalidResourceHandle : cudaErrorMapBufferObjectFailed;
    file = opened;
    return cudaSuccess;
}

bool is_exportable(const machine::Allocation& allocation) {
    return allocation.kind == machine::MemoryKind::kDevice && !allocation.imported &&
           !allocation.of_pool && !allocation.of_graph && !allocation.keeps_address;
}

bool is_open_elsewhere(const machine::Allocation& allocation) {
    return allocation.shared_file >= 0 && !allocation.imported &&
           !machine::use_shared_file(allocation.shared_file, machine::FileUse::kAlone);
}

}  // namespace runtime
