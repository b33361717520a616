// SPDX-License-Identifier: MIT
#include "checks/record/writers.h"

#include <bit>
#include <cstring>

#include "checks/report/places.h"
#include "checks/report/report.h"

namespace checks {
namespace {

constexpr uint32_t kWordBits = 2;
constexpr size_t kMostLaunches = 16;

}  // namespace

void Writers::on_alloc(const machine::Allocation& allocation) {
    if (allocation.id >= tables_.size()) tables_.resize(allocation.id + 1);
    if (allocation.bytes == 0 || allocation.bytes > kMostBytes) return;
    tables_[allocation.id] = ZeroedMemory(((allocation.bytes + 3) >> kWordBits) * sizeof(uint64_t));
}

void Writers::on_free(const machine::Allocation& allocation) {
    if (allocation.id < tables_.size()) tables_[allocation.id] = ZeroedMemory();
}

uint64_t* Writers::cells(const machine::Allocation& allocation, uint64_t offset) {
    if (allocation.id >= tables_.size()) return nullptr;
    auto* const table = static_cast<uint64_t*>(tables_[allocation.id].get());
    return table && offset < allocation.bytes ? table + (offset >> kWordBits) : nullptr;
}

void Writers::set(const machine::Allocation& allocation, uint64_t offset, uint64_t bytes,
                  uint64_t cell) {
    uint64_t* const first = cells(allocation, offset);
    if (!first || bytes == 0) return;
    const uint64_t last = std::min(offset + bytes, allocation.bytes) - 1;
    uint64_t* const end = first + (last >> kWordBits) - (offset >> kWordBits) + 1;
    for (uint64_t* at = first; at != end; ++at) *at = cell;
}

void Writers::on_host_access(const machine::HostAccess& access) {
    using Kind = machine::HostAccess::Kind;
    if (access.kind == Kind::kRead || access.kind >= Kind::kFree || !access.allocation) return;
    if (access.address < access.allocation->address) return;
    const uint64_t offset = access.address - access.allocation->address;
    if (access.kind == Kind::kCopy && copy_cells(access, offset)) return;
    const bool library = access.ordering == machine::HostAccess::Ordering::kLibrary;
    set(*access.allocation, offset, access.bytes, library ? kLibraryCell : kHostCell);
}

// A copy within the device hands on the writers of its source. False where that is not possible.
bool Writers::copy_cells(const machine::HostAccess& access, uint64_t offset) {
    if (access.ordering == machine::HostAccess::Ordering::kLibrary) return false;
    if (!access.source || access.source_address < access.source->address) return false;
    const uint64_t source_offset = access.source_address - access.source->address;
    if (access.bytes == 0 || offset % 4 || source_offset % 4 || access.bytes % 4) return false;
    if (offset + access.bytes > access.allocation->bytes ||
        source_offset + access.bytes > access.source->bytes)
        return false;
    uint64_t* const to = cells(*access.allocation, offset);
    const uint64_t* const from = cells(*access.source, source_offset);
    if (!to || !from) return false;
    std::memmove(to, from, (access.bytes >> kWordBits) * sizeof *to);
    return true;
}

void Writers::on_launch_begin(const machine::LaunchInfo& launch) {
    const LaunchShape shape{launch.kernel, launch.grid, launch.block, launch.serial};
    ++launch_count_;
    launches_.insert(launches_.begin(), shape);
    if (launches_.size() > kMostLaunches) launches_.pop_back();
    if (!full_) shapes_.push_back(shape);
}

uint64_t Writers::number_of(const Record& record) {
    const uint64_t hash =
        (record.block * 0x9E3779B97F4A7C15u + record.warp * 0x85EBCA6Bu + record.site) *
        0x9E3779B97F4A7C15u;
    uint32_t& recent = recent_[hash >> 52];
    if (recent == 0 || records_[recent - 1] != record) {
        if (records_.size() == kMostRecords) return 0;
        records_.push_back(record);
        recent = uint32_t(records_.size());
    }
    return recent;
}

void Writers::on_access(const machine::AccessEvent& event) {
    if (event.kind == machine::AccessKind::kLoad || full_ || shapes_.empty()) return;
    const Record record{
        uint32_t(shapes_.size() - 1), event.warp->index, event.warp->block->linear, event.site};
    const uint64_t number = number_of(record);
    if (number == 0) {
        full_ = true;  // the recorded writers may no longer be the last: report none
        return;
    }
    const uint64_t base = number << 5;
    if (event.allocation && event.contiguous && event.bytes == 4) {
        uint64_t* const at = cells(*event.allocation, event.address[0] - event.allocation->address);
        if (at)
            for (uint32_t lane = 0; lane < machine::kWarpSize; ++lane) at[lane] = base | lane;
        return;
    }
    for (uint32_t m = event.mask & ~event.bad_lanes; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m));
        const machine::Allocation* allocation =
            event.allocation ? event.allocation : memory_.find(event.address[lane]);
        if (allocation && allocation->live)
            set(*allocation, event.address[lane] - allocation->address, event.bytes, base | lane);
    }
}

std::optional<Writer> Writers::at(uint64_t address) const {
    const machine::Allocation* allocation = memory_.find(address);
    if (full_ || !allocation || !allocation->live || !allocation->contains(address, 1)) return {};
    const uint64_t* const cell =
        const_cast<Writers*>(this)->cells(*allocation, address - allocation->address);
    if (!cell) return {};
    Writer writer;
    if (*cell == 0) return writer;
    if (*cell == kHostCell || *cell == kLibraryCell) {
        writer.by = *cell == kHostCell ? Writer::By::kHost : Writer::By::kLibrary;
        return writer;
    }
    const Record& record = records_[(*cell >> 5) - 1];
    writer.by = Writer::By::kKernel;
    writer.launch = shapes_[record.launch];
    const machine::Dim3& grid = writer.launch.grid;
    writer.block = {uint32_t(record.block % grid.x),
                    uint32_t(record.block / grid.x % grid.y),
                    uint32_t(record.block / grid.x / grid.y)};
    writer.thread =
        thread_at(writer.launch.block, record.warp * machine::kWarpSize + uint32_t(*cell & 31));
    writer.line = site_of(record.site).user;
    return writer;
}

}  // namespace checks
