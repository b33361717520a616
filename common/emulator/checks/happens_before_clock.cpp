// SPDX-License-Identifier: MIT
// The tree behind Clock. Reference counts are plain integers: the machine runs on one thread.
#include "checks/happens_before_clock.h"

#include <algorithm>
#include <array>
#include <bit>
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

struct LaneFact {
    uint32_t warp, lanes;
    Segment before;
};

}  // namespace

struct ClockLeaf : Clock::Node {
    ClockLeaf() : Node(0) {}
    // Without `covered`, which is about this very leaf.
    ClockLeaf(const ClockLeaf& other) : Node(0), before(other.before), lanes(other.lanes) {}
    // A leaf, or null, of which it has turned out that this one knows all that it does. Leaves only
    // learn, and this reference keeps the other one from learning more.
    ClockLeaf* covered = nullptr;
    std::array<Segment, kFan> before{};  // of all lanes
    std::vector<LaneFact> lanes;         // what is known beyond that of single lanes

    // Drops what the new fact makes superfluous.
    void add(const LaneFact& fact) {
        if (fact.before <= before[fact.warp % kFan]) return;
        for (LaneFact& known : lanes)
            if (known.warp == fact.warp && known.before >= fact.before &&
                (fact.lanes & ~known.lanes) == 0)
                return;
        std::erase_if(lanes, [&](LaneFact& known) {
            if (known.warp == fact.warp && known.before <= fact.before) known.lanes &= ~fact.lanes;
            return known.lanes == 0;
        });
        for (LaneFact& known : lanes)
            if (known.warp == fact.warp && known.before == fact.before) {
                known.lanes |= fact.lanes;
                return;
            }
        lanes.push_back(fact);
    }
    void prune() {
        std::erase_if(lanes, [&](const LaneFact& f) { return f.before <= before[f.warp % kFan]; });
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

// The facts about single lanes of two leaves, lane by lane: joining them one after the other takes
// time by the product of their numbers, and where all lanes of a warp poll by themselves, each has
// facts of its own.
class LaneTable {
public:
    // Whether a fact is news beyond `before` and what the table has.
    bool add(const LaneFact& fact, Segment before) {
        if (fact.before <= before) return false;
        const uint32_t row = fact.warp % kFan;
        if (!(rows_ >> row & 1)) at_[row].fill(0);
        rows_ |= 1u << row;
        bool news = false;
        for (uint32_t left = fact.lanes; left; left &= left - 1) {
            Segment& known = at_[row][uint32_t(std::countr_zero(left))];
            news |= known < fact.before;
            known = std::max(known, fact.before);
        }
        return news;
    }
    // `first`: the warp of row 0.
    void list(uint32_t first, const std::array<Segment, kFan>& before,
              std::vector<LaneFact>& out) const {
        out.clear();
        for (uint32_t rows = rows_; rows; rows &= rows - 1) {
            const uint32_t row = uint32_t(std::countr_zero(rows));
            const size_t start = out.size();
            for (uint32_t lane = 0; lane < 32; ++lane) {
                const Segment segment = at_[row][lane];
                if (segment <= before[row]) continue;
                // Lanes that came together are neighbours or take turns: two facts back is enough.
                size_t k = out.size();
                const size_t stop = k - std::min<size_t>(2, k - start);
                while (k > stop && out[k - 1].before != segment) --k;
                if (k > stop)
                    out[k - 1].lanes |= 1u << lane;
                else
                    out.push_back({first + row, 1u << lane, segment});
            }
        }
    }

private:
    uint32_t rows_ = 0;
    std::array<std::array<Segment, 32>, kFan> at_;  // by warp and lane; of rows_ only
};

// Two views of one location, or of what its readers know and what they have seen the end of, meet
// again and again: they are compared once.
Node* share_larger(ClockLeaf* larger, ClockLeaf* smaller) {
    // No chain of leaves that nobody else needs.
    drop(std::exchange(smaller->covered, nullptr));
    drop(std::exchange(larger->covered, static_cast<ClockLeaf*>(share(smaller))));
    return share(larger);
}

Node* joined_leaves(ClockLeaf* a, ClockLeaf* b) {
    if (a->covered == b) return share(a);
    if (b->covered == a) return share(b);
    bool a_is_enough = true, b_is_enough = true;
    for (uint32_t i = 0; i < kFan; ++i) {
        a_is_enough &= a->before[i] >= b->before[i];
        b_is_enough &= b->before[i] >= a->before[i];
    }
    if (a_is_enough && b->lanes.empty()) return share_larger(a, b);
    if (b_is_enough && a->lanes.empty()) return share_larger(b, a);
    // The newer of two views of one location knows all that the older one does: the result must be
    // that very leaf, or all who join it later would have to look at every leaf again.
    if (b_is_enough && !a_is_enough) std::swap(a, b);
    LaneTable table;
    for (const LaneFact& fact : a->lanes) table.add(fact, 0);
    bool news = false;
    for (const LaneFact& fact : b->lanes) news |= table.add(fact, a->before[fact.warp % kFan]);
    if ((a_is_enough || b_is_enough) && !news) return share_larger(a, b);
    if (a_is_enough && b_is_enough) {
        LaneTable other;
        for (const LaneFact& fact : b->lanes) other.add(fact, 0);
        news = false;
        for (const LaneFact& fact : a->lanes) news |= other.add(fact, b->before[fact.warp % kFan]);
        if (!news) return share_larger(b, a);
    }
    auto* out = new ClockLeaf;
    for (uint32_t i = 0; i < kFan; ++i) out->before[i] = std::max(a->before[i], b->before[i]);
    for (const ClockLeaf* leaf : {a, b}) {
        if (leaf->lanes.empty()) continue;
        table.list(leaf->lanes.front().warp / kFan * kFan, out->before, out->lanes);
        break;
    }
    return out;
}

// A new reference to a node that knows what both know; one of the two when that one is enough.
Node* joined(Node* a, Node* b) {
    if (a == b || !b) return share(a);
    if (!a) return share(b);
    if (a->level == 0) return joined_leaves(static_cast<ClockLeaf*>(a), static_cast<ClockLeaf*>(b));
    auto *left = static_cast<Inner*>(a), *right = static_cast<Inner*>(b);
    std::array<Node*, kFan> child;
    for (uint32_t i = 0; i < kFan; ++i) child[i] = joined(left->child[i], right->child[i]);
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
    if (segment < leaf->before[warp % kFan]) return true;
    for (const LaneFact& fact : leaf->lanes)
        if (fact.warp == warp && fact.lanes >> lane & 1 && segment < fact.before) return true;
    return false;
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
            for (; warp < end; ++warp) {
                Segment& s = mine->before[warp % kFan];
                s = std::max(s, before);
            }
            mine->prune();
        }
        warp = end;
    }
}

void Clock::raise_lanes(uint32_t warp, uint32_t lanes, Segment before) {
    if (lanes == 0) return;
    const ClockLeaf* known = find(warp);
    if (known && before <= known->before[warp % kFan]) return;
    leaf(warp)->add({warp, lanes, before});
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
    Node* out = joined(a, b);
    drop(a);
    drop(b);
    drop(root_);
    root_ = out;
}

}  // namespace checks
