// SPDX-License-Identifier: MIT
// Plays a script of who accesses what in which order to observers, as a running kernel would, so
// that a test of a checker reads like the kernel it stands for:
//
//     Player p;                                   // with the observers of p.watch(...)
//     auto x = p.global("x", 64);
//     p.launch(2, 64);                            // two blocks of 64 threads
//     p.thread(0, 5).store(10, x[3], 7);          // block 0, thread 5: line 10 stores 7 to x[3]
//     p.barrier(0);
//     p.warp(0, 1).load(12, x.from(0));           // warp 1 of block 0: lane i loads x[i]
//     CHECK(p.races() == Lines{});
#pragma once

#include <bit>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "accesses.h"
#include "checks/report/report.h"
#include "machine/memory.h"
#include "machine/observer.h"
#include "machine/program/lane_pattern.h"

namespace player {

using Lines =
    std::vector<std::string>;  // "12 after 10": line 12 races with line 10, which comes first

class Player;

// Lanes of one warp; what they do, they do in one instruction.
class Lanes {
public:
    Lanes(Player& player, uint32_t block, uint32_t warp, uint32_t mask)
        : player_(player), block_(block), warp_(warp), mask_(mask) {}

    void access(uint32_t line, How how, const Addresses& address, uint32_t bytes = 4,
                const std::function<uint64_t(uint32_t)>& value = nullptr);
    void access(uint32_t line, How how, uint64_t address, uint32_t bytes = 4) {
        access(
            line, how, [=](uint32_t) { return address; }, bytes);
    }
    void load(uint32_t line, const Addresses& a, uint32_t bytes = 4) {
        access(line, kLoad, a, bytes);
    }
    void load(uint32_t line, uint64_t a, uint32_t bytes = 4) { access(line, kLoad, a, bytes); }
    // Without values, every lane stores another one.
    void store(uint32_t line, const Addresses& a, uint32_t bytes = 4) {
        access(line, kStore, a, bytes, [this](uint32_t lane) { return unique(lane); });
    }
    void store(uint32_t line, uint64_t a) {
        store(line, [=](uint32_t) { return a; });
    }
    void store_value(uint32_t line, const Addresses& a, uint64_t value, uint32_t bytes = 4) {
        access(line, kStore, a, bytes, [=](uint32_t) { return value; });
    }
    void store_value(uint32_t line, uint64_t a, uint64_t value) {
        store_value(
            line, [=](uint32_t) { return a; }, value);
    }
    void atomic(uint32_t line, const Addresses& a) { access(line, kAtomic, a); }
    void atomic(uint32_t line, uint64_t a) { access(line, kAtomic, a); }
    void fence(Scope scope = Scope::kGpu);
    // These lanes meet; all the others of the warp do not.
    void sync(machine::WarpSyncKind kind = machine::WarpSyncKind::kBarrier);
    void exit();

private:
    uint64_t unique(uint32_t lane) const;
    Player& player_;
    uint32_t block_, warp_, mask_;
};

class Player {
public:
    checks::Report report;
    machine::Memory memory;

    Player() {
        sites().assign(1, {});
        checks::set_site_resolver(
            [](machine::SiteId site) -> const machine::CodeSite& { return sites()[site]; });
        checks::set_host_resolver([](machine::HostSite site) {
            return ptx::SourceLine{"/src/main.cu", site, 0, "main"};
        });
    }
    ~Player() {
        checks::set_site_resolver(nullptr);
        checks::set_host_resolver(nullptr);
    }
    Player(const Player&) = delete;
    Player& operator=(const Player&) = delete;

    machine::Observer& watch(std::unique_ptr<machine::Observer> observer) {
        observers_.push_back(std::move(observer));
        return *observers_.back();
    }

    // From now on events name the pattern of their addresses, as the machine's do.
    void follow_patterns() { follows_patterns_ = true; }

    // ---- host
    ArrayOf global(uint64_t elements, uint32_t element = 4, int device = 0) {
        machine::Allocation& a =
            *memory.allocate(machine::MemoryKind::kDevice, elements * element, device, 1);
        for (auto& o : observers_) o->on_alloc(a);
        return {a.address, element, ptx::Space::kGlobal, &a};
    }
    void free(const ArrayOf& a) {
        for (auto& o : observers_) o->on_free(*a.allocation);
        memory.release(*a.allocation, 2);
    }
    void order(machine::OrderEvent::Kind kind, uint64_t stream = 0, uint64_t event = 0,
               bool non_blocking = false, int device = 0) {
        order(machine::OrderEvent{kind, stream, event, non_blocking, device});
    }
    void order(const machine::OrderEvent& what) {
        for (auto& o : observers_) o->on_order(what);
    }
    void copy(uint32_t line, const char* api, machine::HostAccess::Kind kind, const ArrayOf& a,
              uint64_t elements, uint64_t stream = 0) {
        machine::HostAccess access{};
        access.kind = kind;
        called(access, api);
        access.allocation = a.allocation;
        access.address = a.address;
        access.bytes = elements * a.element;
        access.stream = stream;
        access.site = line;
        host_access(access);
    }
    void host_access(const machine::HostAccess& access) {
        for (auto& o : observers_) o->on_host_access(access);
    }

    // ---- launches. Shared arrays are declared before the launch that uses them.
    ArrayOf shared(uint64_t elements, uint32_t element = 4) {
        machine::SharedVariable v;
        v.name = "tile" + std::string(shared_.size(), '\'');
        v.address = (shared_.size() + 1) << machine::kSharedWindowBits;
        v.offset = launch_.shared_bytes;
        v.bytes = uint32_t(elements * element);
        launch_.shared_bytes += v.bytes;
        shared_.push_back(v);
        return {v.address, element, ptx::Space::kShared, nullptr};
    }
    void launch(uint32_t blocks, uint32_t threads, uint64_t stream = 0, int device = 0) {
        end_launch();
        launch_.serial = ++serial_;
        launch_.kernel = launch_.mangled = "kernel";
        launch_.grid = {blocks, 1, 1};
        launch_.block = {threads, 1, 1};
        launch_.stream = stream;
        launch_.device = device;
        launch_.shared = &shared_;
        running_ = true;
        for (auto& o : observers_) o->on_launch_begin(launch_);
        blocks_.clear();
        for (uint32_t b = 0; b < blocks; ++b) {
            Block& block = blocks_.emplace_back();
            block.info.launch = &launch_;
            block.info.serial = ++block_serial_;
            block.info.linear = b;
            block.info.index = {b, 0, 0};
            block.info.threads = threads;
            block.info.warps = (threads + 31) / 32;
            block.warps.resize(block.info.warps);
            for (uint32_t w = 0; w < block.info.warps; ++w) {
                const uint32_t left = threads - 32 * w;
                block.warps[w] = {
                    &block.info, w, left >= 32 ? machine::kAllLanes : (1u << left) - 1, 0};
            }
            for (auto& o : observers_) o->on_block_begin(block.info);
        }
    }
    // Another block of the launch takes the place of one that has ended.
    void next_block(uint32_t block) {
        Block& b = blocks_[block];
        for (auto& o : observers_) o->on_block_end(b.info);
        b.info.serial = ++block_serial_;
        b.info.linear = ++launch_.grid.x - 1;
        b.info.index = {uint32_t(b.info.linear), 0, 0};
        for (auto& w : b.warps) w.exited = 0;
        for (auto& o : observers_) o->on_block_begin(b.info);
    }
    void end_launch() {
        if (!running_) return;
        for (Block& block : blocks_)
            for (auto& o : observers_) o->on_block_end(block.info);
        for (auto& o : observers_) o->on_launch_end(launch_, {});
        running_ = false;
    }

    Lanes thread(uint32_t block, uint32_t thread) {
        return {*this, block, thread / 32, 1u << (thread % 32)};
    }
    Lanes warp(uint32_t block, uint32_t warp, uint32_t mask = machine::kAllLanes) {
        return {*this, block, warp, mask & blocks_[block].warps[warp].valid};
    }
    // __syncthreads of all threads that have not returned.
    void barrier(uint32_t block) {
        std::vector<uint32_t> warps;
        for (uint32_t w = 0; w < blocks_[block].warps.size(); ++w) warps.push_back(w);
        named_barrier(block, 0, warps);
    }
    // bar.sync id by whole warps, bar.arrive by others.
    void named_barrier(uint32_t block, uint32_t id, const std::vector<uint32_t>& syncing,
                       const std::vector<uint32_t>& arriving = {}) {
        Block& b = blocks_[block];
        std::vector<machine::Arrival> arrivals;
        std::vector<uint32_t> exited;
        const auto add = [&](uint32_t w, bool arrive_only) {
            const uint32_t mask = b.warps[w].valid & ~b.warps[w].exited;
            if (mask) arrivals.push_back({w, mask, 0, arrive_only});
        };
        for (const uint32_t w : syncing) add(w, false);
        for (const uint32_t w : arriving) add(w, true);
        for (const auto& w : b.warps) exited.push_back(w.exited);
        const std::vector<machine::SiteId> exit_sites(b.warps.size());
        const machine::BarrierEvent event{&b.info,
                                          id,
                                          id ? uint32_t(arrivals.size() * 32) : 0,
                                          true,
                                          arrivals,
                                          exited,
                                          exit_sites};
        for (auto& o : observers_) o->on_block_barrier(event);
    }

    // The lines of all findings, in the order found.
    Lines races() const {
        Lines lines;
        for (const checks::Finding& f : report.findings())
            lines.push_back(std::to_string(f.place.line) + " after " +
                            std::to_string(f.other ? f.other->line : 0));
        return lines;
    }

private:
    friend class Lanes;
    struct Block {
        machine::BlockInfo info;
        std::vector<machine::WarpInfo> warps;
    };
    static std::deque<machine::CodeSite>& sites() {
        static std::deque<machine::CodeSite> table;
        return table;
    }
    // One instruction for each line and way to access, numbered in the order of the lines.
    machine::SiteId site(uint32_t line, How how) {
        const auto [entry, fresh] =
            site_ids_.try_emplace({line, int(how.kind), int(how.order), int(how.scope)},
                                  line * kSitesPerLine + used_[line]);
        if (fresh) {
            ++used_[line];
            if (sites().size() <= entry->second) sites().resize(entry->second + 1);
            machine::CodeSite& site = sites()[entry->second];
            site.function = site.mangled = "kernel";
            site.user = {"/src/kernel.cu", line, 1, {}};
            site.opcode = how.opcode;
        }
        return entry->second;
    }
    static constexpr uint32_t kSitesPerLine = 8;
    const machine::LanePattern* pattern(machine::SiteId site, const uint64_t* address,
                                        uint32_t bytes) {
        machine::LanePattern& p = patterns_[site];
        bool known = p.serial != 0;
        for (uint32_t i = 0; i < machine::kWarpSize; ++i) {
            const int32_t distance = int32_t(address[i] - address[0]);
            known &= p.distance[i] == distance;
            p.distance[i] = distance;
        }
        if (!known) p.learn(bytes);
        return &p;
    }

    std::vector<std::unique_ptr<machine::Observer>> observers_;
    std::vector<machine::SharedVariable> shared_;
    machine::LaunchInfo launch_;
    std::deque<Block> blocks_;
    std::map<std::tuple<uint32_t, int, int, int>, machine::SiteId> site_ids_;
    std::map<uint32_t, uint32_t> used_;  // sites by line
    std::map<machine::SiteId, machine::LanePattern> patterns_;
    uint64_t serial_ = 0, block_serial_ = 0;
    bool running_ = false, follows_patterns_ = false;
};

inline uint64_t Lanes::unique(uint32_t lane) const {
    static uint64_t counter = 1;
    return ++counter * 64 + lane;
}

inline void Lanes::access(uint32_t line, How how, const Addresses& address, uint32_t bytes,
                          const std::function<uint64_t(uint32_t)>& value) {
    auto& block = player_.blocks_[block_];
    uint64_t addresses[32] = {};
    std::byte values[32][16] = {};
    machine::AccessEvent e{};
    e.warp = &block.warps[warp_];
    e.mask = mask_;
    e.contiguous = mask_ == machine::kAllLanes;
    for (uint32_t m = mask_; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m));
        addresses[lane] = address(lane);
        if (value) {
            const uint64_t v = value(lane);
            for (uint32_t at = 0; at < bytes; at += 8) std::memcpy(values[lane] + at, &v, 8);
        }
        e.contiguous &= addresses[lane] == addresses[0] + uint64_t(lane) * bytes;
        if (addresses[lane] % bytes) e.misaligned_lanes |= 1u << lane;
    }
    const uint64_t first = addresses[std::countr_zero(mask_)];
    // Shared windows lie far below any allocation.
    const bool shared = first < uint64_t(1) << 32;
    e.space = shared ? ptx::Space::kShared : ptx::Space::kGlobal;
    for (uint32_t m = mask_; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m));
        if (shared) {
            const auto* v = machine::shared_variable_at(player_.launch_, addresses[lane]);
            if (!v || addresses[lane] - v->address + bytes > v->bytes) e.bad_lanes |= 1u << lane;
        } else {
            const auto* a = player_.memory.find(addresses[lane]);
            if (!a || !a->live || !a->contains(addresses[lane], bytes)) e.bad_lanes |= 1u << lane;
        }
    }
    if (!e.bad_lanes) {
        // Null when the lanes differ.
        const auto same = [&](auto holder) {
            auto* found = holder(first);
            for (uint32_t m = mask_; m; m &= m - 1)
                if (holder(addresses[std::countr_zero(m)]) != found)
                    return decltype(found)(nullptr);
            return found;
        };
        if (shared) {
            e.variable =
                same([&](uint64_t a) { return machine::shared_variable_at(player_.launch_, a); });
        } else {
            e.allocation = same([&](uint64_t a) { return player_.memory.find(a); });
        }
    }
    e.site = player_.site(line, how);
    e.instruction = how.instruction;
    e.kind = how.kind;
    e.order = how.order;
    e.scope = how.scope;
    e.wrote_only_if_equal = how.only_if_equal;
    e.bytes = uint8_t(bytes);
    e.element_bytes = uint8_t(std::min(bytes, 4u));
    e.address = addresses;
    if (player_.follows_patterns_ && mask_ == machine::kAllLanes && !e.contiguous)
        e.pattern = player_.pattern(e.site, addresses, bytes);
    if (how.kind == AccessKind::kStore) {
        e.values = values[0];
        e.value_stride = 16;
    } else if (how.kind >= AccessKind::kAtomic && value) {
        e.operand = values[0];
        e.operand_stride = 16;
    }
    for (auto& o : player_.observers_) o->on_access(e);
    if (!e.values || shared) return;
    for (uint32_t m = mask_ & ~e.bad_lanes; m; m &= m - 1) {
        const uint32_t lane = uint32_t(std::countr_zero(m));
        const auto* a = player_.memory.find(addresses[lane]);
        std::memcpy(a->host + (addresses[lane] - a->address), values[lane], bytes);
    }
}

inline void Lanes::fence(Scope scope) {
    const machine::FenceEvent event{&player_.blocks_[block_].warps[warp_], 0, mask_, scope};
    for (auto& o : player_.observers_) o->on_fence(event);
}

inline void Lanes::sync(machine::WarpSyncKind kind) {
    machine::WarpSyncEvent event{};
    event.warp = &player_.blocks_[block_].warps[warp_];
    event.kind = kind;
    event.named = event.arrived = mask_ & ~event.warp->exited;
    for (auto& o : player_.observers_) o->on_warp_sync(event);
}

inline void Lanes::exit() {
    auto& warp = player_.blocks_[block_].warps[warp_];
    warp.exited |= mask_;
    for (auto& o : player_.observers_) o->on_exit({&warp, 0, mask_});
}

}  // namespace player
