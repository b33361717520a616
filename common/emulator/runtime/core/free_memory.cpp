// SPDX-License-Identifier: MIT
#include "runtime/core/free_memory.h"

#include "runtime/core/copy.h"
#include "runtime/core/ipc.h"

namespace runtime {

cudaError_t free_memory(Call& call, void* pointer, const FreeFunction& function) {
    using ApiKind = machine::ApiEvent::Kind;
    if (!pointer) return cudaSuccess;
    const uint64_t address = reinterpret_cast<uint64_t>(pointer);
    machine::Allocation* found = call.global.memory.find(address);
    const std::string api = "`" + std::string(call.name) + "` ";
    const std::string verb = function.verb;
    if (!found || (found->kind == machine::MemoryKind::kRegistered && address != found->address))
        return call.misuse(ApiKind::kInvalidFree,
                           Call::Reason::kNoAllocation,
                           cudaErrorInvalidValue,
                           api + "gets " + hex(address) + ", which was not allocated by CUDA",
                           address);
    const std::string has_been = std::string(" that has already been ") + found->ended();
    if (!found->live && address == found->address)
        return call.misuse(ApiKind::kDoubleFree,
                           Call::Reason::kFreed,
                           cudaErrorInvalidValue,
                           api + verb + " " + describe(*found) + has_been,
                           address,
                           found,
                           found->freed_at);
    if (!found->live)
        return call.misuse(ApiKind::kInvalidFree,
                           Call::Reason::kFreed,
                           cudaErrorInvalidValue,
                           api + "gets a pointer into " + describe(*found) + has_been,
                           address,
                           found,
                           found->freed_at);
    if (address != found->address)
        return call.misuse(ApiKind::kInvalidFree,
                           Call::Reason::kInside,
                           cudaErrorInvalidValue,
                           api + "gets a pointer to byte " +
                               std::to_string(int64_t(address - found->address)) + " of " +
                               describe(*found) + "; only its start can be " + found->ended(),
                           address,
                           found,
                           found->allocated_at);
    if (!function.frees(*found))
        return call.misuse(ApiKind::kInvalidFree,
                           Call::Reason::kWrongFunction,
                           cudaErrorInvalidValue,
                           api + "gets " + describe(*found) + ", but it " + verb + " " +
                               function.takes,
                           address,
                           found,
                           found->allocated_at);
    // The memory goes all the same, and the call succeeds.
    if (is_open_elsewhere(*found))
        call.misuse(ApiKind::kEarlyFree,
                    Call::Reason::kOpenElsewhere,
                    cudaSuccess,
                    api + verb + " " + describe(*found) +
                        " that another process has opened and not yet closed with "
                        "`cudaIpcCloseMemHandle`",
                    address,
                    found,
                    found->allocated_at);
    call.global.release(*found, call.site());
    return cudaSuccess;
}

}  // namespace runtime
