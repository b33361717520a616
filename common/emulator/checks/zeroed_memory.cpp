// SPDX-License-Identifier: MIT
#include "checks/zeroed_memory.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include <sys/mman.h>

namespace checks {
namespace {

constexpr uint64_t kMapped = 1 << 20;  // bytes from which on memory is mapped by itself
constexpr uint64_t kLargePage = 2 << 20;

}  // namespace

ZeroedMemory::ZeroedMemory(uint64_t bytes, Pages pages) : bytes_((bytes + 63) / 64 * 64) {
    if (bytes_ < kMapped) {
        at_ = std::aligned_alloc(64, bytes_);
        if (!at_) throw std::bad_alloc();
        std::memset(at_, 0, bytes_);
        return;
    }
    const bool large = pages == Pages::kLarge && bytes_ <= kSparse;
    const uint64_t unit = large ? kLargePage : kMapped;
    bytes_ = (bytes_ + unit - 1) / unit * unit;
    const uint64_t slack = large ? kLargePage : 0;  // for an aligned start
    void* got = mmap(nullptr,
                     bytes_ + slack,
                     PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                     -1,
                     0);
    if (got == MAP_FAILED) {
        bytes_ = 0;
        throw std::bad_alloc();
    }
    at_ = got;
    if (!large) {
        if (bytes_ > kSparse) madvise(at_, bytes_, MADV_NOHUGEPAGE);
        return;
    }
    const uint64_t start = reinterpret_cast<uint64_t>(got), skip = (0 - start) % kLargePage;
    if (skip) munmap(got, skip);
    munmap(reinterpret_cast<void*>(start + skip + bytes_), kLargePage - skip);
    at_ = reinterpret_cast<void*>(start + skip);
    madvise(at_, bytes_, MADV_HUGEPAGE);
}

ZeroedMemory::~ZeroedMemory() {
    if (!at_) return;
    if (bytes_ < kMapped) {
        std::free(at_);
    } else {
        munmap(at_, bytes_);
    }
}

}  // namespace checks
