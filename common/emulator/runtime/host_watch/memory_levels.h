// SPDX-License-Identifier: MIT
// How much memory this process can still get: from the machine, and from the control groups that it
// runs in (containers, batch systems), which end a process that takes more.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace runtime {

class MemoryLevels {
public:
    // `root`: the folder that has proc/ and sys/; another one in tests.
    explicit MemoryLevels(std::string root = "");

    // Bytes that all programs here may use together.
    uint64_t limit() const { return limit_; }
    // What is left of that, counting files in memory, which make room. The largest number where
    // the system does not tell.
    uint64_t available() const;
    // Bytes of memory that this process occupies.
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
