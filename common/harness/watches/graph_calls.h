// SPDX-License-Identifier: MIT
// The part of cuda_calls.cpp that is about captures and graphs; included there, by nothing else.

WB_CALL(cudaStreamBeginCapture, (cudaStream_t stream, cudaStreamCaptureMode mode), (stream, mode),
        .stream = stream)
WB_CALL(cudaStreamBeginCaptureToGraph,
        (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* needs,
         const cudaGraphEdgeData* edges, size_t count, cudaStreamCaptureMode mode),
        (stream, graph, needs, edges, count, mode), .stream = stream)
WB_CALL(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t* graph), (stream, graph),
        .stream = stream)
WB_CALL(cudaGraphCreate, (cudaGraph_t * graph, unsigned flags), (graph, flags))
WB_CALL(cudaGraphClone, (cudaGraph_t * clone, cudaGraph_t graph), (clone, graph))
WB_CALL(cudaGraphDestroy, (cudaGraph_t graph), (graph))
WB_CALL(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count),
        (graph, nodes, count))
WB_CALL(cudaGraphKernelNodeGetParams, (cudaGraphNode_t node, cudaKernelNodeParams* params),
        (node, params))
WB_CALL(cudaGraphKernelNodeSetParams, (cudaGraphNode_t node, const cudaKernelNodeParams* params),
        (node, params))
WB_CALL(cudaGraphAddKernelNode,
        (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* needs, size_t count,
         const cudaKernelNodeParams* params),
        (node, graph, needs, count, params))
WB_CALL(cudaGraphInstantiate,
        (cudaGraphExec_t * graph_exec, cudaGraph_t graph, unsigned long long flags),
        (graph_exec, graph, flags))
WB_CALL(cudaGraphInstantiateWithFlags,
        (cudaGraphExec_t * graph_exec, cudaGraph_t graph, unsigned long long flags),
        (graph_exec, graph, flags))
WB_CALL(cudaGraphInstantiateWithParams,
        (cudaGraphExec_t * graph_exec, cudaGraph_t graph, cudaGraphInstantiateParams* params),
        (graph_exec, graph, params))
WB_CALL(cudaGraphExecDestroy, (cudaGraphExec_t graph_exec), (graph_exec))
WB_CALL(cudaGraphExecUpdate,
        (cudaGraphExec_t graph_exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info),
        (graph_exec, graph, info))
WB_CALL(cudaGraphExecKernelNodeSetParams,
        (cudaGraphExec_t graph_exec, cudaGraphNode_t node, const cudaKernelNodeParams* params),
        (graph_exec, node, params))
WB_CALL(cudaGraphUpload, (cudaGraphExec_t graph_exec, cudaStream_t stream), (graph_exec, stream),
        .stream = stream)
WB_LAUNCH(cudaGraphLaunch, (cudaGraphExec_t graph_exec, cudaStream_t stream), (graph_exec, stream),
          stream, {})
