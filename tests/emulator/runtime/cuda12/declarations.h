// SPDX-License-Identifier: MIT
// The functions of libcudart.so.12 that CUDA 13 changed, as a program of CUDA 12.9 sees them, with
// the numbers of the constants that the tests need. No toolkit is needed to compile these tests.
#pragma once

#include <cstddef>

namespace cuda12 {

constexpr int kSuccess = 0, kInvalidValue = 1, kInvalidDevice = 101, kNotSupported = 801;
constexpr int kCpu = -1;  // cudaCpuDeviceId
constexpr int kAdviseSetPreferred = 3, kRangePreferred = 2, kRangeLastPrefetch = 4;
constexpr unsigned kAttachGlobal = 1;
struct Location {
    int type, id;
};
constexpr int kLocationDevice = 1;
struct CopyAttributes {
    int order;
    Location source, target;
    unsigned flags;
};
struct EdgeData {
    unsigned char bytes[8];
};
using Stream = struct StreamHandle*;
using Graph = struct GraphHandle*;
using Node = struct NodeHandle*;
using Event = struct EventHandle*;
struct Dim3 {
    unsigned x, y, z;
};

}  // namespace cuda12

extern "C" {
int cudaRuntimeGetVersion(int*);
int cudaDriverGetVersion(int*);
int cudaGetLastError();
int cudaGetDeviceProperties(void*, int);     // CUDA 11's structure
int cudaGetDeviceProperties_v2(void*, int);  // CUDA 12's
int cudaDeviceGetAttribute(int*, int, int);
int cudaMemGetInfo(size_t*, size_t*);
int cudaMalloc(void**, size_t);
int cudaMallocManaged(void**, size_t, unsigned);
int cudaFree(void*);
int cudaMemcpy(void*, const void*, size_t, int);
int cudaPointerGetAttributes(void*, const void*);
int cudaMemAdvise(const void*, size_t, int, int);
int cudaMemAdvise_v2(const void*, size_t, int, cuda12::Location);
int cudaMemPrefetchAsync(const void*, size_t, int, cuda12::Stream);
int cudaMemPrefetchAsync_ptsz(const void*, size_t, int, cuda12::Stream);
int cudaMemPrefetchAsync_v2(const void*, size_t, cuda12::Location, unsigned, cuda12::Stream);
int cudaMemRangeGetAttribute(void*, size_t, int, const void*, size_t);
int cudaMemcpyBatchAsync(void**, void**, size_t*, size_t, cuda12::CopyAttributes*, size_t*, size_t,
                         size_t*, cuda12::Stream);
int cudaMemcpyBatchAsync_ptsz(void**, void**, size_t*, size_t, cuda12::CopyAttributes*, size_t*,
                              size_t, size_t*, cuda12::Stream);
int cudaCreateTextureObject(unsigned long long*, const void*, const void*, const void*);
int cudaGetTextureObjectResourceDesc(void*, unsigned long long);
int cudaDestroyTextureObject(unsigned long long);
int cudaStreamCreate(cuda12::Stream*);
int cudaStreamDestroy(cuda12::Stream);
int cudaStreamBeginCapture(cuda12::Stream, int);
int cudaStreamEndCapture(cuda12::Stream, cuda12::Graph*);
int cudaStreamGetCaptureInfo(cuda12::Stream, int*, unsigned long long*);
int cudaStreamGetCaptureInfo_ptsz(cuda12::Stream, int*, unsigned long long*);
int cudaStreamGetCaptureInfo_v2(cuda12::Stream, int*, unsigned long long*, cuda12::Graph*,
                                const cuda12::Node**, size_t*);
int cudaStreamGetCaptureInfo_v2_ptsz(cuda12::Stream, int*, unsigned long long*, cuda12::Graph*,
                                     const cuda12::Node**, size_t*);
int cudaStreamGetCaptureInfo_v3(cuda12::Stream, int*, unsigned long long*, cuda12::Graph*,
                                const cuda12::Node**, const cuda12::EdgeData**, size_t*);
int cudaStreamUpdateCaptureDependencies(cuda12::Stream, cuda12::Node*, size_t, unsigned);
int cudaStreamUpdateCaptureDependencies_ptsz(cuda12::Stream, cuda12::Node*, size_t, unsigned);
int cudaStreamUpdateCaptureDependencies_v2(cuda12::Stream, cuda12::Node*, const cuda12::EdgeData*,
                                           size_t, unsigned);
int cudaGraphCreate(cuda12::Graph*, unsigned);
int cudaGraphDestroy(cuda12::Graph);
int cudaGraphAddEmptyNode(cuda12::Node*, cuda12::Graph, const cuda12::Node*, size_t);
int cudaGraphAddNode(cuda12::Node*, cuda12::Graph, const cuda12::Node*, size_t, void*);
int cudaGraphAddNode_v2(cuda12::Node*, cuda12::Graph, const cuda12::Node*, const cuda12::EdgeData*,
                        size_t, void*);
int cudaGraphAddDependencies(cuda12::Graph, const cuda12::Node*, const cuda12::Node*, size_t);
int cudaGraphAddDependencies_v2(cuda12::Graph, const cuda12::Node*, const cuda12::Node*,
                                const cuda12::EdgeData*, size_t);
int cudaGraphRemoveDependencies(cuda12::Graph, const cuda12::Node*, const cuda12::Node*, size_t);
int cudaGraphRemoveDependencies_v2(cuda12::Graph, const cuda12::Node*, const cuda12::Node*,
                                   const cuda12::EdgeData*, size_t);
int cudaGraphGetEdges(cuda12::Graph, cuda12::Node*, cuda12::Node*, size_t*);
int cudaGraphGetEdges_v2(cuda12::Graph, cuda12::Node*, cuda12::Node*, cuda12::EdgeData*, size_t*);
int cudaGraphNodeGetDependencies(cuda12::Node, cuda12::Node*, size_t*);
int cudaGraphNodeGetDependencies_v2(cuda12::Node, cuda12::Node*, cuda12::EdgeData*, size_t*);
int cudaGraphNodeGetDependentNodes(cuda12::Node, cuda12::Node*, size_t*);
int cudaGraphNodeGetDependentNodes_v2(cuda12::Node, cuda12::Node*, cuda12::EdgeData*, size_t*);
int cudaEventCreate(cuda12::Event*);
int cudaEventRecord(cuda12::Event, cuda12::Stream);
int cudaEventSynchronize(cuda12::Event);
int cudaEventElapsedTime(float*, cuda12::Event, cuda12::Event);
int cudaEventElapsedTime_v2(float*, cuda12::Event, cuda12::Event);
int cudaGetDriverEntryPoint(const char*, void**, unsigned long long, int*);
int cudaThreadExit();
int cudaThreadSynchronize();
int cudaThreadGetLimit(size_t*, int);
int cudaThreadSetLimit(int, size_t);
int cudaThreadGetCacheConfig(int*);
int cudaThreadSetCacheConfig(int);
int cudaSetDoubleForDevice(double*);
int cudaSetDoubleForHost(double*);
int cudaLaunchCooperativeKernelMultiDevice(void*, unsigned, unsigned);
int cudaDeviceGetLimit(size_t*, int);
unsigned __cudaPushCallConfiguration(cuda12::Dim3, cuda12::Dim3, size_t, cuda12::Stream);
int __cudaPopCallConfiguration(cuda12::Dim3*, cuda12::Dim3*, size_t*, void*);
}
