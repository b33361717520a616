// SPDX-License-Identifier: MIT
// The rules of TIMELINE.md. Which work waits for which follows StreamOrder, with times in place of
// clocks.
#include "checks/record/timeline.h"

#include <algorithm>

#include "checks/record/counter_rules.h"
#include "checks/source/resolvers.h"
#include "checks/text/json.h"

namespace checks {
namespace {

using machine::HostAccess;
using machine::OrderEvent;

constexpr uint64_t kBytesOfSector = 32;
constexpr size_t kMostGrids = 128;  // that a device has under way (CUDA C++ Programming Guide)

// Nanoseconds for `amount` at a rate in microseconds, rounded up.
uint64_t time_of(uint64_t amount, uint64_t rate) {
    return (amount * 1000 + rate - 1) / rate;
}

uint64_t key(uint64_t stream, int device) {
    return stream ? stream : uint64_t(1) << 63 | uint64_t(uint32_t(device));
}

const char* category(Interval::Kind kind) {
    switch (kind) {
    case Interval::Kind::kKernel:
        return "kernel";
    case Interval::Kind::kToDevice:
        return "copy to the device";
    case Interval::Kind::kToHost:
        return "copy to the host";
    case Interval::Kind::kOnDevice:
        return "copy on the device";
    case Interval::Kind::kFill:
        return "fill";
    case Interval::Kind::kHostWait:
        return "the host waits";
    }
    return "";
}

}  // namespace

void Timeline::start() {
    for (auto& [id, stream] : streams_) stream.ready = 0;
    events_.clear();
    engines_.clear();
    intervals_.clear();
    host_ = 0;
    full_ = false;
}

Timeline::Stream& Timeline::stream(uint64_t id, int device) {
    const auto [entry, fresh] = streams_.try_emplace(key(id, device));
    if (fresh) {
        entry->second.device = device;
        entry->second.legacy = id == 0;
    }
    return entry->second;
}

uint64_t Timeline::earliest(Stream& own) {
    uint64_t time = std::max(host_ + model_.arrival, own.ready);
    if (!own.blocking) return time;
    for (const auto& [id, peer] : streams_)
        if (peer.device == own.device && peer.blocking && peer.legacy != own.legacy)
            time = std::max(time, peer.ready);
    return time;
}

// Kernels that began earlier keep their place. A kernel that finds no room waits until one ends.
uint64_t Timeline::room(Engines& engines, uint64_t from, uint64_t length, uint64_t threads) const {
    // Work is given to the device in the order of host time, so what has ended before now is past.
    std::erase_if(engines.kernels, [&](const Running& k) { return k.end <= host_; });
    if (engines.kernels.size() > kMostGrids)  // the oldest of those that are queued have ended
        engines.kernels.erase(engines.kernels.begin());
    std::vector<uint64_t> times = {from};
    for (const Running& kernel : engines.kernels)
        if (kernel.end > from) times.push_back(kernel.end);
    std::sort(times.begin(), times.end());
    for (const uint64_t begin : times) {
        uint64_t most = 0;  // threads in use at any moment of the interval
        for (const Running& at : engines.kernels) {
            const uint64_t moment = std::max(at.begin, begin);
            if (moment >= begin + length || at.end <= moment) continue;
            uint64_t used = 0;
            for (const Running& other : engines.kernels)
                if (other.begin <= moment && moment < other.end) used += other.threads;
            most = std::max(most, used);
        }
        if (most + threads <= model_.threads) return begin;
    }
    return times.back();
}

bool Timeline::finish(Stream& own, Interval interval) {
    own.ready = std::max(own.ready, interval.end);
    if (intervals_.size() < kMostIntervals)
        intervals_.push_back(std::move(interval));
    else
        full_ = true;
    return !full_;
}

void Timeline::collective_ends() {
    in_collective_ = false;
    uint64_t begin = 0, end = 0;
    for (const Part& part : parts_) {
        begin = std::max(begin, part.begin);
        end = std::max(end, part.end);
    }
    end = std::max(end, begin + model_.start + collective_time_);
    for (const Part& part : parts_) {
        if (part.interval != ~size_t(0)) intervals_[part.interval].end = end;
        Stream& own = stream(part.stream, part.device);
        own.ready = std::max(own.ready, end);
        for (Running& kernel : engines_[part.device].kernels)
            if (kernel.begin == part.begin && kernel.end == part.end) kernel.end = end;
    }
    parts_.clear();
}

void Timeline::host_waits(uint64_t until, uint64_t stream, int device, const char* what,
                          machine::HostSite site) {
    if (until <= host_) return;
    Interval wait{Interval::Kind::kHostWait, device, stream, host_, until};
    wait.name = what;
    wait.site = site;
    host_ = until;
    if (intervals_.size() < kMostIntervals)
        intervals_.push_back(std::move(wait));
    else
        full_ = true;
}

void Timeline::host_waits_for_device(int device, machine::HostSite site) {
    uint64_t until = 0;
    for (const auto& [id, peer] : streams_)
        if (peer.device == device) until = std::max(until, peer.ready);
    host_waits(until, 0, device, "all streams", site);
}

// cudaFree waits for the device; memory of pools and graphs is freed in the order of a stream.
void Timeline::on_free(const machine::Allocation& allocation) {
    if (allocation.kind == machine::MemoryKind::kDevice && allocation.freed_at &&
        !allocation.of_pool && !allocation.of_graph)
        host_waits_for_device(allocation.device, allocation.freed_at);
}

void Timeline::on_launch_begin(const machine::LaunchInfo& launch) {
    in_launch_ = true;
    device_ = launch.device;
    sectors_ = remote_ = 0;
}

void Timeline::count(const machine::AccessEvent& event, uint64_t sectors) {
    const machine::Allocation* const memory = event.allocation;
    sectors_ += sectors;
    if (memory && memory->kind == machine::MemoryKind::kDevice && memory->device != device_)
        remote_ += sectors;
}

void Timeline::on_access(const machine::AccessEvent& event) {
    if (event.space != ptx::Space::kGlobal) return;
    count(event, global_sectors(event.mask, event.address, event.bytes));
}

uint64_t Timeline::foresee(const machine::AccessEvent&, int64_t, uint64_t most) {
    return most;
}

void Timeline::on_access_run(const machine::AccessEvent& first, int64_t, uint64_t accesses) {
    if (first.space == ptx::Space::kGlobal) count(first, accesses);
}

void Timeline::on_launch_end(const machine::LaunchInfo& launch,
                             const machine::LaunchSummary& summary) {
    in_launch_ = false;
    if (!in_graph_) host_ += model_.launch;
    Stream& own = stream(launch.stream, launch.device);
    const uint64_t bytes = sectors_ * kBytesOfSector;
    const uint64_t work =
        std::max({time_of(bytes, model_.memory_rate),
                  time_of(remote_ * kBytesOfSector, model_.link_rate),
                  time_of(summary.warp_instructions, model_.instruction_rate),
                  summary.busiest_warp_instructions * model_.instruction_picoseconds / 1000});
    const uint64_t length = model_.start + work;
    const uint64_t threads = std::min(launch.grid.count() * launch.block.count(), model_.threads);
    Engines& engines = engines_[launch.device];
    const uint64_t begin = room(engines, earliest(own), length, threads);
    engines.kernels.push_back({begin, begin + length, threads});
    Interval kernel{
        Interval::Kind::kKernel, launch.device, launch.stream, begin, begin + length, bytes};
    kernel.name = launch.kernel;
    kernel.site = launch.launched_at;
    const bool stored = finish(own, std::move(kernel));
    if (in_collective_)
        parts_.push_back({launch.stream,
                          launch.device,
                          stored ? intervals_.size() - 1 : ~size_t(0),
                          begin,
                          begin + length});
}

void Timeline::on_host_access(const HostAccess& access) {
    if (access.kind >= HostAccess::Kind::kFree) {
        if (!in_graph_) host_ += model_.pool_call;
        return;
    }
    if (!access.allocation) return;
    if (access.ordering == HostAccess::Ordering::kLibrary) {  // part of the kernel that runs
        sectors_ += (access.bytes + kBytesOfSector - 1) / kBytesOfSector;
        return;
    }
    const int device = access.allocation->device;
    Stream& own = stream(access.stream, device);
    const bool transfer = access.kind != HostAccess::Kind::kCopy && !access.fill;
    const bool to_host = access.kind == HostAccess::Kind::kRead;
    const bool pageable = transfer && !access.pinned;
    // Copies between two devices; their default streams wait for each other.
    const bool to_peer =
        access.kind == HostAccess::Kind::kCopy && access.source && access.source->device != device;
    Stream* const other =
        to_peer && access.stream == 0 ? &stream(0, access.source->device) : nullptr;
    uint64_t* const link = to_peer ? &engines_[access.source->device].link_free : nullptr;
    const uint64_t length = time_of(access.bytes,
                                    pageable   ? model_.pageable_rate
                                    : transfer ? model_.pinned_rate
                                    : to_peer  ? model_.link_rate
                                               : model_.memory_rate / 2);
    if (access.continued && !intervals_.empty() && !full_) {  // another row of the same copy
        Interval& last = intervals_.back();
        last.end += length;
        last.bytes += access.bytes;
        own.ready = std::max(own.ready, last.end);
        if (transfer) engines_[device].copies_free[to_host] = last.end;
        if (link) *link = last.end;
        if (other) other->ready = std::max(other->ready, last.end);
        if (pageable && host_ < last.end) {
            host_ = last.end;
            if (intervals_.size() > 1) intervals_[intervals_.size() - 2].end = host_;
        }
        return;
    }
    if (!in_graph_) host_ += model_.launch;
    uint64_t begin = earliest(own);
    Engines& engines = engines_[device];
    if (transfer) begin = std::max(begin, engines.copies_free[to_host]);
    if (other) begin = std::max(begin, earliest(*other));
    if (link) begin = std::max(begin, *link);
    Interval copy{access.fill ? Interval::Kind::kFill
                  : !transfer ? Interval::Kind::kOnDevice
                  : to_host   ? Interval::Kind::kToHost
                              : Interval::Kind::kToDevice,
                  device,
                  access.stream,
                  begin,
                  begin + model_.start + length,
                  access.bytes,
                  pageable};
    copy.name = access.api;
    copy.site = access.site;
    if (transfer) engines.copies_free[to_host] = copy.end;
    if (link) *link = copy.end;
    if (other) other->ready = std::max(other->ready, copy.end);
    const uint64_t end = copy.end;
    // The wait comes first, so that the copy is the last one for its further rows.
    if (pageable && !in_graph_)
        host_waits(end, access.stream, device, "pageable memory", access.site);
    finish(own, std::move(copy));
}

void Timeline::on_order(const OrderEvent& event) {
    using Kind = OrderEvent::Kind;
    if (event.within_collective) return;  // collective_ends() says when each part is done
    switch (event.kind) {
    case Kind::kStreamCreate:
        stream(event.stream, event.device).blocking = !event.non_blocking;
        break;
    case Kind::kStreamDestroy:
    case Kind::kHostSees:
        break;
    case Kind::kGraphBegin:
        if (in_graph_++ == 0) host_ += model_.graph_launch;
        break;
    case Kind::kGraphEnd:
        --in_graph_;
        break;
    case Kind::kCollectiveBegin:
        in_collective_ = true;
        collective_time_ = time_of(event.bytes, model_.link_rate) + event.steps * model_.link_step;
        break;
    case Kind::kCollectiveEnd:
        collective_ends();
        break;
    case Kind::kDeviceSync:
        host_waits_for_device(event.device, event.site);
        break;
    case Kind::kStreamSync: {
        Stream& own = stream(event.stream, event.device);
        uint64_t until = own.ready;
        if (own.legacy)
            for (const auto& [id, peer] : streams_)
                if (peer.device == own.device && peer.blocking) until = std::max(until, peer.ready);
        host_waits(until, event.stream, event.device, "a stream", event.site);
        break;
    }
    case Kind::kEventRecord: {
        if (!in_graph_) host_ += model_.event;
        Stream& own = stream(event.stream, event.device);
        own.ready = events_[event.event] = earliest(own);
        break;
    }
    case Kind::kEventSync:
        host_waits(events_[event.event], event.stream, event.device, "an event", event.site);
        break;
    case Kind::kStreamWaitEvent: {
        if (!in_graph_) host_ += model_.event;
        Stream& own = stream(event.stream, event.device);
        own.ready = std::max(own.ready, events_[event.event]);
        break;
    }
    }
}

std::string Timeline::chrome_trace() const {
    const auto microseconds = [](uint64_t time) {
        const std::string digits = std::to_string(1000 + time % 1000);
        return std::to_string(time / 1000) + '.' + digits.substr(1);
    };
    JsonList events(",\n");
    std::map<std::pair<int, uint64_t>, std::string> rows;
    constexpr uint64_t kHostRow = 0;
    for (const Interval& one : intervals_) {
        const bool waits = one.kind == Interval::Kind::kHostWait;
        const uint64_t row = waits ? kHostRow : one.stream + 1;
        rows[{one.device, row}] = waits             ? "host"
                                  : one.stream == 0 ? "default stream"
                                  : one.stream & machine::kGraphBranch
                                      ? "branch of a graph"
                                      : "stream " + std::to_string(one.stream);
        JsonObject arguments;
        arguments.add("bytes", one.bytes);
        if (const ptx::SourceLine line = resolve_host(one.site); one.site && line.line)
            arguments.add("line", std::string(line.file) + ':' + std::to_string(line.line));
        events.json(JsonObject()
                        .add("name", one.name)
                        .add("cat", category(one.kind))
                        .add("ph", "X")
                        .json("ts", microseconds(one.begin))
                        .json("dur", microseconds(one.end - one.begin))
                        .add("pid", one.device)
                        .add("tid", row)
                        .json("args", arguments.text())
                        .text());
    }
    for (const auto& [row, name] : rows)
        events.json(JsonObject()
                        .add("name", "thread_name")
                        .add("ph", "M")
                        .add("pid", row.first)
                        .add("tid", row.second)
                        .json("args", JsonObject().add("name", name).text())
                        .text());
    return JsonObject().json("traceEvents", events.text()).add("displayTimeUnit", "ns").text() +
           "\n";
}

}  // namespace checks
