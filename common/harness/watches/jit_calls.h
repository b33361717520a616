// SPDX-License-Identifier: MIT
// Stands between a lesson's program and NVRTC and the driver API: counts what is compiled, loaded
// and launched, lets a chosen call fail, and tells the emulated device the source of each program,
// so that findings show its lines. Like cuda_calls.h, which it includes, it *defines* the
// libraries' functions, weakly. Only calls while a wb::JitWatch lives are noted.
#pragma once

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <cuda.h>
#include <dlfcn.h>
#include <nvrtc.h>

#include "cuda_calls.h"
#include "lesson_test.h"

namespace wb {
inline namespace of_test {

struct JitCall {
    std::string name;
    std::vector<std::string> options = {};   // of a compilation
    CUstream stream = nullptr;               // of a launch
    unsigned blocks = 0, threads = 0;        // of a launch
    std::optional<long long> argument = {};  // of a launch: see JitWatch::argument
};

class JitWatch {
public:
    JitWatch() { current() = this; }
    ~JitWatch() { current() = nullptr; }
    JitWatch(const JitWatch&) = delete;
    JitWatch& operator=(const JitWatch&) = delete;

    std::vector<JitCall> calls;
    // The call with this number (from 0) fails, without doing anything.
    std::optional<size_t> fail_call;

    // The number of an argument of which a launch reads eight bytes, as a kernel would.
    std::optional<size_t> argument;

    // The calls whose name begins with one of these.
    size_t count(std::initializer_list<const char*> names) const {
        size_t found = 0;
        for (const JitCall& call : calls)
            for (const char* name : names) found += call.name.rfind(name, 0) == 0;
        return found;
    }
    size_t compilations() const { return count({"nvrtcCompileProgram"}); }
    size_t loads() const {
        return count({"cuModuleLoad", "cuLibraryLoad", "cudaLibraryLoad", "cuLinkCreate"});
    }
    size_t unloads() const {
        return count({"cuModuleUnload", "cuLibraryUnload", "cudaLibraryUnload", "cuLinkDestroy"});
    }
    size_t launches() const { return count({"cuLaunch"}); }

    static JitWatch*& current() {
        static JitWatch* watch = nullptr;
        return watch;
    }
};

}  // namespace of_test

namespace {

// The numbers of a case's work, noted for the counters of `make demo-NN`.
struct JitCalls {
    Counted<uint64_t> compilations = measured("compilations", uint64_t(0));
    Counted<uint64_t> module_loads = measured("module_loads", uint64_t(0));
    Counted<uint64_t> host_launches = measured("host_launches", uint64_t(0));
    Counted<uint64_t> host_waits = measured("host_waits", uint64_t(0));
};

inline JitCalls jit_calls(const std::function<void()>& work) {
    JitCalls calls;
    JitWatch jit;
    CallWatch runtime;
    work();
    calls.compilations += jit.compilations();
    calls.module_loads += jit.loads();
    calls.host_launches += jit.launches() + runtime.launches();
    for (const char* name : {"cuStreamSynchronize", "cuCtxSynchronize"})
        calls.host_waits += jit.count({name});
    for (const char* name :
         {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy"})
        calls.host_waits += runtime.count(name);
    details::note_counted(
        {calls.compilations, calls.module_loads, calls.host_launches, calls.host_waits});
    return calls;
}

}  // namespace

inline namespace of_test {
namespace jit_detail {

// Notes a call; returns whether it is to fail.
inline bool enter(JitCall call) {
    JitWatch* watch = JitWatch::current();
    if (!watch) return false;
    watch->calls.push_back(std::move(call));
    return watch->fail_call == watch->calls.size() - 1;
}

// Nothing where the arguments are in one buffer.
inline std::optional<long long> argument_of(void** arguments) {
    const JitWatch* watch = JitWatch::current();
    if (!watch || !watch->argument || !arguments) return std::nullopt;
    const void* const address = arguments[*watch->argument];
    if (reinterpret_cast<uintptr_t>(address) < 65536) return std::nullopt;  // it is no address
    long long value = 0;
    std::memcpy(&value, address, sizeof value);
    return value;
}

inline void tell_source(const char* file, const char* text) {
    const std::string name = file ? file : "default_program";
    run_time_sources().insert(name.substr(name.rfind('/') + 1));
    const auto tell = (void (*)(const char*, const char*))dlsym(RTLD_DEFAULT, "emulatorSourceSet");
    if (tell) tell(name.c_str(), text);
}

// The capability of the card that the test pretends, as attribute; nothing without one.
inline std::optional<int> pretended(CUdevice_attribute attribute) {
    const CallWatch* watch = CallWatch::current();
    if (!watch || !watch->card) return std::nullopt;
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) return watch->card->major;
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) return watch->card->minor;
    return std::nullopt;
}

}  // namespace jit_detail
}  // namespace of_test
}  // namespace wb

// The last call is a jump, so that the emulated device blames the caller's line and not this file.
// In two steps, so that a name which the headers replace is looked up as replaced.
#define WB_TEXT_OF(name) #name
#define WB_TEXT(name) WB_TEXT_OF(name)
#define WB_JIT(Status, failed, function, parameters, arguments, ...)                               \
    extern "C" __attribute__((weak, optimize("O2"))) Status CUDAAPI function parameters {          \
        using Function = Status parameters;                                                        \
        if (wb::jit_detail::enter({WB_TEXT(function) __VA_OPT__(, ) __VA_ARGS__})) return failed;  \
        return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, WB_TEXT(function))) arguments;         \
    }
#define WB_NVRTC(...) WB_JIT(nvrtcResult, NVRTC_ERROR_INTERNAL_ERROR, __VA_ARGS__)
#define WB_DRIVER(...) WB_JIT(CUresult, CUDA_ERROR_UNKNOWN, __VA_ARGS__)

WB_NVRTC(nvrtcDestroyProgram, (nvrtcProgram * program), (program))
WB_NVRTC(nvrtcAddNameExpression, (nvrtcProgram program, const char* name), (program, name))
WB_NVRTC(nvrtcGetLoweredName, (nvrtcProgram program, const char* name, const char** lowered),
         (program, name, lowered))
WB_NVRTC(nvrtcGetPTXSize, (nvrtcProgram program, size_t* bytes), (program, bytes))
WB_NVRTC(nvrtcGetPTX, (nvrtcProgram program, char* ptx), (program, ptx))
WB_NVRTC(nvrtcGetProgramLogSize, (nvrtcProgram program, size_t* bytes), (program, bytes))
WB_NVRTC(nvrtcGetProgramLog, (nvrtcProgram program, char* log), (program, log))
WB_NVRTC(nvrtcCompileProgram, (nvrtcProgram program, int count, const char* const* options),
         (program, count, options), std::vector<std::string>(options, options + count))

extern "C" __attribute__((weak)) nvrtcResult
nvrtcCreateProgram(nvrtcProgram* program, const char* text, const char* file, int count,
                   const char* const* headers, const char* const* names) {
    using Function = nvrtcResult(
        nvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*);
    if (wb::jit_detail::enter({"nvrtcCreateProgram"})) return NVRTC_ERROR_INTERNAL_ERROR;
    wb::jit_detail::tell_source(file, text);
    const auto real = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, "nvrtcCreateProgram"));
    return real(program, text, file, count, headers, names);
}

WB_DRIVER(cuModuleLoadData, (CUmodule * module, const void* image), (module, image))
WB_DRIVER(cuModuleLoadDataEx,
          (CUmodule * module, const void* image, unsigned count, CUjit_option* options,
           void** values),
          (module, image, count, options, values))
WB_DRIVER(cuModuleLoadFatBinary, (CUmodule * module, const void* image), (module, image))
WB_DRIVER(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char* name),
          (function, module, name))
WB_DRIVER(cuModuleUnload, (CUmodule module), (module))
WB_DRIVER(cuLibraryLoadData,
          (CUlibrary * library, const void* image, CUjit_option* options, void** values,
           unsigned count, CUlibraryOption* library_options, void** library_values,
           unsigned library_count),
          (library, image, options, values, count, library_options, library_values, library_count))
WB_DRIVER(cuLibraryGetKernel, (CUkernel * kernel, CUlibrary library, const char* name),
          (kernel, library, name))
WB_DRIVER(cuLibraryUnload, (CUlibrary library), (library))
WB_DRIVER(cuKernelGetFunction, (CUfunction * function, CUkernel kernel), (function, kernel))
WB_DRIVER(cuStreamSynchronize, (CUstream stream), (stream))
WB_DRIVER(cuCtxSynchronize, (), ())
WB_DRIVER(cuLaunchKernel,
          (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
           unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void** arguments,
           void** extra),
          (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, arguments,
           extra),
          {}, stream, grid_x* grid_y* grid_z, block_x* block_y* block_z,
          wb::jit_detail::argument_of(arguments))
WB_DRIVER(cuLaunchKernelEx,
          (const CUlaunchConfig* config, CUfunction function, void** arguments, void** extra),
          (config, function, arguments, extra), {}, config->hStream, config->gridDimX,
          config->blockDimX, wb::jit_detail::argument_of(arguments))

extern "C" __attribute__((weak)) CUresult CUDAAPI cuDeviceGetAttribute(int* value,
                                                                       CUdevice_attribute attribute,
                                                                       CUdevice device) {
    using Function = CUresult(int*, CUdevice_attribute, CUdevice);
    if (wb::jit_detail::enter({"cuDeviceGetAttribute"})) return CUDA_ERROR_UNKNOWN;
    if (const auto known = wb::jit_detail::pretended(attribute)) {
        *value = *known;
        return CUDA_SUCCESS;
    }
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, "cuDeviceGetAttribute"))(
        value, attribute, device);
}

#undef WB_TEXT_OF
#undef WB_TEXT
#undef WB_JIT
#undef WB_NVRTC
#undef WB_DRIVER
