// SPDX-License-Identifier: MIT
#include "machine/shared_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <vector>

#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine/address_space.h"

namespace machine {
namespace {

constexpr int kSeals = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;

int fail(int file, int error) {
    if (file >= 0) close(file);
    errno = error;
    return -1;
}

bool has_name(const std::string& link, const std::string& name) {
    char text[256];
    const ssize_t length = readlink(link.c_str(), text, sizeof text);
    return length > 0 && std::string(text, size_t(length)) == "/memfd:" + name + " (deleted)";
}

bool is_zero(const std::byte* at, uint64_t bytes) {
    return bytes == 0 || (at[0] == std::byte{0} && std::memcmp(at, at + 1, size_t(bytes - 1)) == 0);
}

// Which pages from an address on have contents of their own, be it in memory or swapped out (the
// kernel's Documentation/admin-guide/mm/pagemap.rst). Where the system does not say: all.
class TouchedPages {
public:
    TouchedPages() : file_(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {}
    ~TouchedPages() {
        if (file_ >= 0) close(file_);
    }
    TouchedPages(const TouchedPages&) = delete;
    TouchedPages& operator=(const TouchedPages&) = delete;
    const std::vector<uint64_t>& from(const std::byte* address, uint64_t pages) {
        constexpr uint64_t kUnknown = ~uint64_t(0);
        entries_.assign(pages, kUnknown);
        const auto at =
            off_t(reinterpret_cast<uint64_t>(address) / page_bytes() * sizeof(uint64_t));
        if (file_ >= 0 && pread(file_, entries_.data(), pages * sizeof(uint64_t), at) !=
                              ssize_t(pages * sizeof(uint64_t)))
            entries_.assign(pages, kUnknown);
        return entries_;
    }
    static bool touched(uint64_t entry) { return entry >> 62 != 0; }  // swapped, present

private:
    const int file_;
    std::vector<uint64_t> entries_;
};

}  // namespace

int make_shared_file(const std::string& name, uint64_t bytes) {
    const int file = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    if (ftruncate(file, off_t(bytes)) != 0 || fcntl(file, F_ADD_SEALS, kSeals) != 0)
        return fail(file, errno);
    // The program may expect low numbers for descriptors of its own.
    const int high = fcntl(file, F_DUPFD_CLOEXEC, 200);
    if (high < 0) return file;
    close(file);
    return high;
}

int open_shared_file(int owner, int number, const std::string& name, uint64_t bytes) {
    const std::string link = "/proc/" + std::to_string(owner) + "/fd/" + std::to_string(number);
    // A handle may be wrong, and another file of that number is none of our business.
    errno = 0;
    if (!has_name(link, name)) return fail(-1, errno == EACCES ? EACCES : ENOENT);
    const int file = open(link.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return -1;
    struct stat status {};
    if (fcntl(file, F_GET_SEALS) != kSeals || fstat(file, &status) != 0 ||
        uint64_t(status.st_size) != bytes ||
        !has_name("/proc/self/fd/" + std::to_string(file), name))
        return fail(file, ENOENT);
    return file;
}

std::byte* map_shared_file(int file, uint64_t bytes) {
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

bool clear_shared_pages(int file, uint64_t offset, uint64_t bytes) {
    return fallocate(
               file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, off_t(offset), off_t(bytes)) == 0;
}

void copy_to_new_pages(std::byte* to, const std::byte* from, uint64_t bytes, bool mapped) {
    if (!mapped) {
        std::memcpy(to, from, bytes);
        return;
    }
    constexpr uint64_t kPagesAtOnce = 1 << 16;
    TouchedPages known;
    const uint64_t page = page_bytes();
    for (uint64_t start = 0; start < bytes; start += kPagesAtOnce * page) {
        const uint64_t pages = std::min(kPagesAtOnce, (bytes - start + page - 1) / page);
        const std::vector<uint64_t>& entries = known.from(from + start, pages);
        for (uint64_t k = 0; k < pages; ++k) {
            if (!TouchedPages::touched(entries[k])) continue;
            const uint64_t at = start + k * page;
            const uint64_t size = std::min(page, bytes - at);
            if (!is_zero(from + at, size)) std::memcpy(to + at, from + at, size);
        }
    }
}

bool use_shared_file(int file, FileUse use) {
    return flock(file, (use == FileUse::kAlone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0;
}

void close_shared_file(int file) {
    flock(file, LOCK_UN);
    close(file);
}

}  // namespace machine
