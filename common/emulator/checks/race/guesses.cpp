// SPDX-License-Identifier: MIT
#include "checks/race/guesses.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "checks/race/optimistic_read.h"
#include "checks/report/places.h"

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

// What the atomic of `lane` shows about an earlier plain load of the same word by its thread.
// `now`: the current value.
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

void note_guess(const AccessContext& c, Epoch e, uint32_t byte, uint32_t lane) {
    const machine::SiteId load = instruction_of(e);
    if (load == 0 || c.instructions.traits(load).guess == Guess::kCompared) return;
    if (lane_of(e) != lane && second_lane_of(e) != lane) return;
    if (segment_of(e) < c.order.launch_first() || c.order.warp_of(segment_of(e)) != c.warp.number)
        return;
    if (c.offset + byte - c.shift != c.event.address[lane]) return;  // once for each word
    AccessTraits& traits = c.instructions.traits(load);
    Guess guess = guess_of(c.event, lane, held_at(c, c.event.address[lane], lane));
    if (guess == Guess::kCompared) {
        if (!traits.expected) traits.expected = may_be_expected(traits.instruction);
        if (!*traits.expected) guess = Guess::kNone;
    }
    traits.guess = std::max(traits.guess, guess);
}

bool is_guess(const InstructionTable& instructions, machine::SiteId load, bool forgiving) {
    const Guess guess = instructions.traits(load).guess;
    return guess == Guess::kCompared || (guess == Guess::kImproved && forgiving);
}

PendingRaces::PendingRaces(const char* code, const InstructionTable& instructions, Report& report)
    : code_(code), instructions_(instructions), report_(report),
      self_(std::make_shared<PendingRaces*>(this)) {
    report.before_reading([self = self_] {
        if (*self) (*self)->settle();
    });
}

PendingRaces::~PendingRaces() {
    *self_ = nullptr;
}

bool PendingRaces::add(const AccessContext& c, const Race& race, machine::SiteId other_id,
                       machine::SiteId place, machine::SiteId other, uint64_t count) {
    const AccessTraits now = traits_of(*race.event);
    if (race.other_segment < c.order.launch_first() || race.narrow_scope || race.lock_step ||
        now.atomic == race.other.atomic)
        return false;
    const AccessTraits &load = now.atomic ? race.other : now,
                       &atomic = now.atomic ? now : race.other;
    if (load.writes || load.strong) return false;
    const machine::SiteId id = now.atomic ? other_id : c.id;
    if (is_guess(c.instructions, id, atomic.forgiving)) return true;
    for (Pending& pending : pending_)
        if (pending.place == place && pending.other == other) {
            pending.finding.count += count;
            return true;
        }
    pending_.push_back(
        {describe_race(code_, c.order, race, count), place, other, id, atomic.forgiving});
    return true;
}

void PendingRaces::settle() {
    for (Pending& pending : pending_) {
        if (is_guess(instructions_, pending.load, pending.forgiving)) continue;
        report_.add(std::move(pending.finding));
        report_.remember(code_, pending.place, pending.other);
    }
    pending_.clear();
}

}  // namespace checks
