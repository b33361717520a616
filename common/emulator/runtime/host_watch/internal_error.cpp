// SPDX-License-Identifier: MIT
// Distinguishes a crash of the emulated device from one of the host program.
#include "runtime/host_watch/internal_error.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <string_view>
#include <unwind.h>

#include "runtime/host_watch/host_sites.h"

namespace runtime {
namespace {

void (*the_hook)(const std::string&) = nullptr;

std::string_view file_name(const char* path) {
    const std::string_view whole = path ? path : "";
    return whole.substr(whole.rfind('/') + 1);
}

// Libraries that work on behalf of their caller.
bool is_system_library(std::string_view name) {
    for (const std::string_view start : {"libc.so",
                                         "libc-",
                                         "libm.so",
                                         "libm-",
                                         "libpthread",
                                         "libstdc++",
                                         "libgcc_s",
                                         "ld-linux",
                                         "libdw",
                                         "libelf",
                                         "libzstd",
                                         "liblz4",
                                         "linux-vdso"})
        if (name.starts_with(start)) return true;
    return false;
}

struct Search {
    uint64_t fault;
    bool inside = false;  // past the frames of the signal handler
    bool ours = false;
};

_Unwind_Reason_Code search_frame(_Unwind_Context* context, void* argument) {
    auto& search = *static_cast<Search*>(argument);
    const uint64_t pc = _Unwind_GetIP(context);
    if (!search.inside && pc != search.fault) return _URC_NO_REASON;
    search.inside = true;
    search.ours = is_own_code(pc);
    if (search.ours) return _URC_END_OF_STACK;
    Dl_info info;
    const bool known = dladdr(reinterpret_cast<void*>(pc), &info) != 0;
    return known && is_system_library(file_name(info.dli_fname)) ? _URC_NO_REASON
                                                                 : _URC_END_OF_STACK;
}

bool near_stack_pointer(uint64_t address, uint64_t sp) {
    constexpr uint64_t kBelow = 1 << 20, kAbove = 4 << 10;
    return address + kBelow >= sp && address < sp + kAbove;
}

}  // namespace

int& DeviceWork::depth() {
    thread_local int count = 0;
    return count;
}

void set_internal_error_hook(void (*hook)(const std::string& text)) {
    the_hook = hook;
}

void internal_error(const std::string& text) {
    if (the_hook) return the_hook(text);
    std::fprintf(stderr, "internal error: %s\n", text.c_str());
}

bool is_internal_crash(int signal, const siginfo_t& info, uint64_t pc, uint64_t sp) {
    const bool sent = info.si_code <= 0;
    const bool address_fault = (signal == SIGSEGV || signal == SIGBUS) && !sent;
    // Outside of device work the runtime dereferences pointers that the program passed to it.
    if (address_fault && (!DeviceWork::running() || near_stack_pointer(uint64_t(info.si_addr), sp)))
        return false;
    // abort() is called by a failed check of the emulator, and by the C library in a program that
    // has corrupted its heap: it is the emulator's fault only while device code runs.
    if (signal == SIGABRT && !DeviceWork::running()) return false;
    if (sent && signal != SIGABRT) return false;  // kill(): requested by another process
    Search search{pc};
    _Unwind_Backtrace(search_frame, &search);
    return search.ours;
}

std::string describe_crash(int signal, uint64_t pc) {
    const char* const name = sigabbrev_np(signal);
    std::string text = "SIG" + std::string(name ? name : "?") + ", " + strsignal(signal);
    Dl_info info;
    if (dladdr(reinterpret_cast<void*>(pc), &info) == 0) return text;
    char place[32];
    std::snprintf(place,
                  sizeof place,
                  "+0x%llx",
                  static_cast<unsigned long long>(pc - uint64_t(info.dli_fbase)));
    return text + ", at " + std::string(file_name(info.dli_fname)) + place;
}

}  // namespace runtime
