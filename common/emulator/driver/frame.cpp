// SPDX-License-Identifier: MIT
// Initialises the driver; its errors and versions, and the lookup of its functions.
#include "driver/frame.h"

#include <cstring>
#include <string>

#include "driver/entry_points.h"
#include "runtime/core/driver_hook.h"
#include "runtime/core/errors.h"
#include "runtime/core/registry.h"

namespace driver {
namespace {

const EntryPoint* entry_points = nullptr;
size_t entry_point_count = 0;

struct Name {
    int code;
    const char* name;
};
constexpr Name kNames[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS"},
#define DRIVER_ERROR(name, number) {number, #name},
#include "driver/errors.def"
#undef DRIVER_ERROR
};

const Name* find_name(CUresult code) {
    for (const Name& known : kNames)
        if (known.code == code) return &known;
    return nullptr;
}

CUresult look_up(const char* symbol, void** function, int version, cuuint64_t flags,
                 CUdriverProcAddressQueryResult* status) {
    if (!symbol || !function) return CUDA_ERROR_INVALID_VALUE;
    *function = nullptr;
    const bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    // The per-thread spelling if it is requested and exists, else the plain one.
    for (const bool spelling : {per_thread, false}) {
        for (size_t i = 0; i < entry_point_count && !*function; ++i) {
            const EntryPoint& entry = entry_points[i];
            if (entry.per_thread != spelling || std::strcmp(entry.name, symbol) != 0) continue;
            if (entry.version > version)
                found = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
            else
                *function = entry.function;
        }
    }
    if (*function) found = CU_GET_PROC_ADDRESS_SUCCESS;
    if (status) *status = found;
    return *function || status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

void* entry_point(const char* symbol, unsigned version, bool per_thread) {
    void* function = nullptr;
    look_up(symbol,
            &function,
            int(version),
            per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0,
            nullptr);
    return function;
}

// cudaGetDriverEntryPoint returns these. A program that gets one of them has a driver.
const bool hooked = [] {
    runtime::set_driver_entry_points(entry_point);
    return true;
}();

}  // namespace

void set_entry_points(const EntryPoint* entries, size_t count) {
    entry_points = entries;
    entry_point_count = count;
}

CUresult result_of(cudaError_t error) {
    switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidHostPointer:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidTexture:
    case cudaErrorInvalidTextureBinding:
    case cudaErrorInvalidChannelDescriptor:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidFilterSetting:
    case cudaErrorInvalidNormSetting:
        return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol:
        return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidDeviceFunction:
        return CUDA_ERROR_INVALID_HANDLE;
    default:
        return CUresult(error);
    }
}

Frame::Frame(const char* name, Needs needs) : outer_(runtime::thread_state().driver_call) {
    if (needs != Needs::kNothing && !runtime::context().driver_initialised)
        refused = CUDA_ERROR_NOT_INITIALIZED;
    if (refused == CUDA_SUCCESS && needs == Needs::kContext && !current_context())
        refused = CUDA_ERROR_INVALID_CONTEXT;
    if (!outer_) runtime::thread_state().driver_call = name;
}
Frame::~Frame() {
    runtime::thread_state().driver_call = outer_;
}

bool is_kernel(const void* handle) {
    const std::lock_guard lock(runtime::context().mutex);
    return runtime::find_kernel(handle) != nullptr;
}

bool valid_device(CUdevice device) {
    return device >= 0 && device < runtime::context().device_count();
}

}  // namespace driver

using namespace driver;

// Called by the weak stubs of generate_driver.py.
DRIVER_API int emulator_driver_unsupported(const char* name) {
    const Frame frame(name, Needs::kNothing);
    runtime::Call call(name, runtime::kIgnoresFault);
    const std::string text = std::string(name) + " is not supported by the emulated device";
    runtime::warn_once(text + " (common/emulator/API.md lists the supported functions)");
    return CUDA_ERROR_NOT_SUPPORTED;
}

DRIVER_API CUresult cuInit(unsigned flags) {
    if (flags) return CUDA_ERROR_INVALID_VALUE;
    runtime::context().driver_initialised = true;
    return CUDA_SUCCESS;
}

DRIVER_API CUresult cuDriverGetVersion(int* version) {
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
}

DRIVER_API CUresult cuGetErrorName(CUresult code, const char** text) {
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    const Name* known = find_name(code);
    *text = known ? known->name : nullptr;
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

DRIVER_API CUresult cuGetErrorString(CUresult code, const char** text) {
    if (!text) return CUDA_ERROR_INVALID_VALUE;
    const bool known = find_name(code);
    *text = known ? runtime::error_text(cudaError_t(code)) : nullptr;
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

DRIVER_API CUresult cuGetProcAddress(const char* symbol, void** function, int version,
                                     cuuint64_t flags) {
    return look_up(symbol, function, version, flags, nullptr);
}
DRIVER_API CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version,
                                        cuuint64_t flags, CUdriverProcAddressQueryResult* status) {
    return look_up(symbol, function, version, flags, status);
}

// Returns undocumented tables of functions, none of which exist here. Libraries work without them;
// NVIDIA's runtime does not, and requests the table with this id first. Only a static copy of it
// calls this, since the emulator replaces the shared one.
DRIVER_API CUresult cuGetExportTable(const void** table, const CUuuid* id) {
    constexpr unsigned char kRuntime[16] = {0x6b,
                                            0xd5,
                                            0xfb,
                                            0x6c,
                                            0x5b,
                                            0xf4,
                                            0xe7,
                                            0x4a,
                                            0x89,
                                            0x87,
                                            0xd9,
                                            0x39,
                                            0x12,
                                            0xfd,
                                            0x9d,
                                            0xf9};
    if (table) *table = nullptr;
    if (id && std::memcmp(id->bytes, kRuntime, sizeof kRuntime) == 0)
        runtime::warn_once(
            "the program calls its own copy of NVIDIA's runtime (-cudart static, nvcc's default), "
            "which needs a card; build it with `nvcc -cudart shared`");
    return CUDA_ERROR_NOT_SUPPORTED;
}

DRIVER_API CUresult cuProfilerStart() {
    return CUDA_SUCCESS;
}
DRIVER_API CUresult cuProfilerStop() {
    return CUDA_SUCCESS;
}
