// SPDX-License-Identifier: MIT
// What handles for other processes say: the file that holds the memory, or stands for the event,
// and the process that has it (machine/shared_file.h).
#pragma once

#include <cstdint>
#include <string>

#include <cuda_runtime_api.h>

#include "machine/memory.h"
#include "runtime/core/stream.h"

namespace runtime {

struct IpcHandle {
    enum class Kind : uint32_t { kMemory = 1, kEvent = 2 } kind = Kind::kMemory;
    int owner = 0, file = -1;  // process and its descriptor
    uint32_t unused = 0;       // no padding: equal handles have equal bytes
    uint64_t serial = 0;       // tells the file from all others
    uint64_t bytes = 0;        // of the allocation

    std::string file_name() const;
    // The size of the file.
    uint64_t file_bytes() const { return machine::Memory::shared_bytes(bytes); }
    // To and from the 64 bytes that programs pass on. False: these are not the bytes of a handle of
    // this kind.
    void write(char (&to)[CUDA_IPC_HANDLE_SIZE]) const;
    bool read(const char (&from)[CUDA_IPC_HANDLE_SIZE], Kind wanted);
};

// A handle of this process for a file that is still to be made.
IpcHandle new_ipc_handle(IpcHandle::Kind kind, uint64_t bytes);

// Opens what a handle names, to be used beside others. On failure `file` is -1.
cudaError_t open_ipc_handle(const IpcHandle& handle, int& file);

// Whether a handle for it can be made: memory of cudaMalloc.
bool is_exportable(const machine::Allocation& allocation);
// Whether it is shared, and a process that has opened it uses it now.
bool is_open_elsewhere(const machine::Allocation& allocation);

}  // namespace runtime
