// SPDX-License-Identifier: MIT
// Copies to and from __device__ and __constant__ variables, and their addresses and sizes.
#include "runtime/core/copy.h"
#include "runtime/core/registry.h"

using namespace runtime;
using ApiKind = machine::ApiEvent::Kind;

namespace {

cudaError_t find(Call& call, const void* symbol, size_t bytes, size_t offset, bool reads,
                 uint64_t& address) {
    VariableRecord* record = nullptr;
    machine::Allocation* allocation = nullptr;
    if (const cudaError_t error = resolve_variable(call, symbol, record, allocation)) {
        if (error == cudaErrorInvalidSymbol)
            return call.misuse(ApiKind::kInvalidCopy,
                               Call::Reason::kNoVariable,
                               error,
                               "`" + std::string(call.name) +
                                   "` gets a symbol that is not a __device__ or "
                                   "__constant__ variable",
                               reinterpret_cast<uint64_t>(symbol));
        return error;
    }
    address = allocation->address + offset;
    if (offset > allocation->bytes || bytes > allocation->bytes - offset) {
        std::string text = "`" + std::string(call.name) + "` copies " + std::to_string(bytes) +
                           " bytes " + (reads ? "out of " : "into ") + describe(*allocation);
        if (offset) text += ", starting at byte " + std::to_string(offset);
        return call.misuse(ApiKind::kInvalidCopy,
                           Call::Reason::kOutOfRange,
                           cudaErrorInvalidValue,
                           text,
                           address,
                           allocation);
    }
    return cudaSuccess;
}

cudaError_t to_symbol(const char* name, const void* symbol, const void* from, size_t bytes,
                      size_t offset, cudaMemcpyKind kind, cudaStream_t stream, bool wait) {
    return api(name, wait ? kSynchronises : kPlain, [&](Call& call) -> cudaError_t {
        if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
            kind != cudaMemcpyDefault)
            return cudaErrorInvalidMemcpyDirection;
        uint64_t address = 0;
        if (const cudaError_t error = find(call, symbol, bytes, offset, false, address))
            return error;
        return copy(call,
                    {address, 0, 0},
                    {reinterpret_cast<uint64_t>(from), 0, 0},
                    {bytes, 1, 1},
                    kind,
                    stream,
                    wait);
    });
}

cudaError_t from_symbol(const char* name, void* to, const void* symbol, size_t bytes, size_t offset,
                        cudaMemcpyKind kind, cudaStream_t stream, bool wait) {
    return api(name, wait ? kSynchronises : kPlain, [&](Call& call) -> cudaError_t {
        if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
            kind != cudaMemcpyDefault)
            return cudaErrorInvalidMemcpyDirection;
        uint64_t address = 0;
        if (const cudaError_t error = find(call, symbol, bytes, offset, true, address))
            return error;
        return copy(call,
                    {reinterpret_cast<uint64_t>(to), 0, 0},
                    {address, 0, 0},
                    {bytes, 1, 1},
                    kind,
                    stream,
                    wait);
    });
}

}  // namespace

EMULATOR_API cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes,
                                            size_t offset, cudaMemcpyKind kind) {
    return to_symbol("cudaMemcpyToSymbol", symbol, from, bytes, offset, kind, nullptr, true);
}
EMULATOR_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes,
                                                 size_t offset, cudaMemcpyKind kind,
                                                 cudaStream_t stream) {
    return to_symbol("cudaMemcpyToSymbolAsync", symbol, from, bytes, offset, kind, stream, false);
}
EMULATOR_API cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes,
                                              size_t offset, cudaMemcpyKind kind) {
    return from_symbol("cudaMemcpyFromSymbol", to, symbol, bytes, offset, kind, nullptr, true);
}
EMULATOR_API cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes,
                                                   size_t offset, cudaMemcpyKind kind,
                                                   cudaStream_t stream) {
    return from_symbol("cudaMemcpyFromSymbolAsync", to, symbol, bytes, offset, kind, stream, false);
}

EMULATOR_API cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
    return api("cudaGetSymbolAddress", [&](Call& call) -> cudaError_t {
        if (!pointer) return cudaErrorInvalidValue;
        VariableRecord* record = nullptr;
        machine::Allocation* allocation = nullptr;
        if (const cudaError_t error = resolve_variable(call, symbol, record, allocation))
            return error;
        *pointer = reinterpret_cast<void*>(allocation->address);
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
    return api("cudaGetSymbolSize", [&](Call& call) -> cudaError_t {
        if (!bytes) return cudaErrorInvalidValue;
        VariableRecord* record = nullptr;
        machine::Allocation* allocation = nullptr;
        if (const cudaError_t error = resolve_variable(call, symbol, record, allocation))
            return error;
        *bytes = allocation->bytes;
        return cudaSuccess;
    });
}
