// SPDX-License-Identifier: MIT
// Attributes of kernels.
#include <algorithm>

#include "runtime/core/launch.h"

using namespace runtime;
using PerDevice = KernelRecord::PerDevice;

namespace {

cudaError_t set_attribute(Call& call, KernelRecord& record, machine::Kernel& kernel, int device,
                          cudaFuncAttribute attribute, int value) {
    PerDevice& here = record.devices[device];
    const machine::Limits& limits = call.global.machine(device).limits();
    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 ||
            uint64_t(value) + kernel.static_shared_bytes() > limits.shared_per_block_optin) {
            const uint32_t fixed = kernel.static_shared_bytes();
            warn_once(std::string(call.name) + " requests " + std::to_string(value) +
                      " bytes of dynamic shared memory for `" + record.name + "`" +
                      (fixed ? " in addition to its static " + std::to_string(fixed) : "") +
                      "; the emulated device allows " +
                      std::to_string(limits.shared_per_block_optin) +
                      " bytes per block (compute capability " + std::to_string(limits.arch / 10) +
                      "." + std::to_string(limits.arch % 10) + ", set by EMULATOR_ARCH or by the " +
                      "newest architecture that the program was compiled for)");
            return cudaErrorInvalidValue;
        }
        here.max_dynamic_shared = uint32_t(value);
        here.max_dynamic_set = true;
        return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100) return cudaErrorInvalidValue;
        here.carveout = value;
        return cudaSuccess;
    case cudaFuncAttributeClusterDimMustBeSet:
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
        return cudaErrorNotSupported;  // clusters need compute capability 9.0
    default:
        return cudaErrorInvalidValue;
    }
}

}  // namespace

EMULATOR_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                               const void* function) {
    return with_kernel("cudaFuncGetAttributes",
                       function,
                       [&](Call& call, KernelRecord& record, machine::Kernel& kernel) {
                           if (!attributes) return cudaErrorInvalidValue;
                           const machine::Limits& limits =
                               call.global.machine(call.thread.device).limits();
                           const PerDevice& here = record.devices[call.thread.device];
                           *attributes = {};
                           attributes->sharedSizeBytes = kernel.static_shared_bytes();
                           attributes->localSizeBytes = kernel.local_bytes();
                           attributes->maxThreadsPerBlock =
                               int(std::min(kernel.max_threads(), limits.threads_per_block));
                           attributes->numRegs = int(kernel.registers());
                           // The architecture of the PTX: libraries choose their launch shapes by
                           // it.
                           attributes->ptxVersion = int(here.module->ptx().target());
                           attributes->binaryVersion = std::max(75, attributes->ptxVersion);
                           attributes->maxDynamicSharedSizeBytes = int(dynamic_shared_limit(
                               record, call.thread.device, limits, kernel.static_shared_bytes()));
                           attributes->preferredShmemCarveout = here.carveout;
                           return cudaSuccess;
                       });
}

EMULATOR_API cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute,
                                              int value) {
    return with_kernel("cudaFuncSetAttribute",
                       function,
                       [&](Call& call, KernelRecord& record, machine::Kernel& kernel) {
                           return set_attribute(
                               call, record, kernel, call.thread.device, attribute, value);
                       });
}

EMULATOR_API cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t function,
                                                         cudaFuncAttribute attribute, int value,
                                                         int device) {
    return with_kernel("cudaKernelSetAttributeForDevice",
                       function,
                       [&](Call& call, KernelRecord& record, machine::Kernel& kernel) {
                           if (device < 0 || device >= call.global.device_count())
                               return cudaErrorInvalidDevice;
                           return set_attribute(call, record, kernel, device, attribute, value);
                       });
}

EMULATOR_API cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
    return with_kernel(
        "cudaFuncSetCacheConfig", function, [&](Call&, KernelRecord&, machine::Kernel&) {
            return config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual
                       ? cudaErrorInvalidValue
                       : cudaSuccess;
        });
}

EMULATOR_API cudaError_t cudaFuncSetSharedMemConfig(const void* function,
                                                    cudaSharedMemConfig config) {
    return with_kernel(
        "cudaFuncSetSharedMemConfig", function, [&](Call&, KernelRecord&, machine::Kernel&) {
            return config < cudaSharedMemBankSizeDefault || config > cudaSharedMemBankSizeEightByte
                       ? cudaErrorInvalidValue
                       : cudaSuccess;
        });
}

EMULATOR_API cudaError_t cudaFuncGetName(const char** name, const void* function) {
    return with_kernel(
        "cudaFuncGetName", function, [&](Call&, KernelRecord& record, machine::Kernel&) {
            if (!name) return cudaErrorInvalidValue;
            *name = record.mangled.c_str();
            return cudaSuccess;
        });
}

EMULATOR_API cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset,
                                              size_t* bytes) {
    return with_kernel(
        "cudaFuncGetParamInfo", function, [&](Call&, KernelRecord&, machine::Kernel& kernel) {
            if (!offset || index >= kernel.parameters().size()) return cudaErrorInvalidValue;
            *offset = kernel.parameters()[index].offset;
            if (bytes) *bytes = kernel.parameters()[index].bytes;
            return cudaSuccess;
        });
}
