// SPDX-License-Identifier: MIT
// The state of the runtime: devices, memory, streams, modules and errors of this process. Created
// on first use and never destroyed, because programs call the API from destructors that run after
// main.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "machine/machine.h"
#include "machine/memory.h"
#include "machine/observer.h"
#include "machine/texture.h"
#include "runtime/core/export.h"

namespace runtime {

struct Stream;
struct Event;
struct Registry;

// <<<grid, block, shared, stream>>> between the call site and the kernel's host stub.
struct LaunchConfiguration {
    dim3 grid, block;
    size_t shared = 0;
    cudaStream_t stream = nullptr;
};

// A context of the driver API. The runtime API works in a device's primary context; contexts that a
// program creates share its memory and only differ in which one is current.
struct DriverContext {
    uint64_t id = 0;
    int device = 0;
    bool primary = false, live = true;
    bool active = false;    // primary: in use
    unsigned retained = 0;  // primary: cuDevicePrimaryCtxRetain
    unsigned flags = 0;
};

struct ThreadState {
    int device = 0;
    // Contexts of the driver API, the current one last. Empty with `bound`: a call of the runtime
    // API has made the primary context of `device` current.
    std::vector<DriverContext*> contexts;
    bool bound = false;
    // The name of the driver API function that is running on top of a runtime function, for
    // messages. In that case no error is stored for cudaGetLastError.
    const char* driver_call = nullptr;
    bool in_host_function = false;  // of cudaLaunchHostFunc or a stream callback
    cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
    bool per_thread_default = false;  // see PerThreadDefault
    cudaError_t last_error = cudaSuccess;
    std::vector<LaunchConfiguration> configurations;
    bool in_launch_stub = false;  // a configuration was popped: the next launch is a <<<>>>
    std::map<int, Stream*> default_streams;  // cudaStreamPerThread, by device
};

// A launch or call that failed, and whose error the program has not checked yet.
struct UncheckedError {
    cudaError_t error;
    machine::HostSite site;
    std::string kernel;       // of a launch
    bool asynchronous;        // the kernel started and failed; else it never started
    std::string api = {};     // of a call whose result was ignored; empty for a launch
    std::string status = {};  // of a library's function: the name of what it returned
};

struct Device {
    int ordinal = 0;
    cudaError_t fault = cudaSuccess;  // a kernel faulted: every later call returns this
    unsigned flags = 0;
    std::set<int> peers;  // devices whose memory kernels of this device may access
    size_t stack_bytes = 1024, printf_bytes = 1 << 20, heap_bytes = 8 << 20;
    size_t l2_fetch_bytes = 64, pending_launches = 2048;
    cudaFuncCache cache = cudaFuncCachePreferNone;
    std::unique_ptr<machine::Machine> machine;  // made on first use: Context::machine()
    Stream* default_stream = nullptr;           // the legacy one, id 0; owned
    DriverContext* primary = nullptr;           // lives as long as the process
};

// Set by the assembly before the first API call; later changes have no effect.
struct Settings {
    int devices = 1;
    unsigned arch = 0;    // compute capability as 75; 0: as the program was compiled
    uint64_t memory = 0;  // bytes of each device; 0: the default of machine::Memory
    uint64_t budget = 0;  // thread-instructions of one launch; 0: the machine's default
    std::unique_ptr<machine::Machine> (*make_machine)(machine::Memory&,
                                                      machine::Observers&) = nullptr;
    bool ipc = true;  // cudaIpc*: processes may share memory and events
    void (*printf_sink)(const char* text, size_t length) = nullptr;  // null: the machine's default
};

// What the runtime stores about a host allocation or registration in addition to
// machine::Allocation.
struct HostMemory {
    unsigned flags = 0;
};

// Advice and prefetches for managed memory, as cudaMemRangeGetAttribute returns them. Stored for
// whole allocations.
struct Advice {
    bool read_mostly = false;
    cudaMemLocation preferred{cudaMemLocationTypeInvalid, 0};
    cudaMemLocation prefetched{cudaMemLocationTypeInvalid, 0};
    std::set<int> accessed_by;  // devices; cudaCpuDeviceId: the host
};

struct Context {
    machine::Memory memory;
    machine::Observers observers;
    Settings settings;
    machine::TextureTable textures;
    std::recursive_mutex mutex;  // held by every API call while it runs
    std::vector<Device> devices;
    std::set<Stream*> streams;  // live ones that the program created
    std::set<Event*> events;
    // Default streams of devices that were reset. Kept so that no new stream gets a handle that the
    // program still has.
    std::vector<Stream*> retired_streams;
    std::vector<Event*> retired_events;
    uint64_t next_stream = 1, next_event = 1;
    std::unordered_map<uint32_t, HostMemory> host_memory;  // by allocation id
    std::unordered_map<uint32_t, Advice> advice;           // by allocation id
    std::vector<UncheckedError> unchecked;
    std::vector<std::unique_ptr<ThreadState>> threads;
    std::vector<std::unique_ptr<DriverContext>> driver_contexts;  // all contexts ever created
    Registry* registry = nullptr;
    // By cuInit, or by the first call of the runtime API of any thread.
    std::atomic<bool> driver_initialised = false;
    bool ended = false;

    machine::Machine& machine(int device);
    const machine::Limits& limits() { return machine(0).limits(); }
    // The compute capability of all devices, such as 75; determined on first use.
    unsigned arch();
    int device_count() const { return int(devices.size()); }
    // Up to `count` in all.
    void add_devices(size_t count);

    // Events for observers; the lists are those of machine::Observers.
    void fire(const machine::ApiEvent& event);
    void fire(const machine::OrderEvent& event);
    void fire(const machine::HostAccess& event);
    void fire_alloc(const machine::Allocation& allocation);
    // Fires on_free and then releases.
    void release(machine::Allocation& allocation, machine::HostSite site);

    // The program has just received errors: none of them is unchecked any more.
    void errors_seen();

private:
    unsigned arch_ = 0;
    friend Context& context();
    Context();
    ~Context() = delete;  // leaked on purpose
};

Context& context();
ThreadState& thread_state();

// To be called before the first API call of the program.
void configure(const Settings& settings);
// Reports unchecked errors, then fires on_process_end, when the process ends normally. Idempotent.
// To be called by a destructor of the shared library, after the program's own. `reports_failure`:
// the exit status reports a failure, so the program has checked for errors in some way.
void end_process(bool reports_failure = false);

// Prints one line to stderr, prefixed "emulator: "; each text only once per process.
void warn_once(const std::string& text);

}  // namespace runtime
