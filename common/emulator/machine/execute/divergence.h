// SPDX-License-Identifier: MIT
// Diverged lanes: the parts of a warp that run apart, and the points where they wait for each
// other, as with convergence barriers on hardware.
#pragma once

#include <vector>

#include "machine/state/launch_state.h"

namespace machine {

// References to activations, by splits, reconvergence points and callees. An activation without any
// is reused.
class FrameReferences {
public:
    explicit FrameReferences(UndefinedValues& undefined) : undefined_(undefined) {}
    static void add(Frame* frame) {
        if (frame) ++frame->refs;
    }
    void remove(Frame* frame);

private:
    UndefinedValues& undefined_;
};

class Divergence {
public:
    explicit Divergence(FrameReferences& frames) : frames_(frames) {}
    ~Divergence();
    Divergence(const Divergence&) = delete;
    Divergence& operator=(const Divergence&) = delete;

    // The lanes of `split` that are not `taken` continue at `fall`; the others become a split of
    // their own at `target`, which runs later. `reconvergence`: where they meet, or kNoInstruction.
    // May move the warp's splits.
    void diverge(WarpState& warp, WarpSplit& split, uint32_t taken, uint32_t target, uint32_t fall,
                 uint32_t reconvergence);
    // The lanes of `split` will wait for each other at `pc` of their current activation.
    void join_at(WarpSplit& split, uint32_t pc);
    // At a kReconverge. True: the split continues, alone or with all others that have arrived.
    bool arrive(WarpState& warp, WarpSplit& split);
    void drop(WarpState& warp, size_t index);
    // Lanes that wait at a point whose other lanes have returned, and so will never arrive,
    // continue.
    void complete(WarpState& warp, ReconvergencePoint* join);
    // The same at all points of the warp: lanes that spin may wait for what these hold.
    void release_all(WarpState& warp) {
        while (!warp.joins.empty()) complete(warp, warp.joins.back());
    }
    // Lanes have returned: the points from `join` outwards no longer expect them.
    static void lanes_left(ReconvergencePoint* join, uint32_t lanes);
    void unref(ReconvergencePoint* join);

private:
    ReconvergencePoint* make(ReconvergencePoint* parent, Frame* frame, uint32_t pc, uint32_t lanes);

    FrameReferences& frames_;
    std::vector<ReconvergencePoint*> pool_;
};

}  // namespace machine
