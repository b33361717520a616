// SPDX-License-Identifier: MIT
// Runs the nodes of an executable graph, and reports which of them are ordered: by the edges, not
// by the order in which the emulator happens to run them (CUDA C++ Programming Guide, "CUDA
// Graphs").
#include <algorithm>

#include "runtime/graph/graph.h"

namespace runtime {
namespace {

using OrderKind = machine::OrderEvent::Kind;

void fire(Call& call, OrderKind kind, const Stream& stream, uint64_t event) {
    machine::OrderEvent order{kind};
    order.stream = stream.id;
    order.device = stream.device;
    order.event = event;
    call.global.fire(order);
}

uint64_t named(Context& context, uint64_t& event) {
    if (!event) event = context.next_event++;
    return event;
}

// A loop with that many iterations is considered endless.
constexpr uint64_t kMostTurns = 1'000'000;

cudaError_t run_conditional(Call& call, const ExecNode::Conditional& node, Stream& stream) {
    const auto& bodies = node.bodies;
    const auto value = [&] { return machine::conditions()[node.handle]; };
    if (node.type == cudaGraphCondTypeWhile) {
        for (uint64_t turn = 0; value(); ++turn) {
            if (turn == kMostTurns) {
                return call.misuse(
                    machine::ApiEvent::Kind::kEndless,
                    Call::Reason::kUnknown,
                    cudaErrorLaunchTimeout,
                    "a `while` node of the graph has run its body a million times, and no kernel "
                    "has set its condition to 0 with `cudaGraphSetConditional`");
            }
            if (const cudaError_t error = run_nodes(call, bodies[0], stream)) return error;
        }
        return cudaSuccess;
    }
    const size_t chosen = node.type == cudaGraphCondTypeIf ? (value() ? 0 : 1) : value();
    return chosen < bodies.size() ? run_nodes(call, bodies[chosen], stream) : cudaSuccess;
}

}  // namespace

// A node continues the branch of the first node it depends on that no other node continues; the
// first root continues that of the launch. All others begin a branch, so a chain has only one.
void find_branches(Context& context, std::vector<ExecNode>& nodes) {
    std::vector<bool> followed(nodes.size(), false);
    for (size_t i = 0; i < nodes.size(); ++i) {
        ExecNode& node = nodes[i];
        const auto before = std::find_if(
            node.needs.begin(), node.needs.end(), [&](size_t n) { return !followed[n]; });
        if (before != node.needs.end()) {
            followed[*before] = true;
            node.order.branch = nodes[*before].order.branch;
        } else if (i > 0) {
            node.order.branch = machine::kGraphBranch | context.next_stream++;
            machine::OrderEvent made{OrderKind::kStreamCreate};
            made.stream = node.order.branch;
            made.device = node.device;
            made.non_blocking = true;
            context.fire(made);
            if (node.needs.empty())
                node.order.awaits.push_back(named(context, nodes[0].order.opens));
        }
        for (const size_t n : node.needs)
            if (nodes[n].order.branch != node.order.branch)
                node.order.awaits.push_back(named(context, nodes[n].order.done));
    }
    for (size_t i = 0; i < nodes.size(); ++i) {
        ExecNode::Order& order = nodes[i].order;
        if (followed[i] || order.branch == 0) continue;
        order.ends_branch = true;
        named(context, order.done);
    }
}

cudaError_t run_nodes(Call& call, const std::vector<ExecNode>& nodes, Stream& stream) {
    const uint64_t own = stream.id;
    cudaError_t error = cudaSuccess;
    for (const ExecNode& node : nodes) {
        const ExecNode::Order& order = node.order;
        stream.id = order.branch ? order.branch : own;
        if (order.opens) fire(call, OrderKind::kEventRecord, stream, order.opens);
        for (const uint64_t event : order.awaits)
            fire(call, OrderKind::kStreamWaitEvent, stream, event);
        if (node.enabled) {
            // A node belongs to the device it was created for, whichever is current at the launch.
            const int current = call.thread.device;
            call.thread.device = node.device;
            if (node.type == cudaGraphNodeTypeHost) fire(call, OrderKind::kHostSees, stream, 0);
            // Other threads may use the stream while the program's own function runs.
            const uint64_t branch =
                std::exchange(stream.id, node.type == cudaGraphNodeTypeHost ? own : stream.id);
            error = node.run ? node.run(call, stream) : cudaSuccess;
            stream.id = branch;
            if (error == cudaSuccess) error = run_nodes(call, node.child, stream);
            if (error == cudaSuccess && node.conditional)
                error = run_conditional(call, *node.conditional, stream);
            call.thread.device = current;
        }
        if (order.done) fire(call, OrderKind::kEventRecord, stream, order.done);
        if (error != cudaSuccess) break;
    }
    stream.id = own;
    for (const ExecNode& node : nodes)
        if (node.order.ends_branch)
            fire(call, OrderKind::kStreamWaitEvent, stream, node.order.done);
    return error;
}

cudaError_t run_graph(Call& call, const std::vector<ExecNode>& nodes, Stream& stream) {
    fire(call, OrderKind::kGraphBegin, stream, 0);
    const cudaError_t error = run_nodes(call, nodes, stream);
    fire(call, OrderKind::kGraphEnd, stream, 0);
    return error;
}

}  // namespace runtime
