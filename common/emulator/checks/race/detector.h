// SPDX-License-Identifier: MIT
// Race detection for one memory space: every access is compared with those before it that touched
// the same bytes, and the two race when they conflict and happens-before does not order them.
//
// What conflicts:
//  - A plain store conflicts with every other access; a plain load with every store and atomic.
//  - Two strong accesses (atomics, volatile, relaxed, acquire, release) do not conflict, except:
//     - accesses by two blocks, one of them with block scope only;
//     - stores that each end an update in two steps, as in
//       `*(volatile int*)n = *(volatile int*)n + 1`: one of the updates is lost (lost_update.h);
//     - volatile accesses to shared memory by lanes of one warp, by different instructions: the
//       warp-synchronous style from before Volta, which relied on lanes in lock-step. Between
//       warps, a volatile flag does synchronise.
//  - Two plain stores of the same value do not conflict: it is common that many threads set one
//    flag, and harmless on hardware that stores whole words. A load and a store do conflict, even
//    when the value would be the same.
//  - A plain load and an atomic do not conflict if the load is a guess that its own thread checks:
//    guesses.h.
// Two accesses of different lanes by one instruction conflict too, if they are plain stores of
// different values. What is found, and on which line, does not depend on which access happened to
// run first, see line_order.h.
#pragma once

#include <cstdint>

#include "checks/race/cells.h"
#include "checks/race/compare.h"
#include "checks/race/context.h"
#include "checks/race/found_races.h"
#include "checks/race/instructions.h"
#include "checks/race/sectors.h"

namespace checks {

class RaceDetector {
public:
    RaceDetector(const char* code, HappensBefore& order, Report& report);
    RaceDetector(const RaceDetector&) = delete;
    RaceDetector& operator=(const RaceDetector&) = delete;

    // The accesses of `lanes`, all within `shadow`, whose offset is the address plus `shift`.
    // `allocation`: of global memory. `published`: what HappensBefore::on_strong_access returned.
    void access(const machine::AccessEvent& event, uint32_t lanes, uint32_t published,
                const machine::Allocation* allocation, Shadow& shadow, uint64_t shift);
    // The same for a lane that is alone (Observer::on_access_run): how many of `most` accesses only
    // meet accesses that are ordered before them, and what to do once that many have run.
    uint64_t undisputed(const machine::AccessEvent& next, int64_t step, uint64_t most,
                        const machine::Allocation* allocation, Shadow& shadow, uint64_t shift);
    void run(const machine::AccessEvent& first, int64_t step, uint64_t count,
             const machine::Allocation* allocation, Shadow& shadow, uint64_t shift);
    // To be called before the shadow of global memory is used in any other way, see
    // deferred_reads.h.
    void enter_deferred(Shadow& shadow) { enter_deferred(shadow, nullptr); }
    // The launch is over: reports the races that were pending, see guesses.h.
    void settle() { found_.settle(); }

    const InstructionTable& instructions() const { return instructions_; }

private:
    AccessContext context_of(const machine::AccessEvent& event, Shadow& shadow, uint64_t shift,
                             const machine::Allocation* allocation);
    void set_floors(AccessContext& c, bool global) const;
    void plain(AccessContext& c, uint32_t lanes);
    bool defer(const machine::AccessEvent& event, uint32_t lanes,
               const machine::Allocation* allocation, Shadow& shadow, uint64_t shift);
    // `block`: in its shared memory.
    void enter_deferred(Shadow& shadow, const BlockOrder* block);

    HappensBefore& order_;
    InstructionTable instructions_;
    FoundRaces found_;
    PairComparison compare_{found_};
    CellCheck cells_{compare_};
    SectorCheck sectors_{cells_};
};

}  // namespace checks
