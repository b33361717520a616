// SPDX-License-Identifier: MIT
// The instructions that access memory, as the race detector's shadow refers to them: by a number,
// with what is known about how each of them accesses memory.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "checks/race/shadow.h"
#include "machine/events.h"

namespace checks {

// How an instruction accesses memory.
struct AccessTraits {
    bool known = false, strong = false, writes = false, atomic = false, block_scope = false;
    bool forgiving = false;    // an atomic that may start from an older value as well
    bool ends_update = false;  // a strong store of what its thread has read there, changed
    bool by_volatile = false;  // strong only because it is volatile, and in shared memory
    // A load: what its thread then does to the word that it has read, and whether a
    // compare-and-swap expects the loaded value; empty: not determined yet.
    enum class Guess : uint8_t { kNone, kImproved, kCompared } guess = Guess::kNone;
    std::optional<bool> expected = std::nullopt;
    machine::SiteId instruction = 0;  // the instruction itself, not the place to blame
};
AccessTraits traits_of(const machine::AccessEvent& event);

class InstructionTable {
public:
    // The number that stands for the event's instruction: its place in the source, or a number of
    // its own where several instructions share one place.
    machine::SiteId identify(const machine::AccessEvent& event) {
        if (event.site == event.instruction || event.instruction == 0) return event.site;
        return identify_called(event);
    }
    machine::SiteId place(machine::SiteId id) const {
        return id & kCalled && id < 2 * kCalled ? places_[id & ~kCalled] : id;
    }
    // Records the traits of an instruction at its first event. `global`: in global memory.
    void enter(machine::SiteId id, const machine::AccessEvent& event, bool global) {
        if (id >= traits_.size() || !traits_[id].known) enter_new(id, event, global);
    }

    AccessTraits& traits(machine::SiteId id);
    const AccessTraits& traits(machine::SiteId id) const;
    bool strong(Epoch e) const { return traits(instruction_of(e)).strong; }

    // Which kinds of access have occurred. Most programs have none of these, and the detector skips
    // the comparisons that only they need.
    struct Occurred {
        bool atomic = false;        // an atomic
        bool strong_store = false;  // to global memory
        bool narrow = false;        // a strong access of block scope to global memory
        bool by_volatile = false;   // to shared memory
    };
    const Occurred& occurred() const { return occurred_; }

private:
    static constexpr machine::SiteId kCalled = 1u << 23;
    machine::SiteId identify_called(const machine::AccessEvent& event);
    void enter_new(machine::SiteId id, const machine::AccessEvent& event, bool global);

    std::vector<AccessTraits> traits_, called_traits_;  // by number
    std::unordered_map<uint64_t, machine::SiteId> called_;
    std::vector<machine::SiteId> places_;
    Occurred occurred_;
};

}  // namespace checks
