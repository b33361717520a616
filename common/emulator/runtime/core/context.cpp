// SPDX-License-Identifier: MIT
// The process-wide state, and the frame of API calls (api.h).
#include "runtime/core/context.h"

#include <cstdio>

#include "runtime/core/api.h"
#include "runtime/core/device_properties.h"
#include "runtime/core/errors.h"
#include "runtime/core/pools.h"
#include "runtime/core/registry.h"
#include "runtime/core/stream.h"
#include "runtime/host_watch/host_sites.h"
#include "runtime/host_watch/internal_error.h"
#include "runtime/host_watch/memory_watch.h"

namespace runtime {
namespace {

Settings& requested_settings() {
    static Settings* settings = new Settings;
    return *settings;
}

template <class E>
void fire_host(Context& context, void (machine::Observer::*method)(const E&), const E& event) {
    for (machine::Observer* observer : context.observers.host) (observer->*method)(event);
}

}  // namespace

Context::Context() : settings(requested_settings()), registry(new Registry) {
    if (settings.memory) memory.set_capacity(settings.memory);
    add_devices(size_t(settings.devices < 1 ? 1 : settings.devices));
}

void Context::add_devices(size_t count) {
    for (size_t i = devices.size(); i < count; ++i) {
        Device& added = devices.emplace_back();
        added.ordinal = int(i);
        added.default_stream = new Stream;
        added.default_stream->device = int(i);
        driver_contexts.push_back(std::make_unique<DriverContext>());
        added.primary = driver_contexts.back().get();
        added.primary->id = driver_contexts.size();
        added.primary->device = int(i);
        added.primary->primary = true;
    }
}

Context& context() {
    static Context* only = new Context;
    return *only;
}

ThreadState& thread_state() {
    // A plain pointer: it stays valid in destructors that run after those of thread_local objects.
    thread_local ThreadState* state = nullptr;
    if (!state) {
        Context& all = context();
        const std::lock_guard lock(all.mutex);
        all.threads.push_back(std::make_unique<ThreadState>());
        state = all.threads.back().get();
    }
    return *state;
}

void configure(const Settings& settings) {
    requested_settings() = settings;
}

machine::Machine& Context::machine(int device) {
    Device& wanted = devices[size_t(device)];
    if (!wanted.machine) {
        wanted.machine = settings.make_machine
                             ? settings.make_machine(memory, observers)
                             : machine::Machine::create(memory, observers, limits_of(arch()));
        wanted.machine->set_textures(&textures);
        wanted.machine->set_peers(uint64_t(1) << device);
        if (settings.budget) wanted.machine->set_budget(settings.budget);
        if (settings.printf_sink) wanted.machine->set_printf_sink(settings.printf_sink);
        wanted.machine->set_stack_bytes(wanted.stack_bytes);
        wanted.machine->set_heap_bytes(wanted.heap_bytes);
    }
    return *wanted.machine;
}

unsigned Context::arch() {
    if (!arch_) arch_ = supported_arch(settings.arch ? settings.arch : program_arch());
    return arch_;
}

void Context::fire(const machine::ApiEvent& event) {
    fire_host(*this, &machine::Observer::on_api, event);
}
void Context::fire(const machine::OrderEvent& event) {
    fire_host(*this, &machine::Observer::on_order, event);
}
void Context::fire(const machine::HostAccess& event) {
    fire_host(*this, &machine::Observer::on_host_access, event);
}
void Context::fire_alloc(const machine::Allocation& allocation) {
    for (machine::Observer* observer : observers.memory) observer->on_alloc(allocation);
    watch_memory(memory.promised());
}
void Context::release(machine::Allocation& allocation, machine::HostSite site) {
    allocation.freed_at = site;  // for observers of the free
    for (machine::Observer* observer : observers.memory) observer->on_free(allocation);
    remove_from_pool(allocation);
    forget_host_pages(allocation);
    memory.release(allocation, site);
    advice.erase(allocation.id);
    host_memory.erase(allocation.id);
}

void Context::errors_seen() {
    unchecked.clear();
}

namespace {

void report_unchecked(Context& all, const UncheckedError& unchecked) {
    machine::ApiEvent event{};
    event.kind = machine::ApiEvent::Kind::kUncheckedError;
    event.api = "<<<>>>";
    event.error = int(unchecked.error);
    const std::string name =
        unchecked.status.empty() ? error_name(unchecked.error) : unchecked.status;
    if (!unchecked.api.empty()) {
        event.api = unchecked.api.c_str();
        event.message =
            "`" + unchecked.api + "` failed with " + name + ", and the program ignored the error";
    } else if (unchecked.asynchronous) {
        event.message = "`" + unchecked.kernel + "` failed with " + name +
                        " while it ran, and the program did not check for the error";
    } else {
        event.message = "the launch of `" + unchecked.kernel + "` was rejected with " + name +
                        ", and the program did not check for the error";
    }
    event.kernel = unchecked.kernel;
    event.site = event.other_site = unchecked.site;
    all.fire(event);
}

}  // namespace

void end_process(bool reports_failure) {
    Context& all = context();
    const std::lock_guard lock(all.mutex);
    if (all.ended) return;
    all.ended = true;
    // Failures after the first failed launch are mostly its consequences. Failed calls are reported
    // each.
    bool reported_launch = false;
    for (const UncheckedError& unchecked : all.unchecked) {
        const bool is_launch = unchecked.api.empty();
        if (is_launch ? reported_launch : reports_failure) continue;
        reported_launch |= is_launch;
        report_unchecked(all, unchecked);
    }
    // There is one list for each kind of event: an observer of several kinds is notified once.
    std::set<machine::Observer*> notified;
    for (const auto* list : {&all.observers.memory, &all.observers.host})
        for (machine::Observer* observer : *list)
            if (notified.insert(observer).second) observer->on_process_end();
}

void warn_once(const std::string& text) {
    static std::mutex* mutex = new std::mutex;
    static std::set<std::string>* said = new std::set<std::string>;
    const std::lock_guard lock(*mutex);
    if (!said->insert(text).second) return;
    std::fflush(stdout);
    std::fprintf(stderr, "emulator: %s\n", text.c_str());
}

Call::Call(const char* api_name, unsigned flags)
    : name(thread_state().driver_call ? thread_state().driver_call : api_name), global(context()),
      thread(thread_state()), lock_(global.mutex), flags_(flags) {
    enter_host_pages();
    use_device_memory();
}

machine::HostSite Call::site() {
    if (!site_taken_) {
        site_ = capture_host_site();
        site_taken_ = true;
    }
    return site_;
}

cudaError_t Call::misuse(machine::ApiEvent::Kind kind, Reason reason, cudaError_t error,
                         std::string message, uint64_t address,
                         const machine::Allocation* allocation, machine::HostSite other,
                         std::string kernel) {
    machine::ApiEvent event{};
    event.kind = kind;
    event.reason = reason;
    event.api = name;
    event.error = int(error);
    event.message = std::move(message);
    event.address = address;
    event.allocation = allocation;
    event.site = site();
    event.other_site = other;
    event.kernel = std::move(kernel);
    reported_ = true;
    global.fire(event);
    return error;
}

cudaError_t Call::enter() {
    // "The host function must not make any CUDA API calls."
    if (thread.in_host_function) return cudaErrorNotPermitted;
    if (!thread.driver_call) global.driver_initialised = true;
    if (flags_ & kIgnoresFault) return cudaSuccess;
    bind();
    return device().fault;
}

void Call::bind() {
    if (thread.driver_call) return;
    if (thread.contexts.empty()) thread.bound = true;
    device().primary->active = true;
}

cudaError_t Call::leave(cudaError_t error) {
    const bool remembered = error != cudaSuccess && error != cudaErrorNotReady;
    if (remembered && !thread.driver_call) thread.last_error = error;
    if (error != cudaSuccess && (flags_ & kSynchronises)) {
        std::erase_if(global.unchecked, [&](const UncheckedError& unchecked) {
            return unchecked.asynchronous && unchecked.error == error;
        });
    }
    // The result is ignored, and nothing else reports the error: neither a finding of its own, nor
    // an earlier fault that every call returns from then on.
    constexpr size_t kMostUnchecked = 64;
    const bool launches = name[0] == '<';  // those have no result
    if (error != cudaSuccess && error != cudaErrorNotReady && !reported_ && !launches &&
        device().fault == cudaSuccess && global.unchecked.size() < kMostUnchecked &&
        result_is_ignored_at(site()))
        global.unchecked.push_back({error, site(), {}, false, name});
    return error;
}

cudaError_t Call::failed(const char* what) {
    internal_error(std::string(name) + ": " + what);
    return cudaErrorUnknown;
}

}  // namespace runtime
