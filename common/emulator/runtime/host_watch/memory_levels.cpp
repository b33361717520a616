// SPDX-License-Identifier: MIT
#include "runtime/host_watch/memory_levels.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>

#include <unistd.h>

namespace runtime {
namespace {

// The number at the start of `text`, after blanks; empty if there is none, as in "max".
std::optional<uint64_t> number_in(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} ? std::optional(value) : std::nullopt;
}

std::optional<uint64_t> number_of_file(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    return std::getline(file, line) ? number_in(line) : std::nullopt;
}

// The number after `key` in a file with one key per line.
std::optional<uint64_t> entry_of_file(const std::string& path, std::string_view key) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(key)) return number_in(std::string_view(line).substr(key.size()));
    return std::nullopt;
}

// Whether the comma-separated `list` contains `name`.
bool lists(std::string_view list, std::string_view name) {
    while (!list.empty()) {
        const size_t comma = std::min(list.find(','), list.size());
        if (list.substr(0, comma) == name) return true;
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return false;
}

}  // namespace

MemoryLevels::MemoryLevels(std::string root) : root_(std::move(root)) {
    if (const auto kibibytes = entry_of_file(root_ + "/proc/meminfo", "MemTotal:"))
        limit_ = *kibibytes << 10;
    // "12:memory:/path" of version 1 of control groups, "0::/path" of version 2.
    std::ifstream file(root_ + "/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        const size_t first = line.find(':');
        const size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
        if (second == line.npos) continue;
        const std::string_view list = std::string_view(line).substr(first + 1, second - first - 1);
        const std::string path = line.substr(second + 1), mounted = root_ + "/sys/fs/cgroup";
        if (list.empty()) {
            add_groups(mounted, path, "memory.max", "memory.current");
        } else if (lists(list, "memory")) {
            add_groups(mounted + "/memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes");
        }
    }
    for (const Group& group : groups_) limit_ = std::min(limit_, group.limit);
}

// Adds the group at `path` and its ancestors. In a container the path may be the host's, and only
// the outermost group is visible.
void MemoryLevels::add_groups(const std::string& mounted, const std::string& path,
                              const char* limit, const char* usage) {
    for (std::string inner = path;;) {
        while (inner.ends_with('/')) inner.pop_back();
        const std::string folder = mounted + inner + "/";
        if (const auto most = number_of_file(folder + limit))
            groups_.push_back({*most, folder + usage, folder + "memory.stat"});
        if (inner.empty()) return;
        inner.resize(inner.rfind('/') == inner.npos ? 0 : inner.rfind('/'));
    }
}

uint64_t MemoryLevels::available() const {
    uint64_t least = ~0ull;
    if (const auto kibibytes = entry_of_file(root_ + "/proc/meminfo", "MemAvailable:"))
        least = *kibibytes << 10;
    for (const Group& group : groups_) {
        const auto used = number_of_file(group.usage);
        if (!used) continue;
        const auto files = [&](const char* key) {
            return entry_of_file(group.statistics, key).value_or(0);
        };
        // Version 1 prefixes the sums over a group and its descendants with "total_".
        const uint64_t old = files("total_inactive_file") + files("total_active_file");
        const uint64_t cache = old ? old : files("inactive_file") + files("active_file");
        const uint64_t kept = *used - std::min(*used, cache);
        least = std::min(least, group.limit - std::min(group.limit, kept));
    }
    return least;
}

uint64_t MemoryLevels::resident() const {
    std::ifstream file(root_ + "/proc/self/statm");
    uint64_t size = 0, pages = 0;
    if (!(file >> size >> pages)) return 0;
    return pages * uint64_t(sysconf(_SC_PAGESIZE));
}

}  // namespace runtime
