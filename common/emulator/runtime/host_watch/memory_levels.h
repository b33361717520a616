// SPDX-License-Identifier: MIT
// How much memory this process can still get from the machine and from its control groups
// (containers, batch systems), which kill a process that exceeds their limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runtime {

class MemoryLevels {
public:
    // `root`: the folder that contains proc/ and sys/; tests pass one of their own.
    explicit MemoryLevels(std::string root = "");

    // The number of bytes that all programs together may use.
    uint64_t limit() const { return limit_; }
    // The part of it that is free, including the page cache, which the system can reclaim. ~0 if
    // the system does not report it.
    uint64_t available() const;
    // The number of bytes that this process occupies.
    uint64_t resident() const;

private:
    // A control group with a limit.
    struct Group {
        uint64_t limit;
        std::string usage, statistics;  // files
    };
    void add_groups(const std::string& mounted, const std::string& path, const char* limit,
                    const char* usage);

    std::string root_;
    uint64_t limit_ = ~0ull;
    std::vector<Group> groups_;
};

}  // namespace runtime
