// SPDX-License-Identifier: MIT
#include "runtime/host_watch/memory_watch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <pthread.h>
#include <thread>
#include <unistd.h>

#include <sys/syscall.h>

#include "runtime/host_watch/memory_levels.h"

namespace runtime {
namespace {

using namespace std::chrono_literals;

// Each byte itself and up to five bytes of shadow memory for scattered accesses (LIMITS.md).
constexpr uint64_t kMostPerByte = 6;
// Bytes that must stay free: more than a program can touch between two polls.
constexpr uint64_t kReserve = 512 << 20;
// An upper bound for one core, since pages are zeroed on first touch.
constexpr uint64_t kMostPerMillisecond = 32 << 20;

struct Watch {
    std::unique_ptr<MemoryLevels> levels;  // null: not read yet
    std::atomic<bool> running = false, used_up = false;
    std::atomic<uint64_t> promised = 0, resident = 0;
    std::atomic<pid_t> user = 0;  // the thread that used device memory last
    void (*end)() = nullptr;
    MemoryNow (*source)() = nullptr;
    uint64_t reserve() const { return std::min(kReserve, levels->limit() / 8); }
    MemoryNow now() const {
        return source ? source() : MemoryNow{levels->available(), levels->resident()};
    }
};

Watch& watch() {
    static Watch& instance = *new Watch;  // the thread outlives the destructors of statics
    return instance;
}

void* watch_loop(void*) {
    Watch& self = watch();
    for (;;) {
        const MemoryNow now = self.now();
        // If other processes have used it up, ending this program would not help.
        if (now.available < self.reserve() && now.resident >= self.reserve()) {
            self.resident = now.resident;
            break;
        }
        const uint64_t left = now.available - std::min(now.available, self.reserve());
        const uint64_t pause = std::clamp<uint64_t>(left / 2 / kMostPerMillisecond, 5, 500);
        std::this_thread::sleep_for(std::chrono::milliseconds(pause));
    }
    self.used_up = true;
    syscall(SYS_tgkill, getpid(), self.user.load(), SIGBUS);
    std::this_thread::sleep_for(1s);  // for the handler to write the findings
    if (self.end) self.end();
    _exit(1);
}

std::string gibibytes(uint64_t bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f GiB", double(bytes) / double(1 << 30));
    return text;
}

}  // namespace

void watch_memory(uint64_t promised) {
    Watch& self = watch();
    self.promised = promised;
    constexpr uint64_t kSmall = 64 << 20;  // querying the system takes longer than the allocation
    if (self.running || promised < kSmall) return;
    if (!self.levels) self.levels = std::make_unique<MemoryLevels>();
    if (promised < self.now().available / kMostPerByte) return;
    self.user = gettid();
    // The new thread must not receive the program's signals.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    self.running = pthread_create(&thread, &attributes, watch_loop, nullptr) == 0;
    if (self.running) pthread_setname_np(thread, "emulator");  // no thread of the program
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void use_device_memory() {
    Watch& self = watch();
    if (!self.running.load(std::memory_order_relaxed)) return;
    self.user.store(gettid(), std::memory_order_relaxed);
}

bool memory_used_up() {
    return watch().used_up;
}

std::string describe_memory_use() {
    Watch& self = watch();
    return "the program has used up the memory of this machine: it occupies " +
           gibibytes(self.resident) +
           ", including the checkers' shadow memory, and has allocated " +
           gibibytes(self.promised) + " on the device; all programs together can use " +
           gibibytes(self.levels->limit()) +
           ". Kernels and copies must touch less memory; fewer checks (EMULATOR_CHECKS) need less "
           "memory, too";
}

void set_memory_hook(void (*end)()) {
    watch().end = end;
}

void abandon_memory_watch() {
    watch().running = false;
}

void set_memory_source(MemoryNow (*source)()) {
    watch().source = source;
}

}  // namespace runtime
