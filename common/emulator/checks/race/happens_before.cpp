// SPDX-License-Identifier: MIT
// Launches, blocks and whole barriers: the part of the relation that every kernel uses.
#include "checks/race/happens_before.h"

#include <algorithm>

#include "checks/race/lane_order.h"

namespace checks {
namespace {

constexpr Segment kLastSegment = (Segment(1) << 30) - 2;  // what a shadow entry can hold

machine::Dim3 unflatten(uint64_t linear, const machine::Dim3& shape) {
    return {uint32_t(linear % shape.x),
            uint32_t(linear / shape.x % shape.y),
            uint32_t(linear / (uint64_t(shape.x) * shape.y))};
}

// Whether the call returns only when the copy is done.
bool host_waits(const machine::HostAccess& access) {
    return access.kind != machine::HostAccess::Kind::kCopy &&
           access.ordering == machine::HostAccess::Ordering::kBlocking && !access.fill &&
           !access.staged();
}

// A copy or fill; not an operand of a library's kernel, nor memory that comes or goes.
bool moves_bytes(const machine::HostAccess& access) {
    return access.kind < machine::HostAccess::Kind::kFree &&
           access.ordering != machine::HostAccess::Ordering::kLibrary;
}

bool host_visible(const machine::HostAccess& access) {
    return access.pinned || (access.allocation && access.allocation->host_visible()) ||
           (access.source && access.source->host_visible());
}

// Whether the host may rely on the work being done when the call returns, although the call is no
// wait otherwise (CUDA Runtime API, "API synchronization behavior"): a transfer to pageable memory,
// "the function will return only once the copy has completed", and fills and copies of managed or
// pinned memory, "fully synchronous".
bool host_sees(const machine::HostAccess& access) {
    using Ordering = machine::HostAccess::Ordering;
    if (access.ordering >= Ordering::kGraphNode || access.kind >= machine::HostAccess::Kind::kFree)
        return false;
    if (access.ordering == Ordering::kAsync)
        return access.kind == machine::HostAccess::Kind::kRead && !access.pinned;
    return host_visible(access);
}

}  // namespace

HappensBefore::HappensBefore() : location_filter_((1 << 16) / 64) {}
HappensBefore::~HappensBefore() = default;

void HappensBefore::on_launch_begin(const machine::LaunchInfo& launch) {
    if (next_ > kLastSegment / 2) {
        next_ = 1;
        streams_.restart();
        ++generation_;
    }
    StreamOperation& operation = streams_.begin(launch.stream, launch.device, next_);
    ordered_before_ = streams_.ordered_before();
    launch_first_ = next_;
    segment_warp_.clear();
    segment_floor_.clear();
    block_linear_.clear();
    grid_ = launch.grid;
    block_shape_ = launch.block;
    warps_per_block_ =
        uint32_t((launch.block.count() + machine::kWarpSize - 1) / machine::kWarpSize);
    operation.launch = launch.serial;
    operation.kernel = launch.kernel;
    operation.site = launch.launched_at;
    operation.grid = grid_;
    operation.block = block_shape_;
    operation.warps_per_block = warps_per_block_;
    partial_ = fenced_ = observed_ = false;
    if (!locations_.empty()) {
        locations_.clear();
        std::fill(location_filter_.begin(), location_filter_.end(), 0);
    }
    for (auto& [serial, block] : blocks_)
        spare_.push_back(std::move(block));  // of an aborted launch
    blocks_.clear();
    last_serial_ = 0;
    last_block_ = nullptr;
}

void HappensBefore::on_launch_end() {
    if (!streams_.concurrent() || streams_.current().launch == 0) return;
    streams_.current().segment_warp = segment_warp_;
    streams_.current().block_linear = block_linear_;
}

Segment HappensBefore::on_host_access(const machine::HostAccess& access) {
    const int device = access.allocation ? access.allocation->device : 0;
    Segment segment = 0;
    if (access.continued && streams_.current_is(access)) return streams_.current().first_segment;
    const bool peers = access.kind == machine::HostAccess::Kind::kCopy && access.stream == 0 &&
                       access.source && access.source->device != device;
    if (peers) streams_.meet(device, access.source->device);
    // The host waits for the stream, and then stages the first row.
    if (access.staged()) streams_.host_waits_for(access.stream, device);
    const bool waits = host_waits(access);
    if (streams_.concurrent() || access.stream != 0 || (moves_bytes(access) && !waits)) {
        StreamOperation& operation = streams_.begin(access.stream, device, next_);
        if (peers) streams_.meet(device, access.source->device);
        operation.api = access.api;
        operation.site = access.site;
        operation.allocates = access.kind == machine::HostAccess::Kind::kAllocate;
        operation.fill = access.fill;
        operation.staged = access.staged();
        operation.writes = access.kind != machine::HostAccess::Kind::kRead;
        operation.pinned = access.pinned;
        operation.writes_pinned = access.writes_pinned;
        ordered_before_ = streams_.ordered_before();
        segment = next_;
        next_ = std::min(next_ + 1, kLastSegment);
        launch_first_ = next_;
        segment_warp_.clear();
        segment_floor_.clear();
    }
    if (waits) streams_.host_waits_for(access.stream, device);
    if (host_sees(access)) streams_.host_sees(access.stream, device);
    return segment;
}

Segment HappensBefore::new_segment(uint32_t warp, Segment block_floor) {
    if (next_ >= kLastSegment) {
        // More segments in one launch than shadow entries can distinguish: report no more races in
        // it.
        ordered_before_ = ~Segment(0);
        return kLastSegment;
    }
    segment_warp_.push_back(warp);
    segment_floor_.push_back(block_floor);
    return next_++;
}

void HappensBefore::next_segment(WarpOrder& warp) {
    if (!warp.used) return;  // nothing happened in the current one
    const BlockOrder& b = *warp.block;
    warp.segment = new_segment(warp.number, b.floor > b.first_segment ? b.floor : 0);
    warp.used = false;
    if (warp.lanes) warp.lanes->synced.clear();
}

BlockOrder& HappensBefore::block(uint64_t serial) {
    if (serial != last_serial_) {
        last_block_ = blocks_.at(serial).get();
        last_serial_ = serial;
    }
    return *last_block_;
}

void HappensBefore::on_block_begin(const machine::BlockInfo& info) {
    std::unique_ptr<BlockOrder> block;
    if (spare_.empty()) {
        block = std::make_unique<BlockOrder>();
    } else {
        block = std::move(spare_.back());
        spare_.pop_back();
    }
    block->serial = info.serial;
    block->first_warp = uint32_t(block_linear_.size()) * warps_per_block_;
    block->first_segment = block->floor = next_;
    block->acquired = {};
    block->observed = {};
    block->awaiting_fence = {};
    block->publishable = {};
    block->locations.clear();
    block_linear_.push_back(uint32_t(info.linear));
    block->warps.resize(info.warps);
    for (uint32_t i = 0; i < info.warps; ++i) {
        WarpOrder& warp = block->warps[i];
        warp.block = block.get();
        warp.index = i;
        warp.number = block->first_warp + i;
        warp.segment = warp.floor = new_segment(warp.number, 0);
        warp.used = false;
        warp.lanes.reset();
        warp.fenced_at.reset();
        warp.steps = {};
    }
    last_serial_ = info.serial;
    last_block_ = block.get();
    blocks_[info.serial] = std::move(block);
}

void HappensBefore::on_block_end(const machine::BlockInfo& info) {
    const auto found = blocks_.find(info.serial);
    if (found == blocks_.end()) return;
    finished_ = found->second->warps[0].steps;
    for (const uint64_t key : found->second->locations) locations_.erase(key);
    if (last_serial_ == info.serial) last_serial_ = 0;
    spare_.push_back(std::move(found->second));
    blocks_.erase(found);
}

void HappensBefore::on_block_barrier(const machine::BarrierEvent& event) {
    BlockOrder& b = block(event.block->serial);
    bool whole = true;
    std::array<uint32_t, 64> here{};
    for (const machine::Arrival& a : event.arrivals) {
        here[a.warp % here.size()] |= a.mask;
        whole &= !a.arrive_only;
    }
    for (uint32_t i = 0; i < b.warps.size() && whole; ++i) {
        const uint32_t left = event.block->threads - i * machine::kWarpSize;
        const uint32_t valid = left >= machine::kWarpSize ? machine::kAllLanes : (1u << left) - 1;
        const uint32_t exited = i < event.exited.size() ? event.exited[i] : 0;
        whole = (valid & ~(here[i] | exited)) == 0;
    }
    if (whole) {
        whole_barrier(b);
    } else {
        partial_barrier(b, event);
    }
}

void HappensBefore::whole_barrier(BlockOrder& b) {
    if (partial_) {
        for (WarpOrder& warp : b.warps) {
            if (!warp.lanes) continue;
            warp.lanes->acquired.join_into(b.acquired, machine::kAllLanes);
            warp.lanes->observed.join_into(b.observed, machine::kAllLanes);
            warp.lanes->awaiting_fence.join_into(b.awaiting_fence, machine::kAllLanes);
            for (uint32_t reach = 0; reach < kReaches; ++reach)
                warp.lanes->add_publishable(
                    b.publishable[reach], warp.number, machine::kAllLanes, Reach(reach));
            warp.lanes.reset();
        }
        for (Publishable& p : b.publishable)
            if (p.facts.size() > 64) settle(p, b);
    }
    b.floor = next_;
    for (WarpOrder& warp : b.warps) {
        warp.segment = warp.floor = new_segment(warp.number, b.floor);
        warp.used = false;
    }
}

HappensBefore::Who HappensBefore::who(Segment segment, uint32_t lane) const {
    Who who;
    who.operation = streams_.operation(segment);
    const StreamOperation* o = who.operation;
    if (!o || o->launch == 0) return who;
    who.this_launch = segment >= launch_first_;
    const auto& warps = who.this_launch ? segment_warp_ : o->segment_warp;
    const auto& linear = who.this_launch ? block_linear_ : o->block_linear;
    const size_t at = segment - o->first_segment;
    if (at >= warps.size()) return who;
    const uint32_t block = warps[at] / o->warps_per_block, warp = warps[at] % o->warps_per_block;
    who.known_thread = true;
    who.block = unflatten(linear[block], o->grid);
    who.thread = unflatten(uint64_t(warp) * machine::kWarpSize + lane, o->block);
    return who;
}

}  // namespace checks
