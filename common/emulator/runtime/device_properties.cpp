// SPDX-License-Identifier: MIT
// The emulated card's data sheet. What no program can observe here (textures' largest sizes and the
// like) has the values that the CUDA programming guide lists for compute capability 7.5.
#include "runtime/device_properties.h"

#include <cstdio>
#include <cstring>

namespace runtime {

namespace {
constexpr int kClockKilohertz = 1'000'000;  // reported only: time on this device means nothing
}

std::string pci_bus_id(int device) {
    char text[16];
    std::snprintf(text, sizeof text, "0000:%02x:00.0", unsigned(device + 1));
    return text;
}

cudaDeviceProp device_properties(Context& context, int device) {
    const machine::Limits& limits = context.machine(device).limits();
    cudaDeviceProp p;
    std::memset(&p, 0, sizeof p);
    std::snprintf(p.name, sizeof p.name, "CUDA Workbook emulated device (compute capability 7.5)");
    std::memcpy(p.uuid.bytes, "workbook-device", 15);
    p.uuid.bytes[15] = char(device);
    p.totalGlobalMem = context.memory.capacity();
    p.sharedMemPerBlock = limits.shared_per_block;
    p.regsPerBlock = int(limits.registers_per_multiprocessor);
    p.warpSize = int(machine::kWarpSize);
    p.memPitch = 0x7fffffff;
    p.maxThreadsPerBlock = int(limits.threads_per_block);
    p.maxThreadsDim[0] = int(limits.block.x);
    p.maxThreadsDim[1] = int(limits.block.y);
    p.maxThreadsDim[2] = int(limits.block.z);
    p.maxGridSize[0] = int(limits.grid.x);
    p.maxGridSize[1] = int(limits.grid.y);
    p.maxGridSize[2] = int(limits.grid.z);
    p.totalConstMem = limits.constant_bytes;
    p.major = 7;
    p.minor = 5;
    p.textureAlignment = 512;
    p.texturePitchAlignment = 32;
    p.multiProcessorCount = int(limits.multiprocessors);
    p.canMapHostMemory = 1;
    p.maxTexture1D = 131072;
    p.maxTexture1DMipmap = 32768;
    p.maxTexture2D[0] = 131072, p.maxTexture2D[1] = 65536;
    p.maxTexture2DMipmap[0] = p.maxTexture2DMipmap[1] = 32768;
    p.maxTexture2DLinear[0] = 131072, p.maxTexture2DLinear[1] = 65000,
    p.maxTexture2DLinear[2] = 2097120;
    p.maxTexture2DGather[0] = p.maxTexture2DGather[1] = 32768;
    p.maxTexture3D[0] = p.maxTexture3D[1] = p.maxTexture3D[2] = 16384;
    p.maxTexture3DAlt[0] = p.maxTexture3DAlt[1] = 8192, p.maxTexture3DAlt[2] = 32768;
    p.maxTextureCubemap = 32768;
    p.maxTexture1DLayered[0] = 32768, p.maxTexture1DLayered[1] = 2048;
    p.maxTexture2DLayered[0] = p.maxTexture2DLayered[1] = 32768, p.maxTexture2DLayered[2] = 2048;
    p.maxTextureCubemapLayered[0] = 32768, p.maxTextureCubemapLayered[1] = 2046;
    p.maxSurface1D = 32768;
    p.maxSurface2D[0] = 131072, p.maxSurface2D[1] = 65536;
    p.maxSurface3D[0] = p.maxSurface3D[1] = p.maxSurface3D[2] = 16384;
    p.maxSurface1DLayered[0] = 32768, p.maxSurface1DLayered[1] = 2048;
    p.maxSurface2DLayered[0] = p.maxSurface2DLayered[1] = 32768, p.maxSurface2DLayered[2] = 2048;
    p.maxSurfaceCubemap = 32768;
    p.maxSurfaceCubemapLayered[0] = 32768, p.maxSurfaceCubemapLayered[1] = 2046;
    p.surfaceAlignment = 512;
    p.concurrentKernels = 1;
    p.pciBusID = device + 1;
    p.asyncEngineCount = 3;
    p.unifiedAddressing = 1;
    p.memoryBusWidth = 256;
    p.l2CacheSize = 4 << 20;
    p.maxThreadsPerMultiProcessor = int(limits.threads_per_multiprocessor);
    p.streamPrioritiesSupported = 1;
    p.globalL1CacheSupported = 1;
    p.localL1CacheSupported = 1;
    p.sharedMemPerMultiprocessor = limits.shared_per_multiprocessor;
    p.regsPerMultiprocessor = int(limits.registers_per_multiprocessor);
    p.managedMemory = 1;
    p.multiGpuBoardGroupID = device;
    p.concurrentManagedAccess = 1;
    p.computePreemptionSupported = 1;
    p.canUseHostPointerForRegisteredMem = 1;
    p.cooperativeLaunch = 1;
    p.sharedMemPerBlockOptin = limits.shared_per_block_optin;
    p.maxBlocksPerMultiProcessor = int(limits.blocks_per_multiprocessor);
    p.hostRegisterSupported = 1;
    p.hostRegisterReadOnlySupported = 1;
    p.memoryPoolsSupported = 1;
    p.unifiedFunctionPointers = 0;
    p.deviceNumaConfig = cudaDeviceNumaConfigNone;
    p.deviceNumaId = -1;
    p.hostNumaId = 0;
    return p;
}

bool device_attribute(Context& context, int device, cudaDeviceAttr attribute, int& value) {
    const cudaDeviceProp p = device_properties(context, device);
    const auto clipped = [](size_t bytes) { return bytes > 0x7fffffff ? 0x7fffffff : int(bytes); };
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
        value = p.maxThreadsPerBlock;
        return true;
    case cudaDevAttrMaxBlockDimX:
        value = p.maxThreadsDim[0];
        return true;
    case cudaDevAttrMaxBlockDimY:
        value = p.maxThreadsDim[1];
        return true;
    case cudaDevAttrMaxBlockDimZ:
        value = p.maxThreadsDim[2];
        return true;
    case cudaDevAttrMaxGridDimX:
        value = p.maxGridSize[0];
        return true;
    case cudaDevAttrMaxGridDimY:
        value = p.maxGridSize[1];
        return true;
    case cudaDevAttrMaxGridDimZ:
        value = p.maxGridSize[2];
        return true;
    case cudaDevAttrMaxSharedMemoryPerBlock:
        value = clipped(p.sharedMemPerBlock);
        return true;
    case cudaDevAttrTotalConstantMemory:
        value = clipped(p.totalConstMem);
        return true;
    case cudaDevAttrWarpSize:
        value = p.warpSize;
        return true;
    case cudaDevAttrMaxPitch:
        value = clipped(p.memPitch);
        return true;
    case cudaDevAttrMaxRegistersPerBlock:
        value = p.regsPerBlock;
        return true;
    case cudaDevAttrClockRate:
        value = kClockKilohertz;
        return true;
    case cudaDevAttrTextureAlignment:
        value = clipped(p.textureAlignment);
        return true;
    case cudaDevAttrGpuOverlap:
        value = 1;
        return true;
    case cudaDevAttrMultiProcessorCount:
        value = p.multiProcessorCount;
        return true;
    case cudaDevAttrKernelExecTimeout:
        value = 0;
        return true;
    case cudaDevAttrIntegrated:
        value = p.integrated;
        return true;
    case cudaDevAttrCanMapHostMemory:
        value = p.canMapHostMemory;
        return true;
    case cudaDevAttrComputeMode:
        value = cudaComputeModeDefault;
        return true;
    case cudaDevAttrMaxTexture1DWidth:
        value = p.maxTexture1D;
        return true;
    case cudaDevAttrMaxTexture2DWidth:
        value = p.maxTexture2D[0];
        return true;
    case cudaDevAttrMaxTexture2DHeight:
        value = p.maxTexture2D[1];
        return true;
    case cudaDevAttrMaxTexture3DWidth:
        value = p.maxTexture3D[0];
        return true;
    case cudaDevAttrMaxTexture3DHeight:
        value = p.maxTexture3D[1];
        return true;
    case cudaDevAttrMaxTexture3DDepth:
        value = p.maxTexture3D[2];
        return true;
    case cudaDevAttrMaxTexture2DLayeredWidth:
        value = p.maxTexture2DLayered[0];
        return true;
    case cudaDevAttrMaxTexture2DLayeredHeight:
        value = p.maxTexture2DLayered[1];
        return true;
    case cudaDevAttrMaxTexture2DLayeredLayers:
        value = p.maxTexture2DLayered[2];
        return true;
    case cudaDevAttrSurfaceAlignment:
        value = clipped(p.surfaceAlignment);
        return true;
    case cudaDevAttrConcurrentKernels:
        value = p.concurrentKernels;
        return true;
    case cudaDevAttrEccEnabled:
        value = p.ECCEnabled;
        return true;
    case cudaDevAttrPciBusId:
        value = p.pciBusID;
        return true;
    case cudaDevAttrPciDeviceId:
        value = p.pciDeviceID;
        return true;
    case cudaDevAttrTccDriver:
        value = p.tccDriver;
        return true;
    case cudaDevAttrMemoryClockRate:
        value = kClockKilohertz;
        return true;
    case cudaDevAttrGlobalMemoryBusWidth:
        value = p.memoryBusWidth;
        return true;
    case cudaDevAttrL2CacheSize:
        value = p.l2CacheSize;
        return true;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
        value = p.maxThreadsPerMultiProcessor;
        return true;
    case cudaDevAttrAsyncEngineCount:
        value = p.asyncEngineCount;
        return true;
    case cudaDevAttrUnifiedAddressing:
        value = p.unifiedAddressing;
        return true;
    case cudaDevAttrMaxTexture1DLayeredWidth:
        value = p.maxTexture1DLayered[0];
        return true;
    case cudaDevAttrMaxTexture1DLayeredLayers:
        value = p.maxTexture1DLayered[1];
        return true;
    case cudaDevAttrMaxTexture2DGatherWidth:
        value = p.maxTexture2DGather[0];
        return true;
    case cudaDevAttrMaxTexture2DGatherHeight:
        value = p.maxTexture2DGather[1];
        return true;
    case cudaDevAttrMaxTexture3DWidthAlt:
        value = p.maxTexture3DAlt[0];
        return true;
    case cudaDevAttrMaxTexture3DHeightAlt:
        value = p.maxTexture3DAlt[1];
        return true;
    case cudaDevAttrMaxTexture3DDepthAlt:
        value = p.maxTexture3DAlt[2];
        return true;
    case cudaDevAttrPciDomainId:
        value = p.pciDomainID;
        return true;
    case cudaDevAttrTexturePitchAlignment:
        value = clipped(p.texturePitchAlignment);
        return true;
    case cudaDevAttrMaxTextureCubemapWidth:
        value = p.maxTextureCubemap;
        return true;
    case cudaDevAttrMaxTextureCubemapLayeredWidth:
        value = p.maxTextureCubemapLayered[0];
        return true;
    case cudaDevAttrMaxTextureCubemapLayeredLayers:
        value = p.maxTextureCubemapLayered[1];
        return true;
    case cudaDevAttrMaxSurface1DWidth:
        value = p.maxSurface1D;
        return true;
    case cudaDevAttrMaxSurface2DWidth:
        value = p.maxSurface2D[0];
        return true;
    case cudaDevAttrMaxSurface2DHeight:
        value = p.maxSurface2D[1];
        return true;
    case cudaDevAttrMaxSurface3DWidth:
        value = p.maxSurface3D[0];
        return true;
    case cudaDevAttrMaxSurface3DHeight:
        value = p.maxSurface3D[1];
        return true;
    case cudaDevAttrMaxSurface3DDepth:
        value = p.maxSurface3D[2];
        return true;
    case cudaDevAttrMaxSurface1DLayeredWidth:
        value = p.maxSurface1DLayered[0];
        return true;
    case cudaDevAttrMaxSurface1DLayeredLayers:
        value = p.maxSurface1DLayered[1];
        return true;
    case cudaDevAttrMaxSurface2DLayeredWidth:
        value = p.maxSurface2DLayered[0];
        return true;
    case cudaDevAttrMaxSurface2DLayeredHeight:
        value = p.maxSurface2DLayered[1];
        return true;
    case cudaDevAttrMaxSurface2DLayeredLayers:
        value = p.maxSurface2DLayered[2];
        return true;
    case cudaDevAttrMaxSurfaceCubemapWidth:
        value = p.maxSurfaceCubemap;
        return true;
    case cudaDevAttrMaxSurfaceCubemapLayeredWidth:
        value = p.maxSurfaceCubemapLayered[0];
        return true;
    case cudaDevAttrMaxSurfaceCubemapLayeredLayers:
        value = p.maxSurfaceCubemapLayered[1];
        return true;
    case cudaDevAttrMaxTexture1DLinearWidth:
        value = 1 << 28;
        return true;
    case cudaDevAttrMaxTexture2DLinearWidth:
        value = p.maxTexture2DLinear[0];
        return true;
    case cudaDevAttrMaxTexture2DLinearHeight:
        value = p.maxTexture2DLinear[1];
        return true;
    case cudaDevAttrMaxTexture2DLinearPitch:
        value = p.maxTexture2DLinear[2];
        return true;
    case cudaDevAttrMaxTexture2DMipmappedWidth:
        value = p.maxTexture2DMipmap[0];
        return true;
    case cudaDevAttrMaxTexture2DMipmappedHeight:
        value = p.maxTexture2DMipmap[1];
        return true;
    case cudaDevAttrComputeCapabilityMajor:
        value = p.major;
        return true;
    case cudaDevAttrComputeCapabilityMinor:
        value = p.minor;
        return true;
    case cudaDevAttrMaxTexture1DMipmappedWidth:
        value = p.maxTexture1DMipmap;
        return true;
    case cudaDevAttrStreamPrioritiesSupported:
        value = p.streamPrioritiesSupported;
        return true;
    case cudaDevAttrGlobalL1CacheSupported:
        value = p.globalL1CacheSupported;
        return true;
    case cudaDevAttrLocalL1CacheSupported:
        value = p.localL1CacheSupported;
        return true;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        value = clipped(p.sharedMemPerMultiprocessor);
        return true;
    case cudaDevAttrMaxRegistersPerMultiprocessor:
        value = p.regsPerMultiprocessor;
        return true;
    case cudaDevAttrManagedMemory:
        value = p.managedMemory;
        return true;
    case cudaDevAttrIsMultiGpuBoard:
        value = p.isMultiGpuBoard;
        return true;
    case cudaDevAttrMultiGpuBoardGroupID:
        value = p.multiGpuBoardGroupID;
        return true;
    case cudaDevAttrHostNativeAtomicSupported:
        value = p.hostNativeAtomicSupported;
        return true;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
        value = 32;
        return true;
    case cudaDevAttrPageableMemoryAccess:
        value = p.pageableMemoryAccess;
        return true;
    case cudaDevAttrConcurrentManagedAccess:
        value = p.concurrentManagedAccess;
        return true;
    case cudaDevAttrComputePreemptionSupported:
        value = p.computePreemptionSupported;
        return true;
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
        value = p.canUseHostPointerForRegisteredMem;
        return true;
    case cudaDevAttrCooperativeLaunch:
        value = p.cooperativeLaunch;
        return true;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        value = clipped(p.sharedMemPerBlockOptin);
        return true;
    case cudaDevAttrCanFlushRemoteWrites:
        value = 0;
        return true;
    case cudaDevAttrHostRegisterSupported:
        value = p.hostRegisterSupported;
        return true;
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
        value = p.pageableMemoryAccessUsesHostPageTables;
        return true;
    case cudaDevAttrDirectManagedMemAccessFromHost:
        value = p.directManagedMemAccessFromHost;
        return true;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
        value = p.maxBlocksPerMultiProcessor;
        return true;
    case cudaDevAttrMaxPersistingL2CacheSize:
        value = p.persistingL2CacheMaxSize;
        return true;
    case cudaDevAttrMaxAccessPolicyWindowSize:
        value = p.accessPolicyMaxWindowSize;
        return true;
    case cudaDevAttrReservedSharedMemoryPerBlock:
        value = clipped(p.reservedSharedMemPerBlock);
        return true;
    case cudaDevAttrSparseCudaArraySupported:
        value = p.sparseCudaArraySupported;
        return true;
    case cudaDevAttrHostRegisterReadOnlySupported:
        value = p.hostRegisterReadOnlySupported;
        return true;
    case cudaDevAttrTimelineSemaphoreInteropSupported:
        value = p.timelineSemaphoreInteropSupported;
        return true;
    case cudaDevAttrMemoryPoolsSupported:
        value = p.memoryPoolsSupported;
        return true;
    case cudaDevAttrGPUDirectRDMASupported:
        value = p.gpuDirectRDMASupported;
        return true;
    case cudaDevAttrGPUDirectRDMAFlushWritesOptions:
        value = int(p.gpuDirectRDMAFlushWritesOptions);
        return true;
    case cudaDevAttrGPUDirectRDMAWritesOrdering:
        value = p.gpuDirectRDMAWritesOrdering;
        return true;
    case cudaDevAttrMemoryPoolSupportedHandleTypes:
        value = int(p.memoryPoolSupportedHandleTypes);
        return true;
    case cudaDevAttrClusterLaunch:
        value = p.clusterLaunch;
        return true;
    case cudaDevAttrDeferredMappingCudaArraySupported:
        value = p.deferredMappingCudaArraySupported;
        return true;
    case cudaDevAttrIpcEventSupport:
        value = p.ipcEventSupported;
        return true;
    case cudaDevAttrMemSyncDomainCount:
        value = 1;
        return true;
    case cudaDevAttrNumaConfig:
        value = p.deviceNumaConfig;
        return true;
    case cudaDevAttrNumaId:
        value = p.deviceNumaId;
        return true;
    case cudaDevAttrMpsEnabled:
        value = p.mpsEnabled;
        return true;
    case cudaDevAttrHostNumaId:
        value = p.hostNumaId;
        return true;
    case cudaDevAttrGpuPciDeviceId:
        value = int(p.gpuPciDeviceID);
        return true;
    case cudaDevAttrGpuPciSubsystemId:
        value = int(p.gpuPciSubsystemID);
        return true;
    case cudaDevAttrHostNumaMultinodeIpcSupported:
        value = p.hostNumaMultinodeIpcSupported;
        return true;
    case cudaDevAttrD3D12CigSupported:
    case cudaDevAttrVulkanCigSupported:
    case cudaDevAttrHostNumaMemoryPoolsSupported:
    case cudaDevAttrHostMemoryPoolsSupported:
    case cudaDevAttrOnlyPartialHostNativeAtomicSupported:
        value = 0;
        return true;
    default:
        return false;
    }
}

}  // namespace runtime
