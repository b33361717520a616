// SPDX-License-Identifier: MIT
// uninitialized-local: a thread uses a variable of its own that it has never given a value.
//
// The machine tracks such values (machine/definedness/undefined.h) and reports when one decides a
// branch, is an address, or is stored after a computation; the finding names the line that read the
// variable. A variable that only a library (CUB, Thrust) reads in a kernel of its own is the
// library's: no finding. Variables that the compiler has optimised away are not seen: most scalars
// without a value become constants. Arrays that are indexed at run time and sums without an initial
// value remain; a -G build shows the rest.
#pragma once

#include "checks/report/thread_findings.h"
#include "machine/observer.h"

namespace checks {

class UninitializedLocal final : public machine::Observer {
public:
    static constexpr uint32_t kInterests = machine::kUndefinedValues;

    explicit UninitializedLocal(Report& report) : findings_(report) {}
    void on_undefined_use(const machine::UndefinedUse& use) override;

private:
    ThreadFindings findings_;
};

}  // namespace checks
