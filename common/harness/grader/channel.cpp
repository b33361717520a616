// SPDX-License-Identifier: MIT
// Reads the grader's settings before any other code of the program runs, and sends it records.
#include "channel.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "confine.h"
#include "intact.h"
#include "landlock.h"

namespace wb::grader {
namespace {

constexpr int kTampered = 87;  // common/workbook/running/case_run.py has it too
constexpr size_t kToken = 16;
constexpr size_t kLongestText = 32 << 10;
constexpr const char* kVariable = "WORKBOOK_GRADER=";

// Set before the constructors of this program run, so it must not have one.
struct State {
    int socket;
    pid_t process;
    bool lost;     // a record could not be sent
    bool is_rank;  // of several
    unsigned char token[kToken];
    char spec[4096];
};
constinit State state{-1, 0, false, false, {}, {}};

// The value of an environment variable, given with its `=`; null if there is none. The C library's
// getenv() does not work yet.
char* variable(char** environment, const char* name) {
    const size_t length = std::strlen(name);
    for (char** entry = environment; entry && *entry; ++entry)
        if (std::strncmp(*entry, name, length) == 0) return *entry + length;
    return nullptr;
}

// The grader's socket, by the value of `WORKBOOK_GRADER=`, which is made unreadable for the rest of
// the program: its number, or for one of several ranks the path that it connects to. mpirun passes
// no open files on. A rank says first which one it is, and its process.
int descriptor_from(char** environment) {
    char* const value = variable(environment, kVariable);
    if (!value) return -1;
    int given = std::atoi(value);
    if (*value == '/') {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, value, sizeof address.sun_path - 1);
        const char* const rank = variable(environment, "OMPI_COMM_WORLD_RANK=");
        const int hello[2] = {rank ? std::atoi(rank) : -1, getpid()};
        given = socket(AF_UNIX, SOCK_SEQPACKET, 0);
        if (connect(given, (const sockaddr*)&address, sizeof address) != 0 ||
            send(given, hello, sizeof hello, MSG_NOSIGNAL) != ssize_t(sizeof hello))
            _exit(kTampered);
        state.is_rank = true;
    }
    std::memset(value, 0, std::strlen(value));
    return given;
}

// What the emulated device reports. The grader hears of its end only if the program is still the
// one that was started.
void device_tells(const char* record, uint64_t length, int last) {
    if (last && state.process == getpid())
        if (const char* what = what_has_changed()) tampered(what);
    tell({record, size_t(length)});
}

// The settings: the token, then `emulator`, `gpu` or `imitated` (the emulator on an imitated
// processor, where the kernel sees another program), a newline, and the test case.
void begin(int, char**, char** environment) {
    const int given = descriptor_from(environment);
    if (given < 0) return;
    char settings[kToken + sizeof state.spec + 16];
    const int flags = state.is_rank ? 0 : MSG_DONTWAIT;
    const ssize_t got = recv(given, settings, sizeof settings - 1, flags);
    // High, where the program does not expect it.
    const int high = fcntl(given, F_DUPFD_CLOEXEC, 300);
    close(given);
    if (high < 0 || got <= ssize_t(kToken)) _exit(kTampered);
    settings[got] = 0;
    char* const device = settings + kToken;
    char* const newline = std::strchr(device, '\n');
    if (!newline || std::strlen(newline + 1) >= sizeof state.spec) _exit(kTampered);
    *newline = 0;
    std::memcpy(state.token, settings, kToken);
    std::strcpy(state.spec, newline + 1);
    state.socket = high;
    state.process = getpid();
    std::memset(settings, 0, kToken);
    using Waits = void (*)(void (*)(const char*, uint64_t));
    if (const auto waits_to = (Waits)dlsym(RTLD_DEFAULT, "mpiWatchReportTo"))
        waits_to([](const char* record, uint64_t length) { tell({record, size_t(length)}); });
    if (std::strcmp(device, "gpu") == 0) return;  // a card's driver starts programs, for one
    using Report = int (*)(void (*)(const char*, uint64_t, int));
    if (const auto report_to = (Report)dlsym(RTLD_DEFAULT, "emulatorReportTo"))
        report_to(device_tells);
    if (std::strcmp(device, "emulator") != 0) return;
    remember_the_program();
    protect_processes();
    confine(high);
}

__attribute__((section(".preinit_array"), used)) void (*const at_start)(int, char**,
                                                                        char**) = begin;

}  // namespace

bool present() {
    return state.socket >= 0;
}

bool is_rank() {
    return state.is_rank;
}

const char* test_spec() {
    return state.spec;
}

// sendmsg() on the grader's socket: the one place from which confine() lets it be called, so that
// having the token is not enough.
__attribute__((section("wb_grader_send"), noinline)) static long
send_to_grader(const msghdr* message) {
#if defined(__x86_64__)
    long result;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(SYS_sendmsg), "D"(long(state.socket)), "S"(message), "d"(long(MSG_NOSIGNAL))
                 : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long call asm("x8") = SYS_sendmsg;
    register long result asm("x0") = state.socket;
    register const msghdr* what asm("x1") = message;
    register long how asm("x2") = MSG_NOSIGNAL;
    asm volatile("svc #0" : "+r"(result) : "r"(call), "r"(what), "r"(how) : "memory");
    return result;
#else
    const ssize_t sent = sendmsg(state.socket, message, MSG_NOSIGNAL);
    return sent < 0 ? -errno : sent;
#endif
}

void tell(std::string_view record) {
    if (!present()) return;
    const auto process = uint32_t(getpid());
    iovec parts[3] = {{state.token, kToken},
                      {const_cast<uint32_t*>(&process), sizeof process},
                      {const_cast<char*>(record.data()), record.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 3;
    long sent;
    do sent = send_to_grader(&message);
    while (sent == -EINTR);
    if (sent >= 0 || state.lost) return;
    state.lost = true;  // longer than the socket takes: without it the others prove nothing
    tell("{\"event\": \"lost\"}");
}

void tampered(std::string_view what) {
    tell("{\"event\": \"tampered\", \"what\": " + json_text(what) + "}");
    _exit(kTampered);
}

std::string json_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text.substr(0, kLongestText)) {
        if (static_cast<unsigned char>(c) < 0x20) {
            constexpr char kDigits[] = "0123456789abcdef";
            out += "\\u00";
            out += {kDigits[c >> 4], kDigits[c & 15]};
        } else {
            if (c == '"' || c == '\\') out += '\\';
            out += c;
        }
    }
    return out + '"';
}

}  // namespace wb::grader
