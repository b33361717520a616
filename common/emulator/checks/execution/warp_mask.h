// SPDX-License-Identifier: MIT
// warp-mask: the mask of a warp operation does not name the lanes that participate.
//   error    a thread's own mask does not name it; a named lane is alive but never arrives; a
//   shuffle
//            reads a lane that does not participate; lanes meet at two different operations of one
//            family (an up and a down shuffle)
//   warning  a named lane has already returned (the Programming Guide only requires non-exited
//   lanes
//            to arrive, but the value that such a lane contributes is undefined)
// Reading a lane that does not participate: __shfl_down_sync in a tree over 16 lanes does so in its
// upper half, whose sums are not used. So a lane is reported once it uses the value, which the
// machine tracks (machine/definedness/undefined.h). If the mask names lanes that have returned,
// every lane is reported at once: the kernel reads them in the belief that they participate.
#pragma once

#include "checks/report/thread_findings.h"
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
