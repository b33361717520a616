// SPDX-License-Identifier: MIT
// The part of cuda_calls.cpp that is about memory pools and managed memory; included there, by
// nothing else.

WB_CALL(cudaMallocFromPoolAsync,
        (void** data, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
        (data, bytes, pool, stream), .stream = stream, .bytes = bytes)
WB_CALL(cudaMemPoolCreate, (cudaMemPool_t * pool, const cudaMemPoolProps* props), (pool, props))
WB_CALL(cudaMemPoolDestroy, (cudaMemPool_t pool), (pool))
WB_CALL(cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t keep), (pool, keep))
WB_CALL(cudaMemPoolSetAttribute, (cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value),
        (pool, attribute, value))
WB_CALL(cudaMemPoolGetAttribute, (cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value),
        (pool, attribute, value))
WB_CALL(cudaDeviceGetDefaultMemPool, (cudaMemPool_t * pool, int device), (pool, device))
WB_CALL(cudaDeviceGetMemPool, (cudaMemPool_t * pool, int device), (pool, device))
WB_CALL(cudaDeviceSetMemPool, (int device, cudaMemPool_t pool), (device, pool))
#if CUDART_VERSION >= 13000
WB_CALL(cudaMemPrefetchAsync,
        (const void* data, size_t bytes, cudaMemLocation place, unsigned flags,
         cudaStream_t stream),
        (data, bytes, place, flags, stream), .stream = stream,
        .device = place.type == cudaMemLocationTypeDevice ? place.id : cudaCpuDeviceId)
WB_CALL(cudaMemAdvise,
        (const void* data, size_t bytes, cudaMemoryAdvise advice, cudaMemLocation place),
        (data, bytes, advice, place))
#else
WB_CALL(cudaMemPrefetchAsync, (const void* data, size_t bytes, int device, cudaStream_t stream),
        (data, bytes, device, stream), .stream = stream, .device = device)
WB_CALL(cudaMemAdvise, (const void* data, size_t bytes, cudaMemoryAdvise advice, int device),
        (data, bytes, advice, device))
#endif
