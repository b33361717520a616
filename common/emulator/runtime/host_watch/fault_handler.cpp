// SPDX-License-Identifier: MIT
// The signal handler that detects host dereferences, and its cooperation with other handlers.
#include "runtime/host_watch/fault_handler.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "runtime/host_watch/host_sites.h"
#include "runtime/host_watch/internal_error.h"

namespace runtime {
namespace {

// The first two can be device faults; all can be faults of the emulator.
constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
constexpr size_t kReportStack = 8 << 20;  // the unwinder and the DWARF reader need a lot
constexpr size_t kSignalStack = 128 << 10;

// qemu before version 8 enters handlers with a stack that is misaligned by 8 bytes, where the
// x86-64 ABI guarantees 16: aligned vector instructions fault there.
#if defined(__x86_64__)
#define SIGNAL_ENTRY [[gnu::force_align_arg_pointer]]
#else
#define SIGNAL_ENTRY
#endif

struct State {
    FaultHooks hooks{};
    std::atomic<bool> installed{false};
    std::atomic<bool> reporting{false};
    void* report_stack = nullptr;
    struct sigaction previous[NSIG];
};

State& state() {
    static auto& instance = *new State;
    return instance;
}

thread_local int nested = 0;             // faults inside the emulator's own handling
thread_local int in_previous = 0;        // the signal whose handler in the program is running
thread_local bool device_fault = false;  // ... because of a device fault

// Runs `body` on the large stack, then switches back. One thread at a time uses that stack; another
// thread that faults in the meantime uses the stack it is on.
struct Switch {
    void (*body)(void*);
    void* argument;
    ucontext_t back;
};
thread_local Switch* current_switch = nullptr;

void trampoline() {
    current_switch->body(current_switch->argument);
}

void on_report_stack(void (*body)(void*), void* argument) {
    if (state().reporting.exchange(true)) {
        body(argument);
        return;
    }
    Switch change{body, argument, {}};
    ucontext_t context;
    if (state().report_stack == MAP_FAILED || getcontext(&context) != 0) {
        body(argument);
    } else {
        context.uc_stack.ss_sp = state().report_stack;
        context.uc_stack.ss_size = kReportStack;
        context.uc_link = &change.back;
        current_switch = &change;
        makecontext(&context, trampoline, 0);
        swapcontext(&change.back, &context);
    }
    state().reporting = false;
}

void finish(int signal) {
    on_report_stack(
        [](void* argument) {
            state().hooks.on_dying(*static_cast<int*>(argument));
            std::fflush(nullptr);
        },
        &signal);
}

// Calls the handler that the program had installed; false if there is none.
bool call_previous(int signal, siginfo_t* info, void* context) {
    const struct sigaction& previous = state().previous[signal];
    if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) return false;
    in_previous = signal;
    if (previous.sa_flags & SA_SIGINFO)
        previous.sa_sigaction(signal, info, context);
    else
        previous.sa_handler(signal);
    in_previous = 0;
    return true;
}

void die_by(int signal, const siginfo_t* info) {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
    // A fault occurs again on return; a signal that was sent does not.
    if (info->si_code <= 0) raise(signal);
}

// Writes the report and ends the process, with an exit code or by the signal on return.
void end(int signal, const siginfo_t* info) {
    ++nested;
    finish(signal);
    --nested;
    if (device_fault) _exit(state().hooks.device_fault_exit_code);
    die_by(signal, info);
}

DeviceFault describe(const siginfo_t& info, const void* context) {
    const machine::HostFault fault = machine::host_fault(info, context);
    // A call of a device address: there is no instruction at that address, so the caller is
    // reported.
    if (fault.kind == DeviceFault::Kind::kExecute)
        return {fault.kind,
                fault.address,
                host_site_without_callers(machine::return_address(context) - 1)};
    return {fault.kind, fault.address, host_site_of_instruction(fault.pc)};
}

SIGNAL_ENTRY void handle(int signal, siginfo_t* info, void* context) {
    State& self = state();
    const bool device_signal = signal == SIGSEGV || signal == SIGBUS;
    if (signal == SIGSEGV && info->si_code > 0 && self.hooks.on_closed_page) {
        const int error = errno;
        const bool again = self.hooks.on_closed_page(machine::host_fault(*info, context), context);
        errno = error;
        if (again) return;
    }
    const uint64_t pc = machine::interrupted_pc(context), sp = machine::interrupted_sp(context);
    if (nested > 0) {
        // The report itself failed: try again without the part that failed, then die as without the
        // emulator.
        if (nested == 1) {
            ++nested;
            finish(signal);
        }
        die_by(signal, info);
        return;
    }
    const bool sent = info->si_code <= 0;  // by raise() or kill(): no address
    if (in_previous == signal && sent) {
        // A handler of the program has finished and passes the signal on: the process ends now.
        end(signal, info);
        return;
    }
    if (device_signal && !sent && self.hooks.is_device_address(uint64_t(info->si_addr))) {
        ++nested;
        DeviceFault fault = describe(*info, context);
        on_report_stack(
            [](void* argument) {
                state().hooks.on_device_fault(*static_cast<DeviceFault*>(argument));
            },
            &fault);
        --nested;
        // The handler of a test framework closes its own report. A handler that jumps away keeps
        // the program alive, as it would without the emulator.
        device_fault = true;
        call_previous(signal, info, context);
        end(signal, info);
        return;
    }
    if (self.hooks.on_internal_crash && is_internal_crash(signal, *info, pc, sp)) {
        ++nested;
        std::string what = describe_crash(signal, pc);
        on_report_stack(
            [](void* argument) {
                state().hooks.on_internal_crash(*static_cast<std::string*>(argument));
            },
            &what);
        --nested;
    }
    if (!in_previous) device_fault = false;
    if (!call_previous(signal, info, context)) end(signal, info);
}

SIGNAL_ENTRY void handle_step(int signal, siginfo_t* info, void* context) {
    const int error = errno;
    const bool ours = state().hooks.on_step(context);
    errno = error;
    if (ours || call_previous(signal, info, context)) return;
    if (state().previous[signal].sa_handler == SIG_IGN) return;
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    sigaction(signal, &standard, nullptr);
    raise(signal);
}

void take(int signal, void (*handler)(int, siginfo_t*, void*) = handle) {
    struct sigaction ours {};
    ours.sa_sigaction = handler;
    // NODEFER: a fault inside the report must reach the check above instead of hanging or ending
    // the process silently.
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigemptyset(&ours.sa_mask);
    struct sigaction before {};
    if (sigaction(signal, nullptr, &before) != 0) return;
    if ((before.sa_flags & SA_SIGINFO) && before.sa_sigaction == handler) return;
    state().previous[signal] = before;
    sigaction(signal, &ours, nullptr);
}

}  // namespace

void install_fault_handler(const FaultHooks& hooks) {
    State& self = state();
    self.hooks = hooks;
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE;
    self.report_stack = mmap(nullptr, kReportStack, PROT_READ | PROT_WRITE, kFlags, -1, 0);
    stack_t old{};
    if (sigaltstack(nullptr, &old) == 0 && (old.ss_flags & SS_DISABLE)) {
        void* memory = mmap(nullptr, kSignalStack, PROT_READ | PROT_WRITE, kFlags, -1, 0);
        stack_t stack{};
        stack.ss_sp = memory;
        stack.ss_size = kSignalStack;
        if (memory != MAP_FAILED) sigaltstack(&stack, nullptr);
    }
    for (const int signal : kSignals) take(signal);
    self.installed = true;
}

void refresh_fault_handler() {
    if (!state().installed) return;
    for (const int signal : kSignals) take(signal);
}

void take_step_signal() {
    if (state().installed && state().hooks.on_step) take(SIGTRAP, handle_step);
}

}  // namespace runtime
