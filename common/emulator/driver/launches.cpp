// SPDX-License-Identifier: MIT
// Kernel launches by handle, attributes of kernels, and occupancy.
#include <algorithm>
#include <vector>

#include "driver/frame.h"
#include "runtime/core/launch.h"

namespace driver {
namespace {

// Converts the buffer of CU_LAUNCH_PARAM_BUFFER_POINTER to one pointer for each parameter.
CUresult from_buffer(CUfunction function, void** extra, std::vector<void*>& arguments) {
    char* buffer = nullptr;
    const size_t* bytes = nullptr;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = static_cast<char*>(extra[1]);
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            bytes = static_cast<const size_t*>(extra[1]);
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    if (!buffer != !bytes) return CUDA_ERROR_INVALID_VALUE;
    return result_of(runtime::api("cuLaunchKernel", [&](runtime::Call& call) -> cudaError_t {
        runtime::KernelRecord* record = runtime::find_kernel(function);
        machine::Kernel* kernel = nullptr;
        if (!record) return cudaErrorInvalidResourceHandle;
        if (const cudaError_t error = resolve_kernel(call, *record, call.thread.device, kernel))
            return error;
        if ((bytes ? *bytes : 0) < kernel->parameter_bytes()) return cudaErrorInvalidValue;
        for (const ptx::Parameter& parameter : kernel->parameters())
            arguments.push_back(buffer + parameter.offset);
        return cudaSuccess;
    }));
}

CUresult launch(const char* name, CUfunction function, const cudaLaunchConfig_t& shape,
                void** arguments, void** extra, bool cooperative) {
    return run(name, [&]() -> CUresult {
        if (!is_kernel(function)) return CUDA_ERROR_INVALID_HANDLE;
        if (arguments && extra) return CUDA_ERROR_INVALID_VALUE;
        std::vector<void*> pointers;
        if (extra) {
            if (const CUresult error = from_buffer(function, extra, pointers)) return error;
            pointers.push_back(nullptr);
            arguments = pointers.data();
        }
        if (cooperative)
            return result_of(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(function),
                                                         shape.gridDim,
                                                         shape.blockDim,
                                                         arguments,
                                                         shape.dynamicSmemBytes,
                                                         shape.stream));
        return result_of(cudaLaunchKernelExC(&shape, reinterpret_cast<void*>(function), arguments));
    });
}

CUresult attribute_of(int* value, CUfunction_attribute attribute, const void* function) {
    cudaFuncAttributes all;
    if (!value) return CUDA_ERROR_INVALID_VALUE;
    if (const cudaError_t error = cudaFuncGetAttributes(&all, function)) return result_of(error);
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = all.maxThreadsPerBlock;
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = int(all.sharedSizeBytes);
        break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = int(all.constSizeBytes);
        break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = int(all.localSizeBytes);
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = all.numRegs;
        break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = all.ptxVersion;
        break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = all.binaryVersion;
        break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *value = all.cacheModeCA;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = all.maxDynamicSharedSizeBytes;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = all.preferredShmemCarveout;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = 0;
        break;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

// The block size with the most resident threads, and the grid that then fills the device.
CUresult best_block(int* grid, int* block, CUfunction function, CUoccupancyB2DSize bytes_of,
                    size_t dynamic, int limit) {
    cudaFuncAttributes all;
    if (!grid || !block || limit < 0) return CUDA_ERROR_INVALID_VALUE;
    if (const cudaError_t error = cudaFuncGetAttributes(&all, function)) return result_of(error);
    int best = 0, multiprocessors = 0, device = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    const int most = limit ? std::min(limit, all.maxThreadsPerBlock) : all.maxThreadsPerBlock;
    *grid = *block = 0;
    for (int threads = (most + 31) / 32 * 32; threads > 0; threads -= 32) {
        const int size = std::min(threads, most);
        int blocks = 0;
        const size_t shared = bytes_of ? bytes_of(size) : dynamic;
        if (const cudaError_t error =
                cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, size, shared))
            return result_of(error);
        if (blocks * size <= best) continue;
        best = blocks * size;
        *block = size;
        *grid = blocks * multiprocessors;
    }
    return CUDA_SUCCESS;
}

}  // namespace
}  // namespace driver

using namespace driver;

DRIVER_API CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void** arguments, void** extra) {
    const cudaLaunchConfig_t shape{
        {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, nullptr, 0};
    return launch("cuLaunchKernel", function, shape, arguments, extra, false);
}
DRIVER_API CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function,
                                     void** arguments, void** extra) {
    if (!config) return CUDA_ERROR_INVALID_VALUE;
    const cudaLaunchConfig_t shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
                                   {config->blockDimX, config->blockDimY, config->blockDimZ},
                                   config->sharedMemBytes,
                                   config->hStream,
                                   reinterpret_cast<cudaLaunchAttribute*>(config->attrs),
                                   config->numAttrs};
    return launch("cuLaunchKernelEx", function, shape, arguments, extra, false);
}
DRIVER_API CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                              unsigned grid_z, unsigned block_x, unsigned block_y,
                                              unsigned block_z, unsigned shared, CUstream stream,
                                              void** arguments) {
    const cudaLaunchConfig_t shape{
        {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, stream, nullptr, 0};
    return launch("cuLaunchCooperativeKernel", function, shape, arguments, nullptr, true);
}

DRIVER_API CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute,
                                       CUfunction function) {
    return run("cuFuncGetAttribute", [&] { return attribute_of(value, attribute, function); });
}
DRIVER_API CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute,
                                         CUkernel kernel, CUdevice device) {
    return run("cuKernelGetAttribute", Needs::kInit, [&] {
        if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
        return on_device(device, [&] { return attribute_of(value, attribute, kernel); });
    });
}
DRIVER_API CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                                       int value) {
    return run("cuFuncSetAttribute",
               [&] { return cudaFuncSetAttribute(function, cudaFuncAttribute(attribute), value); });
}
DRIVER_API CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                                         CUdevice device) {
    return run("cuKernelSetAttribute", Needs::kInit, [&]() -> CUresult {
        if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
        return on_device(device, [&] {
            return result_of(cudaFuncSetAttribute(kernel, cudaFuncAttribute(attribute), value));
        });
    });
}
DRIVER_API CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
    return run("cuFuncSetCacheConfig",
               [&] { return cudaFuncSetCacheConfig(function, cudaFuncCache(config)); });
}
DRIVER_API CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice) {
    return run("cuKernelSetCacheConfig",
               [&] { return cudaFuncSetCacheConfig(kernel, cudaFuncCache(config)); });
}
DRIVER_API CUresult cuFuncGetName(const char** name, CUfunction function) {
    return run("cuFuncGetName", [&] { return cudaFuncGetName(name, function); });
}
DRIVER_API CUresult cuKernelGetName(const char** name, CUkernel kernel) {
    return run("cuKernelGetName", Needs::kInit, [&] { return cudaFuncGetName(name, kernel); });
}
DRIVER_API CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset,
                                       size_t* bytes) {
    return run("cuFuncGetParamInfo",
               [&] { return cudaFuncGetParamInfo(function, index, offset, bytes); });
}
DRIVER_API CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset,
                                         size_t* bytes) {
    return run("cuKernelGetParamInfo",
               [&] { return cudaFuncGetParamInfo(kernel, index, offset, bytes); });
}
DRIVER_API CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction function) {
    return run("cuFuncIsLoaded", [&] {
        if (!state) return CUDA_ERROR_INVALID_VALUE;
        if (!is_kernel(function)) return CUDA_ERROR_INVALID_HANDLE;
        *state = CU_FUNCTION_LOADING_STATE_LOADED;
        return CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuFuncLoad(CUfunction function) {
    return run("cuFuncLoad",
               [&] { return is_kernel(function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE; });
}

DRIVER_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                                int size, size_t shared) {
    return run("cuOccupancyMaxActiveBlocksPerMultiprocessor", [&] {
        return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, size, shared);
    });
}
DRIVER_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                         CUfunction function,
                                                                         int size, size_t shared,
                                                                         unsigned flags) {
    return run("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", [&] {
        return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            blocks, function, size, shared, flags);
    });
}
DRIVER_API CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                                     CUoccupancyB2DSize bytes_of, size_t dynamic,
                                                     int limit) {
    return run("cuOccupancyMaxPotentialBlockSize",
               [&] { return best_block(grid, block, function, bytes_of, dynamic, limit); });
}
DRIVER_API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block,
                                                              CUfunction function,
                                                              CUoccupancyB2DSize bytes_of,
                                                              size_t dynamic, int limit,
                                                              unsigned flags) {
    return run("cuOccupancyMaxPotentialBlockSizeWithFlags", [&] {
        return flags & ~unsigned(CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
                   ? CUDA_ERROR_INVALID_VALUE
                   : best_block(grid, block, function, bytes_of, dynamic, limit);
    });
}
DRIVER_API CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction function,
                                                            int blocks, int size) {
    return run("cuOccupancyAvailableDynamicSMemPerBlock", [&] {
        return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, size);
    });
}

// Deprecated: the shape of launches by cuLaunchGrid, which is not supported. cuLaunchKernel has its
// own, but PyCUDA sets this one first.
DRIVER_API CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
    return run("cuFuncSetBlockShape", [&] {
        if (!is_kernel(function)) return CUDA_ERROR_INVALID_HANDLE;
        return x > 0 && y > 0 && z > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    });
}
