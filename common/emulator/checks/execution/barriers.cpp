// SPDX-License-Identifier: MIT
#include "checks/execution/barriers.h"

#include <algorithm>
#include <bit>

#include "checks/report/places.h"
#include "checks/source/source.h"

namespace checks {
namespace {

using machine::Arrival;
using machine::BarrierEvent;
using machine::SiteId;

// Threads that met the barrier on one source line.
struct Side {
    Place place;
    SiteId site = 0;
    std::vector<uint32_t> threads;
};

void append_lanes(std::vector<uint32_t>& threads, uint32_t warp, uint32_t lanes) {
    for (uint32_t m = lanes; m; m &= m - 1) {
        threads.push_back(warp * machine::kWarpSize + uint32_t(std::countr_zero(m)));
    }
}

std::vector<Side> sides_of(const BarrierEvent& event) {
    std::vector<Side> sides;
    for (const Arrival& arrival : event.arrivals) {
        const Place place = place_of(arrival.site);
        auto side = std::find_if(sides.begin(), sides.end(), [&](const Side& known) {
            // Without lines only the instruction itself tells barriers apart.
            return place.line == 0
                       ? known.site == arrival.site
                       : known.place.line == place.line && known.place.file == place.file;
        });
        if (side == sides.end()) side = sides.insert(side, Side{place, arrival.site, {}});
        append_lanes(side->threads, arrival.warp, arrival.mask);
    }
    for (Side& side : sides) std::sort(side.threads.begin(), side.threads.end());
    std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
        return a.threads.front() < b.threads.front();
    });
    return sides;
}

std::string threads_text(const std::vector<uint32_t>& threads, const BarrierEvent& event) {
    return (threads.size() == 1 ? "thread " : "threads ") +
           thread_ranges(threads, event.block->launch->block);
}

void set_where(Finding& finding, const BarrierEvent& event, uint32_t thread) {
    finding.kernel = event.block->launch->kernel;
    finding.place.block = event.block->index;
    if (finding.place.library_line.empty())
        finding.place.launched_at = script_line(*event.block->launch);
    finding.place.thread = thread_at(event.block->launch->block, thread);
}

uint32_t valid_lanes(const machine::BlockInfo& block, uint32_t warp) {
    const uint32_t first = warp * machine::kWarpSize;
    if (block.threads <= first) return 0;
    const uint32_t count = block.threads - first;
    return count >= machine::kWarpSize ? machine::kAllLanes : (1u << count) - 1;
}

uint32_t exited_lanes(const BarrierEvent& event, uint32_t warp) {
    return warp < event.exited.size() ? event.exited[warp] & valid_lanes(*event.block, warp) : 0;
}

// Whether one warp has arrivals from different instructions.
bool warp_is_split(const BarrierEvent& event) {
    for (const Arrival& a : event.arrivals) {
        for (const Arrival& b : event.arrivals) {
            if (a.warp == b.warp && a.site != b.site) return true;
        }
    }
    return false;
}

}  // namespace

void Barriers::on_block_barrier(const BarrierEvent& event) {
    if (event.arrivals.empty()) return;
    // The common case, every warp whole and at the same instruction, is seen without building
    // lists.
    const SiteId site = event.arrivals[0].site;
    bool one_site = true, whole = true;
    for (const Arrival& arrival : event.arrivals) {
        one_site &= arrival.site == site;
        whole &= (arrival.mask | exited_lanes(event, arrival.warp)) ==
                 valid_lanes(*event.block, arrival.warp);
    }
    if (!one_site && event.aligned) {
        // With an explicit count, warps may come from different lines, but not the lanes of one.
        if (event.expected == 0 || warp_is_split(event)) report_lines(event);
    }
    if (!whole && event.aligned) report_missing(event);
    if (event.expected == 0) report_exited(event);
}

void Barriers::report_lines(const BarrierEvent& event) {
    const SiteId first_site = event.arrivals[0].site;
    SiteId second_site = first_site;
    for (const Arrival& arrival : event.arrivals) {
        if (arrival.site != first_site) second_site = arrival.site;
    }
    if (report_.bump("barrier-divergence", first_site, second_site)) return;
    const std::vector<Side> sides = sides_of(event);
    if (sides.size() < 2) return;

    Finding finding;
    finding.code = "barrier-divergence";
    finding.place = sides[0].place;
    set_where(finding, event, sides[0].threads.front());
    finding.other = sides[1].place;
    finding.other->block = event.block->index;
    finding.other->thread = thread_at(event.block->launch->block, sides[1].threads.front());
    std::vector<std::string> parts;
    for (const Side& side : sides) {
        if (parts.size() == 3) break;
        parts.push_back(threads_text(side.threads, event) + " at " +
                        line_text(side.place, finding.place.file));
    }
    finding.message =
        std::string(warp_is_split(event) ? "threads of one warp" : "threads of one block") +
        " wait at different barriers: " + joined(parts);
    finding.other_text = threads_text(sides[1].threads, event) +
                         (sides[1].threads.size() == 1 ? " waits on " : " wait on ") +
                         line_text(sides[1].place, finding.place.file);
    finding.count_text = "more times on the same two lines";
    report_.add(std::move(finding));
    report_.remember("barrier-divergence", first_site, second_site);
}

void Barriers::report_missing(const BarrierEvent& event) {
    std::map<uint32_t, uint32_t> arrived;  // warp -> lanes
    for (const Arrival& arrival : event.arrivals) arrived[arrival.warp] |= arrival.mask;
    for (const auto& [warp, lanes] : arrived) {
        const uint32_t missing =
            valid_lanes(*event.block, warp) & ~exited_lanes(event, warp) & ~lanes;
        if (!missing) continue;
        const auto at = std::find_if(event.arrivals.begin(),
                                     event.arrivals.end(),
                                     [&, w = warp](const Arrival& a) { return a.warp == w; });
        if (report_.bump("barrier-divergence", at->site, 0)) return;
        std::vector<uint32_t> here, absent;
        append_lanes(here, warp, lanes);
        append_lanes(absent, warp, missing);
        Finding finding;
        finding.code = "barrier-divergence";
        finding.place = place_of(at->site, *event.block->launch);
        set_where(finding, event, here.front());
        finding.message =
            "only a part of a warp reached this barrier: " + threads_text(here, event) +
            ", but not " + threads_text(absent, event);
        finding.count_text = "more times on the same line";
        report_.add(std::move(finding));
        report_.remember("barrier-divergence", at->site, 0);
        return;
    }
}

void Barriers::report_exited(const BarrierEvent& event) {
    uint64_t gone = 0;
    SiteId exit_site = 0;
    uint32_t first_warp = 0;
    for (uint32_t warp = 0; warp < event.exited.size(); ++warp) {
        const uint32_t lanes = exited_lanes(event, warp);
        if (lanes && gone == 0) {
            first_warp = warp;
            exit_site = warp < event.exit_site.size() ? event.exit_site[warp] : 0;
        }
        gone += uint64_t(std::popcount(lanes));
    }
    if (gone == 0) return;
    const SiteId site = event.arrivals[0].site;
    if (report_.bump("barrier-divergence", site, exit_site)) return;

    // One early return, however many barriers follow it, is one finding: at the first of them.
    if (generation_ != report_.generation()) by_exit_.clear();
    generation_ = report_.generation();
    Place left = place_of(exit_site);
    const std::string key =
        event.block->launch->mangled + '\n' + left.file + ':' + std::to_string(left.line);
    const auto known = by_exit_.find(key);
    if (known != by_exit_.end()) return;

    uint64_t reached = 0;
    uint32_t first_thread = event.block->threads;
    for (const Arrival& arrival : event.arrivals) {
        reached += uint64_t(std::popcount(arrival.mask));
        first_thread =
            std::min(first_thread,
                     arrival.warp * machine::kWarpSize + uint32_t(std::countr_zero(arrival.mask)));
    }
    Finding finding;
    finding.code = "barrier-divergence";
    finding.severity = Severity::kWarning;
    finding.place = place_of(site, *event.block->launch);
    set_where(finding, event, first_thread);
    // The compiler attributes every early return to the closing brace.
    WayPast way{0, true};
    if (finding.place.file == left.file) way = way_past(left.file, finding.place.line, left.line);
    if (way.line) left.line = way.line;
    finding.other = left;
    finding.other->block = event.block->index;
    finding.other->thread =
        thread_at(event.block->launch->block,
                  first_warp * machine::kWarpSize +
                      uint32_t(std::countr_zero(exited_lanes(event, first_warp))));
    const std::string line = left.line ? " on " + line_text(left, finding.place.file) : "";
    const std::string did = way.line && !way.returned
                                ? " had passed it by: they did not enter the block" + line
                                : " had returned" + line;
    finding.message = "barrier reached by " + std::to_string(reached) + " of " +
                      plural(event.block->threads, "thread") + ", the other " +
                      std::to_string(gone) + did;
    finding.other_text = "thread " + coordinates(*finding.other->thread) + " had returned" + line;
    if (way.line && !way.returned)
        finding.other_text =
            "thread " + coordinates(*finding.other->thread) + " did not enter the block" + line;
    finding.count_text = "more times (other blocks, or the barrier is in a loop)";
    finding.facts.add("returned", gone).add("passed_by", way.line && !way.returned);
    by_exit_[key] = report_.add(std::move(finding));
    report_.remember("barrier-divergence", site, exit_site);
}

}  // namespace checks
