// SPDX-License-Identifier: MIT
// barrier-divergence: a block barrier that its threads did not reach together.
//   error    lanes of one warp, or warps of one block, met it on different source lines;
//            or lanes of a warp that are still alive never arrived at an aligned barrier
//   warning  some threads had returned before: they do not hold up the others (sm_70 and later),
//            yet the CUDA C++ Programming Guide asks for all of them
// The same line in two instructions is one barrier that the compiler copied. Barriers for a named
// number of threads (producer and consumer, bar.arrive) may be met anywhere; so may barrier.sync
// without .aligned, which cooperative groups use.
#pragma once

#include <map>
#include <string>

#include "checks/report/report.h"
#include "machine/observer.h"

namespace checks {

class Barriers final : public machine::Observer {
public:
    static constexpr uint32_t kInterests = machine::kSyncEvents;

    explicit Barriers(Report& report) : report_(report) {}
    void on_block_barrier(const machine::BarrierEvent& event) override;

private:
    void report_lines(const machine::BarrierEvent& event);
    void report_missing(const machine::BarrierEvent& event);
    void report_exited(const machine::BarrierEvent& event);

    Report& report_;
    std::map<std::string, size_t> by_exit_;  // kernel and line of the return -> finding
    uint32_t generation_ = 0;
};

}  // namespace checks
