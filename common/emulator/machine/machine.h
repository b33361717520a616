// SPDX-License-Identifier: MIT
// One emulated GPU: loads PTX modules and runs kernels of them, warp by warp, in a fixed order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "machine/observer.h"

namespace machine {

// What a launch may ask for; by default the numbers of a compute capability 7.5 device.
struct Limits {
    uint32_t arch = 75;  // compute capability, major * 10 + minor
    uint32_t multiprocessors = 40;
    uint32_t threads_per_block = 1024, threads_per_multiprocessor = 1024,
             blocks_per_multiprocessor = 16;
    uint32_t registers_per_multiprocessor = 65536;
    uint32_t shared_per_block = 48 << 10, shared_per_block_optin = 64 << 10,
             shared_per_multiprocessor = 64 << 10;
    uint32_t shared_reserved = 0;  // per block, by the system: counts against a multiprocessor's
    uint32_t constant_bytes = 64 << 10;
    Dim3 grid{0x7fffffff, 65535, 65535}, block{1024, 1024, 64};
    // Thread-instructions in a row without progress that count as a hang, where there is no budget.
    uint64_t quiet_instructions = 12'000'000'000;
};

// The values of the conditions of graphs, by handle, as kernels set them with
// cudaGraphSetConditional (CUDA Programming Guide, "Conditional Graph Nodes"). Only while the
// runtime holds its lock.
std::unordered_map<uint64_t, uint32_t>& conditions();

// A kernel that can be launched. Owned by its LoadedModule.
class Kernel {
public:
    virtual ~Kernel() = default;
    virtual const std::string& mangled() const = 0;
    virtual const std::string& name() const = 0;  // demangled, without parameters
    virtual const std::vector<ptx::Parameter>& parameters() const = 0;
    virtual uint32_t parameter_bytes() const = 0;
    virtual uint32_t max_threads() const = 0;  // from __launch_bounds__; 1024 if none
    // From .reqntid: the only shape of a block that a launch may have; zeros if any will do.
    virtual Dim3 required_block() const = 0;
    // These parse and decode the body on first use; throw ptx::ParseError or UnsupportedPtx.
    virtual uint32_t static_shared_bytes() = 0;
    virtual uint32_t local_bytes() = 0;  // per thread
    virtual uint32_t registers() = 0;    // an estimate from live 32-bit values, at most 255
};

// The function uses something that this machine cannot execute. what() lists every opcode with its
// PTX line.
class UnsupportedPtx : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

class LoadedModule {
public:
    virtual ~LoadedModule() = default;
    virtual Kernel* kernel(std::string_view mangled) = 0;  // null: no such entry
    virtual Allocation*
    variable(std::string_view mangled) = 0;  // __device__, __constant__, __managed__; or null
    virtual ptx::Module& ptx() = 0;
    // The module's own variables, which are freed when it is unloaded.
    virtual std::vector<Allocation*> variables() = 0;
    // Other modules no longer see this module's names. Code that has run stays, for findings.
    virtual void unlink() = 0;
};
// Functions that the device runtime supplies (vprintf, malloc, ...): no module defines them.
bool is_device_runtime_function(std::string_view name);
// Whether the name is one of the toolkit's own functions (a launch by a kernel, for example), which
// exist as machine code only. Unless a module defines it, decoding a kernel that calls it fails.
bool is_toolkit_function(std::string_view name);

struct LaunchRequest {
    Kernel* kernel = nullptr;
    Dim3 grid, block;
    uint32_t dynamic_shared_bytes = 0;
    std::vector<std::byte> arguments;  // parameter_bytes() long, laid out as parameters() say
    uint64_t stream = 0;
    int device = 0;
    bool cooperative = false;  // grid-wide synchronisation is allowed
    HostSite site = 0;
};

class TextureTable;

class Machine {
public:
    // `memory` and `observers` must outlive the machine.
    static std::unique_ptr<Machine> create(Memory& memory, Observers& observers,
                                           const Limits& limits = {});
    virtual ~Machine() = default;

    // Places module variables (events on_alloc) and applies initialisers. Throws ptx::ParseError.
    // Modules of one link unit see one another's .visible variables and functions, as the objects
    // of an -rdc program do; other units do not.
    // `managed`: by name, the __managed__ variables that exist already because another device has
    // loaded the module; all devices share them.
    using Variables = std::unordered_map<std::string, Allocation*>;
    virtual std::unique_ptr<LoadedModule> load(std::string ptx_text, std::string name, int device,
                                               uint64_t unit = 0,
                                               const Variables* managed = nullptr) = 0;
    // Runs to completion. The caller has validated limits. Throws ptx::ParseError or UnsupportedPtx
    // when the kernel's code cannot be decoded; nothing has run then.
    virtual LaunchSummary launch(const LaunchRequest& request) = 0;
    // Runs `work`, which does on the host what a library's kernel does on a card, between the
    // events of a launch: `request` without a kernel, and `name` in its place.
    virtual void run_library_kernel(const std::string& name, const LaunchRequest& request,
                                    const std::function<void()>& work) = 0;

    virtual const Limits& limits() const = 0;
    // The number of thread-instructions after which a launch counts as hanging. A warp is charged
    // for 32 lanes, however few are active. 0, the default: no limit, as long as the launch makes
    // progress.
    virtual void set_budget(uint64_t thread_instructions) = 0;
    // Ends the launch that runs, if one does, as if its budget were used up: its observers learn
    // where it is. For signal handlers.
    virtual void interrupt() = 0;
    // In-kernel malloc heap (cudaLimitMallocHeapSize) and per-thread stack in bytes.
    virtual void set_heap_bytes(uint64_t bytes) = 0;
    virtual void set_stack_bytes(uint64_t bytes) = 0;
    // The texture and surface objects that kernels may name. Must outlive the machine.
    virtual void set_textures(const TextureTable* textures) = 0;
    // Bit d: kernels may access memory of device d (0 to 63). All bits are set by default.
    virtual void set_peers(uint64_t devices) = 0;
    // Where device printf goes; stdout by default. Output appears in program order at the launch.
    virtual void set_printf_sink(void (*sink)(const char* text, size_t length)) = 0;
};

}  // namespace machine
