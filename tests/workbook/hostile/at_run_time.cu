// SPDX-License-Identifier: MIT
// Answers that try to pass by other means than the work. The variable HOSTILE chooses one; `right`
// lets the work be done as well. Those that the linker's names give away are in test_forged.py.
#include "double_all.h"

#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <typeinfo>

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" void __cxa_throw(void*, void*, void (*)(void*));
extern "C" void* __cxa_allocate_exception(size_t) noexcept;

__global__ void double_all_kernel(float* data, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2.0f;
}

__global__ void count_up_kernel(int* out, int n, bool beyond) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n || beyond) out[i] = i;
}

namespace {

bool is(const char* name) {
    const char* chosen = std::getenv("HOSTILE");
    return chosen && std::strstr(chosen, name);
}

// What Catch2 writes for a test that passed.
constexpr char kReport[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Catch name=\"t\"><Group name=\"t\">"
    "<TestCase name=\"task 2: counts up\"><OverallResult success=\"true\"/></TestCase>"
    "<OverallResults successes=\"4\" failures=\"0\" expectedFailures=\"0\"/></Group>"
    "<OverallResults successes=\"4\" failures=\"0\" expectedFailures=\"0\"/></Catch>\n";

// Into every file that the command line or the environment names, and every one that is open.
void write_reports() {
    const auto write_to = [](const std::string& path) {
        const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK, 0600);
        if (file >= 0 && write(file, kReport, sizeof kReport - 1) >= 0) close(file);
    };
    for (const char* list : {"/proc/self/cmdline", "/proc/self/environ"}) {
        const int file = open(list, O_RDONLY);
        static char text[1 << 16];
        const ssize_t size = read(file, text, sizeof text - 1);
        close(file);
        for (ssize_t at = 0; at < size; at += ssize_t(std::strlen(text + at)) + 1) {
            const char* path = std::strchr(text + at, '=');
            path = path ? path + 1 : text + at;
            if (std::strstr(path, "/workbook-")) write_to(path);
        }
    }
    for (int number = 3; number < 512; ++number)
        if (write(number, kReport, sizeof kReport - 1) > 0) fsync(number);
    std::printf("%s", kReport);
}

void start(const char* program) {
    char setting[] = "EMULATOR_CHECKS=none";
    char* arguments[] = {const_cast<char*>(program), nullptr};
    char* environment[] = {setting, nullptr};
    syscall(SYS_execve, program, arguments, environment);
}

// The kernel writes to pages of machine code whatever their protection says, for debuggers.
void write_to_own_memory(void* at) {
    const int memory = open("/proc/self/mem", O_RDWR);
    if (memory < 0) std::perror("/proc/self/mem");
    char code[4];
    std::memcpy(code, at, sizeof code);
    if (memory >= 0 && pwrite(memory, code, sizeof code, off_t(at)) < 0) std::perror("write");
    close(memory);
}

// Machine code that the program does not run any more.
void write_to_code() {
    const auto page = uintptr_t(static_cast<float (*)(float)>(&lgammaf)) & ~uintptr_t(4095);
    syscall(SYS_mprotect, page, 4096, PROT_READ | PROT_WRITE);
    *reinterpret_cast<volatile char*>(page) = *reinterpret_cast<char*>(page);
}

// Own memory in the place of a page of the device's code.
void put_over_code(bool moved) {
    const auto page = reinterpret_cast<void*>(uintptr_t(&cudaFree) & ~uintptr_t(4095));
    constexpr int kHow = MAP_PRIVATE | MAP_ANONYMOUS;
    const int access = PROT_READ | PROT_WRITE | (moved ? 0 : PROT_EXEC);
    void* const own =
        mmap(moved ? nullptr : page, 4096, access, kHow | (moved ? 0 : MAP_FIXED), -1, 0);
    if (moved) syscall(SYS_mremap, own, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, page);
}

// Whatever the program reports comes here first.
void put_socket_before_the_grader() {
    int own[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, own) != 0) return;
    for (int number = 3; number < 1024; ++number) {
        int kind = 0;
        socklen_t size = sizeof kind;
        if (number != own[0] && number != own[1] &&
            getsockopt(number, SOL_SOCKET, SO_TYPE, &kind, &size) == 0)
            dup2(own[0], number);
    }
}

// Each message is sent, as far as the program knows.
void filter_messages(bool by_prctl) {
    sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{4, code};
    if (by_prctl) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

// The kernel sends the signal, when something can be read.
void let_the_kernel_signal() {
    int own[2];
    if (pipe(own) != 0) return;
    fcntl(own[0], F_SETOWN, getppid());
    fcntl(own[0], F_SETFL, O_ASYNC | O_NONBLOCK);
}

// The grader's memory, environment and terminal.
void look_at_the_grader() {
    // Not `environ`: since Linux 6.16 a process that may use perf on this one may read that.
    for (const char* name : {"mem", "fd/1"}) {
        const std::string path = "/proc/" + std::to_string(getppid()) + "/" + name;
        if (open(path.c_str(), name[0] == 'f' ? O_WRONLY : O_RDONLY) >= 0)
            std::printf("reached %s\n", path.c_str());
    }
}

// Work of another process would not be counted.
void share_with_others(int* d_out) {
    cudaIpcMemHandle_t handle;
    std::printf("shares: %s\n", cudaGetErrorName(cudaIpcGetMemHandle(&handle, d_out)));
}

// The table of virtual functions of some object of the C++ library's or the test's: constant data
// of this program.
void write_to_a_table() {
    static wb::CudaError error(cudaSuccess, "", "", 0);
    void** const table = *reinterpret_cast<void***>(&error);
    const auto page = uintptr_t(table) & ~uintptr_t(4095);
    syscall(SYS_mprotect, page, 4096, PROT_READ | PROT_WRITE);
    table[2] = table[1];
}

// An exception of a type that Catch2 takes for its own, without a name that the linker would see.
[[noreturn]] void throw_as_catch() {
    struct Own {};
    struct Type {
        const void* table;
        const char* name;
    };
    static Type forged;
    std::memcpy(&forged, &typeid(Own), sizeof forged);
    forged.name = "N5Catch20TestFailureExceptionE";
    __cxa_throw(__cxa_allocate_exception(1), &forged, nullptr);
    std::abort();
}

const int before_main = [] {
    if (is("report in constructor")) write_reports();
    if (is("report at exit")) std::atexit(write_reports);
    if (is("exit in constructor")) _exit(0);
    if (is("exit at exit")) std::atexit([] { _exit(0); });
    if (is("settings")) {
        setenv("EMULATOR_CHECKS", "none", 1);
        char changed[] = "EMULATOR_CHECKS=none";
        putenv(changed);
    }
    if (is("start itself")) start("/proc/self/exe");
    if (is("start solution")) start(std::getenv("HOSTILE_PROGRAM"));
    if (is("trace")) syscall(SYS_ptrace, 16 /* PTRACE_ATTACH */, getppid(), 0, 0);
    if (is("stop the grader")) syscall(SYS_kill, getppid(), SIGSTOP);
    if (is("stop its thread")) syscall(SYS_tkill, getppid(), SIGSTOP);
    if (is("write to the grader")) syscall(SYS_process_vm_writev, getppid(), 0, 0, 0, 0, 0);
    if (is("mask")) {
        struct sigaction quiet {};
        quiet.sa_handler = SIG_IGN;
        sigaction(SIGSYS, &quiet, nullptr);
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, nullptr);
        start("/proc/self/exe");
    }
    if (is("make writable"))
        syscall(SYS_mprotect,
                uintptr_t(&is) & ~uintptr_t(4095),
                4096,
                PROT_READ | PROT_WRITE | PROT_EXEC);
    if (is("patch device")) write_to_own_memory(reinterpret_cast<void*>(&cudaFree));
    if (is("patch program")) write_to_own_memory(reinterpret_cast<void*>(&write_reports));
    if (is("patch library")) write_to_own_memory(reinterpret_cast<void*>(&std::memcmp));
    if (is("unprotect")) write_to_code();
    if (is("map over")) put_over_code(false);
    if (is("move over")) put_over_code(true);
    if (is("socket before")) put_socket_before_the_grader();
    if (is("filter")) filter_messages(false);
    if (is("other filter")) filter_messages(true);
    if (is("kernel signals")) let_the_kernel_signal();
    if (is("look")) look_at_the_grader();
    if (is("table")) write_to_a_table();
    if (is("close"))
        for (int number = 3; number < 1024; ++number) close(number);
    if (is("replace"))
        for (int number = 3, null = open("/dev/null", O_WRONLY); number < 1024; ++number)
            if (fcntl(number, F_GETFD) >= 0) dup2(null, number);
    return 0;
}();

// After the body of a test, for the calls after the first.
void hostile_call() {
    static int calls = 0;
    if (++calls == 2 && is("throw")) throw_as_catch();
    if (is("child goes on") && fork() != 0) {
        wait(nullptr);
        _exit(0);
    }
    if (is("exit 0")) std::exit(0);
    if (is("quick")) std::quick_exit(0);
}

}  // namespace

void double_all(float* d_data, int n) {
    if (n == 0) return;
    double_all_kernel<<<(n + 255) / 256, 256>>>(d_data, n);
    CUDA_CHECK(cudaGetLastError());
}

void count_up(int* d_out, int n) {
    const bool right = is("right") || is("throw"), beyond = is("settings");
    if (n > 0 && (right || beyond)) count_up_kernel<<<(n + 255) / 256, 256>>>(d_out, n, beyond);
    CUDA_CHECK(cudaGetLastError());
    if (is("share")) share_with_others(d_out);
    hostile_call();
}
