// SPDX-License-Identifier: MIT
#include "runtime/core/end_request.h"

#include <atomic>

namespace runtime {
namespace {

std::atomic<machine::Machine*> running = nullptr;
std::atomic<bool> requested = false;
static_assert(std::atomic<machine::Machine*>::is_always_lock_free);

void interrupt(int signal) {
    machine::Machine* const machine = running.load();
    if (machine && !requested.exchange(true)) return machine->interrupt();
    // A second SIGTERM ends the process at once.
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

}  // namespace

EndRequest::EndRequest(machine::Machine& machine) {
    struct sigaction ours {};
    ours.sa_handler = interrupt;
    ours.sa_flags = SA_ONSTACK | SA_RESTART;
    sigemptyset(&ours.sa_mask);
    running = &machine;
    installed_ = sigaction(SIGTERM, &ours, &previous_) == 0;
    // If the program ignores SIGTERM, it stays ignored.
    if (installed_ && previous_.sa_handler == SIG_IGN) sigaction(SIGTERM, &previous_, nullptr);
}

EndRequest::~EndRequest() {
    running = nullptr;
    if (installed_) sigaction(SIGTERM, &previous_, nullptr);
    if (requested.exchange(false)) std::raise(SIGTERM);
}

}  // namespace runtime
