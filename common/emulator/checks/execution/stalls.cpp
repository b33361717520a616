// SPDX-License-Identifier: MIT
#include "checks/execution/stalls.h"

#include <algorithm>
#include <bit>
#include <set>

#include "checks/execution/api.h"
#include "checks/report/places.h"

namespace checks {
namespace {

using machine::StallEvent;
using machine::Waiter;
using machine::WaitReason;

// Threads that wait for the same thing on the same line.
struct Crowd {
    Place place;
    WaitReason reason = WaitReason::kRunning;
    uint32_t barrier = 0, named = 0;
    uint64_t threads = 0;
    std::set<uint64_t> blocks;  // serials
    const machine::BlockInfo* first = nullptr;
    std::vector<uint32_t> first_threads;  // of the first block
};

std::vector<Crowd> crowds_of(const StallEvent& event) {
    std::vector<Crowd> crowds;
    for (const Waiter& waiter : event.waiters) {
        if (!waiter.mask) continue;
        const Place place = place_of(waiter.site, *event.launch);
        auto crowd = std::find_if(crowds.begin(), crowds.end(), [&](const Crowd& known) {
            return known.place.line == place.line && known.place.file == place.file &&
                   known.reason == waiter.reason &&
                   (waiter.reason != WaitReason::kBarrier || known.barrier == waiter.barrier);
        });
        if (crowd == crowds.end()) {
            Crowd fresh;
            fresh.place = place;
            fresh.reason = waiter.reason;
            fresh.barrier = waiter.barrier;
            fresh.named = waiter.named;
            fresh.first = waiter.block;
            crowd = crowds.insert(crowd, std::move(fresh));
        }
        crowd->threads += uint64_t(std::popcount(waiter.mask));
        crowd->blocks.insert(waiter.block->serial);
        if (waiter.block->linear < crowd->first->linear) {
            crowd->first = waiter.block;
            crowd->first_threads.clear();
        }
        if (waiter.block != crowd->first && waiter.block->serial != crowd->first->serial) continue;
        for (uint32_t m = waiter.mask; m; m &= m - 1) {
            crowd->first_threads.push_back(waiter.warp * machine::kWarpSize +
                                           uint32_t(std::countr_zero(m)));
        }
    }
    for (Crowd& crowd : crowds) {
        auto& list = crowd.first_threads;
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    return crowds;
}

// "32 threads wait at the barrier on line 12"
std::string doing(const Crowd& crowd, const std::string& seen_from) {
    const bool one = crowd.threads == 1;
    std::string text = plural(crowd.threads, "thread");
    switch (crowd.reason) {
    // The threads that can run: one of them loops, the others wait for their turn.
    case WaitReason::kRunning:
        text += one ? " is" : " are";
        break;
    case WaitReason::kBarrier:
        text += one ? " waits at the barrier" : " wait at the barrier";
        if (crowd.barrier) text += " number " + std::to_string(crowd.barrier);
        break;
    case WaitReason::kWarpSync:
        text += std::string(one ? " waits" : " wait") + " for the lanes named in the mask " +
                hex(crowd.named);
        break;
    case WaitReason::kReconvergence:
        text += std::string(one ? " waits" : " wait") + " for the rest of the warp";
        break;
    }
    if (crowd.place.line) text += " on " + line_text(crowd.place, seen_from);
    return text;
}

std::string who(const Crowd& crowd, const machine::Dim3& shape) {
    std::string text =
        thread_ranges(crowd.first_threads, shape) + " of block " + coordinates(crowd.first->index);
    if (crowd.blocks.size() > 1) {
        text += " and more in " + plural(crowd.blocks.size() - 1, "other block");
    }
    return text;
}

// The first crowd gives the finding its place: in a hang the loop that runs, in a deadlock the
// barrier. Lanes that wait for the rest of their warp are a consequence of either.
void sort_by_blame(std::vector<Crowd>& crowds, bool deadlock) {
    const auto rank = [&](const Crowd& crowd) {
        switch (crowd.reason) {
        case WaitReason::kRunning:
            return deadlock ? 2 : 0;
        case WaitReason::kBarrier:
            return deadlock ? 0 : 1;
        case WaitReason::kWarpSync:
            return deadlock ? 1 : 2;
        default:
            return 3;
        }
    };
    std::stable_sort(crowds.begin(), crowds.end(), [&](const Crowd& a, const Crowd& b) {
        if (rank(a) != rank(b)) return rank(a) < rank(b);
        if (a.first->linear != b.first->linear) return a.first->linear < b.first->linear;
        return a.first_threads.front() < b.first_threads.front();
    });
}

// How long it ran, and what could end the wait on a card but not here.
void add_notes(Finding& finding, const StallEvent& event) {
    const bool deadlock = event.kind == StallEvent::Kind::kDeadlock;
    if (event.interrupted) {
        finding.notes.push_back("the program was told to end, and this is where the kernel was");
    } else if (!deadlock && event.quiet && event.budget) {
        finding.notes.push_back("it has executed " + std::to_string(event.budget) +
                                " thread-instructions in which it changed no memory and finished "
                                "no block");
    } else if (!deadlock && event.budget) {
        finding.notes.push_back("a launch may take " + std::to_string(event.budget) +
                                " thread-instructions (EMULATOR_BUDGET)");
    }
    if (event.polled && event.polled->live && event.polled->shared_file >= 0) {
        finding.notes.push_back(
            "it polls memory that another process can write too, and none has done so");
    } else if (event.polled && event.polled->live && event.polled->host_visible()) {
        finding.notes.push_back(
            "it polls memory that the host can write too; here a launch runs to its end before "
            "the host goes on, so the host cannot end the wait");
    } else if (event.polled && event.polled->live && event.launch->stream != 0) {
        finding.notes.push_back(
            "it polls memory that no thread of this launch writes any more; launches run one "
            "after the other here, so no kernel in another stream can end the wait");
    }
}

}  // namespace

void Stalls::on_stall(const StallEvent& event) {
    const bool deadlock = event.kind == StallEvent::Kind::kDeadlock;
    std::vector<Crowd> crowds = crowds_of(event);
    sort_by_blame(crowds, deadlock);
    Finding finding;
    finding.code = deadlock ? "deadlock" : "hang";
    finding.kernel = event.launch->kernel;
    finding.message = deadlock            ? "the kernel cannot go on"
                      : event.interrupted ? "the kernel had not finished"
                                          : "the kernel does not finish";
    add_notes(finding, event);
    if (crowds.empty()) {
        finding.place.file = event.launch->declared.file;
        finding.place.line = event.launch->declared.line;
        report_.add(std::move(finding));
        return;
    }
    if (!deadlock)
        finding.facts.add("budget", event.interrupted ? 0 : event.budget)
            .add("ended", event.interrupted);
    uint64_t running = 0;
    for (const Crowd& crowd : crowds)
        if (crowd.reason == WaitReason::kRunning) running += crowd.threads;
    finding.facts.add("threads", running).add("returned", event.exited_threads);
    const machine::Dim3& shape = event.launch->block;
    finding.place = crowds[0].place;
    finding.place.block = crowds[0].first->index;
    finding.place.thread = thread_at(shape, crowds[0].first_threads.front());
    std::vector<std::string> parts;
    for (size_t i = 0; i < crowds.size() && i < 3; ++i) {
        parts.push_back(doing(crowds[i], finding.place.file));
    }
    if (event.exited_threads) {
        parts.push_back(plural(event.exited_threads, "thread") +
                        (event.exited_threads == 1 ? " has returned" : " have returned"));
    }
    finding.message += ": " + joined(parts);
    if (crowds.size() > 1) {
        finding.other = crowds[1].place;
        finding.other->block = crowds[1].first->index;
        finding.other->thread = thread_at(shape, crowds[1].first_threads.front());
        finding.other_text = doing(crowds[1], finding.place.file) + ": " + who(crowds[1], shape);
    }
    finding.notes.push_back(doing(crowds[0], finding.place.file) + ": " + who(crowds[0], shape));
    for (size_t i = 2; i < crowds.size() && i < 5; ++i) {
        finding.notes.push_back(doing(crowds[i], finding.place.file) + ": " +
                                who(crowds[i], shape));
    }
    report_.add(std::move(finding));
}

void Stalls::on_api(const machine::ApiEvent& event) {
    if (event.kind == machine::ApiEvent::Kind::kEndless)
        report_.add(api_finding(event, "hang", "see"));
}

}  // namespace checks
