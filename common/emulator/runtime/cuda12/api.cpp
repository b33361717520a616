// SPDX-License-Identifier: MIT
// Where libcudart.so.12 differs from libcudart.so.13: functions with other arguments in CUDA 12, or
// with structures of another layout. All others are the same functions; generate_stubs.py maps
// every name of libcudart.so.12 to its function.
#include <algorithm>
#include <cstring>

#include "runtime/core/api.h"
#include "runtime/core/device_properties.h"
#include "runtime/cuda12/layouts.h"

using namespace runtime;

#define CUDA12_API(name) extern "C" cudaError_t emulator12_##name

namespace {

cuda12::DeviceProp device_properties_12(Context& context, int device) {
    const cudaDeviceProp now = device_properties(context, device);
    cuda12::DeviceProp p;
    std::memset(&p, 0, sizeof p);
#define END_OF(type, member) (offsetof(type, member) + sizeof(type::member))
// Members with the same order in both structures.
#define COPY(first, last)                                                                          \
    do {                                                                                           \
        constexpr size_t bytes =                                                                   \
            END_OF(cuda12::DeviceProp, last) - offsetof(cuda12::DeviceProp, first);                \
        static_assert(bytes == END_OF(cudaDeviceProp, last) - offsetof(cudaDeviceProp, first));    \
        std::memcpy(reinterpret_cast<char*>(&p) + offsetof(cuda12::DeviceProp, first),             \
                    reinterpret_cast<const char*>(&now) + offsetof(cudaDeviceProp, first),         \
                    bytes);                                                                        \
    } while (false)
    COPY(name, maxGridSize);
    COPY(totalConstMem, texturePitchAlignment);
    COPY(multiProcessorCount, multiProcessorCount);
    COPY(integrated, canMapHostMemory);
    COPY(maxTexture1D, maxTexture1DMipmap);
    COPY(maxTexture2D, unifiedAddressing);
    COPY(memoryBusWidth, localL1CacheSupported);
    COPY(sharedMemPerMultiprocessor, hostNativeAtomicSupported);
    COPY(pageableMemoryAccess, cooperativeLaunch);
    COPY(sharedMemPerBlockOptin, unifiedFunctionPointers);
#undef COPY
#undef END_OF
    const auto attribute = [&](cudaDeviceAttr which) {
        int value = 0;
        device_attribute(context, device, which, value);
        return value;
    };
    p.clockRate = attribute(cudaDevAttrClockRate);
    p.deviceOverlap = attribute(cudaDevAttrGpuOverlap);
    p.kernelExecTimeoutEnabled = attribute(cudaDevAttrKernelExecTimeout);
    p.computeMode = attribute(cudaDevAttrComputeMode);
    p.maxTexture1DLinear = attribute(cudaDevAttrMaxTexture1DLinearWidth);
    p.memoryClockRate = attribute(cudaDevAttrMemoryClockRate);
    p.singleToDoublePrecisionPerfRatio = attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio);
    return p;
}

cudaError_t properties(void* out, size_t bytes, int device) {
    return api("cudaGetDeviceProperties", kIgnoresFault, [&](Call& call) {
        if (!out) return cudaErrorInvalidValue;
        if (device < 0 || device >= call.global.device_count()) return cudaErrorInvalidDevice;
        const cuda12::DeviceProp p = device_properties_12(call.global, device);
        std::memcpy(out, &p, bytes);
        return cudaSuccess;
    });
}

// CUDA 12 specifies a location by the device's number, CUDA 13 by a kind and a number.
cudaMemLocation place(int device) {
    cudaMemLocation location{};
    location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device == cudaCpuDeviceId ? 0 : device;
    return location;
}

// Extends a structure from a program of CUDA 12 to CUDA 13's, which is longer; null stays null.
template <class T>
class Longer {
public:
    Longer(const T* given, size_t bytes) : given_(given != nullptr) {
        std::memset(&whole_, 0, sizeof whole_);
        if (given) std::memcpy(&whole_, given, bytes);
    }
    const T* get() const { return given_ ? &whole_ : nullptr; }

private:
    T whole_;
    const bool given_;
};

// Lets `ask` fill in a longer structure, and copies to the program what fits. As in the function
// itself, `ask` decides about a null pointer.
template <class T, class F>
cudaError_t shortened(T* out, size_t bytes, F&& ask) {
    T whole;
    if (out) std::memset(&whole, 0, sizeof whole);
    const cudaError_t error = ask(out ? &whole : nullptr);
    if (out && error == cudaSuccess) std::memcpy(out, &whole, bytes);
    return error;
}

cudaError_t not_supported(const char* name) {
    return api(name, [&](Call&) {
        warn_once(std::string(name) + " is not supported by the emulated device");
        return cudaErrorNotSupported;
    });
}

}  // namespace

// ---- the device -------------------------------------------------------------------------------

CUDA12_API(cudaGetDeviceProperties_v2)(void* out, int device) {
    return properties(out, sizeof(cuda12::DeviceProp), device);
}
CUDA12_API(cudaGetDeviceProperties)(void* out, int device) {
    return properties(out, cuda12::kCuda11DeviceProp, device);
}
CUDA12_API(cudaRuntimeGetVersion)(int* version) {
    if (!version) return cudaErrorInvalidValue;
    *version = cuda12::kVersion;
    return cudaSuccess;
}
CUDA12_API(cudaGetDriverEntryPoint)
(const char* symbol, void** function, unsigned long long flags,
 cudaDriverEntryPointQueryResult* status) {
    return cudaGetDriverEntryPointByVersion(symbol, function, cuda12::kVersion, flags, status);
}
CUDA12_API(cudaThreadExit)() {
    return cudaDeviceReset();
}
CUDA12_API(cudaThreadSynchronize)() {
    return cudaDeviceSynchronize();
}
CUDA12_API(cudaThreadGetLimit)(size_t* value, cudaLimit limit) {
    return cudaDeviceGetLimit(value, limit);
}
CUDA12_API(cudaThreadSetLimit)(cudaLimit limit, size_t value) {
    return cudaDeviceSetLimit(limit, value);
}
CUDA12_API(cudaThreadGetCacheConfig)(cudaFuncCache* config) {
    return cudaDeviceGetCacheConfig(config);
}
CUDA12_API(cudaThreadSetCacheConfig)(cudaFuncCache config) {
    return cudaDeviceSetCacheConfig(config);
}
// From the time of devices without double: there has been no conversion since.
CUDA12_API(cudaSetDoubleForDevice)(double* value) {
    return value ? cudaSuccess : cudaErrorInvalidValue;
}
CUDA12_API(cudaSetDoubleForHost)(double* value) {
    return value ? cudaSuccess : cudaErrorInvalidValue;
}
// Follows from the device attribute CooperativeMultiDeviceLaunch, which is 0.
CUDA12_API(cudaLaunchCooperativeKernelMultiDevice)(void*, unsigned, unsigned) {
    return not_supported("cudaLaunchCooperativeKernelMultiDevice");
}

// ---- memory -----------------------------------------------------------------------------------

CUDA12_API(cudaPointerGetAttributes)(cudaPointerAttributes* out, const void* pointer) {
    return shortened(out, cuda12::kPointerAttributes, [&](cudaPointerAttributes* whole) {
        return cudaPointerGetAttributes(whole, pointer);
    });
}
CUDA12_API(cudaMemAdvise)(const void* pointer, size_t bytes, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(pointer, bytes, advice, place(device));
}
CUDA12_API(cudaMemPrefetchAsync)
(const void* pointer, size_t bytes, int device, cudaStream_t stream) {
    return cudaMemPrefetchAsync(pointer, bytes, place(device), 0, stream);
}

// `failed` is the index of the copy that caused the error; SIZE_MAX means unknown.
CUDA12_API(cudaMemcpyBatchAsync)
(void* const* to, const void* const* from, const size_t* bytes, size_t count,
 cudaMemcpyAttributes* attributes, size_t* indexes, size_t attribute_count, size_t* failed,
 cudaStream_t stream) {
    const cudaError_t error =
        cudaMemcpyBatchAsync(to, from, bytes, count, attributes, indexes, attribute_count, stream);
    if (error != cudaSuccess && failed) *failed = SIZE_MAX;
    return error;
}

// ---- textures and surfaces --------------------------------------------------------------------

CUDA12_API(cudaCreateTextureObject)
(cudaTextureObject_t* result, const cudaResourceDesc* resource, const cudaTextureDesc* texture,
 const cudaResourceViewDesc* view) {
    const Longer whole(resource, cuda12::kResourceDesc);
    const Longer whole_view(view, cuda12::kResourceViewDesc);
    return cudaCreateTextureObject(result, whole.get(), texture, whole_view.get());
}
CUDA12_API(cudaCreateSurfaceObject)(cudaSurfaceObject_t* result, const cudaResourceDesc* resource) {
    const Longer whole(resource, cuda12::kResourceDesc);
    return cudaCreateSurfaceObject(result, whole.get());
}
CUDA12_API(cudaGetTextureObjectResourceDesc)(cudaResourceDesc* out, cudaTextureObject_t handle) {
    return shortened(out, cuda12::kResourceDesc, [&](cudaResourceDesc* whole) {
        return cudaGetTextureObjectResourceDesc(whole, handle);
    });
}
CUDA12_API(cudaGetTextureObjectResourceViewDesc)
(cudaResourceViewDesc* out, cudaTextureObject_t handle) {
    return shortened(out, cuda12::kResourceViewDesc, [&](cudaResourceViewDesc* whole) {
        return cudaGetTextureObjectResourceViewDesc(whole, handle);
    });
}
CUDA12_API(cudaGetSurfaceObjectResourceDesc)(cudaResourceDesc* out, cudaSurfaceObject_t handle) {
    return shortened(out, cuda12::kResourceDesc, [&](cudaResourceDesc* whole) {
        return cudaGetSurfaceObjectResourceDesc(whole, handle);
    });
}

// ---- graphs: CUDA 13 added data to edges ------------------------------------------------------

CUDA12_API(cudaGraphAddDependencies)
(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t count) {
    return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}
CUDA12_API(cudaGraphRemoveDependencies)
(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, size_t count) {
    return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}
CUDA12_API(cudaGraphGetEdges)
(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) {
    return cudaGraphGetEdges(graph, from, to, nullptr, count);
}
CUDA12_API(cudaGraphNodeGetDependencies)
(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
    return cudaGraphNodeGetDependencies(node, nodes, nullptr, count);
}
CUDA12_API(cudaGraphNodeGetDependentNodes)
(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
    return cudaGraphNodeGetDependentNodes(node, nodes, nullptr, count);
}
CUDA12_API(cudaGraphAddNode)
(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* needs, size_t count,
 cudaGraphNodeParams* given) {
    return cudaGraphAddNode(node, graph, needs, nullptr, count, given);
}

CUDA12_API(cudaStreamGetCaptureInfo)
(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id) {
    return cudaStreamGetCaptureInfo(stream, status, id);
}
CUDA12_API(cudaStreamGetCaptureInfo_v2)
(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
 const cudaGraphNode_t** needs, size_t* count) {
    return cudaStreamGetCaptureInfo(stream, status, id, graph, needs, nullptr, count);
}
CUDA12_API(cudaStreamUpdateCaptureDependencies)
(cudaStream_t stream, cudaGraphNode_t* needs, size_t count, unsigned flags) {
    return cudaStreamUpdateCaptureDependencies(stream, needs, nullptr, count, flags);
}
