// SPDX-License-Identifier: MIT
// Launches: sets up the state, runs the grid, and sums the counts of its instructions.
#include <algorithm>
#include <cstring>
#include <new>

#include "machine/execute/executor.h"
#include "machine/units/matrix.h"

namespace machine {

void Executor::collect_counts(LaunchSummary& summary) {
    site_counts_.clear();
    uint64_t threads = 0;
    for (Code* code : touched_) {
        for (size_t i = 0; i < code->runs.size(); ++i) {
            const auto& [executed, end, length] = code->runs[i];
            code->deltas[i].warps += executed.warps;
            code->deltas[i].threads += executed.threads;
            code->deltas[end].warps -= executed.warps;
            code->deltas[end].threads -= executed.threads;
        }
        int64_t warps = 0, lanes = 0;
        auto hoisted = code->counted_with.begin();
        const auto count = [&](SiteId site,
                               bool conditional,
                               uint64_t divergent,
                               bool in_double,
                               uint32_t matrix_products) {
            threads += uint64_t(lanes);
            site_counts_.push_back({site,
                                    uint64_t(warps),
                                    uint64_t(lanes),
                                    conditional,
                                    divergent,
                                    in_double,
                                    matrix_products});
        };
        for (size_t i = 0; i < code->instructions.size(); ++i) {
            warps += code->deltas[i].warps;
            lanes += code->deltas[i].threads;
            for (; hoisted != code->counted_with.end() && hoisted->pc == i; ++hoisted) {
                if (warps == 0) continue;
                count(hoisted->site, false, 0, hoisted->in_double, 0);
            }
            const Instr& in = code->instructions[i];
            if (warps == 0 || in.site == 0) continue;
            count(in.site,
                  in.control == kBranch && in.guarded,
                  code->divergent[i],
                  in.in_double,
                  in.control == kWarpOp ? matrix_products(in.as<WarpOp>()) : 0);
        }
        code->reset_counts();
    }
    touched_.clear();
    summary.thread_instructions = threads;
    summary.warp_instructions = warp_instructions;
    summary.busiest_warp_instructions = busiest_warp_;
    summary.sites = site_counts_;
}

// What observers and handlers read about the launch.
void Executor::describe(KernelImage& kernel, const LaunchRequest& request) {
    entry_ = &kernel.code();
    info = LaunchInfo{};
    info.serial = ++serial_;
    info.kernel = kernel.name();
    info.mangled = kernel.mangled();
    info.grid = request.grid;
    info.block = request.block;
    info.dynamic_shared_bytes = request.dynamic_shared_bytes;
    info.stream = request.stream;
    info.device = request.device;
    info.cooperative = request.cooperative;
    asked_for_grid = false;
    info.launched_at = request.site;
    info.parameters = &kernel.parameters();
    info.declared = kernel.declared();
    arguments = request.arguments;
    arguments.resize(std::max<size_t>(arguments.size(), kernel.parameter_bytes()) + 16);
    info.arguments = std::span(arguments.data(), kernel.parameter_bytes());
    layout = kernel.layout(request.dynamic_shared_bytes, info.shared_bytes);
    info.shared = &layout;
    windows.assign(size_t(1) << (32 - kSharedWindowBits), nullptr);
    for (const SharedVariable& v : layout) windows[v.address >> kSharedWindowBits] = &v;
}

void Executor::reset(uint64_t budget) {
    status = LaunchStatus::kOk;
    abort = false;
    interrupted_.store(false, std::memory_order_relaxed);
    warp_instructions = busiest_warp_ = 0;
    polled = 0;
    budget_ = budget;
    most_instructions_ = (budget ? budget : limits.quiet_instructions) / kWarpSize;
    changes = near_changes = far_polls = 0;
    clock = {.reads = clock.reads};
    progress_ = 0;
    follows = !observers.undefined.empty();
    undefined.begin_launch();
}

// The memory through which the blocks of a cooperative launch meet.
void Executor::prepare_grid_barrier(const LaunchRequest& request) {
    if (!request.cooperative) return;
    if (!grid_workspace) {
        grid_workspace = memory.allocate(MemoryKind::kModule, 256, request.device, 0);
        if (grid_workspace) {
            grid_workspace->name = "grid barrier";
            for (Observer* o : observers.memory) o->on_alloc(*grid_workspace);
        }
    }
    if (grid_workspace) std::memset(grid_workspace->host, 0, 256);
}

void Executor::number_threads(const Dim3& size) {
    thread_ids.resize((size.count() + kWarpSize - 1) / kWarpSize);
    BlockInfo shape;
    shape.launch = &info;
    for (uint32_t t = 0; t < thread_ids.size() * kWarpSize; ++t) {
        const Dim3 index = thread_index(shape, t);
        auto& ids = thread_ids[t / kWarpSize].axis;
        ids[0][t % kWarpSize] = index.x;
        ids[1][t % kWarpSize] = index.y;
        ids[2][t % kWarpSize] = index.z;
    }
}

LaunchSummary Executor::launch(KernelImage& kernel, const LaunchRequest& request, uint64_t budget,
                               uint32_t stack_bytes, void (*sink)(const char*, size_t)) {
    describe(kernel, request);
    const uint32_t stride =
        (entry_->local_bytes + 64 * std::max(stack_bytes, 1024u) + 65536 + 4095) & ~4095u;
    set_local_stride(stride);
    reset(budget);
    printf_sink = sink;
    prepare_grid_barrier(request);
    for (Observer* o : observers.launch) o->on_launch_begin(info);
    number_threads(request.block);
    try {
        run_grid();
    } catch (const std::bad_alloc&) {
        if (warp)
            fault(FaultKind::kStackOverflow, 1, "the host has no memory left for so many threads");
        fail(LaunchStatus::kStackOverflow);
    }
    for (auto& state : resident_) {
        finish_block(*state);
        spare_.push_back(std::move(state));
    }
    resident_.clear();
    LaunchSummary summary;
    summary.status = status;
    collect_counts(summary);
    for (Observer* o : observers.launch) o->on_launch_end(info, summary);
    block = nullptr;
    warp = nullptr;
    running = nullptr;
    return summary;
}

// The caller reports the accesses: a library's kernel has no instructions here.
void Executor::run_library_kernel(const std::string& name, const LaunchRequest& request,
                                  const std::function<void()>& work) {
    static const std::vector<ptx::Parameter> no_parameters;
    layout.clear();
    info = LaunchInfo{};
    info.serial = ++serial_;
    info.kernel = info.mangled = name;
    info.stream = request.stream;
    info.device = request.device;
    info.launched_at = request.site;
    info.parameters = &no_parameters;
    info.shared = &layout;
    for (Observer* o : observers.launch) o->on_launch_begin(info);
    work();
    for (Observer* o : observers.launch) o->on_launch_end(info, LaunchSummary{});
}

}  // namespace machine
