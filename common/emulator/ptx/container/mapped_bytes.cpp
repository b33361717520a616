// SPDX-License-Identifier: MIT
#include "ptx/container/mapped_bytes.h"

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>

namespace ptx {

size_t mapped_bytes(const void* at, size_t wanted) {
    std::FILE* const maps = std::fopen("/proc/self/maps", "re");
    if (!maps) return wanted;
    const uint64_t start = reinterpret_cast<uintptr_t>(at);
    uint64_t end = start;  // of the range known to be readable; the file is sorted by address
    char line[4352];       // a path may be as long as PATH_MAX
    while (std::fgets(line, sizeof line, maps)) {
        uint64_t first = 0, past_end = 0;
        char may_read = '-';
        if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %c", &first, &past_end, &may_read) != 3)
            continue;
        if (past_end <= end) continue;
        if (first > end || may_read != 'r') break;
        end = past_end;
        if (end - start >= wanted) break;
    }
    std::fclose(maps);
    return size_t(std::min<uint64_t>(wanted, end - start));
}

}  // namespace ptx
