// SPDX-License-Identifier: MIT
// Race detection for one memory space: every access is compared with those before it that touched
// the same bytes, and the two race when they conflict and happens-before does not order them.
//
// What conflicts:
//  - A plain store with every other access; a plain load with every store and atomic.
//  - Strong accesses (atomics, volatile, relaxed, acquire, release) not with each other, unless
//    they come from two blocks and one of them has only block scope.
//  - Except strong stores that each end an update in two steps, as in
//    `*(volatile int*)n = *(volatile int*)n + 1`: one of the updates gets lost. See stored_back.h.
//  - Except two volatile accesses to shared memory by lanes of one warp, by different instructions:
//    that is the warp-synchronous style from before Volta, which counts on lanes in lock-step.
//    Between warps, a volatile flag is a flag.
//  - Two plain stores of the same value do not count: many threads raising one flag is common, and
//    harmless on hardware that stores whole words. A load that is unordered with a store does,
//    even when the value would be the same.
//  - A plain load beside an atomic does not count if it is a guess that its own thread checks: see
//    race_guesses.cpp.
// Two accesses of different lanes by one instruction conflict too, if they are plain stores of
// different values. What is found, and on which line, does not depend on which access happened to
// run first: the place is the access that a thread makes after it has made the other one itself.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "checks/happens_before.h"
#include "checks/host_watch.h"
#include "checks/race_shadow.h"
#include "checks/report.h"
#include "machine/observer.h"

namespace checks {

// How an instruction accesses memory, kept for the other party of a race.
struct AccessTraits {
    bool known = false, strong = false, writes = false, atomic = false, block_scope = false;
    bool forgiving = false;    // an atomic for which an older value is as good a start
    bool ends_update = false;  // a strong store of what its thread has read there, changed
    bool by_volatile = false;  // strong only because it is volatile, and in shared memory
    // A load: what its thread then does to the word that it has read, and whether a
    // compare-and-swap gets its value as what it expects; empty: nobody has looked yet.
    enum class Guess : uint8_t { kNone, kImproved, kCompared } guess = Guess::kNone;
    std::optional<bool> expected = std::nullopt;
    machine::SiteId instruction = 0;  // itself, and not the place to blame
};
AccessTraits traits_of(const machine::AccessEvent& event);

// One pair of accesses that race.
struct Race {
    const machine::AccessEvent* event = nullptr;      // the later one ...
    const machine::Allocation* allocation = nullptr;  // of global memory; null: shared
    uint32_t lane = 0;
    uint64_t address = 0;       // ... where they meet
    Segment other_segment = 0;  // the earlier one
    uint32_t other_lane = 0;
    machine::SiteId other_site = 0;
    AccessTraits other;
    bool first_write = false;   // nobody had written there in this launch
    bool swapped = false;       // the earlier one comes later in the program: report it as such
    bool too_early = false;     // the earlier one is the allocation, in another stream
    bool one_store = false;     // two lanes of one store instruction
    bool under_way = false;     // the earlier one is a cp.async that nobody has waited for
    bool narrow_scope = false;  // both strong, but one of them for its own block only
    bool lock_step = false;     // both volatile, by lanes of one warp
    bool lost_update = false;   // both end an update in two steps, a strong load and a strong store
};

class RaceDetector {
public:
    RaceDetector(const char* code, HappensBefore& order, Report& report);
    ~RaceDetector();
    RaceDetector(const RaceDetector&) = delete;
    RaceDetector& operator=(const RaceDetector&) = delete;

    // The accesses of `lanes`, all within `shadow`, whose offset is the address plus `shift`.
    // `allocation`: of global memory. `published`: what HappensBefore::on_strong_access said.
    void access(const machine::AccessEvent& event, uint32_t lanes, uint32_t published,
                const machine::Allocation* allocation, Shadow& shadow, uint64_t shift);
    // The same for a lane that is alone (Observer::on_streak): how many of `most` accesses have
    // nothing to be compared with but what their own thread did, and what became of them.
    uint64_t undisputed(const machine::AccessEvent& next, int64_t step, uint64_t most,
                        const machine::Allocation* allocation, Shadow& shadow, uint64_t shift);
    void streak(const machine::AccessEvent& first, int64_t step, uint64_t count,
                const machine::Allocation* allocation, Shadow& shadow, uint64_t shift);
    // A copy or fill by the host, which is segment `segment`, of the bytes [begin, end) of
    // `shadow`.
    void host_access(const machine::HostAccess& access, const machine::Allocation& allocation,
                     Segment segment, Shadow& shadow, uint64_t begin, uint64_t end, bool writes);
    // Adds the bytes [begin, end) of `shadow` that work in flight uses to a page's, the first of
    // which is `page`.
    void add_use(const Shadow& shadow, uint64_t page, uint64_t begin, uint64_t end,
                 PageUse& use) const;
    // The host itself has touched bytes at offset `begin` of `shadow`.
    void host_touch(const HostTouch& touch, const machine::Allocation& allocation,
                    const Shadow& shadow, uint64_t begin, uint64_t end);
    // The allocation itself, which is segment `made`, is not ordered before an access of `lane`, or
    // before the host's.
    void too_early(const machine::AccessEvent& event, uint32_t lane,
                   const machine::Allocation& allocation, Segment made);
    void too_early(const machine::HostAccess& access, const machine::Allocation& allocation,
                   Segment made, bool writes);
    // The launch is over: reports what has waited for the thread that read to check its guess.
    void settle();

private:
    enum class Role : uint8_t { kLoad, kStore, kStrongLoad, kStrongWrite };
    struct Context;  // of one event
    struct Found;

    static uint32_t lanes_that_swap(const Context& c, uint32_t lanes);
    Context context_of(const machine::AccessEvent& event, Shadow& shadow, uint64_t shift,
                       const machine::Allocation* allocation);
    // Whole sectors.
    static uint32_t shape_of_access(const machine::AccessEvent& event, uint32_t lanes,
                                    uint64_t shift);
    void in_order(Context& c, uint32_t shape);
    bool load_sector(Context& c, Sector& s, Entry mine);
    bool store_sector(Context& c, Sector& s, Entry mine);
    bool writers_ordered(Context& c, Sector& s, Entry mine);
    bool readers_ordered(Context& c, Sector& s, Entry mine);
    bool cells_ordered(const Context& c, const Sector& s, Entry mine, const Entry* cells,
                       uint32_t entries, bool load = false) const;
    bool pattern_ordered(const Context& c, Entry e, Entry mine, bool load = false) const;
    uint32_t pattern_rank(const Context& c, Entry e, Entry mine) const;
    bool remember_pattern(Context& c, Sector& s, Entry mine);

    // Cells.
    void scattered(Context& c, uint32_t lanes);
    template <Role role>
    void scattered(Context& c, uint32_t lanes);
    template <Role role>
    void fetch_ahead(Context& c);
    template <Role role>
    bool hurried(Context& c, Sector& s, uint32_t byte, Entry mine) const;
    template <Role role>
    void cell(Context& c, Sector& s, uint32_t byte, uint32_t lane);
    void plain_cell(Context& c, Sector& s, uint32_t byte, uint32_t lane);
    void store_cell(Context& c, Sector& s, uint32_t byte, uint32_t lane);
    void compare_with_readers(Context& c, Sector& s, uint32_t byte, uint32_t lane);
    void compare_with_atomics(Context& c, Sector& s, uint32_t byte, uint32_t lane);
    bool atomics_allow_store(Context& c, Sector& s, uint32_t byte, uint32_t lane);

    // Pairs of accesses.
    // `load`: the earlier access is one.
    bool compare(Context& c, Entry e, uint32_t byte, uint32_t lane, bool load = false);
    void compare_scope(Context& c, Entry e, uint32_t byte, uint32_t lane);
    bool compare_volatile(Context& c, Entry e, uint32_t byte, uint32_t lane, bool load);
    uint32_t unordered_lane(const Context& c, Entry e, uint32_t lane, bool load = false) const;
    void observe(Context& c, Entry e, uint32_t byte, uint32_t lane);
    void compare_update(Context& c, const Sector& s, const Pair& stores, uint32_t byte,
                        uint32_t lane);
    bool ends_update(const Context& c, const Sector& s, uint32_t byte);
    enum class Clash : uint8_t { kPlain, kScope, kLockStep, kUpdate };
    void found(Context& c, Entry e, uint32_t other_lane, uint32_t byte, uint32_t lane, Clash clash);
    bool stores_what_is_there(const Context& c, Entry writer, uint32_t byte, uint32_t bytes,
                              uint32_t lane) const;
    static const std::byte* held_at(const Context& c, uint64_t address, uint32_t lane);
    bool remember_quickly(const Context& c, Pair& pair, Entry mine) const;
    void remember(Context& c, Sector& s, Pair& pair, Entry mine, uint32_t byte, Sector::Flag more);
    void remember_more(Context& c, Sector& s, Pair& pair, Entry mine, uint32_t byte,
                       Sector::Flag more);
    void remember_read(Context& c, Sector& s, Pair& pair, Entry mine, uint32_t byte);
    uint32_t rank(const Context& c, Entry e, uint32_t lane) const;
    void spill(Context& c, Sector& s, uint32_t byte, bool pattern, Entry e, Sector::Flag more);
    void compare_spilled(Context& c, uint32_t byte, uint32_t lane, Sector::Flag more,
                         bool plain_only);
    void flush(Context& c);
    bool comes_later(const Context& c, const Found& f);
    std::optional<bool> seen_later(const Context& c, const Found& f) const;
    bool spilled_ordered(Context& c, Sector& s, Entry mine, Sector::Flag more);
    // What stands for an instruction in the shadow: its place, or a number of its own where several
    // share one place.
    static constexpr machine::SiteId kCalled = 1u << 23;
    machine::SiteId identify(const machine::AccessEvent& event);
    machine::SiteId place_behind(machine::SiteId id) const {
        return id & kCalled && id < 2 * kCalled ? places_[id & ~kCalled] : id;
    }
    AccessTraits& traits_slot(machine::SiteId id);
    const AccessTraits& traits_at(machine::SiteId id) const;

    // Guesses.
    void note_guess(const Context& c, Entry e, uint32_t byte, uint32_t lane);
    bool is_guess(machine::SiteId load, bool forgiving) const;
    bool hold(const Context& c, const Found& f, machine::SiteId place, machine::SiteId other);
    bool strong(Entry e) const { return traits_at(instruction_of(e)).strong; }
    // Whether the host may meet a writer or reader while it is still going on.
    bool in_flight(Entry writer, StreamOrder::FlightRange& range) const {
        return writer && order_.streams().in_flight(segment_of(writer), range);
    }
    bool read_in_flight(Entry reader, StreamOrder::FlightRange& range) const {
        return in_flight(reader, range) && !strong(reader);
    }

    // Races of the event at hand by other party; of one that clashes with more, the first ones.
    struct Found {
        machine::SiteId key = 0;
        uint64_t count = 0;
        Race race;
    };

    // A race between a plain load and an atomic, until the end of the launch.
    struct Held {
        Finding finding;
        machine::SiteId place = 0, other = 0, load = 0;
        bool forgiving = false;
    };

    const char* code_;
    HappensBefore& order_;
    Report& report_;
    std::vector<AccessTraits> traits_, called_traits_;  // by instruction: see identify()
    std::unordered_map<uint64_t, machine::SiteId> called_;
    std::vector<machine::SiteId> places_;
    std::array<Found, 6> found_;
    std::unordered_map<uint64_t, bool> stored_back_;  // by load and store
    std::unordered_map<uint64_t, bool> later_;        // comes_later() by both instructions
    std::set<std::string> order_of_lines_;            // "file:line file:line"
    std::vector<Held> held_;
    std::shared_ptr<RaceDetector*> self_ = std::make_shared<RaceDetector*>(this);  // null: gone
    bool strong_store_seen_ = false;  // a strong store to global memory has happened
    bool narrow_seen_ = false;        // a strong access of block scope has happened
    bool volatile_seen_ = false;      // a volatile access to shared memory has happened
};

// The finding for one race, which stands for `count` pairs.
Finding describe_host_touch(const char* code, const HappensBefore& order, const HostTouch& touch,
                            const Race& race);
Finding describe_race(const char* code, const HappensBefore& order, const Race& race,
                      uint64_t count);
// The same for a copy or fill by the host as the later access.
void report_host_race(Report& report, const char* code, const HappensBefore& order,
                      const machine::HostAccess& access, const machine::Allocation& allocation,
                      bool writes, const Race& race, uint64_t count);

}  // namespace checks
