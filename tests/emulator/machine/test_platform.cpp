// SPDX-License-Identifier: MIT
// What a signal handler learns of an access that the host must not make, and running the one
// instruction that made it.
#include <cstring>
#include <functional>
#include <string>

#include <csetjmp>
#include <csignal>
#include <sys/mman.h>

#include "catch/catch.h"
#include "machine/platform/platform.h"

using machine::HostFault;

namespace {

constexpr size_t kBytes = machine::kHostPageBytes;
typedef uint64_t Pair __attribute__((vector_size(16)));

struct Watch {
    unsigned char* page = nullptr;
    HostFault first{};
    int faults = 0, refused = 0, steps = 0;
    uint64_t returns_to = 0;
    sigjmp_buf back;
} watch;

// The page is open for one instruction.
void on_fault(int, siginfo_t* info, void* context) {
    const HostFault fault = machine::host_fault(*info, context);
    if (++watch.faults == 1) watch.first = fault;
    if (fault.kind == HostFault::Kind::kExecute) {
        watch.returns_to = machine::return_address(context);
        siglongjmp(watch.back, 1);
    }
    mprotect(watch.page, kBytes, PROT_READ | PROT_WRITE);
    if (!machine::begin_single_step(context)) ++watch.refused;
}
void on_step(int, siginfo_t*, void* context) {
    ++watch.steps;
    machine::end_single_step(context);
    mprotect(watch.page, kBytes, PROT_NONE);
}

class Handler {
public:
    Handler(int signal, void (*function)(int, siginfo_t*, void*)) : signal_(signal) {
        struct sigaction ours {};
        ours.sa_sigaction = function;
        ours.sa_flags = SA_SIGINFO;
        sigaction(signal, &ours, &before_);
    }
    ~Handler() { sigaction(signal_, &before_, nullptr); }

private:
    int signal_;
    struct sigaction before_ {};
};

// Runs `access` with the page closed; what it holds afterwards stays in `page`.
void run_closed(const std::function<void(unsigned char*)>& access) {
    const Handler fault(SIGSEGV, on_fault), trap(SIGTRAP, on_step);
    watch.faults = watch.refused = watch.steps = 0;
    mprotect(watch.page, kBytes, PROT_NONE);
    if (sigsetjmp(watch.back, 1) == 0) access(watch.page);
    mprotect(watch.page, kBytes, PROT_READ | PROT_WRITE);
}

struct OpenPage {
    void* mapped;
    OpenPage() {
        constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
        mapped = mmap(nullptr, 2 * kBytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
        const uint64_t aligned = (uint64_t(mapped) + kBytes - 1) / kBytes * kBytes;
        watch.page = reinterpret_cast<unsigned char*>(aligned);
        for (size_t i = 0; i < kBytes; ++i) watch.page[i] = (unsigned char)i;
    }
    ~OpenPage() { munmap(mapped, 2 * kBytes); }
};

}  // namespace

TEST_CASE("platform: a refused access is reported, and then succeeds", "[platform]") {
    struct Access {
        const char* name;
        bool writes;
        size_t at;
        std::function<void(unsigned char*)> run;
    };
    static volatile uint64_t got = 0;
    static unsigned char copy[300];
    const Access accesses[] = {
        {"load of a byte", false, 5, [](unsigned char* p) { got = *(volatile uint8_t*)(p + 5); }},
        {"store of a byte", true, 6, [](unsigned char* p) { *(volatile uint8_t*)(p + 6) = 9; }},
        {"load of a word", false, 8, [](unsigned char* p) { got = *(volatile uint32_t*)(p + 8); }},
        {"store of a word", true, 8, [](unsigned char* p) { *(volatile uint64_t*)(p + 8) = 9; }},
        {"load of a double",
         false,
         16,
         [](unsigned char* p) { got = uint64_t(*(volatile double*)(p + 16) > 0); }},
        {"store of a float", true, 20, [](unsigned char* p) { *(volatile float*)(p + 20) = 9; }},
        {"load of a vector",
         false,
         32,
         [](unsigned char* p) {
             const Pair pair = *(volatile Pair*)(p + 32);
             got = pair[1];
         }},
        {"store of a vector",
         true,
         32,
         [](unsigned char* p) {
             *(volatile Pair*)(p + 32) = Pair{1, 2};
         }},
        {"clearing", true, 64, [](unsigned char* p) { std::memset(p + 64, 0, 1024); }},
        {"copying from it", false, 64, [](unsigned char* p) { std::memcpy(copy, p + 64, 300); }},
    };
    for (const Access& access : accesses) {
        const OpenPage page;
        unsigned char want[2048];
        std::memcpy(want, watch.page, sizeof want);
        access.run(want);
        const uint64_t value = got;
        INFO(access.name);
        got = 0;
        run_closed(access.run);
        CHECK(std::string(watch.first.kind == HostFault::Kind::kWrite ? "writes" : "reads") ==
              (access.writes ? "writes" : "reads"));
        CHECK(watch.first.address >= uint64_t(watch.page) + access.at);
        CHECK(watch.first.address < uint64_t(watch.page) + access.at + 1024);
        CHECK(watch.refused == 0);
        CHECK(watch.steps == watch.faults);
        CHECK(watch.faults >= 1);
        CHECK(std::memcmp(want, watch.page, sizeof want) == 0);
        if (!access.writes) CHECK(got == value);
    }
}

TEST_CASE("platform: an atomic operation writes", "[platform]") {
    const OpenPage page;
    std::memset(watch.page, 0, 8);
    run_closed([](unsigned char* p) { __atomic_fetch_add((uint32_t*)p, 3, __ATOMIC_SEQ_CST); });
    uint32_t sum = 0;
    std::memcpy(&sum, watch.page, sizeof sum);
    CHECK(sum == 3);
    CHECK(watch.faults >= 1);
}

TEST_CASE("platform: a call of what is no code", "[platform]") {
    const OpenPage page;
    static void (*volatile call)() = nullptr;
    call = reinterpret_cast<void (*)()>(watch.page + 16);
    run_closed([](unsigned char*) { call(); });
    CHECK(watch.faults == 1);
    CHECK(watch.first.kind == HostFault::Kind::kExecute);
    CHECK(watch.first.address == uint64_t(watch.page) + 16);
    CHECK(watch.first.pc == watch.first.address);
    const auto here = uint64_t(&run_closed);
    CHECK(watch.returns_to - here + (1 << 24) < 1 << 25);  // code of this program
}
