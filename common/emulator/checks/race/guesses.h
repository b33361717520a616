// SPDX-License-Identifier: MIT
// Plain loads that only guess. The loop that makes an atomic operation out of a compare-and-swap
// begins with one, as in the CUDA C++ Programming Guide, "Atomic Functions":
//
//     old = *address;
//     do { assumed = old; old = atomicCAS(address, assumed, f(assumed)); } while (assumed != old);
//
// An older value only costs another round, so such a load does not race with an atomic. A load is
// of this kind if a thread that executes it then does one of these to the same word:
//  - a compare-and-swap against what the word holds (kCompared) that expects the loaded
//    value: correct beside any atomic;
//  - a minimum, maximum, `and` or `or` that changes it (kImproved), as in
//    `if (d < *best) atomicMin(best, d)`: correct beside updates in the same direction.
// Whether a thread does this often shows only later, so races of such pairs wait until the launch
// ends.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "checks/race/context.h"
#include "checks/race/describe.h"

namespace checks {

// An atomic at `byte`, by `lane`, follows the plain load `e`. If the thread is the same, this shows
// whether the load is a guess.
void note_guess(const AccessContext& c, Epoch e, uint32_t byte, uint32_t lane);
// Whether the load is known to be one beside an atomic that may start from an older value
// (`forgiving`) or not.
bool is_guess(const InstructionTable& instructions, machine::SiteId load, bool forgiving);

// Races between a plain load and an atomic, until the end of the launch.
class PendingRaces {
public:
    PendingRaces(const char* code, const InstructionTable& instructions, Report& report);
    ~PendingRaces();
    PendingRaces(const PendingRaces&) = delete;
    PendingRaces& operator=(const PendingRaces&) = delete;

    // True: the race is not to be reported now; it is pending, or one side is a guess. `other_id`:
    // the earlier instruction; `place` and `other`: where the finding is.
    bool add(const AccessContext& c, const Race& race, machine::SiteId other_id,
             machine::SiteId place, machine::SiteId other, uint64_t count);
    // The launch is over: reports the races whose load has not turned out to be a guess.
    void settle();

private:
    struct Pending {
        Finding finding;
        machine::SiteId place = 0, other = 0, load = 0;
        bool forgiving = false;
    };

    const char* code_;
    const InstructionTable& instructions_;
    Report& report_;
    std::vector<Pending> pending_;
    std::shared_ptr<PendingRaces*> self_;  // null: destroyed
};

}  // namespace checks
