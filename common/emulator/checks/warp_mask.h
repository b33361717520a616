// SPDX-License-Identifier: MIT
// warp-mask: the mask of a warp operation does not say who takes part.
//   error    a thread executes it without being named in its own mask; a named lane is alive but
//            never comes; a shuffle takes its value from a lane that does not take part; lanes
//            meet at two operations of one family that are not the same (an up and a down shuffle)
//   warning  a named lane has already returned (the Programming Guide asks only non-exited lanes
//            to come, but what such a lane contributes is nobody's value)
// Reading a lane that does not take part: __shfl_down_sync in a tree over 16 lanes does so in its
// upper half, whose sums nobody uses. Hence a lane counts once it uses what it got: the machine
// follows the value (machine/undefined.h). Where the mask claims lanes that have returned, every
// lane counts at once: the kernel reads them believing that they are there.
#pragma once

#include "checks/thread_findings.h"
#include "machine/observer.h"

namespace checks {

class WarpMask final : public machine::Observer {
public:
    static constexpr uint32_t kInterests = machine::kSyncEvents | machine::kUndefinedValues;

    explicit WarpMask(Report& report) : findings_(report) {}
    void on_undefined_use(const machine::UndefinedUse& use) override;
    void on_warp_sync(const machine::WarpSyncEvent& event) override;

private:
    void add_strayed(const machine::WarpSyncEvent& event);
    void add(const machine::WarpSyncEvent& event, uint32_t lanes, Severity severity,
             const std::string& message);

    ThreadFindings findings_;
};

}  // namespace checks
