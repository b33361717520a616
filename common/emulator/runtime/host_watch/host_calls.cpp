// SPDX-License-Identifier: MIT
#include "runtime/host_watch/host_calls.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/host_watch/fault_handler.h"
#include "runtime/host_watch/host_pages.h"

namespace runtime {
namespace {

// The system writes the buffers of calls that read, and reads the buffers of calls that write.
enum Direction : bool { kReads = false, kWrites = true };

// The C library's function `name`, and a replacement that checks a buffer first. `done`: how many
// bytes of it were used, computed from the result.
#define BUFFER_CALL(name, result, parameters, arguments, direction, buffer, bytes, done)           \
    result(*real_##name) parameters = nullptr;                                                     \
    result watched_##name parameters {                                                             \
        const HostRange range(buffer, bytes, direction);                                           \
        const auto r = real_##name arguments;                                                      \
        const int error = errno;                                                                   \
        range.used(done);                                                                          \
        errno = error;                                                                             \
        return r;                                                                                  \
    }

uint64_t positive(ssize_t r) {
    return r > 0 ? uint64_t(r) : 0;
}

BUFFER_CALL(read, ssize_t, (int f, void* b, size_t n), (f, b, n), kWrites, b, n, positive(r))
BUFFER_CALL(write, ssize_t, (int f, const void* b, size_t n), (f, b, n), kReads, b, n, positive(r))
BUFFER_CALL(pread, ssize_t, (int f, void* b, size_t n, off_t o), (f, b, n, o), kWrites, b, n,
            positive(r))
BUFFER_CALL(pread64, ssize_t, (int f, void* b, size_t n, off64_t o), (f, b, n, o), kWrites, b, n,
            positive(r))
BUFFER_CALL(pwrite, ssize_t, (int f, const void* b, size_t n, off_t o), (f, b, n, o), kReads, b, n,
            positive(r))
BUFFER_CALL(pwrite64, ssize_t, (int f, const void* b, size_t n, off64_t o), (f, b, n, o), kReads, b,
            n, positive(r))
BUFFER_CALL(recv, ssize_t, (int f, void* b, size_t n, int o), (f, b, n, o), kWrites, b, n,
            positive(r))
BUFFER_CALL(send, ssize_t, (int f, const void* b, size_t n, int o), (f, b, n, o), kReads, b, n,
            positive(r))
BUFFER_CALL(recvfrom, ssize_t, (int f, void* b, size_t n, int o, struct sockaddr* a, socklen_t* l),
            (f, b, n, o, a, l), kWrites, b, n, positive(r))
BUFFER_CALL(sendto, ssize_t,
            (int f, const void* b, size_t n, int o, const struct sockaddr* a, socklen_t l),
            (f, b, n, o, a, l), kReads, b, n, positive(r))
BUFFER_CALL(getrandom, ssize_t, (void* b, size_t n, unsigned o), (b, n, o), kWrites, b, n,
            positive(r))
BUFFER_CALL(fread, size_t, (void* b, size_t s, size_t n, FILE* f), (b, s, n, f), kWrites, b, s* n,
            s* r)
BUFFER_CALL(fwrite, size_t, (const void* b, size_t s, size_t n, FILE* f), (b, s, n, f), kReads, b,
            s* n, s* r)
BUFFER_CALL(fread_unlocked, size_t, (void* b, size_t s, size_t n, FILE* f), (b, s, n, f), kWrites,
            b, s* n, s* r)
BUFFER_CALL(fwrite_unlocked, size_t, (const void* b, size_t s, size_t n, FILE* f), (b, s, n, f),
            kReads, b, s* n, s* r)
// An unbuffered stream passes the string itself to the system.
BUFFER_CALL(fputs, int, (const char* b, FILE* f), (b, f), kReads, b, std::strlen(b), ~0ull >> 1)
BUFFER_CALL(puts, int, (const char* b), (b), kReads, b, std::strlen(b), ~0ull >> 1)
// With _FORTIFY_SOURCE.
BUFFER_CALL(__read_chk, ssize_t, (int f, void* b, size_t n, size_t m), (f, b, n, m), kWrites, b, n,
            positive(r))
BUFFER_CALL(__pread_chk, ssize_t, (int f, void* b, size_t n, off_t o, size_t m), (f, b, n, o, m),
            kWrites, b, n, positive(r))
BUFFER_CALL(__pread64_chk, ssize_t, (int f, void* b, size_t n, off64_t o, size_t m),
            (f, b, n, o, m), kWrites, b, n, positive(r))
BUFFER_CALL(__recv_chk, ssize_t, (int f, void* b, size_t n, size_t m, int o), (f, b, n, m, o),
            kWrites, b, n, positive(r))
BUFFER_CALL(__fread_chk, size_t, (void* b, size_t m, size_t s, size_t n, FILE* f), (b, m, s, n, f),
            kWrites, b, s* n, s* r)

// The same for lists of buffers.
#define VECTOR_CALL(name, parameters, arguments, direction, list, count)                           \
    ssize_t(*real_##name) parameters = nullptr;                                                    \
    ssize_t watched_##name parameters {                                                            \
        for (size_t i = 0; i < size_t(count); ++i)                                                 \
            HostRange((list)[i].iov_base, (list)[i].iov_len, direction).used((list)[i].iov_len);   \
        return real_##name arguments;                                                              \
    }

VECTOR_CALL(readv, (int f, const iovec* v, int n), (f, v, n), kWrites, v, n)
VECTOR_CALL(writev, (int f, const iovec* v, int n), (f, v, n), kReads, v, n)
VECTOR_CALL(preadv, (int f, const iovec* v, int n, off_t o), (f, v, n, o), kWrites, v, n)
VECTOR_CALL(pwritev, (int f, const iovec* v, int n, off_t o), (f, v, n, o), kReads, v, n)
VECTOR_CALL(recvmsg, (int f, msghdr* m, int o), (f, m, o), kWrites, m->msg_iov, m->msg_iovlen)
VECTOR_CALL(sendmsg, (int f, const msghdr* m, int o), (f, m, o), kReads, m->msg_iov, m->msg_iovlen)

// A handler that the program installs while pages are closed must not receive their faults.
int (*real_sigaction)(int, const struct sigaction*, struct sigaction*) = nullptr;
int watched_sigaction(int signal, const struct sigaction* now, struct sigaction* before) {
    const int r = real_sigaction(signal, now, before);
    if (r == 0 && now && signal == SIGSEGV) refresh_fault_handler();
    return r;
}
sighandler_t (*real_signal)(int, sighandler_t) = nullptr;
sighandler_t watched_signal(int signal, sighandler_t handler) {
    const sighandler_t r = real_signal(signal, handler);
    if (r != SIG_ERR && signal == SIGSEGV) refresh_fault_handler();
    return r;
}

struct Watched {
    const char* name;
    void* ours;
    void** real;
};

#define WATCHED(name)                                                                              \
    Watched {                                                                                      \
#name, reinterpret_cast < void*>(&watched_##name),                                         \
            reinterpret_cast < void**>(&real_##name)                                               \
    }
const Watched kWatched[] = {
    WATCHED(read),       WATCHED(write),          WATCHED(pread),
    WATCHED(pread64),    WATCHED(pwrite),         WATCHED(pwrite64),
    WATCHED(recv),       WATCHED(send),           WATCHED(recvfrom),
    WATCHED(sendto),     WATCHED(getrandom),      WATCHED(fread),
    WATCHED(fwrite),     WATCHED(fread_unlocked), WATCHED(fwrite_unlocked),
    WATCHED(__read_chk), WATCHED(__pread_chk),    WATCHED(__pread64_chk),
    WATCHED(__recv_chk), WATCHED(__fread_chk),    WATCHED(readv),
    WATCHED(writev),     WATCHED(preadv),         WATCHED(pwritev),
    WATCHED(recvmsg),    WATCHED(sendmsg),        WATCHED(sigaction),
    WATCHED(signal),     WATCHED(fputs),          WATCHED(puts),
};

std::string_view file_of(const char* path) {
    const std::string_view name = path ? path : "";
    return name.substr(name.rfind('/') + 1);
}

bool begins(std::string_view name, std::initializer_list<const char*> with) {
    return std::any_of(
        with.begin(), with.end(), [&](const char* w) { return name.rfind(w, 0) == 0; });
}

// Libraries that implement or intercept system calls: they use these names internally.
bool is_system(std::string_view name) {
    return begins(name,
                  {"libc.so",
                   "libc-",
                   "ld-linux",
                   "ld-",
                   "libpthread",
                   "linux-vdso",
                   "libasan.",
                   "libtsan.",
                   "libubsan.",
                   "liblsan.",
                   "libclang_rt",
                   "libcudart.",
                   "libcuda."});
}

// Libraries through which devices or other processes access this process's memory unobserved.
bool reaches_in(std::string_view name) {
    return begins(name, {"libmpi", "libuct", "libucp", "libfabric", "liburing", "libaio"});
}

bool unknown_code =
    false;  // a name that is watched belongs to a function outside of the system libraries

struct Object {
    uint64_t base;
    const ElfW(Sym) * symbols;
    const char* names;
    uint64_t relro_begin, relro_end;  // whole pages that are read-only
};

const Watched* find(const char* name) {
    for (const Watched& w : kWatched)
        if (*w.real && std::strcmp(w.name, name) == 0) return &w;
    return nullptr;
}

uint64_t page_bytes() {
    static const auto bytes = uint64_t(sysconf(_SC_PAGESIZE));
    return bytes;
}

bool point(const Object& object, void** slot, void* to) {
    const uint64_t at = uint64_t(slot);
    const bool relro = at >= object.relro_begin && at < object.relro_end;
    void* const page = reinterpret_cast<void*>(at & ~(page_bytes() - 1));
    if (relro && mprotect(page, page_bytes(), PROT_READ | PROT_WRITE) != 0) return false;
    __atomic_store_n(slot, to, __ATOMIC_RELEASE);
    if (relro) mprotect(page, page_bytes(), PROT_READ);
    return true;
}

bool change(const Object& object, const ElfW(Rela) * relocations, uint64_t bytes) {
    bool all = true;
    for (uint64_t i = 0; relocations && i < bytes / sizeof(ElfW(Rela)); ++i) {
        const auto type = ELF64_R_TYPE(relocations[i].r_info);
        if (type != machine::kCallRelocation && type != machine::kAddressRelocation) continue;
        const ElfW(Sym)& symbol = object.symbols[ELF64_R_SYM(relocations[i].r_info)];
        // Defined by the object itself: unrelated to the system's function.
        if (symbol.st_shndx != SHN_UNDEF) continue;
        const Watched* const w = find(object.names + symbol.st_name);
        if (!w) continue;
        auto* const slot = reinterpret_cast<void**>(object.base + relocations[i].r_offset);
        if (*slot != w->ours) all &= point(object, slot, w->ours);
    }
    return all;
}

bool change(const dl_phdr_info& info) {
    Object object{info.dlpi_addr, nullptr, nullptr, 0, 0};
    const ElfW(Dyn)* dynamic = nullptr;
    for (int i = 0; i < info.dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = info.dlpi_phdr[i];
        const uint64_t begin = info.dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_DYNAMIC) dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
        if (segment.p_type == PT_GNU_RELRO) {
            object.relro_begin = begin & ~(page_bytes() - 1);
            object.relro_end = (begin + segment.p_memsz) & ~(page_bytes() - 1);
        }
    }
    if (!dynamic) return true;
    const auto address = [&](uint64_t value) {
        return value < info.dlpi_addr ? value + info.dlpi_addr : value;
    };
    const ElfW(Rela)* calls = nullptr, *data = nullptr;
    uint64_t call_bytes = 0, data_bytes = 0;
    for (const ElfW(Dyn)* d = dynamic; d->d_tag != DT_NULL; ++d) {
        const uint64_t value = d->d_un.d_val;
        if (d->d_tag == DT_SYMTAB)
            object.symbols = reinterpret_cast<const ElfW(Sym)*>(address(value));
        if (d->d_tag == DT_STRTAB) object.names = reinterpret_cast<const char*>(address(value));
        if (d->d_tag == DT_JMPREL) calls = reinterpret_cast<const ElfW(Rela)*>(address(value));
        if (d->d_tag == DT_RELA) data = reinterpret_cast<const ElfW(Rela)*>(address(value));
        if (d->d_tag == DT_PLTRELSZ) call_bytes = value;
        if (d->d_tag == DT_RELASZ) data_bytes = value;
    }
    if (!object.symbols || !object.names) return true;
    const bool both = change(object, calls, call_bytes);
    return change(object, data, data_bytes) && both;
}

using Range = std::pair<uint64_t, uint64_t>;

// Where the code of the system's libraries lies. dladdr would search the C library's symbols for
// each function that is looked up, at the start of every program.
std::vector<Range> system_code() {
    std::vector<Range> found;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* argument) {
            if (!is_system(file_of(info->dlpi_name))) return 0;
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const ElfW(Phdr)& segment = info->dlpi_phdr[i];
                if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) continue;
                const uint64_t begin = info->dlpi_addr + segment.p_vaddr;
                static_cast<std::vector<Range>*>(argument)->emplace_back(begin,
                                                                         begin + segment.p_memsz);
            }
            return 0;
        },
        &found);
    return found;
}

struct LibraryWalk {
    unsigned long long added = 0;
    std::set<std::string> done;  // by name and address
    bool all = true;
};

}  // namespace

void prepare_host_calls() {
    const std::vector<Range> system = system_code();
    for (const Watched& w : kWatched) {
        void* const real = dlsym(RTLD_DEFAULT, w.name);
        if (!real) continue;
        const auto address = reinterpret_cast<uint64_t>(real);
        const auto holds = [&](const Range& r) { return r.first <= address && address < r.second; };
        // Or else a function of the program's own with that name.
        if (std::any_of(system.begin(), system.end(), holds))
            *w.real = real;
        else
            unknown_code = true;
    }
}

bool watch_host_calls() {
    static LibraryWalk& walk = *new LibraryWalk;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* argument) {
            auto& self = *static_cast<LibraryWalk*>(argument);
            if (self.added == info->dlpi_adds) return 1;  // nothing was loaded since the last call
            const std::string_view name = file_of(info->dlpi_name);
            const std::string key = std::string(info->dlpi_name) + std::to_string(info->dlpi_addr);
            if (is_system(name) || !self.done.insert(key).second) return 0;
            if (reaches_in(name)) self.all = false;
            if (!change(*info)) self.all = false;
            return 0;
        },
        &walk);
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* argument) {
            static_cast<LibraryWalk*>(argument)->added = info->dlpi_adds;
            return 1;
        },
        &walk);
    return walk.all && !unknown_code;
}

}  // namespace runtime
