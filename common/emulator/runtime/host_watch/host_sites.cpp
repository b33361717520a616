// SPDX-License-Identifier: MIT
// Call paths of the host program: captured as return addresses, stored once each, resolved on
// demand.
#include "runtime/host_watch/host_sites.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <map>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <unwind.h>
#include <vector>

#include "runtime/host_watch/host_source.h"
#include "runtime/host_watch/result_use.h"
#include "runtime/host_watch/script_lines.h"

namespace runtime {
namespace {

constexpr size_t kMaxFrames = kMaxHostFrames;
using Path = HostPath;

// The code ranges of this shared library and of the stand-ins for NVIDIA's other libraries. Empty
// when linked into the program itself (as in unit tests): there the frames of this library are
// recognised by their source file.
class OwnRanges {
public:
    OwnRanges() { add(uint64_t(&capture_host_site)); }
    // The segment of the shared library that has this address.
    void add(uint64_t here) {
        struct Search {
            uint64_t here;
            Range found;
        } search{here, {}};
        dl_iterate_phdr(
            [](dl_phdr_info* info, size_t, void* argument) {
                auto& search = *static_cast<Search*>(argument);
                for (int i = 0; i < info->dlpi_phnum; ++i) {
                    const auto& segment = info->dlpi_phdr[i];
                    const uint64_t begin = info->dlpi_addr + segment.p_vaddr;
                    if (segment.p_type != PT_LOAD || search.here < begin ||
                        search.here >= begin + segment.p_memsz)
                        continue;
                    if (info->dlpi_name && *info->dlpi_name)
                        search.found = {begin, begin + segment.p_memsz};
                    return 1;
                }
                return 0;
            },
            &search);
        const size_t at = count_.load(std::memory_order_relaxed);
        if (search.found.end == 0 || at == ranges_.size()) return;
        ranges_[at] = search.found;
        count_.store(at + 1, std::memory_order_release);  // a signal handler may be reading
    }
    bool contains(uint64_t pc) const {
        const size_t count = count_.load(std::memory_order_acquire);
        return std::any_of(ranges_.begin(), ranges_.begin() + count, [&](const Range& range) {
            return pc >= range.begin && pc < range.end;
        });
    }

private:
    struct Range {
        uint64_t begin = 0, end = 0;
    };
    std::array<Range, 16> ranges_;
    std::atomic<size_t> count_ = 0;
};

struct FrameWalk {
    const OwnRanges* own;
    Path path;
    uint64_t wanted = 0;  // a fault's instruction: frames before it belong to the signal handler
    bool inside = false;
};

_Unwind_Reason_Code on_frame(_Unwind_Context* context, void* argument) {
    auto& walk = *static_cast<FrameWalk*>(argument);
    int exact = 0;
    const uint64_t ip = _Unwind_GetIPInfo(context, &exact);
    if (ip == 0) return _URC_END_OF_STACK;
    // A return address is that of the next instruction, which may be on another line.
    const uint64_t pc = exact ? ip : ip - 1;
    if (walk.wanted) {
        if (!walk.inside && ip != walk.wanted) return _URC_NO_REASON;
        walk.inside = true;
    }
    // A frame of this library, even where it faults on a pointer of the program: not the user's.
    if (walk.path.count == 0 && walk.own->contains(pc)) {
        walk.path.entry = _Unwind_GetRegionStart(context);
        return _URC_NO_REASON;
    }
    walk.path.pc[walk.path.count++] = pc;
    return walk.path.count == kMaxFrames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

class Sites {
public:
    machine::HostSite add(const Path& path) {
        if (path.count == 0) return 0;
        const uint64_t hash = hash_of(path);
        std::lock_guard lock(mutex_);
        auto& bucket = by_hash_[hash];
        for (const auto id : bucket)
            if (entries_[id - 1] == path.entry && same(paths_[id - 1], path)) return id;
        paths_.emplace_back(path.pc.begin(), path.pc.begin() + path.count);
        entries_.push_back(path.entry);
        resolved_.emplace_back();
        bucket.push_back(machine::HostSite(paths_.size()));
        return bucket.back();
    }

    // A line of a script has no path: its call has been resolved already.
    machine::HostSite add_script(const ptx::SourceLine& line) {
        std::lock_guard lock(mutex_);
        machine::HostSite& id = scripts_[{line.file, line.line}];
        if (id == 0) {
            paths_.emplace_back();
            entries_.push_back(0);
            resolved_.push_back(std::make_unique<ptx::SourceLine>(line));
            id = machine::HostSite(paths_.size());
        }
        return id;
    }

    ptx::SourceLine resolve(machine::HostSite site) {
        std::lock_guard lock(mutex_);
        if (site == 0 || site > paths_.size()) return {};
        auto& known = resolved_[site - 1];
        if (!known)
            known = std::make_unique<ptx::SourceLine>(
                blame(paths_[site - 1], function_name(entries_[site - 1])));
        return *known;
    }

    std::vector<uint64_t> path(machine::HostSite site) {
        std::lock_guard lock(mutex_);
        return site == 0 || site > paths_.size() ? std::vector<uint64_t>{} : paths_[site - 1];
    }

private:
    static uint64_t hash_of(const Path& path) {
        uint64_t hash = 0x9E3779B97F4A7C15u ^ path.entry;
        for (size_t i = 0; i < path.count; ++i)
            hash = (hash ^ path.pc[i]) * 0xD6E8FEB86659FD93u, hash ^= hash >> 32;
        return hash;
    }
    static std::string function_name(uint64_t address) {
        Dl_info info;
        const bool found = address && dladdr(reinterpret_cast<void*>(address), &info);
        const std::string_view name = found && info.dli_sname ? info.dli_sname : "";
        // A function of libcudart.so.12 is named after the one that it replaces.
        constexpr std::string_view kCuda12 = "emulator12_";
        return std::string(name.starts_with(kCuda12) ? name.substr(kCuda12.size()) : name);
    }
    static bool same(const std::vector<uint64_t>& known, const Path& path) {
        return known.size() == path.count &&
               std::equal(known.begin(), known.end(), path.pc.begin());
    }

    std::mutex mutex_;
    std::unordered_map<uint64_t, std::vector<machine::HostSite>> by_hash_;
    std::map<std::pair<std::string, uint32_t>, machine::HostSite> scripts_;
    std::vector<std::vector<uint64_t>> paths_;
    std::vector<uint64_t> entries_;
    std::vector<std::unique_ptr<ptx::SourceLine>> resolved_;
};

// Never destroyed: findings are written after the static destructors have run.
Sites& sites() {
    static auto& instance = *new Sites;
    return instance;
}

OwnRanges& own_ranges() {
    static OwnRanges ranges;
    return ranges;
}

}  // namespace

void walk_from_here(HostPath& path) {
    FrameWalk walk{&own_ranges(), {}, 0, false};
    _Unwind_Backtrace(on_frame, &walk);
    path = walk.path;
}

machine::HostSite capture_host_site() {
    if (const ptx::SourceLine* script = current_script_line()) return sites().add_script(*script);
    HostPath path;
    walk_from_here(path);
    return sites().add(path);
}

void walk_from_instruction(uint64_t pc, HostPath& path) {
    FrameWalk walk{&own_ranges(), {}, pc, false};
    _Unwind_Backtrace(on_frame, &walk);
    path = walk.path;
    if (path.count == 0) path.pc[path.count++] = pc;
}

machine::HostSite host_site_of(const HostPath& path) {
    return sites().add(path);
}

machine::HostSite host_site_of_instruction(uint64_t pc) {
    HostPath path;
    walk_from_instruction(pc, path);
    return sites().add(path);
}

machine::HostSite host_site_without_callers(uint64_t pc) {
    Path path;
    path.pc[path.count++] = pc;
    return sites().add(path);
}

void add_own_code(uint64_t address) {
    static std::mutex mutex;
    std::lock_guard lock(mutex);
    own_ranges().add(address);
}

bool is_own_code(uint64_t pc) {
    return own_ranges().contains(pc);
}

bool result_is_ignored_at(machine::HostSite site) {
    std::vector<uint64_t> addresses = sites().path(site);
    for (uint64_t& pc : addresses) ++pc;
    return result_is_ignored(addresses);
}

ptx::SourceLine resolve_host_site(machine::HostSite site) {
    return sites().resolve(site);
}

}  // namespace runtime
