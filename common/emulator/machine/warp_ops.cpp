// SPDX-License-Identifier: MIT
// What the lanes of a warp do together: shuffles, votes, matches, reductions, __syncwarp. Operands
// come from every part of the warp that met here, so diverged callers still exchange values.
// PTX ISA "shfl.sync", "vote.sync", "match.sync", "redux.sync", "bar.warp.sync".
#include <algorithm>
#include <cstring>

#include "machine/executor.h"

namespace machine {
namespace {

using Kind = WarpOp::Kind;
using Party = Executor::Party;

const WarpOp& operation(const Party& party) {
    return party.instr->as<WarpOp>();
}

WarpSyncKind sync_kind(Kind kind) {
    if (kind == Kind::kBarrier) return WarpSyncKind::kBarrier;
    if (kind <= Kind::kShuffleIndex) return WarpSyncKind::kShuffle;
    if (kind <= Kind::kBallot || kind == Kind::kElect) return WarpSyncKind::kVote;
    if (kind <= Kind::kMatchAll) return WarpSyncKind::kMatch;
    return WarpSyncKind::kReduce;
}

template <class T>
T* row(const Party& party, uint32_t offset) {
    return reinterpret_cast<T*>(party.frame->rows + offset);
}

// The lane that `lane` reads from; `in_range` is the predicate result.
uint32_t source_lane(Kind kind, uint32_t lane, uint32_t b, uint32_t c, bool& in_range) {
    const int segment = int(c >> 8 & 31), bound = int(c & 31), shift = int(b & 31),
              self = int(lane);
    const int highest = (self & segment) | (bound & ~segment);
    const int lowest = self & segment;
    int j = self;
    switch (kind) {
    case Kind::kShuffleUp:
        j = self - shift;
        in_range = j >= highest;
        break;
    case Kind::kShuffleDown:
        j = self + shift;
        in_range = j <= highest;
        break;
    case Kind::kShuffleXor:
        j = self ^ shift;
        in_range = j <= highest;
        break;
    default:
        j = lowest | (shift & ~segment);
        in_range = j <= highest;
        break;
    }
    return in_range ? uint32_t(j) : lane;
}

uint32_t shuffle(const std::vector<Party>& parties, uint32_t lanes) {
    uint32_t a[kWarpSize], undefined = 0;
    for (const Party& party : parties) {
        const uint32_t* values = row<uint32_t>(party, operation(party).a);
        for_lanes(party.mask, [&](uint32_t i) { a[i] = values[i]; });
    }
    for (const Party& party : parties) {
        const WarpOp& op = operation(party);
        const uint32_t* b = row<uint32_t>(party, op.b);
        const uint32_t* c = row<uint32_t>(party, op.c);
        uint32_t results[kWarpSize], good = 0;
        for_lanes(party.mask, [&](uint32_t i) {
            bool in_range = false;
            const uint32_t j = source_lane(op.kind, i, b[i], c[i], in_range);
            good |= uint32_t(in_range) << i;
            const bool there = lanes >> j & 1;
            undefined |= uint32_t(!there) << i;
            results[i] = there ? a[j] : 0xffffffffu;
        });
        uint32_t* d = row<uint32_t>(party, op.dst);
        for_lanes(party.mask, [&](uint32_t i) { d[i] = results[i]; });
        if (op.dst_predicate != kNoRow) {
            uint32_t& p = *row<uint32_t>(party, op.dst_predicate);
            p = (p & ~party.mask) | good;
        }
    }
    return undefined;
}

void vote(const std::vector<Party>& parties, uint32_t lanes) {
    uint32_t yes = 0;
    for (const Party& party : parties)
        yes |= *row<uint32_t>(party, operation(party).a) & party.mask;
    for (const Party& party : parties) {
        const WarpOp& op = operation(party);
        if (op.kind == Kind::kBallot) {
            uint32_t* d = row<uint32_t>(party, op.dst);
            for_lanes(party.mask, [&](uint32_t i) { d[i] = yes; });
            continue;
        }
        const bool value = op.kind == Kind::kAll   ? yes == lanes
                           : op.kind == Kind::kAny ? yes != 0
                                                   : yes == lanes || yes == 0;
        uint32_t& d = *row<uint32_t>(party, op.dst);
        d = value ? d | party.mask : d & ~party.mask;
    }
}

void match(const std::vector<Party>& parties, uint32_t lanes) {
    uint64_t value[kWarpSize] = {};
    for (const Party& party : parties) {
        const WarpOp& op = operation(party);
        for_lanes(party.mask, [&](uint32_t i) {
            value[i] =
                op.width == 8 ? row<uint64_t>(party, op.a)[i] : row<uint32_t>(party, op.a)[i];
        });
    }
    for (const Party& party : parties) {
        const WarpOp& op = operation(party);
        uint32_t* d = row<uint32_t>(party, op.dst);
        uint32_t all = 0;
        for_lanes(party.mask, [&](uint32_t i) {
            uint32_t same = 0;
            for_lanes(lanes, [&](uint32_t k) { same |= uint32_t(value[k] == value[i]) << k; });
            const bool everyone = same == lanes;
            all |= uint32_t(everyone) << i;
            d[i] = op.kind == Kind::kMatchAny ? same : everyone ? lanes : 0;
        });
        if (op.dst_predicate != kNoRow) {
            uint32_t& p = *row<uint32_t>(party, op.dst_predicate);
            p = (p & ~party.mask) | all;
        }
    }
}

void reduce(const std::vector<Party>& parties) {
    bool first = true, is_signed = operation(parties[0]).is_signed;
    const Kind kind = operation(parties[0]).kind;
    uint32_t total = 0;
    for (const Party& party : parties) {
        const uint32_t* a = row<uint32_t>(party, operation(party).a);
        for_lanes(party.mask, [&](uint32_t i) {
            const uint32_t b = a[i];
            const bool less = is_signed ? int32_t(b) < int32_t(total) : b < total;
            if (first)
                total = b;
            else if (kind == Kind::kReduceAdd)
                total += b;
            else if (kind == Kind::kReduceMin)
                total = less ? b : total;
            else if (kind == Kind::kReduceMax)
                total = less ? total : b;
            else if (kind == Kind::kReduceAnd)
                total &= b;
            else if (kind == Kind::kReduceOr)
                total |= b;
            else
                total ^= b;
            first = false;
        });
    }
    for (const Party& party : parties) {
        uint32_t* d = row<uint32_t>(party, operation(party).dst);
        for_lanes(party.mask, [&](uint32_t i) { d[i] = total; });
    }
}

void elect(const std::vector<Party>& parties, uint32_t lanes) {
    const uint32_t leader = uint32_t(std::countr_zero(lanes));
    for (const Party& party : parties) {
        const WarpOp& op = operation(party);
        uint32_t* d = row<uint32_t>(party, op.dst);
        for_lanes(party.mask, [&](uint32_t i) { d[i] = leader; });
        if (op.dst_predicate == kNoRow) continue;
        uint32_t& p = *row<uint32_t>(party, op.dst_predicate);
        p = (p & ~party.mask) | (party.mask & 1u << leader);
    }
}

}  // namespace

void Executor::run_warp_op(const std::vector<Party>& parties, uint32_t named,
                           uint32_t missing_waiting) {
    uint32_t lanes = 0, undefined = 0;
    for (const Party& party : parties) lanes |= party.mask;
    const Kind kind = operation(parties[0]).kind;
    ++changes;
    // Parts that met at different kinds of one family (an up and a down shuffle) still exchange.
    switch (sync_kind(kind)) {
    case WarpSyncKind::kShuffle:
        undefined = shuffle(parties, lanes);
        break;
    case WarpSyncKind::kVote:
        kind == Kind::kElect ? elect(parties, lanes) : vote(parties, lanes);
        break;
    case WarpSyncKind::kMatch:
        match(parties, lanes);
        break;
    case WarpSyncKind::kReduce:
        reduce(parties);
        break;
    case WarpSyncKind::kBarrier:
        break;
    }
    if (observers.sync.empty()) return;
    const WarpSyncEvent event{&warp->info,
                              blamed(parties[0].frame, *parties[0].instr),
                              sync_kind(kind),
                              named,
                              lanes,
                              lanes & ~named,
                              named & warp->info.exited,
                              missing_waiting,
                              undefined};
    for (Observer* o : observers.sync) o->on_warp_sync(event);
}

}  // namespace machine
