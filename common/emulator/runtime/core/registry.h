// SPDX-License-Identifier: MIT
// What the program's start-up code registered: fat binaries, kernels and variables, by the host
// addresses that represent them. PTX is loaded into a device on first use.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "machine/machine.h"
#include "runtime/core/api.h"

namespace runtime {

struct FatBinary;

// A __global__ function; its address is the program's cudaKernel_t and cudaFunction_t.
struct KernelRecord {
    FatBinary* binary = nullptr;  // null: the host function was never registered as a kernel
    const void* host = nullptr;
    std::string mangled;
    std::string name;  // for messages
    struct PerDevice {
        machine::Kernel* kernel = nullptr;  // resolved on first use
        machine::LoadedModule* module = nullptr;
        uint32_t max_dynamic_shared = 0;  // cudaFuncSetAttribute; 0: not set
        bool max_dynamic_set = false;
        int carveout = -1;
    };
    std::map<int, PerDevice> devices;
};

struct VariableRecord {
    FatBinary* binary = nullptr;
    const void* host = nullptr;
    std::string mangled;
    size_t bytes = 0;
    bool constant = false, managed = false;
};

// The contents of one __cudaRegisterFatBinary call or one module of the driver API: several objects
// when -rdc or the driver's linker combined them. They are one link unit.
struct FatBinary {
    struct Image {
        std::string text, name;
        unsigned arch = 0;
    };
    std::vector<std::vector<Image>> objects;  // of each, the PTX for one or more architectures
    std::string problem;          // why there is no PTX, as a full sentence; empty otherwise
    uint64_t unit = 0;            // for machine::Machine::load
    bool runtime_loaded = false;  // by the driver API; else by start-up code
    std::map<int, std::vector<std::unique_ptr<machine::LoadedModule>>> loaded;  // by device
    std::map<int, std::string> load_error;
};

struct Registry {
    std::vector<std::unique_ptr<FatBinary>> binaries;
    uint64_t next_unit = 1;
    std::vector<std::unique_ptr<KernelRecord>> kernels;
    std::vector<std::unique_ptr<VariableRecord>> variables;
    std::unordered_map<const void*, KernelRecord*> kernel_by_host;
    std::unordered_map<const void*, KernelRecord*> kernel_by_handle;
    std::unordered_map<const void*, VariableRecord*> variable_by_host;
    // Modules of a device that was reset are kept: findings may still refer to their code.
    std::vector<std::unique_ptr<machine::LoadedModule>> retired;
    std::vector<std::unique_ptr<machine::Machine>> retired_machines;  // of those modules
};

Registry& registry();

// Finds by host function or by handle; null if it is neither.
KernelRecord* find_kernel(const void* function);
// Reports code that cannot run, on stderr and as ApiEvent kUnsupported, and returns `error`.
cudaError_t refuse(Call& call, cudaError_t error, const std::string& text,
                   const std::string& kernel);
// Loads the record's module into `device` if necessary. On failure prints the reason on stderr,
// fires ApiEvent kUnsupported and returns the documented error.
cudaError_t resolve_kernel(Call& call, KernelRecord& record, int device, machine::Kernel*& kernel);

// The allocation of a registered variable on the current device. cudaErrorInvalidSymbol if it is
// unknown.
cudaError_t resolve_variable(Call& call, const void* symbol, VariableRecord*& record,
                             machine::Allocation*& allocation);

// The registered variable whose host shadow contains `address`: what its name refers to in host
// code. Null if there is none.
const VariableRecord* variable_shadowed_at(uint64_t address);

// Loads every image of `binary` into `device`; idempotent.
cudaError_t load_binary(Call& call, FatBinary& binary, int device);
// The compute capability that the program's fat binaries were compiled for, such as 75 or 90: the
// newest for which all objects of a fat binary have PTX. 0: the program has no PTX.
unsigned program_arch();
// Adds a kernel of `binary` by its PTX name, without registration by start-up code: it has a handle
// and no stub.
KernelRecord* add_kernel(FatBinary& binary, const char* mangled, const void* host = nullptr);
// Unloads the modules of `binary`; its handles become invalid.
void unload_binary(Call& call, FatBinary& binary);

// cudaDeviceReset: drops everything that is loaded; kernels and variables load again on their next
// use.
void unload_device(int device);

}  // namespace runtime
