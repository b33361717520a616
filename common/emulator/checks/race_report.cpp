// SPDX-License-Identifier: MIT
// The words of race findings.
#include <algorithm>

#include "checks/names.h"
#include "checks/race_common.h"
#include "checks/text.h"

namespace checks {
namespace {

using machine::AccessKind;

const char* doing(const AccessTraits& t) {
    return t.atomic ? "updating" : t.writes ? "writing" : "reading";
}
const char* did(const AccessTraits& t) {
    return t.atomic ? "updated it atomically" : t.writes ? "wrote it" : "read it";
}

// "read while another thread may still be writing it"
std::string clash(const AccessTraits& mine, const Race& race) {
    if (race.narrow_scope) {
        return std::string(mine.atomic ? "updated" : mine.writes ? "written" : "read") +
               " by two blocks, but one of them only with block scope";
    }
    std::string text = mine.atomic ? "updated atomically" : mine.writes ? "written" : "read";
    // One of the two is plain, the other not: say so, for it is half of a fix.
    if (!mine.strong && race.other.atomic) text += " without an atomic";
    text += std::string(" while another thread may still be ") + doing(race.other) + " it";
    if (mine.atomic && !race.other.strong) text += " without an atomic";
    return text;
}

std::string party(const HappensBefore::Who& who, const machine::Dim3* block, bool same_launch) {
    if (!who.known_thread) return "a thread";
    std::string text = "thread " + coordinates(who.thread);
    if (!same_launch || !block || !(who.block == *block)) text += " of block " + coordinates(who.block);
    return text;
}

// The earlier access: who, where, and what would have had to lie between.
void describe_other(Finding& finding, const HappensBefore& order, const Race& race, bool device_side) {
    const HappensBefore::Who who = order.who(race.other_segment, race.other_lane);
    const std::string& file = finding.place.file;
    if (who.operation && who.operation->launch == 0) {
        finding.other = place_of_host(who.operation->site);
        finding.other_text = '`' + std::string(who.operation->api ? who.operation->api : "a copy") +
                             "` in another stream " + (who.operation->writes ? "wrote" : "read") +
                             " it on " + line_text(*finding.other, file) +
                             ", and no event or synchronisation orders the two";
        return;
    }
    Place place = place_of(race.other_site);
    if (who.known_thread) {
        place.block = who.block;
        place.thread = who.thread;
    }
    const bool same_block = who.this_launch && who.known_thread && finding.place.block &&
                            who.block == *finding.place.block;
    std::string text = party(who, finding.place.block ? &*finding.place.block : nullptr, who.this_launch);
    if (!who.this_launch) {
        if (who.operation) text += " of kernel " + quoted(who.operation->kernel);
        text += " in another stream";
    }
    text += std::string(" ") + did(race.other) + " on " + line_text(place, file) + ", and ";
    if (!who.this_launch) {
        text += device_side ? "no event or synchronisation orders the two launches"
                            : "no event or synchronisation orders the two";
    } else if (race.narrow_scope) {
        text += "block scope does not reach another block";
    } else if (same_block) {
        const uint32_t mine = race.event->warp->index;
        const auto& shape = race.event->warp->block->launch->block;
        const uint64_t linear =
            who.thread.x + uint64_t(shape.x) * (who.thread.y + uint64_t(shape.y) * who.thread.z);
        const bool same_warp = linear / machine::kWarpSize == mine;
        text += same_warp ? "no barrier or `__syncwarp` lies between" : "no barrier lies between";
    } else {
        text += "nothing orders the two blocks";
    }
    finding.other = std::move(place);
    finding.other_text = std::move(text);
}

}  // namespace

void report_race(Report& report, const char* code, const HappensBefore& order, const Race& race,
                 uint64_t count) {
    const machine::AccessEvent& event = *race.event;
    const machine::LaunchInfo& launch = *event.warp->block->launch;
    const AccessTraits mine = traits_of(event);
    Finding finding;
    finding.code = code;
    finding.kernel = launch.kernel;
    finding.place = place_of(event.site, *event.warp, race.lane);
    Array array;
    if (race.allocation) {
        array = name_global(&launch, *race.allocation, event.element_bytes, mine.writes || race.other.writes);
    } else if (const auto* variable = machine::shared_variable_at(launch, race.address)) {
        array = name_shared(launch, *variable, event.element_bytes);
    }
    finding.message = array.element(race.address) + " is ";
    finding.message += race.one_store ? "written by several threads at once, with different values"
                                      : clash(mine, race);
    finding.allocation = array.description;
    finding.address = hex(race.address);
    finding.bytes = event.bytes;
    finding.count = count;
    finding.count_text = "more pairs of threads on the same two lines";
    describe_other(finding, order, race, true);
    report.add(std::move(finding));
}

void report_host_race(Report& report, const char* code, const HappensBefore& order,
                      const machine::HostAccess& access, const machine::Allocation& allocation,
                      bool writes, const Race& race, uint64_t count) {
    Finding finding;
    finding.code = code;
    finding.place = place_of_host(access.site);
    const Array array = name_global(nullptr, allocation, 0, writes);
    const std::string name = array.subject.empty() ? "device memory" : array.subject;
    finding.message = name + " is " + (writes ? "written" : "read") + " by `" +
                      std::string(access.api ? access.api : "a copy") +
                      "` while a kernel in another stream may still be " + doing(race.other) + " it";
    finding.allocation = array.description;
    finding.address = hex(race.address);
    finding.count = count;
    finding.count_text = "more places in the same range";
    describe_other(finding, order, race, false);
    report.add(std::move(finding));
}

}  // namespace checks
