// SPDX-License-Identifier: MIT
// A bench for the machine core: runs a few lines of PTX as a kernel, and records what it wrote and
// every event that an observer received.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "catch/catch.h"
#include "machine/machine.h"

namespace machine_lab {

using namespace machine;

// Events live only during the call: these are the parts that tests look at, copied.
struct SeenAccess {
    ptx::Space space;
    AccessKind kind;
    MemoryOrder order;
    Scope scope;
    uint32_t bytes, element_bytes, mask, bad, misaligned;
    bool contiguous, one_owner, conditional;
    std::string variable;           // shared memory: its name
    std::vector<uint64_t> address;  // by lane
    std::vector<uint64_t> stored;   // by lane, the first eight bytes to store
    std::vector<uint64_t> before;   // by lane, what current_bytes() gave (first eight bytes)
    std::string opcode;
};
struct SeenBarrier {
    uint32_t id, expected;
    bool aligned;
    std::vector<Arrival> arrivals;
    std::vector<uint32_t> exited;
};
struct SeenSync {
    WarpSyncKind kind;
    uint32_t named, arrived, strangers, missing_exited, missing_waiting, undefined_sources;
};
struct SeenFault {
    FaultKind kind;
    uint32_t mask;
    std::string message, file, function, opcode;
    uint32_t line;
};
struct SeenStall {
    StallEvent::Kind kind;
    std::vector<Waiter> waiters;
    std::vector<std::string> opcodes;  // of each waiter
    std::vector<uint64_t> blocks;      // of each waiter, linear index
    uint64_t exited_threads;
    const Allocation* polled;
};

class Recorder final : public Observer {
public:
    std::vector<SeenAccess> accesses;
    std::vector<SeenBarrier> barriers;
    std::vector<SeenSync> syncs;
    std::vector<SeenFault> faults;
    std::vector<SeenStall> stalls;
    std::vector<FenceEvent> fences;
    std::vector<uint32_t> exits;   // masks
    std::vector<std::string> log;  // begin and end of launches and blocks, in order
    std::vector<std::string> allocated, freed;
    std::vector<SiteCount> sites;

    void on_alloc(const Allocation& a) override { allocated.push_back(a.name); }
    void on_free(const Allocation& a) override { freed.push_back(a.name); }
    void on_launch_begin(const LaunchInfo& info) override {
        log.push_back("launch " + info.kernel);
    }
    void on_launch_end(const LaunchInfo&, const LaunchSummary& summary) override {
        log.push_back("end");
        sites.assign(summary.sites.begin(), summary.sites.end());
    }
    void on_block_begin(const BlockInfo& block) override {
        log.push_back("block " + std::to_string(block.linear));
    }
    void on_block_end(const BlockInfo& block) override {
        log.push_back("done " + std::to_string(block.linear));
    }
    void on_access(const AccessEvent& event) override {
        SeenAccess seen{event.space,
                        event.kind,
                        event.order,
                        event.scope,
                        event.bytes,
                        event.element_bytes,
                        event.mask,
                        event.bad_lanes,
                        event.misaligned_lanes,
                        event.contiguous,
                        event.allocation || event.variable,
                        event.wrote_only_if_equal,
                        event.variable ? event.variable->name : "",
                        std::vector<uint64_t>(kWarpSize),
                        std::vector<uint64_t>(kWarpSize),
                        std::vector<uint64_t>(kWarpSize),
                        std::string(code_site(event.site).opcode)};
        for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
            if (!(event.mask >> lane & 1)) continue;
            const size_t bytes = std::min<size_t>(8, event.bytes);
            seen.address[lane] = event.address[lane];
            if (event.values)
                std::memcpy(&seen.stored[lane], event.values + lane * event.value_stride, bytes);
            if (const std::byte* now = current_bytes(event, lane))
                std::memcpy(&seen.before[lane], now, bytes);
        }
        accesses.push_back(std::move(seen));
    }
    void on_fence(const FenceEvent& event) override { fences.push_back(event); }
    void on_block_barrier(const BarrierEvent& event) override {
        barriers.push_back({event.id,
                            event.expected,
                            event.aligned,
                            {event.arrivals.begin(), event.arrivals.end()},
                            {event.exited.begin(), event.exited.end()}});
    }
    void on_warp_sync(const WarpSyncEvent& e) override {
        syncs.push_back({e.kind,
                         e.named,
                         e.arrived,
                         e.strangers,
                         e.missing_exited,
                         e.missing_waiting,
                         e.undefined_sources});
    }
    void on_exit(const ExitEvent& event) override { exits.push_back(event.mask); }
    void on_fault(const FaultEvent& e) override {
        faults.push_back({e.kind,
                          e.mask,
                          e.message,
                          e.file,
                          e.function,
                          std::string(code_site(e.site).opcode),
                          e.line});
    }
    void on_stall(const StallEvent& event) override {
        SeenStall seen{event.kind,
                       {event.waiters.begin(), event.waiters.end()},
                       {},
                       {},
                       event.exited_threads,
                       event.polled};
        for (const Waiter& w : event.waiters) {
            seen.opcodes.emplace_back(code_site(w.site).opcode);
            seen.blocks.push_back(w.block->linear);
        }
        stalls.push_back(std::move(seen));
    }

    // How many warps executed instructions whose text starts so.
    uint64_t executed(const std::string& opcode) const {
        uint64_t warps = 0;
        for (const SiteCount& s : sites)
            if (code_site(s.site).opcode.starts_with(opcode)) warps += s.warps;
        return warps;
    }
    uint64_t executed_threads(const std::string& opcode) const {
        uint64_t threads = 0;
        for (const SiteCount& s : sites)
            if (code_site(s.site).opcode.starts_with(opcode)) threads += s.threads;
        return threads;
    }
};

struct Shape {
    Dim3 grid{1, 1, 1}, block{32, 1, 1};
    uint32_t dynamic_shared = 0;
    bool cooperative = false;
};

inline std::string header() {
    return ".version 9.0\n.target sm_100\n.address_size 64\n";
}
// A kernel `name(out, in)` with registers to use and these set: %out and %in; %tid, %lane and %g,
// the thread's number in the block, warp and grid; %mine and %mine8, `out` + 4 or 8 bytes a thread.
inline std::string kernel_text(const std::string& body, const std::string& name = "k") {
    return ".visible .entry " + name + R"((.param .u64 p_out, .param .u64 p_in)
{
.reg .pred %p<16>;
.reg .b16 %rs<32>;
.reg .b32 %r<64>;
.reg .b64 %rd<64>;
.reg .f32 %f<32>;
.reg .f64 %d<16>;
.reg .b32 %tid, %lane, %g;
.reg .b64 %out, %in, %mine, %mine8;
ld.param.u64 %out, [p_out];
ld.param.u64 %in, [p_in];
mov.u32 %tid, %tid.x;
mov.u32 %lane, %laneid;
mov.u32 %r60, %ctaid.x;
mov.u32 %r61, %ntid.x;
mad.lo.u32 %g, %r60, %r61, %tid;
mad.wide.u32 %mine, %g, 4, %out;
mad.wide.u32 %mine8, %g, 8, %out;
)" + body + "\nret;\n}\n";
}

// One device, one output and one input array.
class Lab {
public:
    static constexpr uint8_t kUntouched = 0xEE;

    explicit Lab(uint32_t interests = kAllEvents) {
        if (interests) observers.add(&seen, interests);
        machine = Machine::create(memory, observers);
        out_ = memory.allocate(MemoryKind::kDevice, 64 << 10, 0, 0);
        in_ = memory.allocate(MemoryKind::kDevice, 64 << 10, 0, 0);
        std::memset(out_->host, kUntouched, out_->bytes);
        std::memset(in_->host, 0, in_->bytes);
    }

    LoadedModule& load(const std::string& text, const std::string& name = "lab") {
        modules.push_back(machine->load(header() + text, name, 0));
        return *modules.back();
    }
    // Launches a kernel with the two parameters of kernel_text().
    LaunchSummary launch(LoadedModule& module, const std::string& name, Shape shape = {}) {
        LaunchRequest request;
        request.kernel = module.kernel(name);
        REQUIRE(request.kernel);
        request.grid = shape.grid;
        request.block = shape.block;
        request.dynamic_shared_bytes = shape.dynamic_shared;
        request.cooperative = shape.cooperative;
        const uint64_t pointers[] = {out_->address, in_->address};
        request.arguments.resize(sizeof pointers);
        std::memcpy(request.arguments.data(), pointers, sizeof pointers);
        return machine->launch(request);
    }
    // The body as a kernel, after `declarations` at module level.
    LaunchSummary run(const std::string& body, Shape shape = {},
                      const std::string& declarations = {}) {
        return launch(load(declarations + kernel_text(body)), "k", shape);
    }

    Allocation& out() { return *out_; }
    Allocation& in() { return *in_; }
    template <class T = uint32_t>
    T got(size_t i) const {
        T value;
        std::memcpy(&value, out_->host + i * sizeof(T), sizeof(T));
        return value;
    }
    template <class T>
    void give(size_t i, T value) {
        std::memcpy(in_->host + i * sizeof(T), &value, sizeof(T));
    }
    // The first `count` words of the output.
    std::vector<uint32_t> words(size_t count = 32) const {
        std::vector<uint32_t> all(count);
        std::memcpy(all.data(), out_->host, 4 * count);
        return all;
    }

    Memory memory;
    Observers observers;
    Recorder seen;
    std::unique_ptr<Machine> machine;
    std::vector<std::unique_ptr<LoadedModule>> modules;

private:
    Allocation* out_;
    Allocation* in_;
};

// Words f(0), f(1), ... of 32 lanes, or of `count` threads.
template <class F>
std::vector<uint32_t> each(F&& f, uint32_t count = 32) {
    std::vector<uint32_t> all;
    for (uint32_t i = 0; i < count; ++i) all.push_back(uint32_t(f(i)));
    return all;
}
constexpr uint32_t kOldWord = 0xEEEEEEEEu;

// What loading and decoding a kernel with this body says; empty if nothing.
inline std::string refusal(const std::string& body, const std::string& before = "") {
    Lab lab;
    try {
        lab.run(body, {}, before);
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

}  // namespace machine_lab
