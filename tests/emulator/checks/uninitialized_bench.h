// SPDX-License-Identifier: MIT
// Benches for the checkers of uninitialised memory: one for global memory, one for shared memory,
// and one whose machine follows undefined values.
#pragma once

#include <cstring>

#include "bench.h"
#include "checks/uninitialized/uninitialized.h"

namespace uninitialized_bench {

using bench::Bench;
using machine::AccessKind;
using machine::HostAccess;
using machine::MemoryKind;
using ptx::Space;

struct GlobalBench : Bench {
    GlobalBench() : checker(report, memory) {
        load = site(10);
        store = site(11, "st.global.f32");
        atomic = site(12, "atom.global.add.u32");
    }
    machine::Allocation& array(uint64_t bytes, MemoryKind kind = MemoryKind::kDevice) {
        auto& allocation = *memory.allocate(kind, bytes, 0, 14);
        checker.on_alloc(allocation);
        return allocation;
    }
    void touch(machine::SiteId site, AccessKind kind, const machine::Allocation& at,
               int64_t first = 0, uint32_t mask = machine::kAllLanes, uint32_t bytes = 4,
               int64_t stride = 0) {
        checker.on_access(access(
            site,
            Space::kGlobal,
            kind,
            bytes,
            [&](uint32_t lane) {
                return at.address + uint64_t(first + lane * (stride ? stride : int64_t(bytes)));
            },
            mask,
            4));
    }
    void host_write(const machine::Allocation& at, uint64_t start, uint64_t bytes) {
        HostAccess event{};
        event.kind = HostAccess::Kind::kWrite;
        event.allocation = &at;
        event.address = at.address + start;
        event.bytes = bytes;
        checker.on_host_access(event);
    }
    void copy(const machine::Allocation& to, uint64_t start, const machine::Allocation& from,
              uint64_t from_start, uint64_t bytes) {
        HostAccess event{};
        event.kind = HostAccess::Kind::kCopy;
        event.allocation = &to;
        event.address = to.address + start;
        event.bytes = bytes;
        event.source = &from;
        event.source_address = from.address + from_start;
        checker.on_host_access(event);
    }
    void barrier() {
        machine::BarrierEvent event{};
        event.block = &block;
        event.aligned = true;
        checker.on_block_barrier(event);
    }
    void warp_sync() {
        machine::WarpSyncEvent event{};
        event.warp = &warp;
        event.arrived = event.named = machine::kAllLanes;
        checker.on_warp_sync(event);
    }
    // Findings wait for the end of the launch.
    const checks::Finding& only() {
        end();
        return Bench::only();
    }
    size_t found() {
        end();
        return report.findings().size();
    }
    void end() { checker.on_launch_end(launch, {}); }
    checks::UninitializedGlobal checker;
    machine::SiteId load, store, atomic;
};

struct SharedBench : Bench {
    SharedBench() : checker(report) {
        tile = &shared_array("tile", 1024);
        load = site(10, "ld.shared.f32");
        store = site(11, "st.shared.f32");
    }
    void touch(machine::SiteId site, AccessKind kind, int64_t first = 0,
               uint32_t mask = machine::kAllLanes) {
        checker.on_access(access(
            site,
            Space::kShared,
            kind,
            4,
            [&](uint32_t lane) { return tile->address + uint64_t(first) + 4 * lane; },
            mask));
    }
    void barrier(uint32_t expected = 0) {
        machine::BarrierEvent event{};
        event.block = &block;
        event.expected = expected;
        checker.on_block_barrier(event);
    }
    void warp_sync() {
        machine::WarpSyncEvent event{};
        event.warp = &warp;
        event.arrived = event.named = machine::kAllLanes;
        checker.on_warp_sync(event);
    }
    const checks::Finding& only() {
        checker.on_launch_end(launch, {});
        return Bench::only();
    }
    size_t found() {
        checker.on_launch_end(launch, {});
        return report.findings().size();
    }
    checks::UninitializedShared checker;
    machine::SharedVariable* tile;
    machine::SiteId load, store;
};

// The machine follows undefined values: a read counts once its value is used.
struct FollowedBench : GlobalBench {
    machine::UndefinedLoad read(const machine::Allocation& at, int64_t first = 0) {
        auto event = access(load, Space::kGlobal, AccessKind::kLoad, 4, [&](uint32_t lane) {
            return at.address + uint64_t(first + lane * 4);
        });
        event.tracked = true;
        checker.on_access(event);
        return checker.undefined_lanes(event);
    }
    void write(const machine::Allocation& at, uint32_t undefined, uint32_t origin) {
        auto event = access(store, Space::kGlobal, AccessKind::kStore, 4, [&](uint32_t lane) {
            return at.address + lane * 4;
        });
        event.undefined_store = undefined;
        event.undefined_origin = origin;
        checker.on_access(event);
    }
    void use(const machine::UndefinedLoad& found, uint32_t lanes) {
        machine::UndefinedOrigin origin;
        origin.kind = machine::UndefinedOrigin::Kind::kLoad;
        origin.by = found.by;
        origin.token = found.token;
        checker.on_undefined_use(
            {machine::UndefinedUse::How::kStored, &warp, store, lanes, &origin});
    }
    void end() { checker.on_launch_end(launch, {}); }
};

}  // namespace uninitialized_bench
