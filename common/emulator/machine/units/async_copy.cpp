// SPDX-License-Identifier: MIT
#include "machine/units/async_copy.h"

#include <algorithm>
#include <cstring>

#include "machine/lanes/levels.h"
#include "machine/state/launch_state.h"

namespace machine {
namespace {

AsyncCopies& copies_of(LaunchState& ex) {
    if (!ex.warp->copies) ex.warp->copies = std::make_shared<AsyncCopies>();
    return *ex.warp->copies;
}

void notify(LaunchState& ex, const AsyncCopies::Batch& batch, uint32_t lanes,
            AsyncCopyEvent::Kind kind) {
    if (ex.observers.shared.empty()) return;
    AccessEvent event{};
    event.warp = &ex.warp->info;
    event.site = batch.site;
    event.space = ptx::Space::kShared;
    event.kind = AccessKind::kStore;
    event.bytes = batch.bytes;
    event.element_bytes = std::min<uint8_t>(batch.bytes, 4);
    event.mask = lanes;
    event.address = batch.address.data();
    event.values = batch.data[0];
    event.value_stride = 16;
    const auto variable = [&](uint32_t lane) {
        return ex.windows[batch.address[lane] >> kSharedWindowBits];
    };
    event.variable = variable(uint32_t(std::countr_zero(lanes)));
    for_lanes(lanes, [&](uint32_t i) {
        if (event.variable != variable(i)) event.variable = nullptr;
    });
    const AsyncCopyEvent copy{kind, &event};
    for (Observer* o : ex.observers.shared) o->on_async_copy(copy);
}

// Reads the source of `lanes` into the staging row.
void fetch(LaunchState& ex, const MemoryOp& op, uint32_t mask, uint64_t bias,
           const uint64_t* address, uint64_t, bool contiguous) {
    for_lanes(mask, [&](uint32_t i) {
        const uint64_t at = contiguous ? address[0] + uint64_t(i) * op.bytes : address[i];
        std::memcpy(ex.rows + op.rows[0] + i * op.row_bytes,
                    reinterpret_cast<const std::byte*>(bias + at),
                    op.bytes);
    });
}

// Records where the bytes will be written; called once for each variable that the lanes access.
void note_destination(LaunchState& ex, const MemoryOp& op, uint32_t mask, uint64_t bias,
                      const uint64_t* address, uint64_t, bool contiguous) {
    AsyncCopies::Batch& batch = copies_of(ex).batches.back();
    batch.mask |= mask;
    for_lanes(mask, [&](uint32_t i) {
        const uint64_t at = contiguous ? address[0] + uint64_t(i) * op.bytes : address[i];
        batch.address[i] = at;
        batch.host[i] = reinterpret_cast<std::byte*>(bias + at);
        std::memcpy(batch.data[i], ex.rows + op.rows[0] + i * op.row_bytes, op.bytes);
    });
}

void access(LaunchState& ex, const Instr& in, const MemoryOp& op, uint32_t lanes) {
    const uint32_t before = ex.mask;
    Instr part;
    part.site = in.site;
    part.op = &op;
    ex.mask = lanes;
    access_handlers().address(op.space, op.kind)(ex, part);
    ex.mask = before;
    ex.current = &in;
}

template <class Which>
void complete(LaunchState& ex, uint32_t lanes, Which&& which) {
    if (!ex.warp->copies) return;
    AsyncCopies& copies = *ex.warp->copies;
    bool any = false;
    for (AsyncCopies::Batch& batch : copies.batches) {
        uint32_t now = 0;
        for_lanes(batch.mask & lanes,
                  [&](uint32_t i) { now |= uint32_t(which(i, batch.group[i])) << i; });
        if (!now) continue;
        notify(ex, batch, now, AsyncCopyEvent::Kind::kCompleted);
        for_lanes(now, [&](uint32_t i) { std::memcpy(batch.host[i], batch.data[i], batch.bytes); });
        batch.mask &= ~now;
        any = true;
    }
    if (!any) return;
    std::erase_if(copies.batches, [](const auto& batch) { return batch.mask == 0; });
    ++ex.changes;
}

}  // namespace

void start_async_copy(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    const AsyncCopyOp& op = in.as<AsyncCopyOp>();
    ex.current = &in;
    const uint32_t mask = ex.mask;
    uint32_t size[kWarpSize];
    for_lanes(mask, [&](uint32_t i) {
        size[i] = op.bytes;
        if (op.size_row != kNoRow) size[i] = std::min(size[i], ex.row<uint32_t>(op.size_row)[i]);
        if (op.ignore_row != kNoRow && (ex.predicate(op.ignore_row) >> i & 1)) size[i] = 0;
        std::memset(ex.rows + op.staging + i * 16, 0, 16);
    });
    for (uint32_t left = mask; left;) {
        const uint32_t bytes = size[std::countr_zero(left)];
        uint32_t same = 0;
        for_lanes(left, [&](uint32_t i) { same |= uint32_t(size[i] == bytes) << i; });
        left &= ~same;
        if (bytes == 0) continue;
        MemoryOp part = op.source;
        part.bytes = uint8_t(bytes);
        part.element_bytes = uint8_t(std::min<uint32_t>(bytes, part.element_bytes));
        part.mover = fetch;
        access(ex, in, part, same);
    }
    AsyncCopies& copies = copies_of(ex);
    copies.batches.emplace_back();
    AsyncCopies::Batch& batch = copies.batches.back();
    batch.site = LaunchState::blamed(ex.frame, in);
    batch.bytes = op.bytes;
    batch.group.fill(AsyncCopies::kOpen);
    MemoryOp store = op.destination;
    store.mover = note_destination;
    access(ex, in, store, mask);
    if (copies.batches.back().mask)
        notify(
            ex, copies.batches.back(), copies.batches.back().mask, AsyncCopyEvent::Kind::kStarted);
    else
        copies.batches.pop_back();
}

void commit_async_copies(Lanes& lanes, const Instr&) {
    LaunchState& ex = launch_state(lanes);
    AsyncCopies& copies = copies_of(ex);
    for_lanes(ex.mask, [&](uint32_t i) { ++copies.committed[i]; });
    for (AsyncCopies::Batch& batch : copies.batches)
        for_lanes(batch.mask & ex.mask, [&](uint32_t i) {
            if (batch.group[i] == AsyncCopies::kOpen) batch.group[i] = copies.committed[i];
        });
}

void wait_async_copies(Lanes& lanes, const Instr& in) {
    LaunchState& ex = launch_state(lanes);
    ex.current = &in;
    if (!ex.warp->copies) return;
    if (in.extra == 0xffff) return complete_async_copies(ex, ex.mask);
    const AsyncCopies& copies = *ex.warp->copies;
    complete(ex, ex.mask, [&](uint32_t lane, uint32_t group) {
        return group != AsyncCopies::kOpen && copies.committed[lane] - group >= in.extra;
    });
}

void complete_async_copies(LaunchState& ex, uint32_t lanes) {
    complete(ex, lanes, [](uint32_t, uint32_t) { return true; });
}

}  // namespace machine
