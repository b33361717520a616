// SPDX-License-Identifier: MIT
// A seccomp filter (seccomp(2), Documentation/userspace-api/seccomp_filter.rst). A forbidden call
// raises SIGSYS, whose handler says which it was; where that signal is blocked the kernel kills.
#include "confine.h"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "channel.h"

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
    case SYS_mprotect:
    case SYS_pkey_mprotect:
        return "made memory executable (mprotect)";
    default:
        return "made a system call that no lesson needs";
    }
}

void on_forbidden_call(int, siginfo_t* info, void*) {
    tampered(words(info->si_syscall));
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
        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
               prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    }

private:
    static uint32_t low(int argument) {  // the lower half: both processors are little-endian
        return uint32_t(offsetof(seccomp_data, args) + 8 * size_t(argument));
    }
    void add(sock_filter one) {
        code_[length_++] = one;
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
    sock_filter code_[200]{};
    unsigned short length_ = 0;
};

}  // namespace

void confine() {
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
    for (const int call : {SYS_unshare, SYS_setns, SYS_mount}) filter.always(call, kRefuse);
    // A new user namespace has every right in itself. The flags of clone3 are in memory, where no
    // filter sees them; without it the C library calls clone.
    filter.with(SYS_clone, 0, CLONE_NEWUSER, kRefuse);
    filter.always(SYS_clone3, kUnknown);
    filter.always(SYS_memfd_create, kUnknown);    // a file that no limit counts
    filter.always(SYS_io_uring_setup, kUnknown);  // its operations are no system calls
    filter.install();
}

}  // namespace wb::grader
