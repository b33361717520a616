// SPDX-License-Identifier: MIT
#include "machine/execute/divergence.h"

#include <algorithm>

#include "machine/definedness/undefined.h"
#include "machine/program/control_flow.h"

namespace machine {

void FrameReferences::remove(Frame* frame) {
    while (frame && --frame->refs == 0) {
        Frame* caller = frame->caller;
        frame->code->spare_frames.push_back(frame);
        undefined_.release(*frame);
        frame = caller;
    }
}

Divergence::~Divergence() {
    for (ReconvergencePoint* join : pool_) delete join;
}

ReconvergencePoint* Divergence::make(ReconvergencePoint* parent, Frame* at, uint32_t pc,
                                     uint32_t lanes) {
    ReconvergencePoint* out;
    if (pool_.empty()) {
        out = new ReconvergencePoint;
    } else {
        out = pool_.back();
        pool_.pop_back();
    }
    *out = ReconvergencePoint{parent, at, pc, lanes, 0, 0};
    if (parent) ++parent->refs;
    FrameReferences::add(at);
    return out;
}

void Divergence::unref(ReconvergencePoint* join) {
    while (join && --join->refs == 0) {
        ReconvergencePoint* parent = join->parent;
        frames_.remove(join->frame);
        pool_.push_back(join);
        join = parent;
    }
}

void Divergence::drop(WarpState& state, size_t index) {
    WarpSplit split = state.splits[index];
    state.splits.erase(state.splits.begin() + ptrdiff_t(index));
    unref(split.join);
    frames_.remove(split.frame);
}

void Divergence::join_at(WarpSplit& split, uint32_t pc) {
    ReconvergencePoint* join = make(split.join, split.frame, pc, split.mask);
    ++join->refs;
    unref(split.join);
    split.join = join;
}

void Divergence::diverge(WarpState& state, WarpSplit& split, uint32_t taken, uint32_t target,
                         uint32_t fall, uint32_t reconvergence) {
    const size_t index = size_t(&split - state.splits.data());
    ReconvergencePoint* join = split.join;
    if (reconvergence != kNoInstruction &&
        !(join && join->frame == split.frame && join->pc == reconvergence)) {
        join_at(split, reconvergence);
        join = split.join;
    }
    WarpSplit other = split;
    other.mask = taken;
    other.pc = target;
    split.mask &= ~taken;
    split.pc = fall;
    FrameReferences::add(other.frame);
    if (join) ++join->refs;
    state.splits.insert(state.splits.begin() + ptrdiff_t(index), other);
}

bool Divergence::arrive(WarpState& state, WarpSplit& split) {
    while (split.join && split.join->frame == split.frame && split.join->pc == split.pc) {
        ReconvergencePoint* join = split.join;
        join->arrived |= split.mask;
        if (join->arrived != join->expected) {
            auto& waiting = state.joins;
            if (std::find(waiting.begin(), waiting.end(), join) == waiting.end()) {
                waiting.push_back(join);
                ++join->refs;
            }
            return false;
        }
        split.mask = join->arrived;
        auto& waiting = state.joins;
        const auto found = std::find(waiting.begin(), waiting.end(), join);
        if (found != waiting.end()) {
            waiting.erase(found);
            unref(join);
        }
        split.join = join->parent;
        if (split.join) ++split.join->refs;
        unref(join);
    }
    return true;
}

void Divergence::complete(WarpState& state, ReconvergencePoint* join) {
    const auto found = std::find(state.joins.begin(), state.joins.end(), join);
    if (found == state.joins.end()) return;
    state.joins.erase(found);
    WarpSplit split;
    split.frame = join->frame;
    split.join = join->parent;
    split.pc = join->pc;
    split.mask = join->arrived;
    FrameReferences::add(split.frame);
    if (split.join) ++split.join->refs;
    join->expected &= ~join->arrived;
    join->arrived = 0;
    state.splits.push_back(split);
    unref(join);
}

void Divergence::lanes_left(ReconvergencePoint* join, uint32_t lanes) {
    for (; join; join = join->parent) {
        join->expected &= ~lanes;
        join->arrived &= ~lanes;
    }
}

}  // namespace machine
