// SPDX-License-Identifier: MIT
// The happens-before relation of a running program, after PTX's memory model ("Memory Consistency
// Model"), with these interpretations where practice goes beyond the text:
//  - A fence makes what its thread knows publishable; the thread's next strong write (atomic,
//    volatile, relaxed) publishes it. Barriers pass on both what is known and what is publishable,
//    so "all threads fence, __syncthreads, thread 0 signals" is equivalent to "thread 0 fences".
//  - A strong read of a location that carries published knowledge acquires it, with or without a
//    fence after it, as the classic volatile-flag code assumes. A `.relaxed` read
//    (cuda::memory_order_relaxed) does not: a fence must follow, by this thread or, after a
//    barrier, by one that it has met there.
//  - shfl, vote, match and redux .sync order the lanes they name, like __syncwarp.
//  - A thread that has returned counts as arrived at every later barrier.
//  - A compare-and-swap counts as a write even if it fails.
// Most kernels only use whole-block barriers and whole-warp syncs, which take two numbers.
// Knowledge of single lanes is only stored once a thread fences or some lanes sync without the
// others.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "checks/race/clock.h"
#include "checks/race/deferred_reads.h"
#include "checks/race/stream_order.h"
#include "machine/memory.h"
#include "machine/observer.h"

namespace checks {

struct LaneKnowledge;

// The last few instructions of a warp that accessed memory, to tell which of two comes first.
class StepLog {
public:
    void note(machine::SiteId site, Segment segment) {
        if (steps_[last_].site == site && steps_[last_].segment == segment) return;
        last_ = (last_ + 1) % steps_.size();
        steps_[last_] = {site, segment};
    }
    // Whether `site` ran in segment `since` or later, as far back as the log goes.
    bool has(machine::SiteId site, Segment since) const {
        for (const Step& step : steps_)
            if (step.site == site && step.segment >= since) return true;
        return false;
    }
    // Whether both ran, `second` last or again.
    bool in_order(machine::SiteId first, machine::SiteId second, Segment since) const {
        bool seen = false;
        for (size_t i = 1; i <= steps_.size(); ++i) {
            const Step& step = steps_[(last_ + i) % steps_.size()];
            if (step.segment < since) continue;
            if (seen && step.site == second) return true;
            seen |= step.site == first;
        }
        return false;
    }

private:
    struct Step {
        machine::SiteId site = 0;
        Segment segment = 0;
    };
    std::array<Step, 16> steps_{};
    uint32_t last_ = 0;
};

struct BlockOrder;
struct WarpOrder {
    BlockOrder* block = nullptr;
    uint32_t number = 0;                   // in the launch: block number * warps a block + index
    uint32_t index = 0;                    // in the block
    Segment segment = 0;                   // the current one
    Segment floor = 0;                     // every lane knows what the others did in segments below
    bool used = false;                     // something was accessed in the current segment
    std::unique_ptr<LaneKnowledge> lanes;  // null: nothing beyond floor and block
    // Per lane: the segment that its latest fence ended.
    std::unique_ptr<std::array<Segment, machine::kWarpSize>> fenced_at;

    StepLog steps;
};

// Knowledge that a fence has made publishable, for one reach.
struct Publishable {
    struct Fact {
        uint32_t warp, lanes;
        Segment before;
    };
    uint32_t holders = 0;     // lanes that hold it
    Segment self_before = 0;  // each holder knows itself up to here
    Segment warp_floor = 0, block_floor = 0;
    Clock clock;
    std::vector<Fact> facts;
    bool empty() const { return !clock && facts.empty() && self_before == 0 && block_floor == 0; }
};

// A fence or operation of block scope reaches the block only.
enum Reach : uint32_t { kBlockReach, kDeviceReach, kReaches };

struct BlockOrder {
    uint64_t serial = 0;
    uint32_t first_warp = 0;    // number of its warp 0
    Segment first_segment = 0;  // no segment of this block is older
    Segment floor = 0;          // every thread knows what the others did in segments below
    Clock acquired;             // what every thread knows of other blocks
    Clock observed;             // whose loads are over: see HappensBefore::observe
    Clock awaiting_fence;       // what relaxed reads have found
    std::array<Publishable, kReaches> publishable;  // held by every thread
    std::vector<WarpOrder> warps;
    std::vector<uint64_t> locations;  // shared ones that carry knowledge
};

class HappensBefore {
public:
    HappensBefore();
    ~HappensBefore();
    HappensBefore(const HappensBefore&) = delete;
    HappensBefore& operator=(const HappensBefore&) = delete;

    // ---- events; an access event only if it is strong (see is_strong)
    void on_launch_begin(const machine::LaunchInfo& launch);
    void on_launch_end();
    void on_block_begin(const machine::BlockInfo& block);
    void on_block_end(const machine::BlockInfo& block);
    void on_block_barrier(const machine::BarrierEvent& event);
    void on_warp_sync(const machine::WarpSyncEvent& event);
    void on_fence(const machine::FenceEvent& event);
    // Returns the lanes whose write published something. Such a write itself belongs to what it
    // publishes: enter it into the shadow as part of segment (*warp.fenced_at)[lane], so that
    // a thread that acquires it may reset the counter or flag with a plain store.
    uint32_t on_strong_access(const machine::AccessEvent& event, WarpOrder& warp);
    // A strong load or atomic of `lane` of `now` reads at `address` (global) a value that another
    // thread stored in `segment`, with or without a fence. The memory model does not order that
    // thread's earlier loads before later accesses of this lane, but libraries rely on it: a value
    // that was computed from loads cannot be stored before they are done. So earlier loads, and
    // only loads, count as ordered. (CUB's single-pass algorithms overwrite their input in place,
    // by relaxed stores of 64-bit words that hold flag and value.)
    void observe(Segment segment, uint32_t other_lane, WarpOrder& now, uint32_t lane,
                 uint64_t address);
    // After a race on a flag that was stored plainly: its reader acquires what a strong store would
    // have published, so that the race is reported once.
    void assume_ordered(Segment segment, uint32_t lane, WarpOrder& now, uint32_t now_lane);
    // The segment that stands for a host operation in the shadow.
    Segment on_host_access(const machine::HostAccess& access);
    void on_order(const machine::OrderEvent& event) { streams_.on_order(event); }
    void on_free() { streams_.host_waits_for_all(); }  // cudaFree waits for the device

    // The running launch has signalled the host, or was cut short: see StreamOperation.
    void talks_to_host() { streams_.current().talks_to_host = true; }
    void host_sees_all() { streams_.host_sees_all(); }
    void name_launch(std::shared_ptr<const LaunchNames> names) {
        streams_.current().names = std::move(names);
    }

    // ---- questions
    BlockOrder& block_of(const machine::WarpInfo& info) {
        return info.block->serial == last_serial_ ? *last_block_ : block(info.block->serial);
    }
    WarpOrder& warp(const machine::WarpInfo& info) { return block_of(info).warps[info.index]; }
    // Whether what `lane` of some warp did in `segment` is ordered before what lane `now_lane` of
    // `now` does next. Total for same-thread accesses: true.
    bool ordered(Segment segment, uint32_t lane, const WarpOrder& now, uint32_t now_lane) const {
        if (segment < ordered_before_) return true;
        if (segment < launch_first_) return streams_.ordered(segment);
        const uint32_t other = warp_of(segment);
        if (other == now.number) {
            if (lane == now_lane || segment < now.floor) return true;
        } else if (other - now.block->first_warp < warps_per_block_ && segment < now.block->floor) {
            return true;
        }
        return partial_ && knows(other, segment, lane, now, now_lane);
    }
    // The same for an earlier load: also if it must have been over, as a later strong store by its
    // thread was seen.
    bool load_ordered(Segment segment, uint32_t lane, const WarpOrder& now,
                      uint32_t now_lane) const {
        return ordered(segment, lane, now, now_lane) ||
               (observed_ && segment >= launch_first_ &&
                observed(warp_of(segment), segment, lane, now, now_lane));
    }
    // The same for all lanes of that warp before all lanes of `now`; "no" may mean "not all".
    bool ordered_for_all(Segment segment, const WarpOrder& now) const {
        if (segment < ordered_before_) return true;
        if (segment < launch_first_) return streams_.ordered(segment);
        const uint32_t other = warp_of(segment);
        if (other == now.number) return segment < now.floor;
        if (other - now.block->first_warp < warps_per_block_ && segment < now.block->floor)
            return true;
        return partial_ && shared_clock(now).knows_warp(other, segment);
    }
    // Before the host operation that on_host_access() returned last.
    bool ordered_before_host(Segment segment) const {
        return segment < ordered_before_ || streams_.ordered(segment);
    }
    bool loads_ordered_for_all(Segment segment, const WarpOrder& now) const {
        return ordered_for_all(segment, now) ||
               (observed_ && segment >= launch_first_ &&
                now.block->observed.knows_warp(warp_of(segment), segment));
    }
    // After a strong store: what the warp does next is not part of what its reader has observed.
    void end_segment(WarpOrder& warp) { next_segment(warp); }
    // Everything below this is ordered before every thread of the running launch.
    Segment ordered_before() const { return ordered_before_; }
    Segment launch_first() const { return launch_first_; }
    uint32_t warp_of(Segment segment) const { return segment_warp_[segment - launch_first_]; }
    bool same_block(uint32_t warp, const WarpOrder& now) const {
        return warp - now.block->first_warp < warps_per_block_;
    }
    uint32_t warps_per_block() const { return warps_per_block_; }
    // More segments in one launch than shadow entries can distinguish: no more races in it.
    bool full() const { return ordered_before_ > launch_first_; }
    // A thread has fenced or released, or some lanes have synced without the others: lanes may know
    // more than the floors say.
    bool partial() const { return partial_; }
    const StreamOrder& streams() const { return streams_; }
    uint64_t host_knowledge() const { return streams_.host_knowledge(); }
    bool concurrent() const { return streams_.concurrent(); }
    // Grows when all shadow state must be thrown away because segment numbers start again.
    uint64_t generation() const { return generation_; }

    // While it lives, questions are answered as when these loads were executed, perhaps in an
    // earlier launch. Nothing was partial then.
    class Earlier {
    public:
        Earlier(HappensBefore& order, const DeferredReads& reads, bool global);
        ~Earlier() { swap(); }
        Earlier(const Earlier&) = delete;
        Earlier& operator=(const Earlier&) = delete;

    private:
        void swap();
        HappensBefore& order_;
        bool partial_ = false;
        Segment launch_first_, ordered_before_;
        uint32_t warps_per_block_;
        std::vector<uint32_t> segment_warp_;
        bool launch_ = false;  // another one
    };

    // The operation or thread that a segment belongs to, for messages.
    struct Who {
        const StreamOperation* operation = nullptr;  // null: forgotten
        bool this_launch = false, known_thread = false;
        machine::Dim3 block, thread;
    };
    Who who(Segment segment, uint32_t lane) const;

    // The steps of a warp of a block that has ended; empty before.
    const StepLog& finished() const { return finished_; }

private:
    struct Location {  // what a strong read here acquires
        Clock device, reads;
        std::vector<std::pair<uint64_t, Clock>>
            blocks;  // only by threads of that block (its serial)
        // Of an mbarrier object: the phase that it is in, and what the arrivals of the phases
        // before have left, which is all that a wait acquires. In `blocks`: those of this phase.
        enum class Phase : uint8_t { kNone, kEven, kOdd } phase = Phase::kNone;
        Clock earlier;
    };

    BlockOrder& block(uint64_t serial);
    Segment new_segment(uint32_t warp, Segment block_floor);
    void next_segment(WarpOrder& warp);
    bool knows(uint32_t other, Segment segment, uint32_t lane, const WarpOrder& now,
               uint32_t now_lane) const;
    void whole_barrier(BlockOrder& block);
    void partial_barrier(BlockOrder& block, const machine::BarrierEvent& event);
    void sync_matrix(WarpOrder& warp, uint32_t mask);
    void sync_lanes(WarpOrder& warp, uint32_t mask);
    void add_knowledge(Clock& clock, const WarpOrder& warp, uint32_t mask) const;
    void settle(Publishable& publishable, const BlockOrder& block) const;
    void fence(WarpOrder& warp, uint32_t mask, Reach reach);
    Clock publishable(WarpOrder& warp, uint32_t lane, Reach reach);
    void acquire(WarpOrder& warp, uint32_t lane, uint64_t key, bool relaxed);
    void turn_phase(uint64_t key, bool parity);
    bool publish(WarpOrder& warp, uint32_t lane, uint64_t key, bool block_only);
    const Clock& shared_clock(const WarpOrder& warp) const;
    bool observed(uint32_t other, Segment segment, uint32_t lane, const WarpOrder& now,
                  uint32_t now_lane) const;
    void pass_on(WarpOrder& warp, uint32_t lane, uint64_t key);
    void note_location(uint64_t key) {
        const uint64_t bit = key * 0x9e3779b97f4a7c15ull >> 48;
        location_filter_[bit >> 6] |= uint64_t(1) << (bit & 63);
    }
    bool maybe_location(uint64_t key) const {
        const uint64_t bit = key * 0x9e3779b97f4a7c15ull >> 48;
        return location_filter_[bit >> 6] >> (bit & 63) & 1;
    }

    StreamOrder streams_;
    Segment next_ = 1, launch_first_ = 1, ordered_before_ = 1;
    uint32_t warps_per_block_ = 1;
    // By segment - launch_first_: whose it is, and that block's floor then (0: no barrier yet).
    std::vector<uint32_t> segment_warp_;
    std::vector<Segment> segment_floor_;
    std::vector<uint32_t> block_linear_;  // by block number
    machine::Dim3 grid_, block_shape_;
    bool partial_ = false, fenced_ = false, observed_ = false;
    std::unordered_map<uint64_t, std::unique_ptr<BlockOrder>> blocks_;
    std::vector<std::unique_ptr<BlockOrder>> spare_;
    uint64_t last_serial_ = 0;
    BlockOrder* last_block_ = nullptr;
    std::unordered_map<uint64_t, Location> locations_;
    std::vector<uint64_t> location_filter_;  // one bit a hash: a clear bit means "no such location"
    uint64_t generation_ = 0;
    StepLog finished_;
};

// Strong in the sense of the PTX memory model; atomics and volatile accesses are.
inline bool is_strong(const machine::AccessEvent& event) {
    return event.order != machine::MemoryOrder::kWeak || event.kind >= machine::AccessKind::kAtomic;
}

}  // namespace checks
