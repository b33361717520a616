// SPDX-License-Identifier: MIT
// A seccomp filter (seccomp(2), Documentation/userspace-api/seccomp_filter.rst). A forbidden call
// raises SIGSYS, whose handler says which it was; where that signal is blocked the kernel kills.
#include "confine.h"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include <asm/sockios.h>
#include <fcntl.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "channel.h"

// Where the machine code of send_to_grader() lies (channel.cpp), by the linker.
extern "C" __attribute__((visibility("hidden"))) const char __start_wb_grader_send[],
    __stop_wb_grader_send[];

namespace wb::grader {
namespace {

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = 0;
#endif

constexpr uint32_t kAllow = SECCOMP_RET_ALLOW, kTell = SECCOMP_RET_TRAP;
constexpr uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;
constexpr uint32_t kBadFile = SECCOMP_RET_ERRNO | EBADF;
constexpr uint32_t kUnknown = SECCOMP_RET_ERRNO | ENOSYS;

const char* words(int call) {
    switch (call) {
    case SYS_execve:
    case SYS_execveat:
        return "started another program";
    case SYS_ptrace:
        return "took control of a process (ptrace)";
    case SYS_pidfd_getfd:
        return "took an open file of another process";
    case SYS_kill:
    case SYS_pidfd_send_signal:
        return "sent a signal to another process";
    case SYS_fcntl:
    case SYS_ioctl:
        return "sent signals to another process, or input to the terminal";
    case SYS_mprotect:
    case SYS_pkey_mprotect:
        return "made memory executable (mprotect)";
    case SYS_mmap:
    case SYS_mremap:
        return "put memory in the place of machine code";
#ifdef SYS_dup2
    case SYS_dup2:
#endif
    case SYS_dup3:
        return "replaced the grader's own channel";
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_sendfile:
    case SYS_splice:
    case SYS_dup:
        return "wrote to the grader's own channel";
    case SYS_recvmsg:
    case SYS_recvmmsg:
        return "took an open file of another process";
    case SYS_seccomp:
    case SYS_prctl:
        return "changed what system calls do (seccomp)";
    default:
        return "made a system call that no lesson needs";
    }
}

void on_forbidden_call(int, siginfo_t* info, void*) {
    tampered(words(info->si_syscall));
}

struct Code {
    uint64_t begin, end;
};

// The machine code of the dynamic loader; empty where there is none, or where it crosses a multiple
// of 4 GiB.
[[maybe_unused]] Code code_of_the_loader() {
    Code found{0, 0};
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* to) {
            if (!info->dlpi_addr || info->dlpi_addr != getauxval(AT_BASE)) return 0;
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const ElfW(Phdr)& part = info->dlpi_phdr[i];
                const uint64_t begin = info->dlpi_addr + part.p_vaddr, end = begin + part.p_memsz;
                if (part.p_type == PT_LOAD && (part.p_flags & PF_X) && begin >> 32 == end >> 32)
                    *static_cast<Code*>(to) = {begin, end};
            }
            return 1;
        },
        &found);
    return found;
}

// A program for the kernel's filter machine, one rule after another.
class Filter {
public:
    void always(int call, uint32_t action) {
        is(call, 1);
        ends(action);
    }
    // `action` unless the argument is one of the two.
    void unless(int call, int argument, uint32_t one, uint32_t other, uint32_t action) {
        is(call, 5);
        load(low(argument));
        add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one, 2, 0));
        add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 1, 0));
        ends(action);
        number();
    }
    // `action` where the argument has these bits.
    void with(int call, int argument, uint32_t bits, uint32_t action) {
        is(call, 4);
        load(low(argument));
        add(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
        ends(action);
        number();
    }
    // `action` where the first argument is `value` and the second is no null pointer.
    void setting(int call, uint32_t value, uint32_t action) {
        is(call, 8);
        load(low(0));
        add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 5));
        load(low(1));
        add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2));
        load(low(1) + 4);
        add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0));
        ends(action);
        number();
    }
    // `action` where the argument is `value`.
    void when(int call, int argument, uint32_t value, uint32_t action) {
        is(call, 4);
        load(low(argument));
        add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
        ends(action);
        number();
    }
    // `action` where `value` lies from the first argument to the second.
    void around(int call, uint32_t value, uint32_t action) {
        is(call, 6);
        load(low(0));
        add(BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, value, 3, 0));
        load(low(1));
        add(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, value, 0, 1));
        ends(action);
        number();
    }
    // `action` where the argument has these bits, or is this value, and the calling instruction is
    // outside of `code`, which does not cross a multiple of 4 GiB.
    void with_outside(int call, int argument, uint32_t bits, Code code, uint32_t action) {
        outside(call, argument, BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 6), code, action);
    }
    void when_outside(int call, int argument, uint32_t value, Code code, uint32_t action) {
        outside(call, argument, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 6), code, action);
    }
    void begin() {
        load(offsetof(seccomp_data, arch));
        add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
        ends(kTell);
        number();
#if defined(__x86_64__)  // x32 has the same calls under other numbers
        add(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));
        ends(kUnknown);
#endif
    }
    bool install() {
        ends(kAllow);
        const sock_fprog program{length_, code_};
        return length_ <= kMost && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
               prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    }

private:
    static uint32_t low(int argument) {  // the lower half: both processors are little-endian
        return uint32_t(offsetof(seccomp_data, args) + 8 * size_t(argument));
    }
    void outside(int call, int argument, sock_filter test, Code code, uint32_t action) {
        constexpr uint32_t kFrom = offsetof(seccomp_data, instruction_pointer);
        is(call, 9);
        load(low(argument));
        add(test);
        load(kFrom + 4);
        add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(code.begin >> 32), 0, 3));
        load(kFrom);
        add(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, uint32_t(code.begin), 0, 1));
        add(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, uint32_t(code.end), 0, 1));
        ends(action);
        number();
    }
    void add(sock_filter one) {
        if (length_ < kMost) code_[length_] = one;
        ++length_;
    }
    void load(uint32_t offset) {
        add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
    }
    void number() {
        load(offsetof(seccomp_data, nr));
    }
    void ends(uint32_t action) {
        add(BPF_STMT(BPF_RET | BPF_K, action));
    }
    void is(int call, uint8_t else_skip) {
        add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(call), 0, else_skip));
    }
    static constexpr unsigned short kMost = 500;
    sock_filter code_[kMost]{};
    unsigned short length_ = 0;
};

}  // namespace

void confine(int channel) {
    if (kArchitecture == 0) return;
    struct sigaction action {};
    action.sa_sigaction = on_forbidden_call;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    if (sigaction(SIGSYS, &action, nullptr) != 0) return;
    const auto self = uint32_t(getpid());
    Filter filter;
    filter.begin();
    for (const int call :
         {SYS_execve, SYS_execveat, SYS_ptrace, SYS_pidfd_getfd, SYS_pidfd_send_signal})
        filter.always(call, kTell);
    // The emulated device reads this process's own memory so. A forked child has another number.
    for (const int call : {SYS_process_vm_readv, SYS_process_vm_writev})
        filter.unless(call, 0, self, self, kRefuse);
    filter.unless(SYS_kill, 0, self, 0, kTell);
    // raise() and abort() are tgkill; those of a forked child fail, and it ends all the same.
    filter.unless(SYS_tgkill, 0, self, self, kRefuse);
    for (const int call : {SYS_tkill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo})
        filter.always(call, kRefuse);
    filter.with(SYS_mprotect, 2, PROT_EXEC, kTell);
    filter.with(SYS_pkey_mprotect, 2, PROT_EXEC, kTell);
    filter.setting(SYS_rt_sigaction, SIGSYS, kRefuse);
    // Nothing but send_to_grader() writes to the channel, under this number, which stays its only
    // one. Otherwise what is sent could be changed on its way, or made up.
    const auto socket = uint32_t(channel);
    const Code sends{uint64_t(__start_wb_grader_send), uint64_t(__stop_wb_grader_send)};
    if (sends.begin >> 32 == sends.end >> 32)
        filter.when_outside(SYS_sendmsg, 0, socket, sends, kTell);
    for (const int call : {SYS_write, SYS_writev, SYS_sendto, SYS_sendmmsg, SYS_sendfile, SYS_dup})
        filter.when(call, 0, socket, kTell);
    filter.when(SYS_splice, 2, socket, kTell);
    filter.when(SYS_fcntl, 0, socket, kBadFile);
#ifdef SYS_dup2
    filter.when(SYS_dup2, 1, socket, kTell);
#endif
    filter.when(SYS_dup3, 1, socket, kTell);
    filter.when(SYS_close, 0, socket, kBadFile);
    filter.around(SYS_close_range, socket, kBadFile);
    if (!is_rank())  // MPI receives messages so, and an open file could be one
        for (const int call : {SYS_recvmsg, SYS_recvmmsg}) filter.always(call, kTell);
    filter.always(SYS_seccomp, kTell);
    filter.when(SYS_prctl, 0, PR_SET_SECCOMP, kTell);
#if defined(__x86_64__)  // on arm64 the emulated device does so too
    // Machine code is mapped by the loader alone, for libraries.
    if (const Code loader = code_of_the_loader(); loader.end)
        filter.with_outside(SYS_mmap, 2, PROT_EXEC, loader, kTell);
#endif
    filter.with(SYS_mremap, 3, MREMAP_FIXED, kTell);
    filter.with(SYS_shmat, 2, SHM_EXEC | SHM_REMAP, kRefuse);
    filter.always(SYS_remap_file_pages, kRefuse);
    // With READ_IMPLIES_EXEC all memory is executable. ~0 only asks.
    filter.unless(SYS_personality, 0, ~0u, ~0u, kRefuse);
    // The kernel sends a signal of the caller's choice to the owner of a file's events.
    for (const uint32_t how : {F_SETOWN, F_SETOWN_EX}) filter.when(SYS_fcntl, 1, how, kTell);
    for (const uint32_t how : {FIOSETOWN, SIOCSPGRP, TIOCSTI})
        filter.when(SYS_ioctl, 1, how, kTell);
    for (const int call : {SYS_unshare, SYS_setns, SYS_mount, SYS_move_mount, SYS_bpf})
        filter.always(call, kRefuse);
    // A new user namespace has every right in itself, and with CLONE_PARENT a process becomes the
    // grader's child. The flags of clone3 are in memory, where no filter sees them; without it the
    // C library calls clone.
    filter.with(SYS_clone, 0, CLONE_NEWUSER | CLONE_PARENT, kRefuse);
    filter.always(SYS_clone3, kUnknown);
    filter.always(SYS_memfd_create, kUnknown);    // a file that no limit counts
    filter.always(SYS_io_uring_setup, kUnknown);  // its operations are no system calls
    filter.install();
}

}  // namespace wb::grader
