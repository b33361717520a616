// SPDX-License-Identifier: MIT
// Plain loads that only guess. The loop that makes an atomic operation out of a compare-and-swap
// begins with one, as in the CUDA C++ Programming Guide, "Atomic Functions":
//
//     old = *address;
//     do { assumed = old; old = atomicCAS(address, assumed, f(assumed)); } while (assumed != old);
//
// An older value costs a round, and no more. So such a load does not race with an atomic. What
// shows that a load is of this kind is that one thread, having made it, does to the same word
//  - a compare-and-swap against what the word holds (kCompared), which gets the loaded value as
//    what it expects: right beside any atomic;
//  - a minimum, maximum, `and` or `or` that changes it (kImproved), as in
//    `if (d < *best) atomicMin(best, d)`: right beside updates that only go the same way.
// Whether a thread does, often shows only later: races of such pairs wait until the launch ends.
#include <algorithm>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "checks/optimistic_read.h"
#include "checks/race_context.h"
#include "checks/text.h"

namespace checks {
namespace {

using machine::AccessEvent;
using Guess = AccessTraits::Guess;

template <class T>
bool improves(std::string_view opcode, const std::byte* now, const std::byte* operand) {
    T held, with;
    std::memcpy(&held, now, sizeof held);
    std::memcpy(&with, operand, sizeof with);
    const auto is = [&](const char* kind) { return opcode.find(kind) != opcode.npos; };
    if (is(".min")) return with < held;
    if (is(".max")) return with > held;
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    Bits before, bits;
    std::memcpy(&before, now, sizeof before);
    std::memcpy(&bits, operand, sizeof bits);
    return (is(".and") && (before & bits) != before) || (is(".or") && (before | bits) != before);
}

// What the atomic of `lane` says about a plain load that the same thread has made of its word,
// which holds `now`.
Guess guess_of(const AccessEvent& event, uint32_t lane, const std::byte* now) {
    if (!event.operand || !now) return Guess::kNone;
    const std::byte* operand = event.operand + lane * event.operand_stride;
    const std::string_view opcode = opcode_of(event);
    const auto is = [&](const char* kind) { return opcode.find(kind) != opcode.npos; };
    if (event.wrote_only_if_equal || is(".cas"))
        return std::memcmp(now, operand, event.bytes) == 0 ? Guess::kCompared : Guess::kNone;
    const bool improved = is(".s32")         ? improves<int32_t>(opcode, now, operand)
                          : is(".s64")       ? improves<int64_t>(opcode, now, operand)
                          : event.bytes == 8 ? improves<uint64_t>(opcode, now, operand)
                          : event.bytes == 4 ? improves<uint32_t>(opcode, now, operand)
                                             : false;
    return improved ? Guess::kImproved : Guess::kNone;
}

}  // namespace

RaceDetector::RaceDetector(const char* code, HappensBefore& order, Report& report)
    : code_(code), order_(order), report_(report) {
    report.before_reading([self = self_] {
        if (*self) (*self)->settle();
    });
}

RaceDetector::~RaceDetector() {
    *self_ = nullptr;
}

// An atomic meets `e`, a plain load. Is it the same thread's?
void RaceDetector::note_guess(const Context& c, Entry e, uint32_t byte, uint32_t lane) {
    const machine::SiteId load = instruction_of(e);
    if (load == 0 || traits_at(load).guess == Guess::kCompared) return;
    if (lane_of(e) != lane && second_lane_of(e) != lane) return;
    if (segment_of(e) < order_.launch_first() || order_.warp_of(segment_of(e)) != c.warp.number)
        return;
    if (c.offset + byte - c.shift != c.event.address[lane]) return;  // once for each word
    AccessTraits& traits = traits_slot(load);
    Guess guess = guess_of(c.event, lane, held_at(c, c.event.address[lane], lane));
    if (guess == Guess::kCompared) {
        if (!traits.expected) traits.expected = may_be_expected(traits.instruction);
        if (!*traits.expected) guess = Guess::kNone;
    }
    traits.guess = std::max(traits.guess, guess);
}

bool RaceDetector::is_guess(machine::SiteId load, bool forgiving) const {
    const Guess guess = traits_at(load).guess;
    return guess == Guess::kCompared || (guess == Guess::kImproved && forgiving);
}

// Whether there is nothing to report now.
bool RaceDetector::hold(const Context& c, const Found& f, machine::SiteId place,
                        machine::SiteId other) {
    const Race& race = f.race;
    const AccessTraits now = traits_of(*race.event);
    if (race.other_segment < order_.launch_first() || race.narrow_scope || race.lock_step ||
        now.atomic == race.other.atomic)
        return false;
    const AccessTraits &load = now.atomic ? race.other : now,
                       &atomic = now.atomic ? now : race.other;
    if (load.writes || load.strong) return false;
    const machine::SiteId id = now.atomic ? f.key : c.id;
    if (is_guess(id, atomic.forgiving)) return true;
    for (Held& held : held_)
        if (held.place == place && held.other == other) {
            held.finding.count += f.count;
            return true;
        }
    held_.push_back(
        {describe_race(code_, order_, race, f.count), place, other, id, atomic.forgiving});
    return true;
}

void RaceDetector::settle() {
    for (Held& held : held_) {
        if (is_guess(held.load, held.forgiving)) continue;
        report_.add(std::move(held.finding));
        report_.remember(code_, held.place, held.other);
    }
    held_.clear();
}

}  // namespace checks
