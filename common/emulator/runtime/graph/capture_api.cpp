// SPDX-License-Identifier: MIT
// Stream capture: the work of a stream is not run but becomes the nodes of a graph.
#include <algorithm>
#include <functional>
#include <memory>
#include <set>

#include "runtime/graph/graph.h"

using namespace runtime;

namespace {

cudaGraphNodeType type_of(const Work& work) {
    switch (work.kind) {
    case Work::Kind::kKernel:
        return cudaGraphNodeTypeKernel;
    case Work::Kind::kCopy:
        return cudaGraphNodeTypeMemcpy;
    case Work::Kind::kFill:
        return cudaGraphNodeTypeMemset;
    case Work::Kind::kRecord:
        return cudaGraphNodeTypeEventRecord;
    case Work::Kind::kWait:
        return cudaGraphNodeTypeWaitEvent;
    case Work::Kind::kAllocate:
        return cudaGraphNodeTypeMemAlloc;
    case Work::Kind::kFree:
        return cudaGraphNodeTypeMemFree;
    case Work::Kind::kHost:
        break;
    }
    return std::string(work.api) == "cudaGraphLaunch" ? cudaGraphNodeTypeGraph
                                                      : cudaGraphNodeTypeHost;
}

KernelNode kernel_node(const Launch& launch) {
    KernelNode node;
    node.given.func = const_cast<void*>(launch.function);
    node.given.gridDim = launch.grid;
    node.given.blockDim = launch.block;
    node.given.sharedMemBytes = unsigned(launch.shared);
    node.arguments = launch.arguments;
    node.offsets = launch.offsets;
    return node;
}

void join(std::vector<Node*>& into, const std::vector<Node*>& more) {
    for (Node* node : more)
        if (!std::count(into.begin(), into.end(), node)) into.push_back(node);
}

unsigned long long next_capture = 1;

class GraphCapture final : public Capture {
public:
    GraphCapture(Stream& origin, Graph* graph, bool owns)
        : origin_(&origin), graph_(graph), owns_(owns), id_(next_capture++) {
        tails_[&origin];
        origin.capture = this;
    }
    ~GraphCapture() override {
        Context& all = context();
        for (auto& [stream, tail] : tails_)
            if (stream == origin_ || all.streams.contains(stream)) stream->capture = nullptr;
        for (Event* event : all.events)
            if (event->capture == this) event->capture = nullptr;
        if (owns_) delete graph_;
    }

    cudaError_t add(Stream& stream, Work work) override {
        if (invalid_) return cudaErrorStreamCaptureInvalidated;
        std::vector<Node*>& tail = tails_[&stream];
        switch (work.kind) {
        case Work::Kind::kRecord:
            // Creates no node: later waits for the event depend on what the stream has captured so
            // far.
            events_[work.event] = tail;
            return cudaSuccess;
        case Work::Kind::kWait: {
            const auto recorded = events_.find(work.event);
            if (recorded == events_.end()) return invalidate(cudaErrorStreamCaptureIsolation);
            stream.capture = this;
            join(tail, recorded->second);
            return cudaSuccess;
        }
        default:
            break;
        }
        Node* node = graph_->add(type_of(work), stream.device);
        node->needs = tail;
        node->run = std::move(work.run);
        if (work.launch) node->given = kernel_node(*work.launch);
        if (work.kind == Work::Kind::kFree) {
            set_free(*node, work.pointer);
        } else if (work.kind == Work::Kind::kAllocate) {
            node->memory = std::make_shared<GraphMemory>(work.pointer);
            node->run = [memory = node->memory](Call& later, Stream&) {
                return memory->allocate(later);
            };
        }
        tail = {node};
        return cudaSuccess;
    }

    cudaError_t end(Stream& stream, Graph*& result) {
        if (&stream != origin_) return cudaErrorStreamCaptureUnmatched;
        cudaError_t error = invalid_ ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
        // Everything that other streams captured must be joined to the origin stream.
        std::set<const Node*> reached;
        std::vector<Node*> open = tails_[origin_];
        while (!open.empty()) {
            Node* node = open.back();
            open.pop_back();
            if (reached.insert(node).second)
                open.insert(open.end(), node->needs.begin(), node->needs.end());
        }
        for (const auto& [other, tail] : tails_)
            for (const Node* node : tail)
                if (!reached.contains(node) && error == cudaSuccess)
                    error = cudaErrorStreamCaptureUnjoined;
        result = nullptr;
        if (error == cudaSuccess) {
            result = graph_;
            owns_ = false;
        }
        return error;
    }

    void invalidate() override { invalid_ = true; }
    cudaError_t invalidate(cudaError_t error) {
        invalid_ = true;
        return error;
    }

    Graph* graph() { return graph_; }
    std::vector<Node*>& tail(Stream& stream) { return tails_[&stream]; }
    bool invalid() const { return invalid_; }
    bool makes_graph() const { return owns_; }
    unsigned long long id() const { return id_; }
    std::vector<cudaGraphNode_t> shown;  // what cudaStreamGetCaptureInfo returns a pointer to

private:
    Stream* origin_;
    Graph* graph_;
    bool owns_, invalid_ = false;
    unsigned long long id_;
    std::map<Stream*, std::vector<Node*>> tails_;  // dependencies of the next work of each stream
    std::map<const Event*, std::vector<Node*>> events_;
};

GraphCapture* capture_of(Stream& stream) {
    return static_cast<GraphCapture*>(stream.capture);
}

}  // namespace

bool runtime::is_captured_into(const Graph& graph) {
    return std::any_of(context().streams.begin(), context().streams.end(), [&](Stream* stream) {
        return stream->capture && capture_of(*stream)->graph() == &graph;
    });
}

namespace {

template <class F>
cudaError_t with_stream(const char* name, cudaStream_t handle, F&& body) {
    return api(name, [&](Call& call) -> cudaError_t {
        Stream* stream = find_stream(call, handle);
        return stream ? body(call, *stream) : cudaErrorInvalidResourceHandle;
    });
}

cudaStreamCaptureStatus status_of(Stream& stream) {
    if (!stream.capture) return cudaStreamCaptureStatusNone;
    return capture_of(stream)->invalid() ? cudaStreamCaptureStatusInvalidated
                                         : cudaStreamCaptureStatusActive;
}

}  // namespace

EMULATOR_API cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
    return with_stream(
        "cudaStreamBeginCapture", handle, [&](Call& call, Stream& stream) -> cudaError_t {
            if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed)
                return cudaErrorInvalidValue;
            if (&stream == call.device().default_stream) return cudaErrorStreamCaptureUnsupported;
            if (stream.capture) return cudaErrorIllegalState;
            auto* graph = new Graph;
            handles().graphs.insert(graph);
            // Owned by the stream until the capture ends.
            auto* capture = new GraphCapture(stream, graph, true);
            capture->of_its_thread_only = mode != cudaStreamCaptureModeGlobal;
            capture->relaxed = mode == cudaStreamCaptureModeRelaxed;
            capture->thread = &call.thread;
            return cudaSuccess;
        });
}
EMULATOR_API cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t handle,
                                                       cudaGraph_t graph_handle,
                                                       const cudaGraphNode_t* needs,
                                                       const cudaGraphEdgeData*, size_t count,
                                                       cudaStreamCaptureMode mode) {
    return with_stream(
        "cudaStreamBeginCaptureToGraph", handle, [&](Call& call, Stream& stream) -> cudaError_t {
            Graph* graph = find_graph(graph_handle);
            if (!graph || (count && !needs)) return cudaErrorInvalidValue;
            if (&stream == call.device().default_stream) return cudaErrorStreamCaptureUnsupported;
            if (stream.capture) return cudaErrorIllegalState;
            std::vector<Node*> tail;
            for (size_t i = 0; i < count; ++i) {
                Node* node = find_node(needs[i]);
                if (!node || node->graph != graph) return cudaErrorInvalidValue;
                tail.push_back(node);
            }
            auto* capture = new GraphCapture(stream, graph, false);
            capture->tail(stream) = tail;
            capture->of_its_thread_only = mode != cudaStreamCaptureModeGlobal;
            capture->relaxed = mode == cudaStreamCaptureModeRelaxed;
            capture->thread = &call.thread;
            return cudaSuccess;
        });
}
EMULATOR_API cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* result) {
    return with_stream("cudaStreamEndCapture", handle, [&](Call&, Stream& stream) -> cudaError_t {
        if (result) *result = nullptr;
        if (!stream.capture) return result ? cudaErrorIllegalState : cudaErrorInvalidValue;
        GraphCapture* capture = capture_of(stream);
        // A caller that captures into an existing graph already has it.
        if (!result && capture->makes_graph()) return cudaErrorInvalidValue;
        Graph* graph = nullptr;
        const cudaError_t error = capture->end(stream, graph);
        if (error == cudaErrorStreamCaptureUnmatched) return error;
        delete capture;
        if (result) *result = graph ? handle_of(graph) : nullptr;
        return error;
    });
}
EMULATOR_API cudaError_t cudaStreamIsCapturing(cudaStream_t handle,
                                               cudaStreamCaptureStatus* status) {
    return with_stream("cudaStreamIsCapturing", handle, [&](Call&, Stream& stream) -> cudaError_t {
        if (!status) return cudaErrorInvalidValue;
        *status = status_of(stream);
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle,
                                                  cudaStreamCaptureStatus* status,
                                                  unsigned long long* id, cudaGraph_t* graph,
                                                  const cudaGraphNode_t** needs,
                                                  const cudaGraphEdgeData** edges, size_t* count) {
    if (edges) *edges = nullptr;
    return with_stream(
        "cudaStreamGetCaptureInfo", handle, [&](Call&, Stream& stream) -> cudaError_t {
            if (!status) return cudaErrorInvalidValue;
            *status = status_of(stream);
            if (*status != cudaStreamCaptureStatusActive) return cudaSuccess;
            GraphCapture* capture = capture_of(stream);
            capture->shown.clear();
            for (const Node* node : capture->tail(stream))
                capture->shown.push_back(handle_of(node));
            if (id) *id = capture->id();
            if (graph) *graph = handle_of(capture->graph());
            if (needs) *needs = capture->shown.data();
            if (count) *count = capture->shown.size();
            return cudaSuccess;
        });
}
EMULATOR_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle,
                                                             cudaGraphNode_t* needs,
                                                             const cudaGraphEdgeData*, size_t count,
                                                             unsigned flags) {
    return with_stream(
        "cudaStreamUpdateCaptureDependencies", handle, [&](Call&, Stream& stream) -> cudaError_t {
            if (status_of(stream) != cudaStreamCaptureStatusActive) return cudaErrorIllegalState;
            if ((count && !needs) || flags > cudaStreamSetCaptureDependencies)
                return cudaErrorInvalidValue;
            GraphCapture* capture = capture_of(stream);
            std::vector<Node*> nodes;
            for (size_t i = 0; i < count; ++i) {
                Node* node = find_node(needs[i]);
                if (!node || node->graph != capture->graph()) return cudaErrorInvalidValue;
                nodes.push_back(node);
            }
            if (flags == cudaStreamSetCaptureDependencies) capture->tail(stream).clear();
            join(capture->tail(stream), nodes);
            return cudaSuccess;
        });
}

// The mode for calls that a thread makes while others capture in the global mode: stored, but
// without effect, since such calls are either refused in every mode or harmless.
EMULATOR_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    return api("cudaThreadExchangeStreamCaptureMode", [&](Call& call) -> cudaError_t {
        if (!mode || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed)
            return cudaErrorInvalidValue;
        std::swap(*mode, call.thread.capture_mode);
        return cudaSuccess;
    });
}
