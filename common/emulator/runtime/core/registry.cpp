// SPDX-License-Identifier: MIT
// Registers fat binaries for the program's start-up code, and loads their PTX on demand. The entry
// points are not documented; their behaviour was measured on programs that nvcc compiled.
#include "runtime/core/registry.h"

#include <algorithm>

#include "ptx/container/fatbin.h"
#include "ptx/demangle/demangle.h"

namespace runtime {

cudaError_t refuse(Call& call, cudaError_t error, const std::string& text,
                   const std::string& kernel) {
    warn_once(text);
    return call.misuse(machine::ApiEvent::Kind::kUnsupported,
                       Call::Reason::kUnknown,
                       error,
                       text,
                       0,
                       nullptr,
                       0,
                       kernel);
}

namespace {

// The newest PTX that the device can run; else the oldest, since it has the lowest requirements.
const FatBinary::Image& best_image(const std::vector<FatBinary::Image>& images, unsigned arch) {
    const FatBinary::Image* best = &images.front();
    for (const auto& image : images) {
        const bool fits = image.arch <= arch, best_fits = best->arch <= arch;
        if (fits != best_fits ? fits : fits ? image.arch > best->arch : image.arch < best->arch)
            best = &image;
    }
    return *best;
}

FatBinary& binary_of(void** handle) {
    return *reinterpret_cast<FatBinary*>(handle);
}

// The host accesses a managed variable through `host`: there is one copy, that of the first device
// that loaded it.
void publish_managed(VariableRecord& variable, int device) {
    if (!variable.managed) return;
    void*& pointer = *static_cast<void**>(const_cast<void*>(variable.host));
    const machine::Allocation* known = context().memory.find(reinterpret_cast<uint64_t>(pointer));
    if (known && known->live) return;
    for (const auto& module : variable.binary->loaded[device]) {
        const machine::Allocation* found = module->variable(variable.mangled);
        if (!found || !found->live) continue;
        pointer = reinterpret_cast<void*>(found->address);
        return;
    }
}

// The address of a managed variable on every device; null before it is loaded.
const void* managed_at(const VariableRecord& variable) {
    for (const auto& [device, modules] : variable.binary->loaded)
        for (const auto& module : modules) {
            const machine::Allocation* found = module->variable(variable.mangled);
            if (found && found->live) return reinterpret_cast<const void*>(found->address);
        }
    return nullptr;
}

}  // namespace

Registry& registry() {
    return *context().registry;
}

KernelRecord* find_kernel(const void* function) {
    Registry& all = registry();
    const auto by_handle = all.kernel_by_handle.find(function);
    if (by_handle != all.kernel_by_handle.end()) return by_handle->second;
    const auto by_host = all.kernel_by_host.find(function);
    return by_host == all.kernel_by_host.end() ? nullptr : by_host->second;
}

// A module for a newer device than the one that was chosen (EMULATOR_ARCH), which no device can
// run. Where none was chosen the device fits the program, and a module that it loads later as well.
struct NewerTarget : ptx::ParseError {
    using ParseError::ParseError;
};

// 75 -> "7.5"
static std::string capability(unsigned arch) {
    return std::to_string(arch / 10) + '.' + std::to_string(arch % 10);
}

cudaError_t load_binary(Call& call, FatBinary& binary, int device) {
    if (!binary.problem.empty())
        return refuse(call, cudaErrorNoKernelImageForDevice, binary.problem, {});
    if (binary.loaded.contains(device)) return cudaSuccess;
    const auto failed = binary.load_error.find(device);
    if (failed != binary.load_error.end()) return cudaErrorInvalidPtx;
    std::vector<std::unique_ptr<machine::LoadedModule>> modules;
    machine::Machine::Variables managed;
    for (const auto& [other, loaded] : binary.loaded)
        for (const auto& module : loaded)
            for (const ptx::Variable& variable : module->ptx().variables())
                if (variable.is_managed && !variable.is_extern)
                    managed[std::string(variable.name)] = module->variable(variable.name);
    try {
        machine::Machine& machine = call.global.machine(device);
        for (const auto& images : binary.objects) {
            const FatBinary::Image& image = best_image(images, machine.limits().arch);
            modules.push_back(machine.load(image.text, image.name, device, binary.unit, &managed));
            const unsigned target = modules.back()->ptx().target();
            if (binary.runtime_loaded && call.global.settings.arch &&
                target > machine.limits().arch)
                throw NewerTarget("it was compiled for compute capability " + capability(target) +
                                  ", and the device has " + capability(machine.limits().arch));
        }
    } catch (const std::runtime_error&
                 error) {  // ptx::ParseError, or UnsupportedPtx for a missing symbol
        binary.load_error[device] = error.what();
        for (auto& module : modules) registry().retired.push_back(std::move(module));
        if (dynamic_cast<const NewerTarget*>(&error)) {
            warn_once(std::string("a module is not loaded: ") + error.what());
            return cudaErrorInvalidPtx;  // the program's own mistake, and not a limit of the device
        }
        return refuse(call,
                      dynamic_cast<const ptx::UnsupportedVersion*>(&error)
                          ? cudaErrorUnsupportedPtxVersion
                          : cudaErrorInvalidPtx,
                      std::string(binary.runtime_loaded ? "cannot read a module's PTX: "
                                                        : "cannot read the program's PTX: ") +
                          error.what(),
                      {});
    }
    binary.loaded[device] = std::move(modules);
    for (const auto& variable : registry().variables)
        if (variable->binary == &binary) publish_managed(*variable, device);
    return cudaSuccess;
}

cudaError_t resolve_kernel(Call& call, KernelRecord& record, int device, machine::Kernel*& kernel) {
    KernelRecord::PerDevice& here = record.devices[device];
    kernel = here.kernel;
    if (kernel) return cudaSuccess;
    if (!record.binary) return cudaErrorInvalidDeviceFunction;
    if (const cudaError_t error = load_binary(call, *record.binary, device)) return error;
    for (const auto& module : record.binary->loaded[device]) {
        here.kernel = kernel = module->kernel(record.mangled);
        here.module = module.get();
        if (kernel) return cudaSuccess;
    }
    return refuse(call,
                  cudaErrorInvalidDeviceFunction,
                  "the program's PTX has no kernel `" + record.name +
                      "`: it was compiled for another target. "
                      "Compile with -gencode arch=compute_75,code=compute_75",
                  record.name);
}

const VariableRecord* variable_shadowed_at(uint64_t address) {
    for (const auto& variable : registry().variables) {
        const auto first = reinterpret_cast<uint64_t>(variable->host);
        if (first && !variable->managed && address >= first && address - first < variable->bytes)
            return variable.get();
    }
    return nullptr;
}

cudaError_t resolve_variable(Call& call, const void* symbol, VariableRecord*& record,
                             machine::Allocation*& allocation) {
    Registry& all = registry();
    const auto found = all.variable_by_host.find(symbol);
    record = found == all.variable_by_host.end() ? nullptr : found->second;
    if (!record) {
        // A managed variable may also be given by its address on the device. The pointer at `host`
        // cannot be compared: it is gone when its library was closed.
        for (const auto& variable : all.variables)
            if (symbol && variable->managed && managed_at(*variable) == symbol)
                record = variable.get();
    }
    if (!record) return cudaErrorInvalidSymbol;
    const int device = call.thread.device;
    if (const cudaError_t error = load_binary(call, *record->binary, device)) return error;
    for (const auto& module : record->binary->loaded[device]) {
        allocation = module->variable(record->mangled);
        if (allocation) return cudaSuccess;
    }
    return cudaErrorInvalidSymbol;
}

unsigned program_arch() {
    unsigned arch = 0;
    for (const auto& binary : registry().binaries) {
        if (binary->runtime_loaded) continue;
        // With -rdc one object is the toolkit's device runtime, often for a newer architecture.
        unsigned of_binary = ~0u;
        for (const auto& images : binary->objects) {
            unsigned newest = 0;
            for (const auto& image : images) newest = std::max(newest, image.arch);
            of_binary = std::min(of_binary, newest);
        }
        if (!binary->objects.empty()) arch = std::max(arch, of_binary);
    }
    return arch;
}

void unload_binary(Call& call, FatBinary& binary) {
    Registry& all = registry();
    for (auto& [device, modules] : binary.loaded) {
        for (auto& module : modules) {
            for (machine::Allocation* variable : module->variables())
                if (variable->live) call.global.release(*variable, call.site());
            module->unlink();
            all.retired.push_back(std::move(module));
        }
    }
    binary.loaded.clear();
    for (auto& kernel : all.kernels) {
        if (kernel->binary != &binary) continue;
        kernel->devices.clear();
        all.kernel_by_handle.erase(kernel.get());
        all.kernel_by_host.erase(kernel->host);
    }
}

void unload_device(int device) {
    Registry& all = registry();
    for (auto& binary : all.binaries) {
        for (auto& module : binary->loaded[device]) all.retired.push_back(std::move(module));
        binary->loaded.erase(device);
        binary->load_error.erase(device);
    }
    for (auto& kernel : all.kernels) kernel->devices.erase(device);
}

// ---- called by the start-up code -------------------------------------------------------------

// Extracts the PTX; a program without usable PTX gets an error only when it launches a kernel.
static FatBinary* register_binary(const void* wrapper) {
    Context& all = context();
    const std::lock_guard lock(all.mutex);
    auto binary = std::make_unique<FatBinary>();
    try {
        for (auto& images : ptx::read_all(wrapper)) {
            auto& object = binary->objects.emplace_back();
            for (ptx::PtxImage& image : images)
                object.push_back({std::move(image.text), std::move(image.name), image.arch});
        }
    } catch (const std::exception& error) {
        binary->problem = error.what();
    }
    binary->unit = registry().next_unit++;
    if (binary->objects.empty() && binary->problem.empty())
        binary->problem =
            "the program has no PTX for its kernels. Compile with "
            "-gencode arch=compute_75,code=compute_75 (or -arch=sm_75) so that nvcc embeds it";
    registry().binaries.push_back(std::move(binary));
    return registry().binaries.back().get();
}

KernelRecord* add_kernel(FatBinary& binary, const char* mangled, const void* host) {
    Registry& all = registry();
    auto record = std::make_unique<KernelRecord>();
    record->binary = &binary;
    record->host = host;
    record->mangled = mangled;
    record->name = ptx::demangled_function(mangled);
    if (host) all.kernel_by_host[host] = record.get();
    all.kernel_by_handle[record.get()] = record.get();
    all.kernels.push_back(std::move(record));
    return all.kernels.back().get();
}

static void register_variable(FatBinary& binary, const void* host, const char* mangled,
                              size_t bytes, bool constant, bool managed) {
    Registry& all = registry();
    auto record = std::make_unique<VariableRecord>();
    *record = {&binary, host, mangled, bytes, constant, managed};
    all.variable_by_host[host] = record.get();
    all.variables.push_back(std::move(record));
}

}  // namespace runtime

using namespace runtime;

EMULATOR_API void** __cudaRegisterFatBinary(void* wrapper) {
    return reinterpret_cast<void**>(register_binary(wrapper));
}

EMULATOR_API void __cudaRegisterFatBinaryEnd(void**) {}

// Called by the program's atexit handlers: other handlers may still launch, so nothing is unloaded.
EMULATOR_API void __cudaUnregisterFatBinary(void**) {}

EMULATOR_API void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name,
                                         int, uint3*, uint3*, dim3*, dim3*, int*) {
    const std::lock_guard lock(context().mutex);
    add_kernel(binary_of(handle), name, host);
}

EMULATOR_API void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int,
                                    size_t bytes, int constant, int) {
    const std::lock_guard lock(context().mutex);
    register_variable(binary_of(handle), host, name, bytes, constant != 0, false);
}

EMULATOR_API void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int,
                                           size_t bytes, int, int) {
    const std::lock_guard lock(context().mutex);
    register_variable(binary_of(handle), host, name, bytes, false, true);
}

// The host calls this before its first access to a managed variable, and caches the result.
EMULATOR_API char __cudaInitModule(void** handle) {
    api("__cudaInitModule",
        [&](Call& call) { return load_binary(call, binary_of(handle), call.thread.device); });
    return 1;
}

static cudaError_t kernel_handle(const char* name, void** handle, const void* host) {
    return api(name, kIgnoresFault, [&](Call& call) -> cudaError_t {
        if (!handle) return cudaErrorInvalidValue;
        KernelRecord* record = find_kernel(host);
        if (!record) return cudaErrorInvalidDeviceFunction;
        (void)call;
        *handle = record;
        return cudaSuccess;
    });
}

EMULATOR_API cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
    return kernel_handle("__cudaGetKernel", reinterpret_cast<void**>(kernel), host);
}
EMULATOR_API cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* host) {
    return kernel_handle("cudaGetKernel", reinterpret_cast<void**>(kernel), host);
}
EMULATOR_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* host) {
    return kernel_handle("cudaGetFuncBySymbol", reinterpret_cast<void**>(function), host);
}

EMULATOR_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                                  cudaStream_t stream) {
    thread_state().configurations.push_back({grid, block, shared, stream});
    return 0;
}

EMULATOR_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared,
                                                    void* stream) {
    ThreadState& thread = thread_state();
    if (thread.configurations.empty()) return cudaErrorMissingConfiguration;
    const LaunchConfiguration& top = thread.configurations.back();
    *grid = top.grid;
    *block = top.block;
    *shared = top.shared;
    *static_cast<cudaStream_t*>(stream) = top.stream;
    thread.configurations.pop_back();
    thread.in_launch_stub = true;
    return cudaSuccess;
}
