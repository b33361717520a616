// SPDX-License-Identifier: MIT
// Structures whose layout CUDA 13 changed, as programs of CUDA 12 have them, from driver_types.h of
// CUDA 12.9; 12.4 and 12.6 have the same layouts. Structures that only grew at the end are not
// declared here: their size in CUDA 12 is enough.
#pragma once

#include <cstddef>
#include <cuda_runtime_api.h>

namespace runtime::cuda12 {

// Filled in by cudaGetDeviceProperties_v2. The function without `_v2` is CUDA 11's, and fills in
// the members up to and including reservedSharedMemPerBlock.
struct DeviceProp {
    char name[256];
    cudaUUID_t uuid;
    char luid[8];
    unsigned int luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated;
    int canMapHostMemory, computeMode, maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear;
    int maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2];
    int maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2];
    int maxTexture2DLayered[3], maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2];
    int maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap;
    int maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
    int asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize;
    int persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported;
    int globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID;
    int hostNativeAtomicSupported, singleToDoublePrecisionPerfRatio, pageableMemoryAccess;
    int concurrentManagedAccess, computePreemptionSupported;
    int canUseHostPointerForRegisteredMem, cooperativeLaunch, cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
    int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
    unsigned int gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned int memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch;
    int unifiedFunctionPointers, reserved[63];
};
static_assert(sizeof(DeviceProp) == 1032);
constexpr size_t kCuda11DeviceProp = offsetof(DeviceProp, hostRegisterSupported);

// CUDA 13 appended members to these; their sizes in CUDA 12.
constexpr size_t kPointerAttributes = 24;
constexpr size_t kResourceDesc = 64;
constexpr size_t kResourceViewDesc = 48;
static_assert(kPointerAttributes <= sizeof(cudaPointerAttributes) &&
              kResourceDesc <= sizeof(cudaResourceDesc) &&
              kResourceViewDesc <= sizeof(cudaResourceViewDesc));

// The result of cudaRuntimeGetVersion for a program of CUDA 12: the newest version of 12.
constexpr int kVersion = 12090;

}  // namespace runtime::cuda12
