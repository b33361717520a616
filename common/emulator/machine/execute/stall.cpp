// SPDX-License-Identifier: MIT
// Launches that cannot proceed: the report of what each thread waits for, and the fingerprint of a
// launch's state, by which an endless loop is recognised.
#include <cstring>

#include "machine/execute/executor.h"
#include "machine/execute/recurrence.h"
#include "machine/program/sites.h"

namespace machine {

void Executor::report_stall(StallEvent::Kind kind, bool idle) {
    std::vector<Waiter> waiters;
    uint64_t exited = 0;
    for (const auto& state : resident_) {
        exited += state->info.threads - state->live_threads;
        for (const WarpState& w : state->warps) {
            for (const WarpSplit& split : w.splits) {
                const Code& code = *split.frame->code;
                const uint32_t at = split.state == SplitState::kBarrier ? split.pc - 1 : split.pc;
                // The next instruction to run; a reconvergence point is not one of the program's.
                const bool meets = code.instructions[at].control == kReconverge;
                const Instr& next = code.instructions[at + (meets ? 1 : 0)];
                SiteId site = next.site ? blamed(split.frame, next) : 0;
                for (uint32_t k = at; !site && k-- > 0;)
                    if (code.instructions[k].site) site = blamed(split.frame, code.instructions[k]);
                const WaitReason reason = split.state == SplitState::kBarrier ? WaitReason::kBarrier
                                          : split.state == SplitState::kWarpSync
                                              ? WaitReason::kWarpSync
                                              : WaitReason::kRunning;
                waiters.push_back({&state->info,
                                   w.info.index,
                                   split.mask,
                                   site,
                                   reason,
                                   split.barrier,
                                   split.named});
            }
            for (const ReconvergencePoint* join : w.joins) {
                SiteId site = 0;
                const auto& instructions = join->frame->code->instructions;
                for (uint32_t k = join->pc + 1; !site && k-- > 0;)
                    if (instructions[k].site) site = blamed(join->frame, instructions[k]);
                waiters.push_back({&state->info,
                                   w.info.index,
                                   join->arrived,
                                   site,
                                   WaitReason::kReconvergence,
                                   0,
                                   0});
            }
        }
    }
    const Allocation* waits_for = polled ? memory.find(polled) : nullptr;
    // A launch that is not idle may wait only for memory that other processes can write.
    if (waits_for && !idle && waits_for->shared_file < 0) waits_for = nullptr;
    const StallEvent event{kind,
                           &info,
                           waiters,
                           exited,
                           idle      ? 0
                           : budget_ ? budget_
                                     : limits.quiet_instructions,
                           !budget_,
                           waits_for,
                           interrupted_.load(std::memory_order_relaxed)};
    for (Observer* o : observers.fault) o->on_stall(event);
}

void Executor::add_state(Fingerprint& print, const WarpSplit& split) {
    print.add(uint64_t(split.pc) << 32 | split.mask);
    for (const Frame* frame = split.frame; frame; frame = frame->caller) {
        print.add(frame->return_pc);
        for (uint32_t at = 0; at + 8 <= frame->code->row_bytes; at += 8) {
            uint64_t word;
            std::memcpy(&word, frame->rows + at, 8);
            print.add(word);
        }
    }
}

uint64_t Executor::fingerprint() const {
    Fingerprint print;
    for (const auto& state : resident_) {
        for (const WarpState& w : state->warps) {
            for (const WarpSplit& split : w.splits) add_state(print, split);
            for (const ReconvergencePoint* join : w.joins)
                print.add(uint64_t(join->pc) << 32 | join->arrived);
        }
    }
    return print.value();
}

}  // namespace machine
