// SPDX-License-Identifier: MIT
// Runs a collective of several devices: one kernel for each rank, all checked before any of them
// computes.
#include "runtime/core/collective.h"

#include "runtime/core/library_call.h"

namespace runtime {
namespace {

using emulator::Collective;
using emulator::CollectivePart;
using emulator::Operand;
using machine::OrderEvent;

struct PreparedPart {
    Stream* stream = nullptr;
    std::vector<Place> places;
};

// Streams are found, and default streams chosen, as the thread's current device says.
class OnDevice {
public:
    OnDevice(Call& call, int device) : call_(call), before_(call.thread.device) {
        call.thread.device = device;
    }
    ~OnDevice() { call_.thread.device = before_; }
    OnDevice(const OnDevice&) = delete;

private:
    Call& call_;
    const int before_;
};

cudaError_t of_another_device(Call& call, const CollectivePart& part, const Operand& operand,
                              const machine::Allocation& allocation) {
    machine::ApiEvent event{};
    event.kind = machine::ApiEvent::Kind::kLibraryOperand;
    event.api = part.api;
    event.error = int(cudaErrorInvalidValue);
    event.message = "`" + std::string(operand.name) + "` of rank " + std::to_string(part.rank) +
                    " is memory of device " + std::to_string(allocation.device) +
                    ", but the rank's communicator belongs to device " +
                    std::to_string(part.device) + ": `" + part.api +
                    "` needs memory that was allocated while device " +
                    std::to_string(part.device) + " was current";
    event.allocation = &allocation;
    event.address = reinterpret_cast<uint64_t>(operand.address);
    event.site = machine::HostSite(part.site);
    event.other_site = allocation.allocated_at;
    event.detail = operand.name;
    call.global.fire(event);
    return cudaErrorInvalidValue;
}

cudaError_t prepare(Call& call, const CollectivePart& part, PreparedPart& to) {
    const OnDevice current(call, part.device);
    call.bind();
    if (call.device().fault != cudaSuccess) return call.device().fault;
    to.stream = find_stream(call, part.stream);
    if (!to.stream || to.stream->device != part.device) return cudaErrorInvalidResourceHandle;
    if (to.stream->capture) return cudaErrorStreamCaptureUnsupported;
    cudaError_t error = cudaSuccess;
    to.places.resize(part.operands.size());
    for (size_t i = 0; i < to.places.size(); ++i) {
        const Operand& operand = part.operands[i];
        cudaError_t one = check_library_operand(
            call, part.api, machine::HostSite(part.site), operand, to.places[i]);
        const machine::Allocation* allocation = to.places[i].allocation;
        if (one == cudaSuccess && allocation && allocation->device != part.device &&
            allocation->kind == machine::MemoryKind::kDevice)
            one = of_another_device(call, part, operand, *allocation);
        if (error == cudaSuccess) error = one;
    }
    return error;
}

OrderEvent order_of(OrderEvent::Kind kind, const Stream& stream) {
    OrderEvent event{kind};
    event.stream = stream.id;
    event.device = stream.device;
    event.non_blocking = stream.non_blocking();
    event.within_collective = true;
    return event;
}

// A rank that takes data waits for the work that the giving ranks queued before the collective.
void meet(Call& call, const Collective& collective, const std::vector<PreparedPart>& prepared) {
    std::vector<uint64_t> events;
    for (size_t i = 0; i < prepared.size(); ++i) {
        if (!collective.parts[i].gives) continue;
        OrderEvent record = order_of(OrderEvent::Kind::kEventRecord, *prepared[i].stream);
        events.push_back(record.event = call.global.next_event++);
        call.global.fire(record);
    }
    for (size_t i = 0; i < prepared.size(); ++i) {
        if (!collective.parts[i].takes) continue;
        for (const uint64_t given : events) {
            OrderEvent wait = order_of(OrderEvent::Kind::kStreamWaitEvent, *prepared[i].stream);
            wait.event = given;
            call.global.fire(wait);
        }
    }
}

cudaError_t run_collective(Call& call, const Collective& collective) {
    std::vector<PreparedPart> prepared(collective.parts.size());
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < prepared.size(); ++i) {
        const cudaError_t one = prepare(call, collective.parts[i], prepared[i]);
        if (error == cudaSuccess) error = one;
    }
    if (error != cudaSuccess) return error;
    meet(call, collective, prepared);
    OrderEvent begin{OrderEvent::Kind::kCollectiveBegin};
    begin.bytes = collective.link_bytes;
    begin.steps = collective.steps;
    call.global.fire(begin);
    std::vector<std::vector<std::byte*>> at;
    for (size_t i = 0; i < prepared.size(); ++i) {
        const CollectivePart& part = collective.parts[i];
        const PreparedPart& own = prepared[i];
        machine::LaunchRequest request;
        request.stream = own.stream->id;
        request.device = part.device;
        request.site = machine::HostSite(part.site);
        std::vector<std::byte*>& begins = at.emplace_back();
        for (const Place& place : own.places) begins.push_back(place.host);
        call.global.machine(part.device).run_library_kernel(part.api, request, [&] {
            report_library_accesses(call,
                                    part.api,
                                    machine::HostSite(part.site),
                                    *own.stream,
                                    part.operands,
                                    own.places,
                                    begins);
            if (i + 1 == prepared.size()) collective.compute(at);
        });
    }
    call.global.fire(OrderEvent{OrderEvent::Kind::kCollectiveEnd});
    return cudaSuccess;
}

}  // namespace
}  // namespace runtime

using namespace runtime;

EMULATOR_API cudaError_t emulatorRunCollective(const emulator::Collective& collective) {
    return api(collective.parts.front().api, kIgnoresFault, [&](Call& call) {
        call.mark_reported();  // the stand-in returns a status of its own
        return run_collective(call, collective);
    });
}

EMULATOR_API void emulatorReportCollective(const emulator::CollectiveFinding& finding) {
    using Kind = emulator::CollectiveFinding::Kind;
    Context& all = context();
    const std::lock_guard lock(all.mutex);
    machine::ApiEvent event{};
    event.kind = finding.kind == Kind::kDeadlock   ? machine::ApiEvent::Kind::kCollectiveDeadlock
                 : finding.kind == Kind::kMismatch ? machine::ApiEvent::Kind::kCollectiveMismatch
                                                   : machine::ApiEvent::Kind::kLibraryMisuse;
    event.api = finding.api;
    event.message = finding.message;
    event.detail = finding.detail;
    event.site = machine::HostSite(finding.site);
    for (const auto& note : finding.notes)
        event.ranks.push_back({machine::HostSite(note.site), note.text});
    all.fire(event);
}
