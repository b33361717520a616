// SPDX-License-Identifier: MIT
// The drop-in libcudart as a whole: sets it up when it is loaded, reports faults, and writes the
// output when the process ends.
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

#include "cudart/host_access.h"
#include "cudart/library.h"
#include "machine/lanes/levels.h"
#include "runtime/core/context.h"
#include "runtime/core/copy.h"
#include "runtime/core/errors.h"
#include "runtime/host_watch/host_pages.h"
#include "runtime/host_watch/host_sites.h"
#include "runtime/host_watch/internal_error.h"
#include "runtime/host_watch/memory_watch.h"

// Destructors of this library's own objects never run: programs call the API from destructors and
// atexit functions of their own, which may run after any of ours. The definition is hidden, so it
// applies to this library only.
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void*), void*, void*) {
    return 0;
}

namespace emulator {

constinit Output::Sink report_to = nullptr;
constinit bool loaded = false;

Library& library() {
    static auto& instance = *new Library;
    return instance;
}

void start_counting() {
    auto& counters = library().counters;
    if (counters) return;
    counters = std::make_unique<checks::Counters>();
    runtime::context().observers.add(counters.get(), checks::kCountersInterest);
}

void start_timeline() {
    auto& timeline = library().timeline;
    if (timeline) return;
    timeline = std::make_unique<checks::Timeline>();
    runtime::context().observers.add(timeline.get(), checks::Timeline::kInterests);
}

void Follower::on_launch_end(const machine::LaunchInfo&, const machine::LaunchSummary&) {
    library().output.stream(library().report);
}
void Follower::on_api(const machine::ApiEvent& event) {
    unsupported |= event.kind == machine::ApiEvent::Kind::kUnsupported;
    library().output.stream(library().report);
}

namespace {

void write_file(const char* what, const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text;
    if (!file.flush())
        std::fprintf(stderr,
                     "emulator: the %s file %s cannot be written: %s\n",
                     what,
                     path.c_str(),
                     std::strerror(errno));
}

void write_records() {
    const Library& self = library();
    if (self.forked) return;
    if (!self.options.counters.empty())
        write_file("counters", self.options.counters, self.counters->to_json() + "\n");
    if (!self.options.timeline.empty())
        write_file("timeline", self.options.timeline, self.timeline->chrome_trace());
}

[[noreturn]] void stop(const std::string& message) {
    std::fprintf(stderr, "emulator: %s\n", message.c_str());
    _exit(kExitBadUsage);
}

// Takes the runtime's lock, but gives up after 2 seconds if another thread holds it: the process
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

// Whether the fault is in `free` or `realloc`: the C library stores a block's size before the
// block.
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
    if (!allocation) return text + "a device address outside of all allocations";
    const uint64_t offset = fault.address - allocation->address;
    if (frees_on_host(fault, allocation))
        return "host code reads the bytes before device memory, as `free` and `realloc` do: free "
               "device memory with `cudaFree`";
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

void print_memory_use() {
    std::fflush(stdout);
    std::fprintf(stderr, "emulator: %s\n", runtime::describe_memory_use().c_str());
}

void on_dying(int) {
    const EndLock lock;
    if (runtime::memory_used_up()) print_memory_use();
    if (lock.held()) runtime::finish_host_pages();
    library().output.finish(library().report, library().follower.launches, true);
    write_records();
    if (runtime::memory_used_up()) _exit(kExitOutOfMemory);
}

// The program did not react to the signal: findings since the last launch are lost.
void on_memory_used_up() {
    print_memory_use();
    _exit(kExitOutOfMemory);
}

// A fault of the emulated device itself, reported so that this run is not graded.
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
    library().inherited |= runtime::context().driver_initialised;
    runtime::abandon_host_pages();
    runtime::abandon_memory_watch();
    if (library().trace) library().trace->detach();
    library().output.forget(library().report);
    library().follower.launches = 0;
}

void start_recording(const Options& options) {
    runtime::Context& context = runtime::context();
    Library& self = library();
    if (options.writers) {
        self.writers = std::make_unique<checks::Writers>(context.memory);
        context.observers.add(self.writers.get(), checks::Writers::kInterests);
    }
    if (!options.timeline.empty()) start_timeline();
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
    settings.ipc = !report_to;  // what another process does is not graded
    runtime::configure(settings);
    runtime::set_internal_error_hook([](const std::string& what) { on_internal_error(what); });
    runtime::set_memory_hook(on_memory_used_up);
    checks::set_host_resolver(runtime::resolve_host_site);
    runtime::Context& context = runtime::context();
    try {
        const checks::Selection selection = checks::select_checkers(self.options.checks);
        self.report.restrict_to(selection.codes);
        self.checkers = checks::make_checkers(selection, self.report, context.memory);
    } catch (const std::invalid_argument& error) {
        stop(std::string("EMULATOR_CHECKS: ") + error.what());
    }
    self.report.merge_races_of_a_line();
    for (const auto& checker : self.checkers)
        context.observers.add(checker.observer.get(), checker.interests);
    if (!self.options.counters.empty()) start_counting();
    start_recording(self.options);
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
    if (lock.held() && !self.inherited) runtime::end_process(self.exit_status != 0);
    std::fflush(stdout);
    self.output.finish(self.report, self.follower.launches, false);
    write_records();
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
