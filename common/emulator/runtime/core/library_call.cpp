// SPDX-License-Identifier: MIT
// Runs a library's kernel: checks its operands, reports the accesses, and calls the stand-in.
#include "runtime/core/library_call.h"

#include <mutex>

#include "runtime/core/copy.h"
#include "runtime/host_watch/host_sites.h"
#include "runtime/host_watch/script_lines.h"

namespace runtime {
namespace {

using emulator::LibraryKernel;
using emulator::Operand;
using machine::HostAccess;

bool is_empty(const Operand& operand) {
    return operand.row_bytes == 0 || operand.rows == 0 || operand.slices == 0;
}

// Calls report(offset, bytes) for each contiguous range of the operand.
template <class F>
void for_ranges(const Operand& operand, F&& report) {
    for (uint64_t slice = 0; slice < operand.slices; ++slice) {
        const uint64_t base = slice * operand.slice_pitch;
        if (operand.part == Operand::Part::kAll &&
            (operand.rows == 1 || operand.pitch == operand.row_bytes)) {
            report(base, operand.rows * operand.row_bytes);
            continue;
        }
        for (uint64_t row = 0; row < operand.rows; ++row) {
            const uint64_t at = base + row * operand.pitch;
            const uint64_t diagonal = std::min(row * operand.element_bytes, operand.row_bytes);
            const uint64_t with = std::min(diagonal + operand.element_bytes, operand.row_bytes);
            using Part = Operand::Part;
            uint64_t from = 0, to = operand.row_bytes;
            if (operand.part == Part::kFromDiagonal) from = diagonal;
            if (operand.part == Part::kAfterDiagonal) from = with;
            if (operand.part == Part::kToDiagonal) to = with;
            if (operand.part == Part::kBeforeDiagonal) to = diagonal;
            if (from < to) report(at + from, to - from);
        }
    }
}

void report(Call& call, const char* api, machine::HostSite site, const Stream& stream,
            const Operand& operand, const Place& place, HostAccess::Kind kind) {
    for_ranges(operand, [&](uint64_t offset, uint64_t bytes) {
        HostAccess event{};
        event.kind = kind;
        event.api = api;
        event.allocation = place.allocation;
        event.address = reinterpret_cast<uint64_t>(operand.address) + offset;
        event.bytes = bytes;
        event.stream = stream.id;
        event.site = site;
        event.ordering = HostAccess::Ordering::kLibrary;
        event.operand = operand.name;
        call.global.fire(event);
    });
}

}  // namespace

cudaError_t check_library_operand(Call& call, const char* api, machine::HostSite site,
                                  const Operand& operand, Place& place) {
    if (is_empty(operand)) return cudaSuccess;
    const Box box{reinterpret_cast<uint64_t>(operand.address), operand.pitch, operand.slice_pitch};
    const Extent extent{operand.row_bytes, operand.rows, operand.slices};
    return check_operand(
        call, api, site, operand.name, box, extent, !operand.writes, place.allocation, place.host);
}

void report_library_accesses(Call& call, const char* api, machine::HostSite site,
                             const Stream& stream, const std::vector<Operand>& operands,
                             const std::vector<Place>& places, const std::vector<std::byte*>& at) {
    const auto reads = [&](const Operand& o) {
        return o.reads && (!o.reads_if || o.reads_if(at.data()));
    };
    for (size_t i = 0; i < places.size(); ++i)
        if (!is_empty(operands[i]) && reads(operands[i]))
            report(call, api, site, stream, operands[i], places[i], HostAccess::Kind::kRead);
    for (size_t i = 0; i < places.size(); ++i)
        if (!is_empty(operands[i]) && operands[i].writes)
            report(call, api, site, stream, operands[i], places[i], HostAccess::Kind::kWrite);
}

static cudaError_t run_now(Call& call, const LibraryKernel& kernel, machine::HostSite site,
                           const Stream& stream) {
    std::vector<Place> places(kernel.operands.size());
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < places.size(); ++i) {
        const cudaError_t one =
            check_library_operand(call, kernel.api, site, kernel.operands[i], places[i]);
        if (error == cudaSuccess) error = one;
    }
    if (error != cudaSuccess) return error;
    machine::LaunchRequest request;
    request.stream = stream.id;
    request.device = stream.device;
    request.site = site;
    call.global.machine(stream.device).run_library_kernel(kernel.api, request, [&] {
        std::vector<std::byte*> at;
        for (const Place& place : places) at.push_back(place.host);
        report_library_accesses(call, kernel.api, site, stream, kernel.operands, places, at);
        kernel.compute(at.data());
    });
    return cudaSuccess;
}

cudaError_t library_kernel(Call& call, const LibraryKernel& kernel) {
    Stream* stream = find_stream(call, kernel.stream);
    if (!stream || stream->device != call.thread.device) return cudaErrorInvalidResourceHandle;
    if (kernel.waits && invalidate_captures(call)) return cudaErrorStreamCaptureImplicit;
    const machine::HostSite site = call.site();
    const cudaError_t error = submit(
        call, *stream, Work{Work::Kind::kKernel, kernel.api, [=](Call& later, Stream& where) {
                                return run_now(later, kernel, site, where);
                            }});
    if (kernel.waits && error == cudaSuccess) host_waited(call, *stream);
    return error;
}

}  // namespace runtime

using namespace runtime;

EMULATOR_API cudaError_t emulatorRunLibraryKernel(const emulator::LibraryKernel& kernel) {
    return api(kernel.api, [&](Call& call) {
        call.mark_reported();  // the stand-in returns a status of its own
        return library_kernel(call, kernel);
    });
}

EMULATOR_API void emulatorAddLibrary(const void* address) {
    add_own_code(reinterpret_cast<uint64_t>(address));
}

EMULATOR_API void emulatorLibraryFailed(const char* name, const char* status) {
    const ScriptCall script;
    Context& all = context();
    const std::lock_guard lock(all.mutex);
    const machine::HostSite site = capture_host_site();
    constexpr size_t kMostUnchecked = 64;
    if (all.unchecked.size() < kMostUnchecked && result_is_ignored_at(site))
        all.unchecked.push_back({cudaErrorUnknown, site, {}, false, name, status});
}

EMULATOR_API void emulatorLibraryLacks(const char* name) {
    warn_once(std::string(name) + " is not supported by the emulated device");
}

EMULATOR_API void emulatorLibraryMisuse(const char* name, const char* kind,
                                        const std::string& message) {
    const ScriptCall script;
    Context& all = context();
    const std::lock_guard lock(all.mutex);
    machine::ApiEvent event{};
    event.kind = machine::ApiEvent::Kind::kLibraryMisuse;
    event.api = name;
    event.message = message;
    event.detail = kind;
    event.site = capture_host_site();
    all.fire(event);
}

EMULATOR_API uint64_t emulatorLibraryCaller() {
    const ScriptCall script;
    return capture_host_site();
}
