// SPDX-License-Identifier: MIT
// What the nodes of a graph do, by kind.
#include <cstring>

#include "runtime/core/copy.h"
#include "runtime/graph/graph.h"

namespace runtime {
namespace {

// `extra` of a launch: key, value, key, value, end, as for cuLaunchKernel.
std::vector<std::byte> packed_by_caller(const machine::Kernel& kernel, void** extra) {
    const void* buffer = nullptr;
    size_t bytes = 0;
    for (; *extra; extra += 2) {
        if (reinterpret_cast<uintptr_t>(*extra) == 1) buffer = extra[1];
        if (reinterpret_cast<uintptr_t>(*extra) == 2) bytes = *static_cast<size_t*>(extra[1]);
    }
    std::vector<std::byte> packed(kernel.parameter_bytes());
    if (buffer) std::memcpy(packed.data(), buffer, std::min(bytes, packed.size()));
    return packed;
}

cudaMemcpy3DParms as_3d(const void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    cudaMemcpy3DParms given{};
    given.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
    given.dstPtr = {const_cast<void*>(to), bytes, bytes, 1};
    given.extent = {bytes, 1, 1};
    given.kind = kind;
    return given;
}

cudaError_t symbol_bytes(Call& call, const void* symbol, size_t bytes, size_t offset,
                         std::byte*& address) {
    VariableRecord* record = nullptr;
    machine::Allocation* allocation = nullptr;
    if (const cudaError_t error = resolve_variable(call, symbol, record, allocation)) return error;
    if (offset > allocation->bytes || bytes > allocation->bytes - offset)
        return cudaErrorInvalidValue;
    address = reinterpret_cast<std::byte*>(allocation->address + offset);
    return cudaSuccess;
}

}  // namespace

void report_edited(Call& call, Node& node) {
    auto* kernel = std::get_if<KernelNode>(&node.given);
    if (!kernel || kernel->shown.empty()) return;
    for (size_t i = 0; i < kernel->offsets.size(); ++i) {
        const size_t begin = kernel->offsets[i];
        const size_t end =
            i + 1 < kernel->offsets.size() ? kernel->offsets[i + 1] : kernel->arguments.size();
        const std::string name = "kernelParams[" + std::to_string(i) + ']';
        std::string what;
        if (kernel->pointers[i] != kernel->arguments.data() + begin)
            what = '`' + name + "` was replaced in the list that";
        else if (!std::equal(kernel->shown.begin() + begin,
                             kernel->shown.begin() + end,
                             kernel->arguments.begin() + begin))
            what = "the value at `" + name + "` was changed in the memory that";
        else
            continue;
        const KernelRecord* record = find_kernel(kernel->given.func);
        machine::ApiEvent event{};
        event.kind = machine::ApiEvent::Kind::kLibraryMisuse;
        event.api = call.name;
        event.message = what +
                        " `cudaGraphKernelNodeGetParams` returned: it belongs to the node of the "
                        "graph, so pass a list of your own to the function that sets parameters";
        event.detail = "edited-arguments";
        event.site = call.site();
        if (record) event.kernel = record->name;
        call.global.fire(event);
        kernel->shown.clear();
        return;
    }
}

void report_edited(Call& call, const Graph& graph) {
    for (const auto& node : graph.nodes) report_edited(call, *node);
}

cudaError_t set_kernel(Call& call, Node& node, const cudaKernelNodeParams* given) {
    if (!given || !given->func || (given->kernelParams && given->extra))
        return cudaErrorInvalidValue;
    Launch launch{find_kernel(given->func),
                  given->gridDim,
                  given->blockDim,
                  given->sharedMemBytes,
                  false,
                  call.site(),
                  {}};
    if (!launch.kernel) return cudaErrorInvalidDeviceFunction;
    machine::Kernel* kernel = nullptr;
    if (const cudaError_t error = resolve_kernel(call, *launch.kernel, node.device, kernel))
        return error;
    if (!kernel->parameters().empty() && !given->kernelParams && !given->extra)
        return cudaErrorInvalidValue;
    if (given->extra)
        launch.arguments = packed_by_caller(*kernel, given->extra);
    else if (given->kernelParams)
        launch.arguments = pack_arguments(*kernel, given->kernelParams);
    if (const cudaError_t error = check_launch(call, launch, *kernel)) return error;

    KernelNode copy;
    if (const auto* before = std::get_if<KernelNode>(&node.given))
        copy.attributes = before->attributes;
    copy.arguments = launch.arguments;
    copy.given = *given;
    copy.given.kernelParams = nullptr;
    copy.given.extra = nullptr;
    node.run = [launch](Call& later, Stream& stream) mutable {
        return run_launch(later, launch, stream);
    };
    for (const auto& parameter : kernel->parameters()) copy.offsets.push_back(parameter.offset);
    node.given = std::move(copy);
    return cudaSuccess;
}

cudaError_t set_copy(Call&, Node& node, const cudaMemcpy3DParms* given) {
    if (!given) return cudaErrorInvalidValue;
    const cudaMemcpy3DParms copy = *given;
    node.run = [copy](Call& later, Stream& stream) {
        return cudaMemcpy3DAsync(&copy, public_handle(later, stream));
    };
    node.given = copy;
    return cudaSuccess;
}

cudaError_t set_copy_1d(Call& call, Node& node, void* to, const void* from, size_t bytes,
                        cudaMemcpyKind kind) {
    if (!to || !from) return cudaErrorInvalidValue;
    node.run = [=, site = call.site()](Call& later, Stream& stream) {
        return copy_now(later,
                        "cudaGraphLaunch",
                        site,
                        stream,
                        Ordering::kGraphNode,
                        linear_box(to),
                        linear_box(from),
                        {bytes, 1, 1},
                        kind);
    };
    node.given = as_3d(to, from, bytes, kind);
    return cudaSuccess;
}

cudaError_t set_copy_to_symbol(Call& call, Node& node, const void* symbol, const void* from,
                               size_t bytes, size_t offset, cudaMemcpyKind kind) {
    std::byte* to = nullptr;
    if (const cudaError_t error = symbol_bytes(call, symbol, bytes, offset, to)) return error;
    return set_copy_1d(call, node, to, from, bytes, kind);
}

cudaError_t set_copy_from_symbol(Call& call, Node& node, void* to, const void* symbol, size_t bytes,
                                 size_t offset, cudaMemcpyKind kind) {
    std::byte* from = nullptr;
    if (const cudaError_t error = symbol_bytes(call, symbol, bytes, offset, from)) return error;
    return set_copy_1d(call, node, to, from, bytes, kind);
}

cudaError_t set_fill(Call& call, Node& node, const cudaMemsetParams* given) {
    if (!given || !given->dst) return cudaErrorInvalidValue;
    const unsigned size = given->elementSize;
    if ((size != 1 && size != 2 && size != 4) || given->width == 0 || given->height == 0)
        return cudaErrorInvalidValue;
    const cudaMemsetParams copy = *given;
    node.run = [copy, site = call.site()](Call& later, Stream& stream) {
        const Box box{reinterpret_cast<uint64_t>(copy.dst), copy.pitch, 0};
        return fill_now(later,
                        "cudaGraphLaunch",
                        site,
                        stream,
                        Ordering::kGraphNode,
                        box,
                        {copy.width * copy.elementSize, copy.height, 1},
                        copy.value,
                        copy.elementSize);
    };
    node.given = copy;
    return cudaSuccess;
}

cudaError_t set_host(Call&, Node& node, const cudaHostNodeParams* given) {
    if (!given || !given->fn) return cudaErrorInvalidValue;
    const cudaHostNodeParams copy = *given;
    node.run = [copy](Call& later, Stream&) {
        later.unlocked([&] { copy.fn(copy.userData); });
        return cudaSuccess;
    };
    node.given = copy;
    return cudaSuccess;
}

cudaError_t set_event(Call&, Node& node, cudaEvent_t handle) {
    Event* event = find_event(handle);
    if (!event) return cudaErrorInvalidResourceHandle;
    if (node.type == cudaGraphNodeTypeEventRecord)
        node.run = [handle](Call& later, Stream& stream) {
            return cudaEventRecord(handle, public_handle(later, stream));
        };
    else
        node.run = [handle](Call& later, Stream& stream) {
            return cudaStreamWaitEvent(public_handle(later, stream), handle, 0);
        };
    node.given = event;
    return cudaSuccess;
}

cudaError_t set_child(Call&, Node& node, cudaGraph_t handle, bool move) {
    Graph* child = find_graph(handle);
    if (!child || child == node.graph) return cudaErrorInvalidValue;
    if (child->moved) return cudaErrorNotSupported;
    if (has_conditional(*child)) return cudaErrorNotSupported;
    if (move) {
        if (child->of_node || contains(*child, *node.graph)) return cudaErrorInvalidValue;
        if (is_captured_into(*child)) return cudaErrorIllegalState;
        node.child.reset(child);
        child->moved = true;
    } else {
        if (has_memory(*child)) return cudaErrorNotSupported;
        node.child = child->clone();
        handles().graphs.insert(node.child.get());
    }
    node.child->of_node = true;
    return cudaSuccess;
}

}  // namespace runtime
