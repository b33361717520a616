// SPDX-License-Identifier: MIT
// The emulated card's properties. Those that a program cannot observe here, such as the largest
// sizes of textures, are the programming guide's for compute capability 7.5.
#include "runtime/core/device_properties.h"

#include <cstdio>
#include <cstring>

namespace runtime {

namespace {

// Threads and blocks per multiprocessor, its shared memory, and the most that a block may opt in
// to.
struct Capability {
    unsigned arch, threads, blocks, shared, optin;  // the last two in KiB
};
constexpr Capability kCapabilities[] = {
    {75, 1024, 16, 64, 64},
    {80, 2048, 32, 164, 163},
    {86, 1536, 16, 100, 99},
    {87, 1536, 16, 164, 163},
    {89, 1536, 24, 100, 99},
    {90, 2048, 32, 228, 227},
    {100, 2048, 32, 228, 227},
    {103, 2048, 32, 228, 227},
    {120, 1536, 24, 100, 99},
};

constexpr int kClockKilohertz = 1'000'000;  // reported only: time on this device has no meaning
}  // namespace

unsigned supported_arch(unsigned wanted) {
    unsigned found = kCapabilities[0].arch;
    for (const Capability& known : kCapabilities)
        if (known.arch <= wanted) found = known.arch;
    return found;
}

machine::Limits limits_of(unsigned arch) {
    machine::Limits limits;
    for (const Capability& known : kCapabilities) {
        if (known.arch != arch) continue;
        limits.arch = arch;
        limits.threads_per_multiprocessor = known.threads;
        limits.blocks_per_multiprocessor = known.blocks;
        limits.shared_per_multiprocessor = known.shared << 10;
        limits.shared_per_block_optin = known.optin << 10;
        limits.shared_reserved = arch >= 80 ? 1024 : 0;
    }
    return limits;
}

std::string pci_bus_id(int device) {
    char text[16];
    std::snprintf(text, sizeof text, "0000:%02x:00.0", unsigned(device + 1));
    return text;
}

static void set_texture_limits(cudaDeviceProp& p) {
    p.textureAlignment = 512;
    p.texturePitchAlignment = 32;
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
}

cudaDeviceProp device_properties(Context& context, int device) {
    const machine::Limits& limits = context.machine(device).limits();
    cudaDeviceProp p;
    std::memset(&p, 0, sizeof p);
    std::snprintf(p.name,
                  sizeof p.name,
                  "CUDA Workbook emulated device (compute capability %u.%u)",
                  limits.arch / 10,
                  limits.arch % 10);
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
    p.major = int(limits.arch / 10);
    p.minor = int(limits.arch % 10);
    p.multiProcessorCount = int(limits.multiprocessors);
    p.canMapHostMemory = 1;
    set_texture_limits(p);
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
    p.reservedSharedMemPerBlock = limits.shared_reserved;
    p.maxBlocksPerMultiProcessor = int(limits.blocks_per_multiprocessor);
    p.hostRegisterSupported = 1;
    p.hostRegisterReadOnlySupported = 1;
    p.memoryPoolsSupported = 1;
    p.ipcEventSupported = context.settings.ipc;
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
#define ATTRIBUTE(name, number)                                                                    \
    case cudaDevAttr##name:                                                                        \
        value = number;                                                                            \
        return true;
#include "runtime/core/device_attributes.def"
#undef ATTRIBUTE
    default:
        return false;
    }
}

}  // namespace runtime
