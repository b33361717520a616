// SPDX-License-Identifier: MIT
// Divergence alone: splits and the points where they meet, without executing anything.
#include "catch/catch.h"
#include "machine/definedness/undefined.h"
#include "machine/execute/divergence.h"
#include "machine/memory.h"
#include "machine/program/control_flow.h"

using namespace machine;

namespace {

// A warp of 32 lanes in one activation.
struct OneWarp {
    OneWarp() {
        frame.code = &code;
        WarpSplit split;
        split.frame = &frame;
        split.mask = kAllLanes;
        FrameReferences::add(&frame);
        FrameReferences::add(&frame);  // the test's own, so that it is never reused
        warp.splits.push_back(split);
    }
    WarpSplit& last() { return warp.splits.back(); }
    // The last split reaches `pc`; whether it continues there.
    bool reach(uint32_t pc) {
        last().pc = pc;
        if (divergence.arrive(warp, last())) return true;
        divergence.drop(warp, warp.splits.size() - 1);
        return false;
    }

    Memory memory;
    Observers observers;
    Limits limits;
    UndefinedValues undefined{launch};
    LaunchState launch{memory, observers, limits, undefined};
    Code code;
    Frame frame;
    WarpState warp;
    FrameReferences frames{undefined};
    Divergence divergence{frames};
};

}  // namespace

TEST_CASE("reconvergence: both sides of a branch meet", "[machine][divergence]") {
    OneWarp w;
    w.divergence.diverge(w.warp, w.last(), 0xff, 10, 5, 20);
    REQUIRE(w.warp.splits.size() == 2);
    CHECK(w.warp.splits[0].mask == 0xff);
    CHECK(w.warp.splits[0].pc == 10);
    CHECK(w.last().mask == ~0xffu);
    CHECK(w.last().pc == 5);
    CHECK_FALSE(w.reach(20));
    REQUIRE(w.warp.splits.size() == 1);
    CHECK(w.warp.joins.size() == 1);
    REQUIRE(w.reach(20));
    CHECK(w.last().mask == kAllLanes);
    CHECK(w.last().join == nullptr);
    CHECK(w.warp.joins.empty());
    CHECK(w.frame.refs == 2);
}

TEST_CASE("reconvergence: nested branches meet from the inside out", "[machine][divergence]") {
    OneWarp w;
    w.divergence.diverge(w.warp, w.last(), 0xffff0000, 10, 5, 30);
    w.divergence.diverge(w.warp, w.last(), 0x000000ff, 7, 6, 20);
    REQUIRE(w.warp.splits.size() == 3);
    CHECK_FALSE(w.reach(20));
    REQUIRE(w.reach(20));
    CHECK(w.last().mask == 0xffff);
    CHECK_FALSE(w.reach(30));
    REQUIRE(w.reach(30));
    CHECK(w.last().mask == kAllLanes);
    CHECK(w.frame.refs == 2);
}

TEST_CASE("reconvergence: lanes that returned are not waited for", "[machine][divergence]") {
    OneWarp w;
    w.divergence.diverge(w.warp, w.last(), 0xf, 10, 5, 20);
    CHECK_FALSE(w.reach(20));
    ReconvergencePoint* const join = w.last().join;
    Divergence::lanes_left(join, 0xf);
    w.divergence.drop(w.warp, 0);
    CHECK(w.warp.splits.empty());
    w.divergence.complete(w.warp, w.warp.joins.front());
    REQUIRE(w.warp.splits.size() == 1);
    CHECK(w.last().mask == ~0xfu);
    CHECK(w.last().pc == 20);
    CHECK(w.warp.joins.empty());
}

TEST_CASE("reconvergence: none where a branch has no common end", "[machine][divergence]") {
    OneWarp w;
    w.divergence.diverge(w.warp, w.last(), 1, 10, 5, kNoInstruction);
    REQUIRE(w.warp.splits.size() == 2);
    CHECK(w.last().join == nullptr);
    REQUIRE(w.reach(20));
    CHECK(w.last().mask == ~1u);
}
