// SPDX-License-Identifier: MIT
// Shared by the two checkers of uninitialized.h: which lanes of an access read unwritten bytes, and
// the finding for such a read.
#pragma once

#include <functional>
#include <unordered_map>

#include "checks/report/thread_findings.h"
#include "checks/uninitialized/bits.h"
#include "checks/uninitialized/pending_reads.h"
#include "machine/observer.h"

namespace checks {

// The bytes where a store left an undefined value, with the value's origin.
class LeftValues {
public:
    void store(const machine::AccessEvent& event, uint32_t lanes);
    // The origin of the value at this address; 0 if no store left it there.
    uint32_t origin(const machine::AccessEvent& event, uint32_t lane) const;
    void clear() { origins_.clear(); }

private:
    static uint64_t key(const machine::AccessEvent& event, uint32_t lane);
    std::unordered_map<uint64_t, uint32_t> origins_;
};

// The lanes store undefined values: their bytes remain unwritten. `base` is the address of the
// first bit.
void stay_unwritten(const machine::AccessEvent& event, Bits& bits, uint64_t base, uint32_t lanes);

// The lanes all of whose bytes are unwritten. Afterwards the bytes of all lanes count as written,
// unless it is not known yet whether the value will be used.
uint32_t unwritten_lanes(const machine::AccessEvent& event, Bits& bits, uint64_t base,
                         uint32_t lanes);

// Whether it is an atom.exch, which returns the old value but does not compute with it.
bool is_exchange(const machine::AccessEvent& event);

// Reports a read. `who` is the subject of "has ever written it": "nothing", "no thread of its
// block".
void add_finding(ThreadFindings& findings, const char* code, const PendingReads::Read& read,
                 uint64_t subject, const char* who, const std::function<Array()>& name);

// The checker that has found a read, and where it keeps what it knows.
struct ReadLog {
    const void* checker;
    PendingReads& pending;
    const LeftValues& left;
};
// The lanes `empty` read unwritten bytes of `owner`. If the machine tracks the values, the read is
// added to the `answer` for it, and counts once a value is used; else (null) it counts at once.
// If a store left an undefined value there, the checker that knows its origin reports it.
void note_read(const ReadLog& log, const machine::AccessEvent& event, uint32_t empty,
               const void* owner, machine::UndefinedLoad* answer);

}  // namespace checks
