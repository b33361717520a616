// SPDX-License-Identifier: MIT
#include "checks/race/line_order.h"

#include <optional>

#include "checks/source/resolvers.h"

namespace checks {
namespace {

// The same by what warps have done; empty when none of them ran both.
std::optional<bool> seen_later(const AccessContext& c, const Race& race, machine::SiteId other) {
    const machine::SiteId now = c.event.site;
    const uint32_t warp = c.order.warp_of(race.other_segment);
    const BlockOrder& block = *c.warp.block;
    const Segment since = warp == c.warp.number ? c.warp.floor : block.floor;
    if (c.warp.steps.has(other, since)) return false;
    const bool same_block = c.order.same_block(warp, c.warp);
    const StepLog& log =
        same_block ? block.warps[warp - block.first_warp].steps : c.order.finished();
    if (log.in_order(other, now, same_block ? since : 0)) return false;
    if (log.in_order(now, other, same_block ? since : 0)) return true;
    return std::nullopt;
}

}  // namespace

bool LineOrder::comes_later(const AccessContext& c, const Race& race, machine::SiteId other) {
    const machine::SiteId now = c.event.site;
    if (race.other_segment < c.order.launch_first() || other == now) return false;
    const auto [entry, fresh] = decided_.try_emplace(uint64_t(other) << 32 | now);
    if (!fresh) return entry->second;
    const ptx::SourceLine &here = site_of(now).user, &there = site_of(other).user;
    const auto lines = [](const ptx::SourceLine& first, const ptx::SourceLine& then) {
        return first.file + ':' + std::to_string(first.line) + ' ' + then.file + ':' +
               std::to_string(then.line);
    };
    if (const std::optional<bool> seen = seen_later(c, race, other)) {
        entry->second = *seen;
    } else if (order_of_lines_.count(lines(there, here))) {
        entry->second = false;
    } else if (order_of_lines_.count(lines(here, there))) {
        entry->second = true;
    } else {
        // No warp runs both. A read before the first write came too early; otherwise the later
        // line counts as later.
        entry->second =
            (race.first_write && c.event.kind != machine::AccessKind::kLoad &&
             !race.other.writes) ||
            (here.file == there.file && here.function == there.function && there.line > here.line);
    }
    order_of_lines_.insert(entry->second ? lines(here, there) : lines(there, here));
    return entry->second;
}

}  // namespace checks
