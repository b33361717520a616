// SPDX-License-Identifier: MIT
// A vector clock: for every warp of a launch, the segment up to which the actions of its lanes are
// known. Values share structure (a radix tree of 32-way nodes, copied on write), so thousands of
// blocks can each have their own view of a counter that all of them have updated.
#pragma once

#include <cstdint>
#include <utility>

namespace checks {

// A segment: the stretch of one warp's run between two operations that order memory. Numbers grow
// with time over the whole process; 0 is "never".
using Segment = uint32_t;

class Clock {
public:
    struct Node;

    Clock() = default;
    Clock(const Clock& other);
    Clock(Clock&& other) noexcept : root_(std::exchange(other.root_, nullptr)) {}
    Clock& operator=(Clock other) noexcept {
        std::swap(root_, other.root_);
        return *this;
    }
    ~Clock();

    explicit operator bool() const { return root_ != nullptr; }
    bool same_as(const Clock& other) const { return root_ == other.root_; }

    // Whether everything that `lane` of `warp` did in `segment` is known.
    bool knows(uint32_t warp, uint32_t lane, Segment segment) const;
    // The same for all lanes of the warp at once. May be false although each lane by itself is
    // known.
    bool knows_warp(uint32_t warp, Segment segment) const;

    // Segments below `before` of all lanes of warps first .. first + count - 1.
    void raise(uint32_t first, uint32_t count, Segment before);
    // Segments below `before` of some lanes of one warp.
    void raise_lanes(uint32_t warp, uint32_t lanes, Segment before);
    // Everything that `other` knows, too.
    void join(const Clock& other);

private:
    struct ClockLeaf* leaf(uint32_t warp);              // to write: exists and is not shared
    const struct ClockLeaf* find(uint32_t warp) const;  // null: nothing known

    Node* root_ = nullptr;
};

}  // namespace checks
