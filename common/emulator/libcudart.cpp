// SPDX-License-Identifier: MIT
// The drop-in libcudart as a whole: what happens when it is loaded and when the process ends.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <pthread.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "checks/checks.h"
#include "checks/record/counters.h"
#include "checks/record/trace.h"
#include "checks/record/writers.h"
#include "checks/report/report.h"
#include "emulator_api.h"
#include "host_access.h"
#include "machine/lanes/levels.h"
#include "options.h"
#include "output.h"
#include "runtime/core/context.h"
#include "runtime/core/copy.h"
#include "runtime/core/errors.h"
#include "runtime/host_watch/fault_handler.h"
#include "runtime/host_watch/host_pages.h"
#include "runtime/host_watch/host_sites.h"
#include "runtime/host_watch/host_source.h"
#include "runtime/host_watch/internal_error.h"
#include "runtime/host_watch/memory_watch.h"

// Destructors of this library's own objects never run: programs call the API from destructors and
// atexit functions of their own, which may run after any of ours. This definition is bound inside
// the library only.
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void*), void*, void*) {
    return 0;
}

namespace emulator {
namespace {

// Receives every event after the checkers: counts launches, writes findings to the file early, and
// keeps the fault handler in front of handlers that the program installs in the meantime.
class Follower final : public machine::Observer {
public:
    void on_alloc(const machine::Allocation& allocation) override {
        if (allocation.kind != machine::MemoryKind::kHeap) runtime::refresh_fault_handler();
    }
    void on_launch_begin(const machine::LaunchInfo&) override {
        ++launches;
        runtime::refresh_fault_handler();
    }
    void on_launch_end(const machine::LaunchInfo&, const machine::LaunchSummary&) override;
    void on_host_access(const machine::HostAccess&) override { runtime::refresh_fault_handler(); }
    void on_api(const machine::ApiEvent&) override;
    uint64_t launches = 0;
    bool unsupported = false;  // some device code of the program could not be run
};

struct Library {
    Options options;
    checks::Report report;
    std::vector<checks::Checker> checkers;
    std::unique_ptr<checks::Counters> counters;  // null: not requested
    std::unique_ptr<checks::Trace> trace;        // null: not requested
    std::unique_ptr<checks::Writers> writers;    // null: not requested
    Follower follower;
    Output output;
    int exit_status = 0;  // as passed to exit() or returned from main
    bool forked = false;  // in the child: leaks and counters are the parent's to report
};

Library& library() {
    static auto& instance = *new Library;
    return instance;
}

// Where findings go instead of a file. Set before the constructors of this library run.
constinit Output::Tell report_to = nullptr;
constinit bool loaded = false;

void Follower::on_launch_end(const machine::LaunchInfo&, const machine::LaunchSummary&) {
    library().output.stream(library().report);
}
void Follower::on_api(const machine::ApiEvent& event) {
    unsupported |= event.kind == machine::ApiEvent::Kind::kUnsupported;
    library().output.stream(library().report);
}

void count_from_now_on() {
    auto& counters = library().counters;
    if (counters) return;
    counters = std::make_unique<checks::Counters>();
    runtime::context().observers.add(counters.get(), checks::kCountersInterest);
}

// Both structs consist of the same names in the same order.
void fill(EmulatorCounters& to, const checks::Counts& from) {
    static_assert(sizeof to == sizeof from + sizeof to.size);
#define COUNTER(name) to.name = from.name;
#include "checks/record/counter_fields.def"
}

void write_counters() {
    const Library& self = library();
    if (self.options.counters.empty() || self.forked) return;
    std::ofstream file(self.options.counters);
    file << self.counters->to_json() << "\n";
    if (!file.flush())
        std::fprintf(stderr,
                     "emulator: the counters file %s cannot be written: %s\n",
                     self.options.counters.c_str(),
                     std::strerror(errno));
}

[[noreturn]] void stop(const std::string& message) {
    std::fprintf(stderr, "emulator: %s\n", message.c_str());
    _exit(kExitBadUsage);
}

// Takes the runtime's lock, but gives up when another thread keeps it: a process that is ending
// must end.
class EndLock {
public:
    EndLock() : mutex_(runtime::context().mutex) {
        for (int attempt = 0; attempt < 200 && !held_; ++attempt) {
            held_ = mutex_.try_lock();
            if (!held_) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
    }
    ~EndLock() {
        if (held_) mutex_.unlock();
    }
    EndLock(const EndLock&) = delete;
    EndLock& operator=(const EndLock&) = delete;
    bool held() const { return held_; }

private:
    std::recursive_mutex& mutex_;
    bool held_ = false;
};

// `free` and `realloc`: the C library keeps the size of a block in front of it.
bool frees_on_host(const runtime::DeviceFault& fault, const machine::Allocation* allocation) {
    if (!allocation || fault.kind != runtime::DeviceFault::Kind::kRead) return false;
    const uint64_t offset = fault.address - allocation->address;
    return offset == ~uint64_t(7) || offset == ~uint64_t(15);
}

// "host code reads `0x7000000028`, byte 40 of device memory of 4000 bytes"
std::string what_happened(const runtime::DeviceFault& fault,
                          const machine::Allocation* allocation) {
    using Kind = runtime::DeviceFault::Kind;
    std::string text = fault.kind == Kind::kWrite  ? "host code writes to "
                       : fault.kind == Kind::kRead ? "host code reads "
                                                   : "host code calls a function at ";
    text += "`" + runtime::hex(fault.address) + "`, ";
    if (!allocation) return text + "an address of the device that no allocation holds";
    const uint64_t offset = fault.address - allocation->address;
    if (frees_on_host(fault, allocation))
        return "host code reads the bytes in front of device memory, as `free` and `realloc` do: "
               "device memory is freed with `cudaFree`";
    text += offset < allocation->bytes ? "byte " + std::to_string(offset) + " of " : "outside of ";
    text += allocation->live ? "" : "freed ";
    if (!allocation->name.empty()) return text + "the device variable `" + allocation->name + "`";
    const char* kind =
        allocation->kind == machine::MemoryKind::kArray ? "a CUDA array" : "device memory";
    return text + kind + " of " + std::to_string(allocation->bytes) + " bytes";
}

void on_device_fault(const runtime::DeviceFault& fault) {
    const EndLock lock;
    runtime::Context& context = runtime::context();
    machine::ApiEvent event{};
    event.kind = machine::ApiEvent::Kind::kHostDereference;
    event.api = "";
    event.error = cudaErrorIllegalAddress;
    event.address = fault.address;
    event.allocation = context.memory.find(fault.address);
    event.site = fault.site;
    event.message = what_happened(fault, event.allocation);
    if (frees_on_host(fault, event.allocation)) event.reason = machine::ApiEvent::Reason::kHostFree;
    context.fire(event);
    // Printed now, since a handler of the program may end it without returning here.
    library().output.print(library().report);
}

void say_memory_is_used_up() {
    std::fflush(stdout);
    std::fprintf(stderr, "emulator: %s\n", runtime::describe_memory_use().c_str());
}

void on_dying(int) {
    const EndLock lock;
    if (runtime::memory_used_up()) say_memory_is_used_up();
    if (lock.held()) runtime::finish_host_pages();
    library().output.finish(library().report, library().follower.launches, true);
    write_counters();
    if (runtime::memory_used_up()) _exit(kExitOutOfMemory);
}

// The program did not react to the signal: what has been found since the last launch is lost.
void on_memory_used_up() {
    say_memory_is_used_up();
    _exit(kExitOutOfMemory);
}

// A fault of the emulated device itself. A reader of the report must not grade this run.
[[noreturn]] void on_internal_error(const std::string& what) {
    std::fflush(stdout);
    std::fprintf(stderr,
                 "internal error: the emulated device crashed (%s)\n"
                 "  This is not your program's fault, unless its host code has overwritten memory "
                 "that is not its own.\n"
                 "  Handlers for %s on a processor of level %s. Please report it.\n",
                 what.c_str(),
                 machine::level_name(machine::best_level()),
                 machine::level_name(machine::processor_level()));
    library().output.internal_error(what);
    _exit(kExitInternalError);
}

void after_fork() {
    library().forked = true;
    runtime::abandon_host_pages();
    runtime::abandon_memory_watch();
    if (library().trace) library().trace->detach();
    library().output.forget(library().report);
    library().follower.launches = 0;
}

void watch_for_pictures(const Options& options) {
    runtime::Context& context = runtime::context();
    Library& self = library();
    if (options.writers) {
        self.writers = std::make_unique<checks::Writers>(context.memory);
        context.observers.add(self.writers.get(), checks::Writers::kInterests);
    }
    if (options.trace.empty()) return;
    std::FILE* file = std::fopen(options.trace.c_str(), "w");
    if (!file)
        stop("EMULATOR_TRACE=" + options.trace + " cannot be written: " + std::strerror(errno));
    self.trace = std::make_unique<checks::Trace>(context.memory, file);
    context.observers.add(self.trace.get(), checks::Trace::kInterests);
}

void watch_faults(const Options& options) {
    runtime::FaultHooks hooks{};
    const bool checked = options.checks != "none";
    hooks.is_device_address = [](uint64_t) { return false; };
    if (checked)
        hooks.is_device_address = [](uint64_t address) {
            return runtime::context().memory.is_device_address(address);
        };
    hooks.on_device_fault = on_device_fault;
    hooks.on_dying = on_dying;
    hooks.on_internal_crash = on_internal_error;
    hooks.device_fault_exit_code = options.error_exit_code.value_or(kExitHostDereference);
    if (checked)
        watch_host_accesses(
            library().checkers, hooks, [] { library().output.stream(library().report); });
    runtime::install_fault_handler(hooks);
}

__attribute__((constructor)) void load() {
    loaded = true;
    Library& self = library();
    std::vector<std::string> unknown;
    try {
        self.options = options_from_environment(unknown);
    } catch (const BadOption& error) {
        stop(error.what());
    }
    for (const auto& name : unknown)
        std::fprintf(stderr, "emulator: %s is set, but there is no such setting\n", name.c_str());

    runtime::Settings settings;
    settings.devices = self.options.devices;
    settings.arch = self.options.arch;
    settings.memory = self.options.memory;
    settings.budget = self.options.budget.value_or(0);
    runtime::configure(settings);
    runtime::set_internal_error_hook([](const std::string& what) { on_internal_error(what); });
    runtime::set_memory_hook(on_memory_used_up);
    checks::set_host_resolver(runtime::resolve_host_site);
    runtime::Context& context = runtime::context();
    try {
        self.checkers = checks::make_checkers(self.options.checks, self.report, context.memory);
    } catch (const std::invalid_argument& error) {
        stop(std::string("EMULATOR_CHECKS: ") + error.what());
    }
    for (const auto& checker : self.checkers)
        context.observers.add(checker.observer.get(), checker.interests);
    if (!self.options.counters.empty()) count_from_now_on();
    watch_for_pictures(self.options);
    // A process that this one starts appends to the same report.
    const char* session = std::getenv(kSessionVariable);
    const bool child = session && self.options.report == session;
    if (report_to)
        self.output.open(report_to);
    else if (!self.output.open(self.options.report, child))
        _exit(kExitBadUsage);
    context.observers.add(&self.follower,
                          machine::kMemoryEvents | machine::kHostEvents | machine::kLaunchEvents);
    setenv(kSessionVariable, self.options.report.c_str(), 1);
    pthread_atfork(nullptr, nullptr, after_fork);
    at_quick_exit([] { on_dying(0); });
    on_exit([](int status, void*) { library().exit_status = status; }, nullptr);
    watch_faults(self.options);
}

// Runs after main, and after the program's atexit functions and the destructors of its objects.
__attribute__((destructor)) void unload() {
    Library& self = library();
    const EndLock lock;
    if (lock.held() && !self.forked) runtime::finish_host_pages();
    if (lock.held() && !self.forked) runtime::end_process(self.exit_status != 0);
    std::fflush(stdout);
    self.output.finish(self.report, self.follower.launches, false);
    write_counters();
    if (self.trace) self.trace->close();
    int code = self.exit_status;
    if (self.report.errors() > 0) code = self.options.error_exit_code.value_or(code);
    if (self.follower.unsupported && code == 0) {
        code = self.options.error_exit_code.value_or(kExitUnsupported);
        std::fprintf(
            stderr, "emulator: device code could not be run (see above): exit code %d\n", code);
    }
    if (code == self.exit_status) return;
    std::cout.flush();
    std::clog.flush();
    std::fflush(nullptr);
    _exit(code);
}

}  // namespace
}  // namespace emulator

// Called by the generated stubs: 801 is cudaErrorNotSupported, and the next cudaGetLastError
// returns it.
extern "C" __attribute__((visibility("hidden"))) int emulator_unsupported(const char* name) {
    runtime::warn_once(std::string(name) + " is not supported by the emulated device");
    runtime::thread_state().last_error = cudaErrorNotSupported;
    return cudaErrorNotSupported;
}

#define EMULATOR_EXPORT extern "C" __attribute__((visibility("default")))

EMULATOR_EXPORT void emulatorFindingsCount(uint64_t* errors, uint64_t* warnings) {
    const std::lock_guard lock(runtime::context().mutex);
    runtime::enter_host_pages();  // reports what the host has accessed so far
    runtime::leave_host_pages();
    if (errors) *errors = emulator::library().report.errors();
    if (warnings) *warnings = emulator::library().report.warnings();
}

// Counting costs time, so it starts at the first reset (or at once with EMULATOR_COUNTERS).
EMULATOR_EXPORT void emulatorCountersReset() {
    const std::lock_guard lock(runtime::context().mutex);
    emulator::count_from_now_on();
    if (!emulator::report_to) emulator::library().counters->reset();
}

EMULATOR_EXPORT int emulatorReportTo(void (*tell)(const char*, uint64_t, int)) {
    if (emulator::loaded) return 1;
    emulator::report_to = tell;
    return 0;
}

EMULATOR_EXPORT int emulatorCountersGet(EmulatorCounters* counters) {
    const std::lock_guard lock(runtime::context().mutex);
    const auto& counting = emulator::library().counters;
    if (!counters || !counting) return 1;
    // The caller may have been built with a shorter or a longer struct.
    EmulatorCounters totals{};
    emulator::fill(totals, counting->totals());
    const uint64_t size = counters->size;
    std::memcpy(counters, &totals, std::min<uint64_t>(size, sizeof totals));
    counters->size = size;
    return 0;
}

EMULATOR_EXPORT int emulatorCountersLine(uint32_t index, EmulatorLine* line) {
    const std::lock_guard lock(runtime::context().mutex);
    const auto& counting = emulator::library().counters;
    static std::vector<checks::CounterRow> rows;  // of the last call with index 0
    if (index == 0 && counting) rows = counting->lines();
    if (!line || !counting || index >= rows.size()) return 1;
    const checks::CounterRow& row = rows[index];
    EmulatorLine out{};
    out.line = row.line;
    out.warp_instructions = row.warp_instructions;
    out.thread_instructions = row.thread_instructions;
    out.global_load_requests = row.loads.requests;
    out.global_load_sectors = row.loads.sectors;
    out.global_load_bytes = row.loads.bytes;
    out.global_store_requests = row.stores.requests;
    out.global_store_sectors = row.stores.sectors;
    out.global_store_bytes = row.stores.bytes;
    out.shared_load_conflicts = row.conflicts - row.store_conflicts;
    out.shared_store_conflicts = row.store_conflicts;
    out.atomics = row.atomics;
    out.barriers = row.barriers;
    out.branches = row.branches;
    out.divergent_branches = row.divergent;
    std::snprintf(out.kernel, sizeof out.kernel, "%s", row.kernel.c_str());
    std::snprintf(
        out.file, sizeof out.file, "%s", row.file.substr(row.file.rfind('/') + 1).c_str());
    const uint64_t size = line->size;
    std::memcpy(line, &out, std::min<uint64_t>(size, sizeof out));
    line->size = size;
    return 0;
}

EMULATOR_EXPORT int emulatorMemorySet(uint64_t bytes) {
    if (bytes < emulator::kLeastMemory || bytes > emulator::kMostMemory) return 1;
    const std::lock_guard lock(runtime::context().mutex);
    runtime::context().memory.set_capacity(bytes);
    return 0;
}

EMULATOR_EXPORT int emulatorWriterOf(uint64_t address, EmulatorWriter* writer) {
    const std::lock_guard lock(runtime::context().mutex);
    const auto& following = emulator::library().writers;
    const auto found = following ? following->at(address) : std::nullopt;
    if (!found || !writer) return 1;
    EmulatorWriter out{};
    out.by = uint32_t(found->by);
    out.launch = found->launch.serial;
    out.line = found->line.line;
    const auto copy = [](uint32_t* to, const machine::Dim3& from) {
        to[0] = from.x, to[1] = from.y, to[2] = from.z;
    };
    copy(out.grid, found->launch.grid);
    copy(out.block_size, found->launch.block);
    copy(out.block, found->block);
    copy(out.thread, found->thread);
    std::snprintf(out.kernel, sizeof out.kernel, "%s", found->launch.kernel.c_str());
    const std::string& file = found->line.file;
    std::snprintf(out.file, sizeof out.file, "%s", file.substr(file.rfind('/') + 1).c_str());
    const uint64_t size = writer->size;
    std::memcpy(writer, &out, std::min<uint64_t>(size, sizeof out));
    writer->size = size;
    return 0;
}

EMULATOR_EXPORT int emulatorSourceOf(const uint64_t* path, uint32_t length,
                                     EmulatorSource* source) {
    const std::lock_guard lock(runtime::context().mutex);
    if (!path || !source) return 1;
    const ptx::SourceLine line = runtime::blame({path, path + length}, "");
    if (line.line == 0) return 1;
    EmulatorSource out{};
    out.line = line.line;
    std::snprintf(
        out.file, sizeof out.file, "%s", line.file.substr(line.file.rfind('/') + 1).c_str());
    const uint64_t size = source->size;
    std::memcpy(source, &out, std::min<uint64_t>(size, sizeof out));
    source->size = size;
    return 0;
}

EMULATOR_EXPORT int emulatorRecentLaunch(uint32_t ago, EmulatorLaunch* launch) {
    const std::lock_guard lock(runtime::context().mutex);
    const auto& following = emulator::library().writers;
    if (!following || !launch || ago >= following->launches().size()) return 1;
    const checks::LaunchShape& shape = following->launches()[ago];
    EmulatorLaunch out{};
    out.serial = shape.serial;
    const uint32_t grid[3] = {shape.grid.x, shape.grid.y, shape.grid.z};
    const uint32_t block[3] = {shape.block.x, shape.block.y, shape.block.z};
    std::memcpy(out.grid, grid, sizeof grid);
    std::memcpy(out.block_size, block, sizeof block);
    std::snprintf(out.kernel, sizeof out.kernel, "%s", shape.kernel.c_str());
    const uint64_t size = launch->size;
    std::memcpy(launch, &out, std::min<uint64_t>(size, sizeof out));
    launch->size = size;
    return 0;
}
