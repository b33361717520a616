// SPDX-License-Identifier: MIT
#include "machine/address_space.h"

#include <cstdio>

#include <sys/mman.h>
#include <unistd.h>

namespace machine {
namespace {

constexpr uint64_t kGiB = 1ull << 30;
constexpr uint64_t kTiB = 1ull << 40;
// A fixed place that Linux leaves alone (below position-independent programs at 85 TiB, above the
// shadow memory of sanitizers), so that addresses are the same in every run.
constexpr uint64_t kPreferredBase = 17 * kTiB;
// ThreadSanitizer makes 0 of a wish for an address where it keeps its own data.
#if defined(__SANITIZE_THREAD__)
constexpr bool kTakesAnyPlace = true;
#else
constexpr bool kTakesAnyPlace = false;
#endif
// The first sizes of the regions that there is room for (sanitizers and others take their share).
struct RegionBytes {
    uint64_t wide, narrow, fine;
};
constexpr RegionBytes kRegionBytes[] = {{56 * kTiB, 4 * kTiB, 4 * kTiB},
                                        {24 * kTiB, 4 * kTiB, 4 * kTiB},
                                        {8 * kTiB, 4 * kTiB, 4 * kTiB},
                                        {1 * kTiB, 4 * kTiB, 4 * kTiB},
                                        {kTiB / 8, kTiB / 8, kTiB / 8},
                                        {kTiB / 16, kTiB / 16, kTiB / 16}};  // of arm64's 512 GiB

uint64_t resident_pages() {
    unsigned long long size = 0, resident = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%llu %llu", &size, &resident) != 2) resident = 0;
        std::fclose(file);
    }
    return resident;
}

// Whether reserved, inaccessible address space takes memory. Linux keeps one record for a range;
// qemu before version 8, as in containers for another processor, keeps one for each page.
bool reserving_takes_memory() {
    constexpr uint64_t kTried = kGiB, kMuch = 1 << 20;
    const uint64_t before = resident_pages();
    void* at = mmap(nullptr, kTried, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return false;
    const uint64_t after = resident_pages();
    munmap(at, kTried);
    return after > before && (after - before) * page_bytes() > kMuch;
}

// Reserves `size` inaccessible bytes, at the preferred address if it is free; 0 on failure.
uint64_t reserve(uint64_t size) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* at = MAP_FAILED;
    if (!kTakesAnyPlace) {
        at = mmap(reinterpret_cast<void*>(kPreferredBase),
                  size,
                  PROT_NONE,
                  flags | MAP_FIXED_NOREPLACE,
                  -1,
                  0);
        if (uint64_t(at) == kPreferredBase) return kPreferredBase;
        if (at != MAP_FAILED) munmap(at, size);  // a kernel that does not know NOREPLACE
    }
    constexpr uint64_t kAlign = 64 * kGiB;
    at = mmap(nullptr, size + kAlign, PROT_NONE, flags, -1, 0);
    return at == MAP_FAILED ? 0 : (uint64_t(at) + kAlign - 1) & ~(kAlign - 1);
}

}  // namespace

uint64_t page_bytes() {
    static const uint64_t bytes = uint64_t(sysconf(_SC_PAGESIZE));
    return bytes;
}

AddressSpace reserve_address_space() {
    const auto of = [](uint64_t base, const RegionBytes& bytes, bool reserved) {
        return AddressSpace{base, bytes.wide, bytes.narrow, bytes.fine, reserved};
    };
    static const bool dear = reserving_takes_memory();  // trying it costs the same memory
    for (const RegionBytes& candidate : kRegionBytes) {
        if (dear) break;
        const uint64_t base = reserve(candidate.wide + candidate.narrow + candidate.fine);
        if (base) return of(base, candidate, true);
    }
    // Without a reservation addresses are still distinct, and nothing else is likely to be mapped
    // there: under `ulimit -v` nothing fits, and qemu places mappings lower.
    return of(kPreferredBase, kRegionBytes[0], false);
}

}  // namespace machine
