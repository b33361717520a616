// SPDX-License-Identifier: MIT
// Copies and fills of regions, which check both ends against the allocations first.
#pragma once

#include "runtime/core/stream.h"

namespace runtime {

// A box of bytes in linear memory: row r of slice s starts at address + s * slice + r * pitch.
struct Box {
    uint64_t address = 0;
    uint64_t pitch = 0, slice = 0;
};
inline Box linear_box(const void* pointer, size_t pitch = 0) {
    return {reinterpret_cast<uint64_t>(pointer), pitch, 0};
}
using Ordering = machine::HostAccess::Ordering;

struct Extent {
    uint64_t width = 0;  // bytes
    uint64_t height = 1, depth = 1;
    bool empty() const { return width == 0 || height == 0 || depth == 0; }
};

// Copies at once. Checks ranges, liveness and direction first; copies nothing if a check fails
// (ApiEvent kInvalidCopy, cudaErrorInvalidValue or cudaErrorInvalidMemcpyDirection).
cudaError_t copy_now(Call& call, const char* api, machine::HostSite site, const Stream& stream,
                     Ordering ordering, Box to, Box from, Extent extent, cudaMemcpyKind kind);
// The same as an API call does it: at once or captured; `wait`: the host has waited when it
// returns.
cudaError_t copy(Call& call, Box to, Box from, Extent extent, cudaMemcpyKind kind,
                 cudaStream_t stream, bool wait);

// Fills with copies of `value` of `element_bytes` (1, 2 or 4); width is a multiple of that.
cudaError_t fill_now(Call& call, const char* api, machine::HostSite site, const Stream& stream,
                     Ordering ordering, Box to, Extent extent, uint32_t value,
                     unsigned element_bytes);
cudaError_t fill(Call& call, Box to, Extent extent, uint32_t value, cudaStream_t stream, bool wait,
                 unsigned element_bytes = 1);

// Checks that a kernel of a library may access a box as its parameter `operand`; on success
// `host` is where the box begins in this process. Else fires ApiEvent kLibraryOperand.
cudaError_t check_operand(Call& call, const char* api, machine::HostSite site, const char* operand,
                          Box box, Extent extent, bool reads, machine::Allocation*& allocation,
                          std::byte*& host);

// "an allocation of 1000 bytes", "`table` (64 bytes)", "managed memory of 8 bytes".
std::string describe(const machine::Allocation& allocation);
std::string hex(uint64_t address);

}  // namespace runtime
