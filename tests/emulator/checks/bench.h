// SPDX-License-Identifier: MIT
// What the checkers' unit tests feed them with: a launch, its sites, memory and warps, and events
// built from them. No kernel runs here.
#pragma once

#include <bit>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <unistd.h>

#include "catch/catch.h"
#include "checks/report/report.h"
#include "machine/memory.h"
#include "machine/observer.h"

namespace bench {

inline std::deque<machine::CodeSite>& sites() {
    static std::deque<machine::CodeSite> table;
    return table;
}
inline const machine::CodeSite& lookup(machine::SiteId site) {
    return sites()[site];
}

// A file that exists for the length of a test.
class SourceFile {
public:
    explicit SourceFile(const std::string& text, const std::string& name = "kernel.cu") {
        static int number = 0;
        directory_ = std::filesystem::temp_directory_path() /
                     ("wb_checks_" + std::to_string(getpid()) + '_' + std::to_string(number++));
        std::filesystem::create_directories(directory_);
        path_ = (directory_ / name).string();
        std::ofstream(path_) << text;
    }
    ~SourceFile() {
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }
    const std::string& path() const { return path_; }

private:
    std::filesystem::path directory_;
    std::string path_;
};

class Bench {
public:
    checks::Report report;
    machine::Memory memory;
    machine::LaunchInfo launch;
    std::vector<ptx::Parameter> parameters;
    std::vector<std::byte> arguments;
    std::vector<machine::SharedVariable> shared;
    machine::BlockInfo block;
    machine::WarpInfo warp;

    explicit Bench(uint32_t threads = 256, const std::string& kernel = "kernel") {
        sites().clear();
        sites().emplace_back();  // 0 is "unknown"
        checks::set_site_resolver(lookup);
        // A host site is a line of main.cu.
        checks::set_host_resolver([](machine::HostSite site) {
            return ptx::SourceLine{"/src/main.cu", site, 0, "main"};
        });
        launch.serial = 1;
        launch.kernel = launch.mangled = kernel;
        launch.grid = {8, 1, 1};
        launch.block = {threads, 1, 1};
        launch.parameters = &parameters;
        launch.shared = &shared;
        shared.reserve(16);  // shared_array() gives references
        enter_block(0);
    }
    ~Bench() {
        checks::set_site_resolver(nullptr);
        checks::set_host_resolver(nullptr);
    }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    machine::SiteId site(uint32_t line, const char* opcode = "ld.global.f32",
                         const std::string& file = "/src/kernel.cu") {
        machine::CodeSite site;
        site.function = site.mangled = launch.kernel;
        site.user = {file, line, 1, {}};
        site.opcode = opcode;
        site.ptx_line = uint32_t(sites().size());
        sites().push_back(site);
        return machine::SiteId(sites().size() - 1);
    }

    void enter_block(uint32_t linear, uint64_t launch_serial = 1) {
        launch.serial = launch_serial;
        block.launch = &launch;
        block.serial = 100 * launch_serial + linear + 1;
        block.linear = linear;
        block.index = {linear, 0, 0};
        block.threads = uint32_t(launch.block.count());
        block.warps = (block.threads + 31) / 32;
        enter_warp(0);
    }
    void enter_warp(uint32_t index) {
        warp.block = &block;
        warp.index = index;
        const uint32_t left = block.threads - 32 * index;
        warp.valid = left >= 32 ? machine::kAllLanes : (1u << left) - 1;
    }

    // Appends a kernel argument; `bytes` from `data`.
    void pass(const void* data, uint32_t bytes, bool is_array = false) {
        ptx::Parameter parameter;
        parameter.bytes = bytes;
        parameter.align = is_array ? 8 : bytes;
        parameter.is_array = is_array;
        const size_t offset =
            (arguments.size() + parameter.align - 1) / parameter.align * parameter.align;
        parameter.offset = uint32_t(offset);
        arguments.resize(offset + bytes);
        std::memcpy(arguments.data() + offset, data, bytes);
        parameters.push_back(parameter);
        launch.arguments = arguments;
    }
    void pass_pointer(uint64_t address) { pass(&address, 8); }
    void pass_int(int value) { pass(&value, 4); }

    machine::Allocation& device_array(uint64_t bytes, machine::HostSite line = 14) {
        return *memory.allocate(machine::MemoryKind::kDevice, bytes, 0, line);
    }
    machine::SharedVariable& shared_array(const std::string& name, uint32_t bytes,
                                          bool dynamic = false) {
        machine::SharedVariable variable;
        variable.name = name;
        variable.address = (shared.size() + 1) << machine::kSharedWindowBits;
        variable.offset = launch.shared_bytes;
        variable.bytes = bytes;
        variable.dynamic = dynamic;
        launch.shared_bytes += (bytes + 15) / 16 * 16;
        shared.push_back(variable);
        return shared.back();
    }

    // One warp access; `address(lane)`. Fills in what the machine would: bad lanes, allocation, ...
    machine::AccessEvent access(machine::SiteId site, ptx::Space space, machine::AccessKind kind,
                                uint32_t bytes, const std::function<uint64_t(uint32_t)>& address,
                                uint32_t mask = machine::kAllLanes, uint32_t element_bytes = 0) {
        machine::AccessEvent event{};
        event.warp = &warp;
        event.site = site;
        event.space = space;
        event.kind = kind;
        event.bytes = uint8_t(bytes);
        event.element_bytes = uint8_t(element_bytes ? element_bytes : bytes);
        event.mask = mask & warp.valid;
        event.address = addresses_;
        event.contiguous = event.mask == machine::kAllLanes;
        for (uint32_t lane = 0; lane < 32; ++lane) {
            addresses_[lane] = ~0ull;
            if (!(event.mask >> lane & 1)) continue;
            const uint64_t at = addresses_[lane] = address(lane);
            if (at % bytes) event.misaligned_lanes |= 1u << lane;
            if (!holder(space, at, bytes)) event.bad_lanes |= 1u << lane;
            event.contiguous &= at == addresses_[0] + uint64_t(lane) * bytes;
        }
        const uint32_t first = uint32_t(std::countr_zero(event.mask));
        const void* owner = event.bad_lanes ? nullptr : holder(space, addresses_[first], bytes);
        for (uint32_t m = event.mask; m && owner; m &= m - 1) {
            if (holder(space, addresses_[std::countr_zero(m)], bytes) != owner) owner = nullptr;
        }
        if (space == ptx::Space::kShared) {
            event.variable = static_cast<const machine::SharedVariable*>(owner);
        } else {
            event.allocation = static_cast<const machine::Allocation*>(owner);
        }
        return event;
    }

    const checks::Finding& only() {
        REQUIRE(report.findings().size() == 1);
        return report.findings()[0];
    }

private:
    const void* holder(ptx::Space space, uint64_t at, uint32_t bytes) {
        if (space == ptx::Space::kShared) {
            const auto* variable = machine::shared_variable_at(launch, at);
            return variable && at - variable->address + bytes <= variable->bytes ? variable
                                                                                 : nullptr;
        }
        const auto* allocation = memory.find(at);
        return allocation && allocation->live && allocation->contains(at, bytes) ? allocation
                                                                                 : nullptr;
    }
    uint64_t addresses_[32];
};

}  // namespace bench
