// SPDX-License-Identifier: MIT
// Looks at the process as the kernel sees it (proc(5)). A page of a file that was written to is no
// longer the file's, however it was written and whatever it says now.
#include "intact.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace wb::grader {
namespace {

// No objects with constructors: this runs before they would.
struct Text {
    char* data;
    size_t size;
};
struct Constant {
    uint64_t begin, bytes;
    uint64_t* copy;
};
constexpr size_t kMostFiles = 64;
constinit Text code_at_start{nullptr, 0};
// Of each file's code: a tracer of the system's (uprobes) may have written to it already.
constinit uint64_t own_pages_at_start[kMostFiles]{};
constinit Constant constants[4]{};
constinit size_t constant_count = 0;
constinit uint64_t device_begin = 0, device_end = 0;

constexpr const char* kCode = "changed machine code while it ran";
constexpr const char* kPointers = "changed the program's tables of functions";

// The whole file, from mmap: malloc may be what the program has changed.
Text read_file(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return {nullptr, 0};
    constexpr size_t kMost = 8 << 20;
    void* const memory = mmap(
        nullptr, kMost, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    Text text{static_cast<char*>(memory), 0};
    if (memory == MAP_FAILED) text.data = nullptr;
    for (ssize_t got = 1; text.data && got > 0 && text.size < kMost; text.size += size_t(got)) {
        got = read(file, text.data + text.size, kMost - text.size);
        if (got < 0) got = 0;
    }
    close(file);
    return text;
}
void release(Text text) {
    if (text.data) munmap(text.data, 8 << 20);
}

// Calls each(line) for the mappings of files as machine code: addresses, device and inode. The path
// is left out, which changes when a file is removed.
template <class Each>
void for_code(Text maps, Each each) {
    std::string_view rest(maps.data, maps.size);
    while (!rest.empty()) {
        const size_t end = rest.find('\n');
        const std::string_view line = rest.substr(0, end);
        rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
        const size_t blank = line.find(' ');
        if (blank == line.npos || line.substr(blank + 1, 4) != "r-xp") continue;
        if (const size_t path = line.find('/'); path != line.npos) each(line.substr(0, path));
    }
}

// How many pages of the mapping on this line are copies of the process's own.
uint64_t own_pages(std::string_view line, int pagemap) {
    uint64_t begin = 0, end = 0, found = 0;
    if (std::sscanf(line.data(), "%lx-%lx", &begin, &end) != 2) return 0;
    constexpr uint64_t kPresent = 3ull << 62, kOfFile = 1ull << 61;
    const auto page = uint64_t(sysconf(_SC_PAGESIZE));
    uint64_t entries[512];
    for (uint64_t at = begin; at < end;) {
        const uint64_t count = (end - at) / page < 512 ? (end - at) / page : 512;
        const ssize_t got = pread(pagemap, entries, count * 8, off_t(at / page * 8));
        if (got != ssize_t(count * 8)) break;
        for (uint64_t i = 0; i < count; ++i)
            found += (entries[i] & kPresent) && !(entries[i] & kOfFile);
        at += count * page;
    }
    return found;
}

int remember_constants(dl_phdr_info* info, size_t, void* first) {
    auto& is_first = *static_cast<bool*>(first);  // the program itself comes first
    const std::string_view path = info->dlpi_name ? info->dlpi_name : "";
    const bool device = path.find("/libcudart.so") != path.npos;
    const bool wanted = is_first || device;
    is_first = false;
    for (int i = 0; wanted && i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = info->dlpi_phdr[i];
        const uint64_t begin = info->dlpi_addr + part.p_vaddr;
        if (device && part.p_type == PT_LOAD) {
            if (!device_begin || begin < device_begin) device_begin = begin;
            if (begin + part.p_memsz > device_end) device_end = begin + part.p_memsz;
        }
        if (part.p_type != PT_GNU_RELRO || constant_count == 4) continue;
        // Only whole pages become read-only.
        const uint64_t page = uint64_t(sysconf(_SC_PAGESIZE));
        const uint64_t bytes = (begin + part.p_memsz) / page * page - begin;
        if (begin % 8 || begin + bytes < begin || bytes > (64u << 20)) continue;
        void* const copy =
            mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (copy == MAP_FAILED) continue;
        std::memcpy(copy, reinterpret_cast<const void*>(begin), bytes);
        mprotect(copy, bytes, PROT_READ);
        constants[constant_count++] = {begin, bytes, static_cast<uint64_t*>(copy)};
    }
    return 0;
}

}  // namespace

void remember_the_program() {
    code_at_start = read_file("/proc/self/maps");
    const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    size_t file = 0;
    for_code(code_at_start, [&](std::string_view line) {
        if (file < kMostFiles) own_pages_at_start[file++] = own_pages(line, pagemap);
    });
    if (pagemap >= 0) close(pagemap);
    bool first = true;
    dl_iterate_phdr(remember_constants, &first);
}

const char* what_has_changed() {
    if (!code_at_start.data) return nullptr;
    const char* changed = nullptr;
    const Text now = read_file("/proc/self/maps");
    const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    size_t file = 0;
    for_code(code_at_start, [&](std::string_view line) {
        if (file == kMostFiles) return;
        bool same = false;
        for_code(now, [&](std::string_view other) { same = same || other == line; });
        if (now.data && !same) changed = kCode;
        if (own_pages(line, pagemap) > own_pages_at_start[file++]) changed = kCode;
    });
    if (pagemap >= 0) close(pagemap);
    release(now);
    // The emulated device itself puts its functions in the place of some of the C library's.
    for (size_t i = 0; i < constant_count; ++i) {
        const auto* const words = reinterpret_cast<const uint64_t*>(constants[i].begin);
        for (size_t k = 0; k < constants[i].bytes / 8; ++k)
            if (words[k] != constants[i].copy[k] &&
                (words[k] < device_begin || words[k] >= device_end))
                changed = kPointers;
    }
    return changed;
}

}  // namespace wb::grader
