// SPDX-License-Identifier: MIT
// Loads PTX while the program runs: modules, libraries, and their kernels and variables.
#include "driver/modules.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <unordered_set>

#include "machine/machine.h"
#include "ptx/demangle/demangle.h"

namespace driver {
namespace {

using runtime::FatBinary;
using runtime::KernelRecord;

struct Modules {
    std::unordered_set<const Module*> live;
};
Modules& modules() {
    static auto& instance = *new Modules;
    return instance;
}

template <class Handle>
Module* find_module(Handle handle) {
    auto* module = reinterpret_cast<Module*>(handle);
    return modules().live.contains(module) ? module : nullptr;
}

// Reports all errors in the text at load time, as a compiler would, including calls of functions
// that none of the objects defines.
void parse_all(FatBinary& binary, int device) {
    const auto& objects = binary.loaded[device];
    for (const auto& object : objects) {
        for (const MissingCallee& missing : missing_callees(object->ptx())) {
            const bool is_elsewhere =
                std::any_of(objects.begin(), objects.end(), [&](const auto& other) {
                    return std::any_of(other->ptx().functions().begin(),
                                       other->ptx().functions().end(),
                                       [&](const ptx::FunctionHeader& header) {
                                           return header.name == missing.name &&
                                                  !header.is_declaration && header.is_exported;
                                       });
                });
            if (!is_elsewhere)
                throw ptx::ParseError("PTX line " + std::to_string(missing.line) +
                                      ": the function `" + missing.name +
                                      "` is called but not defined");
        }
    }
}

CUresult load(runtime::Call& call, Module** result, const void* image, JitLog& log,
              bool is_library) {
    if (!result) return CUDA_ERROR_INVALID_VALUE;
    std::vector<std::vector<FatBinary::Image>> objects;
    if (const CUresult error = read_image(image, log, objects)) return error;
    runtime::Registry& registry = runtime::registry();
    auto binary = std::make_unique<FatBinary>();
    binary->objects = std::move(objects);
    binary->unit = registry.next_unit++;
    binary->runtime_loaded = true;
    CUresult error = result_of(load_binary(call, *binary, call.thread.device));
    if (error != CUDA_SUCCESS) {
        log.error(binary->load_error[call.thread.device]);
    } else {
        try {
            parse_all(*binary, call.thread.device);
        } catch (const ptx::ParseError& problem) {
            log.error(problem.what());
            runtime::warn_once(std::string("cannot read a module's PTX: ") + problem.what());
            runtime::unload_binary(call, *binary);
            error = CUDA_ERROR_INVALID_PTX;
        }
    }
    log.write();
    if (error != CUDA_SUCCESS) return error;
    auto* module = new Module{binary.get(), is_library, {}};
    registry.binaries.push_back(std::move(binary));
    modules().live.insert(module);
    *result = module;
    return CUDA_SUCCESS;
}

CUresult load_data(const char* name, Module** result, const void* image, unsigned count,
                   CUjit_option* options, void** values, bool is_library) {
    return run(name, is_library ? Needs::kInit : Needs::kContext, [&]() -> CUresult {
        CUresult outcome = CUDA_SUCCESS;
        const cudaError_t frame = runtime::api(name, [&](runtime::Call& call) -> cudaError_t {
            try {
                JitLog log(count, options, values);
                outcome = load(call, result, image, log, is_library);
                log.write();
            } catch (const std::invalid_argument&) {
                outcome = CUDA_ERROR_INVALID_VALUE;
            }
            return cudaSuccess;
        });
        return frame == cudaSuccess ? outcome : result_of(frame);
    });
}

CUresult load_file(const char* name, Module** result, const char* path, bool is_library) {
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    std::ifstream file(path, std::ios::binary);
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    std::ostringstream text;
    text << file.rdbuf();
    const std::string bytes = text.str();  // NUL-terminated, as PTX text must be
    return load_data(name, result, bytes.c_str(), 0, nullptr, nullptr, is_library);
}

// Runs body(call, module) for a live module or library.
template <class Handle, class F>
CUresult with_module(const char* name, Handle handle, F&& body) {
    return run(name, Needs::kInit, [&]() -> CUresult {
        CUresult outcome = CUDA_SUCCESS;
        const cudaError_t frame = runtime::api(name, [&](runtime::Call& call) -> cudaError_t {
            Module* module = find_module(handle);
            outcome = module ? body(call, *module) : CUDA_ERROR_INVALID_HANDLE;
            return cudaSuccess;
        });
        return frame == cudaSuccess ? outcome : result_of(frame);
    });
}

CUresult unload(runtime::Call& call, Module& module) {
    unload_binary(call, *module.binary);
    modules().live.erase(&module);
    delete &module;
    return CUDA_SUCCESS;
}

// Loads the module into the current device if necessary: libraries load on first use.
CUresult ready(runtime::Call& call, Module& module) {
    return result_of(load_binary(call, *module.binary, call.thread.device));
}

CUresult get_kernel(runtime::Call& call, Module& module, const char* name, KernelRecord** result) {
    if (!result || !name) return CUDA_ERROR_INVALID_VALUE;
    *result = nullptr;
    if (const CUresult error = ready(call, module)) return error;
    KernelRecord*& record = module.kernels[name];
    if (!record) {
        machine::Kernel* found = nullptr;
        for (const auto& object : module.binary->loaded[call.thread.device])
            if (!found) found = object->kernel(name);
        if (!found) {
            module.kernels.erase(name);
            return CUDA_ERROR_NOT_FOUND;
        }
        record = add_kernel(*module.binary, name);
    }
    // A function that the machine cannot execute is refused here, with the reason.
    machine::Kernel* kernel = nullptr;
    if (const cudaError_t error = resolve_kernel(call, *record, call.thread.device, kernel))
        return result_of(error);
    try {
        kernel->static_shared_bytes();
    } catch (const std::runtime_error& problem) {  // machine::UnsupportedPtx, ptx::ParseError
        const std::string text = "cannot run kernel `" + record->name + "`: " + problem.what();
        runtime::warn_once(text);
        call.misuse(machine::ApiEvent::Kind::kUnsupported,
                    runtime::Call::Reason::kUnknown,
                    cudaErrorNotSupported,
                    text,
                    0,
                    nullptr,
                    0,
                    record->name);
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    *result = record;
    return CUDA_SUCCESS;
}

CUresult get_variable(runtime::Call& call, Module& module, const char* name, CUdeviceptr* address,
                      size_t* bytes, bool managed) {
    if (!name || (!address && !bytes)) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = ready(call, module)) return error;
    for (const auto& object : module.binary->loaded[call.thread.device]) {
        const machine::Allocation* found = object->variable(name);
        if (!found || (managed && found->kind != machine::MemoryKind::kManaged)) continue;
        if (address) *address = found->address;
        if (bytes) *bytes = found->bytes;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_NOT_FOUND;
}

std::vector<std::string> kernel_names(runtime::Call& call, Module& module) {
    std::vector<std::string> names;
    for (const auto& object : module.binary->loaded[call.thread.device])
        for (const auto& header : object->ptx().functions())
            if (header.is_entry && !header.is_declaration) names.emplace_back(header.name);
    return names;
}

CUresult enumerate(runtime::Call& call, Module& module, KernelRecord** list, unsigned room) {
    if (!list) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = ready(call, module)) return error;
    unsigned at = 0;
    for (const std::string& name : kernel_names(call, module)) {
        if (at == room) break;
        if (const CUresult error = get_kernel(call, module, name.c_str(), &list[at++]))
            return error;
    }
    return CUDA_SUCCESS;
}

CUresult count_kernels(runtime::Call& call, Module& module, unsigned* count) {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = ready(call, module)) return error;
    *count = unsigned(kernel_names(call, module).size());
    return CUDA_SUCCESS;
}

KernelRecord** out(CUfunction* function) {
    return reinterpret_cast<KernelRecord**>(function);
}
KernelRecord** out(CUkernel* kernel) {
    return reinterpret_cast<KernelRecord**>(kernel);
}
Module** out(CUmodule* module) {
    return reinterpret_cast<Module**>(module);
}
Module** out(CUlibrary* library) {
    return reinterpret_cast<Module**>(library);
}

// The module or library of a kernel's handle; null for a kernel of the program itself.
Module* owner_of(const void* handle) {
    const std::lock_guard lock(runtime::context().mutex);
    const KernelRecord* record = runtime::find_kernel(handle);
    for (const Module* module : modules().live)
        if (record && module->binary == record->binary) return const_cast<Module*>(module);
    return nullptr;
}

}  // namespace

std::vector<MissingCallee> missing_callees(ptx::Module& module) {
    std::vector<std::string> bodies;
    std::unordered_set<std::string> declared;
    for (const auto& header : module.functions()) {
        const bool toolkit = machine::is_device_runtime_function(header.name) ||
                             machine::is_toolkit_function(header.name);
        if (!header.is_declaration)
            bodies.emplace_back(header.name);
        else if (!toolkit)
            declared.emplace(header.name);
    }
    std::vector<MissingCallee> out;
    for (const std::string& name : bodies) {
        for (const ptx::Instruction& in : module.function(name)->body) {
            if (in.opcode != ptx::Opcode::k_call || in.operands.size() < 2) continue;
            const ptx::Operand& callee = in.operands[1];
            if (callee.kind != ptx::Operand::Kind::kSymbol) continue;
            if (!declared.erase(std::string(callee.name))) continue;
            const ptx::Function* target = module.function(callee.name);  // for an alias: its target
            if (!target || target->is_declaration)
                out.push_back({std::string(callee.name), in.line});
        }
    }
    return out;
}

}  // namespace driver

using namespace driver;
using runtime::Call;

DRIVER_API CUresult cuModuleLoadData(CUmodule* module, const void* image) {
    return load_data("cuModuleLoadData", out(module), image, 0, nullptr, nullptr, false);
}
DRIVER_API CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                                       CUjit_option* options, void** values) {
    return load_data("cuModuleLoadDataEx", out(module), image, count, options, values, false);
}
DRIVER_API CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
    return load_data("cuModuleLoadFatBinary", out(module), image, 0, nullptr, nullptr, false);
}
DRIVER_API CUresult cuModuleLoad(CUmodule* module, const char* path) {
    return load_file("cuModuleLoad", out(module), path, false);
}
DRIVER_API CUresult cuModuleUnload(CUmodule handle) {
    return with_module("cuModuleUnload", handle, [](Call& call, Module& module) {
        return module.is_library ? CUDA_ERROR_NOT_PERMITTED : unload(call, module);
    });
}
DRIVER_API CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
    return with_module("cuModuleGetFunction", handle, [&](Call& call, Module& module) {
        return get_kernel(call, module, name, out(function));
    });
}
DRIVER_API CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule handle) {
    return with_module("cuModuleGetFunctionCount", handle, [&](Call& call, Module& module) {
        return count_kernels(call, module, count);
    });
}
DRIVER_API CUresult cuModuleEnumerateFunctions(CUfunction* list, unsigned room, CUmodule handle) {
    return with_module("cuModuleEnumerateFunctions", handle, [&](Call& call, Module& module) {
        return enumerate(call, module, out(list), room);
    });
}
DRIVER_API CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule handle,
                                         const char* name) {
    return with_module("cuModuleGetGlobal", handle, [&](Call& call, Module& module) {
        return get_variable(call, module, name, address, bytes, false);
    });
}
DRIVER_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
    return run("cuModuleGetLoadingMode", Needs::kInit, [&] {
        if (!mode) return CUDA_ERROR_INVALID_VALUE;
        *mode = CU_MODULE_EAGER_LOADING;
        return CUDA_SUCCESS;
    });
}

// ---- libraries: modules that belong to no context ----------------------------------------------

DRIVER_API CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option* options,
                                      void** values, unsigned count, CUlibraryOption*, void**,
                                      unsigned) {
    return load_data("cuLibraryLoadData", out(library), image, count, options, values, true);
}
DRIVER_API CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option*,
                                          void**, unsigned, CUlibraryOption*, void**, unsigned) {
    return load_file("cuLibraryLoadFromFile", out(library), path, true);
}
DRIVER_API CUresult cuLibraryUnload(CUlibrary handle) {
    return with_module("cuLibraryUnload", handle, unload);
}
DRIVER_API CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary handle, const char* name) {
    return with_module("cuLibraryGetKernel", handle, [&](Call& call, Module& module) {
        return get_kernel(call, module, name, out(kernel));
    });
}
DRIVER_API CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary handle) {
    return with_module("cuLibraryGetKernelCount", handle, [&](Call& call, Module& module) {
        return count_kernels(call, module, count);
    });
}
DRIVER_API CUresult cuLibraryEnumerateKernels(CUkernel* list, unsigned room, CUlibrary handle) {
    return with_module("cuLibraryEnumerateKernels", handle, [&](Call& call, Module& module) {
        return enumerate(call, module, out(list), room);
    });
}
DRIVER_API CUresult cuLibraryGetModule(CUmodule* result, CUlibrary handle) {
    return with_module("cuLibraryGetModule", handle, [&](Call& call, Module& module) {
        if (!result) return CUDA_ERROR_INVALID_VALUE;
        *out(result) = &module;
        return ready(call, module);
    });
}
DRIVER_API CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary handle,
                                       const char* name) {
    return with_module("cuLibraryGetGlobal", handle, [&](Call& call, Module& module) {
        return get_variable(call, module, name, address, bytes, false);
    });
}
DRIVER_API CUresult cuLibraryGetManaged(CUdeviceptr* address, size_t* bytes, CUlibrary handle,
                                        const char* name) {
    return with_module("cuLibraryGetManaged", handle, [&](Call& call, Module& module) {
        return get_variable(call, module, name, address, bytes, true);
    });
}
// A kernel and its functions on all devices have the same handle here.
DRIVER_API CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
    return run("cuKernelGetFunction", [&] {
        if (!function) return CUDA_ERROR_INVALID_VALUE;
        if (!is_kernel(kernel)) return CUDA_ERROR_INVALID_HANDLE;
        *function = reinterpret_cast<CUfunction>(kernel);
        return CUDA_SUCCESS;
    });
}
DRIVER_API CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
    return run("cuKernelGetLibrary", Needs::kInit, [&] {
        if (!library) return CUDA_ERROR_INVALID_VALUE;
        *out(library) = owner_of(kernel);
        return *library ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    });
}
DRIVER_API CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
    return run("cuFuncGetModule", [&] {
        if (!module) return CUDA_ERROR_INVALID_VALUE;
        *out(module) = owner_of(function);
        return *module ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
    });
}
