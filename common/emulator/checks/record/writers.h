// SPDX-License-Identifier: MIT
// The last writer of each word of global memory: thread, launch and source line. It answers the
// question that follows a wrong value; it reports no findings. EMULATOR_WRITERS=1.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checks/zeroed_memory.h"
#include "machine/memory.h"
#include "machine/observer.h"

namespace checks {

struct LaunchShape {
    std::string kernel;
    machine::Dim3 grid, block;
    uint64_t serial = 0;
};

struct Writer {
    enum class By : uint8_t { kNobody, kKernel, kHost, kLibrary } by = By::kNobody;
    // Of a kernel's store or atomic only.
    LaunchShape launch;
    machine::Dim3 block{0, 0, 0}, thread{0, 0, 0};
    ptx::SourceLine line;
};

class Writers final : public machine::Observer {
public:
    static constexpr uint32_t kInterests = machine::kMemoryEvents | machine::kHostEvents |
                                           machine::kLaunchEvents | machine::kGlobalAccess;
    // Larger allocations, and what is stored after this many records, are not recorded.
    static constexpr uint64_t kMostBytes = 256ull << 20;
    static constexpr size_t kMostRecords = 1 << 21;

    explicit Writers(machine::Memory& memory) : memory_(memory) {}

    // The last writer of the word (4 bytes) at `address`; empty where none is recorded. The host is
    // the writer of what it copied or set; a copy within the device hands on the writers of its
    // source.
    std::optional<Writer> at(uint64_t address) const;
    // The last kMostLaunches launches, the latest first.
    const std::vector<LaunchShape>& launches() const { return launches_; }
    uint64_t launch_count() const { return launch_count_; }

    void on_alloc(const machine::Allocation& allocation) override;
    void on_free(const machine::Allocation& allocation) override;
    void on_host_access(const machine::HostAccess& access) override;
    void on_launch_begin(const machine::LaunchInfo& launch) override;
    void on_access(const machine::AccessEvent& event) override;

private:
    // One instruction of one warp. A cell is the record's number + 1, times 32, plus the lane;
    // 0 is no writer, kHostCell the host, kLibraryCell a library's kernel, of which no line is
    // known.
    struct Record {
        uint32_t launch;  // index into shapes_
        uint32_t warp;
        uint64_t block;
        machine::SiteId site;

        bool operator==(const Record&) const = default;
    };
    static constexpr uint64_t kHostCell = ~0ull;
    static constexpr uint64_t kLibraryCell = ~0ull - 1;

    // The number of such a record + 1, a new one where none is remembered; 0 where none is left.
    uint64_t number_of(const Record& record);
    uint64_t* cells(const machine::Allocation& allocation, uint64_t offset);
    bool copy_cells(const machine::HostAccess& access, uint64_t offset);
    void set(const machine::Allocation& allocation, uint64_t offset, uint64_t bytes, uint64_t cell);

    machine::Memory& memory_;
    std::vector<ZeroedMemory> tables_;  // by allocation id, a cell for each word
    std::vector<Record> records_;
    // Numbers of records, by hash: warps that take turns in a loop do not add one at every turn.
    std::array<uint32_t, 4096> recent_{};
    std::vector<LaunchShape> shapes_;    // of all launches that are followed
    std::vector<LaunchShape> launches_;  // the last ones
    uint64_t launch_count_ = 0;
    bool full_ = false;
};

}  // namespace checks
