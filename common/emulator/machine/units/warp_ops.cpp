// SPDX-License-Identifier: MIT
// Operations of the lanes of a warp together: shuffles, votes, matches, reductions, __syncwarp.
// Operands come from every part of the warp that met here, so diverged callers still exchange
// values. PTX ISA "shfl.sync", "vote.sync", "match.sync", "redux.sync", "bar.warp.sync".
#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "machine/units/warp_ops.h"

#include "machine/definedness/undefined.h"

namespace machine {

WarpSyncKind sync_kind(WarpOp::Kind kind) {
    if (kind == WarpOp::Kind::kBarrier) return WarpSyncKind::kBarrier;
    if (kind == WarpOp::Kind::kMatrix) return WarpSyncKind::kMatrix;
    if (kind <= WarpOp::Kind::kShuffleIndex) return WarpSyncKind::kShuffle;
    if (kind <= WarpOp::Kind::kBallot || kind == WarpOp::Kind::kElect) return WarpSyncKind::kVote;
    if (kind <= WarpOp::Kind::kMatchAll) return WarpSyncKind::kMatch;
    return WarpSyncKind::kReduce;
}

namespace {

using WarpOpKind = WarpOp::Kind;
using Party = WarpParty;

const WarpOp& operation(const Party& party) {
    return party.instr->as<WarpOp>();
}

template <class T>
T* row(const Party& party, uint32_t offset) {
    return reinterpret_cast<T*>(party.frame->rows + offset);
}

// Computes the lane that each lane reads from: itself if that is outside of its segment. Returns
// the lanes whose source is in range. b and c: the operands' rows.
template <WarpOpKind kind>
uint32_t source_lanes(const uint32_t* b, const uint32_t* c, uint32_t* source) {
    int inside[kWarpSize];
#pragma GCC ivdep
    for (int i = 0; i < int(kWarpSize); ++i) {
        const int segment = int(c[i] >> 8 & 31), bound = int(c[i] & 31), shift = int(b[i] & 31);
        const int limit = (i & segment) | (bound & ~segment);
        const int j = kind == WarpOpKind::kShuffleUp     ? i - shift
                      : kind == WarpOpKind::kShuffleDown ? i + shift
                      : kind == WarpOpKind::kShuffleXor  ? i ^ shift
                                                         : (i & segment) | (shift & ~segment);
        const bool in_range = kind == WarpOpKind::kShuffleUp ? j >= limit : j <= limit;
        inside[i] = in_range ? -1 : 0;
        source[i] = uint32_t(in_range ? j : i);
    }
    return lane_mask(kAllLanes, [&](uint32_t i) { return inside[i] < 0; });
}

uint32_t source_lanes(WarpOpKind kind, const uint32_t* b, const uint32_t* c, uint32_t* source) {
    switch (kind) {
    case WarpOpKind::kShuffleUp:
        return source_lanes<WarpOpKind::kShuffleUp>(b, c, source);
    case WarpOpKind::kShuffleDown:
        return source_lanes<WarpOpKind::kShuffleDown>(b, c, source);
    case WarpOpKind::kShuffleXor:
        return source_lanes<WarpOpKind::kShuffleXor>(b, c, source);
    default:
        return source_lanes<WarpOpKind::kShuffleIndex>(b, c, source);
    }
}

// Returns the lanes whose source did not take part; from[i] is where lane i's value came from.
uint32_t shuffle(std::span<const Party> parties, uint32_t lanes, uint32_t* from) {
    uint32_t a[kWarpSize], undefined = 0;
    for (const Party& party : parties) {
        const uint32_t* values = row<uint32_t>(party, operation(party).a);
        map_row(
            a, parties.size() == 1 ? kAllLanes : party.mask, [&](uint32_t i) { return values[i]; });
    }
    for (uint32_t i = 0; lanes != kAllLanes && i < kWarpSize; ++i)
        if (!(lanes >> i & 1)) a[i] = 0;  // undefined; what an H200 gives
    for (const Party& party : parties) {
        const WarpOp& op = operation(party);
        uint32_t own[kWarpSize], *const source = parties.size() == 1 ? from : own;
        const uint32_t good =
            source_lanes(op.kind, row<uint32_t>(party, op.b), row<uint32_t>(party, op.c), source);
        if (lanes != kAllLanes)
            for_lanes(party.mask,
                      [&](uint32_t i) { undefined |= uint32_t(!(lanes >> source[i] & 1)) << i; });
        if (source != from) for_lanes(party.mask, [&](uint32_t i) { from[i] = source[i]; });
        uint32_t* d = row<uint32_t>(party, op.dst);
        if (party.mask == kAllLanes)
            for (uint32_t i = 0; i < kWarpSize; ++i) d[i] = a[source[i]];
        else
            for_lanes(party.mask, [&](uint32_t i) { d[i] = a[source[i]]; });
        if (op.dst_predicate != kNoRow) {
            uint32_t& p = *row<uint32_t>(party, op.dst_predicate);
            p = (p & ~party.mask) | (good & party.mask);
        }
    }
    return undefined;
}

void elect(const Party& party, uint32_t lanes);

// Votes and elections are one family: parts of a warp may meet at different ones. A lane that is
// missing from its own mask has no bit in a ballot, which contains those of the mask's threads (PTX
// ISA "vote.sync"; the rest is undefined there, and an H200 lets the lane vote).
void vote(std::span<const Party> parties, uint32_t lanes, uint32_t named) {
    uint32_t yes = 0;
    for (const Party& party : parties)
        if (operation(party).kind != WarpOpKind::kElect)
            yes |= *row<uint32_t>(party, operation(party).a) & party.mask;
    for (const Party& party : parties) {
        const WarpOp& op = operation(party);
        if (op.kind == WarpOpKind::kElect) {
            elect(party, lanes);
            continue;
        }
        if (op.kind == WarpOpKind::kBallot) {
            uint32_t* d = row<uint32_t>(party, op.dst);
            for_lanes(party.mask, [&](uint32_t i) { d[i] = yes & named; });
            continue;
        }
        const bool value = op.kind == WarpOpKind::kAll   ? yes == lanes
                           : op.kind == WarpOpKind::kAny ? yes != 0
                                                         : yes == lanes || yes == 0;
        uint32_t& d = *row<uint32_t>(party, op.dst);
        d = value ? d | party.mask : d & ~party.mask;
    }
}

void match(std::span<const Party> parties, uint32_t lanes) {
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
            d[i] = op.kind == WarpOpKind::kMatchAny ? same : everyone ? lanes : 0;
        });
        if (op.dst_predicate != kNoRow) {
            uint32_t& p = *row<uint32_t>(party, op.dst_predicate);
            p = (p & ~party.mask) | all;
        }
    }
}

// redux.f32: -0 is less than +0; numbers take precedence over NaN unless .NaN is given.
uint32_t reduced_float(const WarpOp& op, uint32_t total, uint32_t bits, bool first) {
    if (op.absolute) bits &= 0x7fffffff;
    const auto is_nan = [](uint32_t x) { return (x & 0x7fffffff) > 0x7f800000; };
    if (is_nan(bits)) bits = 0x7fffffff;
    if (first) return bits;
    if (is_nan(total)) return op.keeps_nan ? total : bits;
    if (is_nan(bits)) return op.keeps_nan ? bits : total;
    const auto key = [](uint32_t x) {  // has the order of the numbers
        return x >> 31 ? -1 - int64_t(x & 0x7fffffff) : int64_t(x);
    };
    const bool less = key(bits) < key(total);
    return less == (op.kind == WarpOpKind::kReduceMin) ? bits : total;
}

void reduce(std::span<const Party> parties) {
    bool first = true, is_signed = operation(parties[0]).is_signed;
    const WarpOpKind kind = operation(parties[0]).kind;
    uint32_t total = 0;
    for (const Party& party : parties) {
        const uint32_t* a = row<uint32_t>(party, operation(party).a);
        for_lanes(party.mask, [&](uint32_t i) {
            const uint32_t b = a[i];
            const bool less = is_signed ? int32_t(b) < int32_t(total) : b < total;
            if (operation(party).is_float)
                total = reduced_float(operation(party), total, b, first);
            else if (first)
                total = b;
            else if (kind == WarpOpKind::kReduceAdd)
                total += b;
            else if (kind == WarpOpKind::kReduceMin)
                total = less ? b : total;
            else if (kind == WarpOpKind::kReduceMax)
                total = less ? total : b;
            else if (kind == WarpOpKind::kReduceAnd)
                total &= b;
            else if (kind == WarpOpKind::kReduceOr)
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

void elect(const Party& party, uint32_t lanes) {
    const uint32_t leader = uint32_t(std::countr_zero(lanes));
    const WarpOp& op = operation(party);
    uint32_t* d = row<uint32_t>(party, op.dst);
    for_lanes(party.mask, [&](uint32_t i) { d[i] = leader; });
    if (op.dst_predicate == kNoRow) return;
    uint32_t& p = *row<uint32_t>(party, op.dst_predicate);
    p = (p & ~party.mask) | (party.mask & 1u << leader);
}

// Executes together the lanes at the same instruction of one activation; diverged lanes at another
// one are executed separately.
void run_together(LaunchState& state, std::vector<Party> parties) {
    while (!parties.empty()) {
        const Party first = parties[0];
        uint32_t together = 0;
        std::erase_if(parties, [&](const Party& p) {
            const bool same = p.frame == first.frame && p.instr == first.instr;
            if (same) together |= p.mask;
            return same;
        });
        state.frame = first.frame;
        state.rows = state.frame->rows;
        state.mask = together;
        state.current = first.instr;
        const WarpOp& op = operation(first);
        op.together(state, *op.matrix);
    }
}

void notify(LaunchState& state, std::span<const Party> parties, WarpOp::Kind kind, uint32_t named,
            uint32_t lanes, uint32_t missing_waiting, uint32_t undefined) {
    if (state.observers.sync.empty()) return;
    // Registers only and all lanes present: nothing to report.
    if (kind == WarpOpKind::kMatrix && !operation(parties[0]).orders && !missing_waiting &&
        !(named & state.warp->info.exited))
        return;
    WarpSyncEvent event{&state.warp->info,
                        LaunchState::blamed(parties[0].frame, *parties[0].instr),
                        sync_kind(kind),
                        named,
                        lanes,
                        lanes & ~named,
                        named & state.warp->info.exited,
                        missing_waiting,
                        undefined};
    // The order of arrival is arbitrary: the lanes that differ from the lowest lane's operation
    // count as the diverged ones.
    const Party& lead =
        *std::min_element(parties.begin(), parties.end(), [](const Party& a, const Party& b) {
            return std::countr_zero(a.mask) < std::countr_zero(b.mask);
        });
    for (const Party& party : parties)
        if (operation(party).kind != operation(lead).kind) {
            event.site = LaunchState::blamed(lead.frame, *lead.instr);
            event.strayed |= party.mask;
            event.strayed_site = LaunchState::blamed(party.frame, *party.instr);
        }
    for (Observer* o : state.observers.sync) o->on_warp_sync(event);
}

}  // namespace

void run_warp_op(LaunchState& state, std::span<const Party> parties, uint32_t named,
                 uint32_t missing_waiting) {
    uint32_t lanes = 0, undefined_sources = 0, from[kWarpSize];  // of the lanes that meet
    for (const Party& party : parties) lanes |= party.mask;
    const WarpOpKind kind = operation(parties[0]).kind;
    ++state.changes;
    ++state.near_changes;
    // Parts that met at different operations of one family (an up and a down shuffle) still
    // exchange.
    switch (sync_kind(kind)) {
    case WarpSyncKind::kShuffle:
        undefined_sources = shuffle(parties, lanes, from);
        if (state.follows &&
            (undefined_sources || std::any_of(parties.begin(), parties.end(), [](const Party& p) {
                 return p.frame->undefined != nullptr;
             }))) {
            std::vector<UndefinedValues::Shuffled> all;
            for (const Party& party : parties)
                all.push_back(
                    {party.frame, party.instr, party.mask, undefined_sources & party.mask, from});
            state.undefined.shuffled(all);
        }
        break;
    case WarpSyncKind::kVote:
        vote(parties, lanes, named);
        break;
    case WarpSyncKind::kMatch:
        match(parties, lanes);
        break;
    case WarpSyncKind::kReduce:
        reduce(parties);
        break;
    case WarpSyncKind::kBarrier:
    case WarpSyncKind::kMatrix:
        break;
    }
    notify(state, parties, kind, named, lanes, missing_waiting, undefined_sources);
    // Last: its effects on memory come after the lanes have met.
    if (kind == WarpOpKind::kMatrix) run_together(state, {parties.begin(), parties.end()});
}

}  // namespace machine
