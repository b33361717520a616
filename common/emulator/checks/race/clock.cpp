// SPDX-License-Identifier: MIT
// The tree of a Clock. Reference counts are plain integers: the machine runs on one thread.
#include "checks/race/clock.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace checks {

struct Clock::Node {
    uint32_t references = 1;
    uint32_t level;  // 0: a leaf of 32 warps; n: 32 children of level n - 1
    explicit Node(uint32_t level_) : level(level_) {}
};

namespace {

using Node = Clock::Node;
constexpr uint32_t kFan = 32, kFanBits = 5;
using Row = std::array<Segment, 32>;  // by lane of a warp, or by warp of a leaf

// Whether one of two rows is greater than the other in some lane. Segments fit into 31 bits, and
// every processor can compare signed numbers four at a time.
struct Difference {
    uint32_t left = 0, right = 0;
    void add(const Row& a, const Row& b) {
        for (uint32_t i = 0; i < 32; ++i) {
            left |= uint32_t(int32_t(a[i]) > int32_t(b[i]));
            right |= uint32_t(int32_t(b[i]) > int32_t(a[i]));
        }
    }
    bool both() const { return left && right; }
};

void raise_row(Row& row, const Row& by) {
    for (uint32_t i = 0; i < 32; ++i) row[i] = Segment(std::max(int32_t(row[i]), int32_t(by[i])));
}

}  // namespace

struct ClockLeaf : Clock::Node {
    ClockLeaf() : Node(0) {}
    // Without `covered`, which refers to this leaf only.
    ClockLeaf(const ClockLeaf& other)
        : Node(0), before(other.before), rows(other.rows), lanes(other.lanes) {}
    // A leaf, or null, all of whose knowledge this leaf also has. Knowledge only grows, and while
    // this reference exists the other leaf is shared, so it is copied instead of changed.
    ClockLeaf* covered = nullptr;
    Row before{};  // of all lanes, by warp
    // Warps for which more is known about single lanes, and for each of them, in order, a row that
    // is never less than `before`. In a program with many locks nearly every lane differs, and two
    // such views are joined row by row.
    uint32_t rows = 0;
    std::vector<Row> lanes;

    size_t place(uint32_t warp) const { return size_t(std::popcount(rows & ((1u << warp) - 1))); }
    // What is known of each lane of a warp; written to `spare` if it is the same for all.
    const Row& of(uint32_t warp, Row& spare) const {
        if (rows >> warp & 1) return lanes[place(warp)];
        spare.fill(before[warp]);
        return spare;
    }
    void raise(uint32_t warp, Segment segment) {
        if (segment <= before[warp]) return;
        before[warp] = segment;
        if (!(rows >> warp & 1)) return;
        Row all;
        all.fill(segment);
        raise_row(lanes[place(warp)], all);
        settle(warp);
    }
    void raise_lanes(uint32_t warp, uint32_t mask, Segment segment) {
        if (segment <= before[warp]) return;
        if (!(rows >> warp & 1)) {
            Row row;
            row.fill(before[warp]);
            lanes.insert(lanes.begin() + std::ptrdiff_t(place(warp)), row);
            rows |= 1u << warp;
        }
        Row& row = lanes[place(warp)];
        for (; mask; mask &= mask - 1) {
            Segment& known = row[uint32_t(std::countr_zero(mask))];
            known = std::max(known, segment);
        }
        settle(warp);
    }

private:
    // What is known of every lane is known of the warp; a row that adds nothing to that is removed.
    void settle(uint32_t warp) {
        const Row& row = lanes[place(warp)];
        const auto [lowest, highest] = std::minmax_element(row.begin(), row.end());
        before[warp] = *lowest;
        if (*lowest != *highest) return;
        lanes.erase(lanes.begin() + std::ptrdiff_t(place(warp)));
        rows &= ~(1u << warp);
    }
};

namespace {

struct Inner : Node {
    explicit Inner(uint32_t level_) : Node(level_) {}
    std::array<Node*, kFan> child{};
};

Node* share(Node* node) {
    if (node) ++node->references;
    return node;
}

void drop(Node* node) {
    if (!node || --node->references) return;
    if (node->level == 0) {
        drop(static_cast<ClockLeaf*>(node)->covered);
        delete static_cast<ClockLeaf*>(node);
        return;
    }
    auto* inner = static_cast<Inner*>(node);
    for (Node* child : inner->child) drop(child);
    delete inner;
}

// One's own copy of `node`, whose reference is consumed.
Node* own(Node* node) {
    if (node->references == 1) return node;
    --node->references;
    if (node->level == 0) {
        return new ClockLeaf(*static_cast<ClockLeaf*>(node));
    }
    auto* copy = new Inner(*static_cast<Inner*>(node));
    copy->references = 1;
    for (Node* child : copy->child) share(child);
    return copy;
}

// A new reference to `node`, wrapped until it has `level`.
Node* lifted(Node* node, uint32_t level) {
    share(node);
    while (node->level < level) {
        auto* above = new Inner(node->level + 1);
        above->child[0] = node;
        node = above;
    }
    return node;
}

// The same two views are joined repeatedly (of one location, or acquired and observed by its
// readers): they are compared once.
Node* share_larger(ClockLeaf* larger, ClockLeaf* smaller) {
    // Drops a chain of leaves that no other clock uses.
    drop(std::exchange(smaller->covered, nullptr));
    drop(std::exchange(larger->covered, static_cast<ClockLeaf*>(share(smaller))));
    return share(larger);
}

Node* joined_leaves(ClockLeaf* a, ClockLeaf* b) {
    if (a->covered == b) return share(a);
    if (b->covered == a) return share(b);
    Difference more;
    Row spare[2];
    more.add(a->before, b->before);
    for (uint32_t m = a->rows | b->rows; m && !more.both(); m &= m - 1) {
        const uint32_t warp = uint32_t(std::countr_zero(m));
        more.add(a->of(warp, spare[0]), b->of(warp, spare[1]));
    }
    // The newer of two views of one location includes the older one. The result must be the same
    // leaf object, otherwise later joins would have to compare every leaf again.
    if (!more.right) return share_larger(a, b);
    if (!more.left) return share_larger(b, a);
    auto* out = new ClockLeaf;
    out->before = a->before;
    raise_row(out->before, b->before);
    out->rows = a->rows | b->rows;
    out->lanes.reserve(size_t(std::popcount(out->rows)));
    for (uint32_t m = out->rows; m; m &= m - 1) {
        const uint32_t warp = uint32_t(std::countr_zero(m));
        out->lanes.push_back(a->of(warp, spare[0]));
        raise_row(out->lanes.back(), b->of(warp, spare[1]));
    }
    return out;
}

// A new reference to a node that knows what both know; one of the two when that one is enough.
Node* joined_clocks(Node* a, Node* b) {
    if (a == b || !b) return share(a);
    if (!a) return share(b);
    if (a->level == 0) return joined_leaves(static_cast<ClockLeaf*>(a), static_cast<ClockLeaf*>(b));
    auto *left = static_cast<Inner*>(a), *right = static_cast<Inner*>(b);
    std::array<Node*, kFan> child;
    for (uint32_t i = 0; i < kFan; ++i) child[i] = joined_clocks(left->child[i], right->child[i]);
    Node* out = child == left->child ? a : child == right->child ? b : nullptr;
    if (out) {
        for (Node* c : child) drop(c);
        return share(out);
    }
    auto* made = new Inner(a->level);
    made->child = child;
    return made;
}

}  // namespace

Clock::Clock(const Clock& other) : root_(share(other.root_)) {}
Clock::~Clock() {
    drop(root_);
}

const ClockLeaf* Clock::find(uint32_t warp) const {
    const Node* node = root_;
    if (!node || (kFanBits * (node->level + 1) < 32 && warp >> (kFanBits * (node->level + 1))))
        return nullptr;
    while (node && node->level)
        node =
            static_cast<const Inner*>(node)->child[warp >> (kFanBits * node->level) & (kFan - 1)];
    return static_cast<const ClockLeaf*>(node);
}

ClockLeaf* Clock::leaf(uint32_t warp) {
    uint32_t level = 0;
    while (kFanBits * (level + 1) < 32 && warp >> (kFanBits * (level + 1))) ++level;
    if (!root_) root_ = level ? static_cast<Node*>(new Inner(level)) : new ClockLeaf;
    if (root_->level < level) {
        Node* old = root_;
        root_ = lifted(old, level);
        drop(old);
    }
    Node** at = &root_;
    for (;;) {
        *at = own(*at);
        if ((*at)->level == 0) return static_cast<ClockLeaf*>(*at);
        auto* inner = static_cast<Inner*>(*at);
        Node*& next = inner->child[warp >> (kFanBits * inner->level) & (kFan - 1)];
        if (!next)
            next =
                inner->level > 1 ? static_cast<Node*>(new Inner(inner->level - 1)) : new ClockLeaf;
        at = &next;
    }
}

bool Clock::knows(uint32_t warp, uint32_t lane, Segment segment) const {
    const ClockLeaf* leaf = find(warp);
    if (!leaf) return false;
    const uint32_t here = warp % kFan;
    if (segment < leaf->before[here]) return true;
    return leaf->rows >> here & 1 && segment < leaf->lanes[leaf->place(here)][lane];
}

bool Clock::knows_warp(uint32_t warp, Segment segment) const {
    const ClockLeaf* leaf = find(warp);
    return leaf && segment < leaf->before[warp % kFan];
}

void Clock::raise(uint32_t first, uint32_t count, Segment before) {
    for (uint32_t warp = first; warp < first + count;) {
        const uint32_t end = std::min(first + count, (warp / kFan + 1) * kFan);
        const ClockLeaf* known = find(warp);
        const bool news = !known || std::any_of(&known->before[warp % kFan],
                                                &known->before[warp % kFan] + (end - warp),
                                                [&](Segment s) { return s < before; });
        if (news) {
            ClockLeaf* mine = leaf(warp);
            for (; warp < end; ++warp) mine->raise(warp % kFan, before);
        }
        warp = end;
    }
}

void Clock::raise_lanes(uint32_t warp, uint32_t lanes, Segment before) {
    if (lanes == 0) return;
    const ClockLeaf* known = find(warp);
    if (known && before <= known->before[warp % kFan]) return;
    leaf(warp)->raise_lanes(warp % kFan, lanes, before);
}

void Clock::join(const Clock& other) {
    if (root_ == other.root_ || !other.root_) return;
    if (!root_) {
        root_ = share(other.root_);
        return;
    }
    const uint32_t level = std::max(root_->level, other.root_->level);
    Node* a = lifted(root_, level);
    Node* b = lifted(other.root_, level);
    Node* out = joined_clocks(a, b);
    drop(a);
    drop(b);
    drop(root_);
    root_ = out;
}

}  // namespace checks
