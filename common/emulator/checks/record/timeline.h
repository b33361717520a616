// SPDX-License-Identifier: MIT
// When the work of a program would run on a card, by a simple model: the emulated device does all
// work at once, so its own clock says nothing about overlap. TIMELINE.md states the model and what
// it leaves out. EMULATOR_TIMELINE=file, or emulatorTimelineStart.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "machine/observer.h"

namespace checks {

// The modelled machine: what was measured on an H200 with PCIe 5, rounded. All times are in
// nanoseconds, all arithmetic is in integers, so a program has the same timeline everywhere.
struct TimelineModel {
    // What a call costs the host.
    uint64_t launch = 3300;  // of a kernel, a copy or a fill
    uint64_t graph_launch = 1200;
    uint64_t event = 900;      // recording one, or waiting for one in a stream
    uint64_t pool_call = 600;  // cudaMallocAsync and cudaFreeAsync
    // Until an idle device begins with work that it is given.
    uint64_t arrival = 4000;
    // Fixed time of one piece of work, also of a graph's node.
    uint64_t start = 1000;
    // Bytes in a microsecond.
    uint64_t memory_rate = 4'000'000;
    uint64_t pinned_rate = 55'000;
    uint64_t pageable_rate = 12'000;
    // Kernels. Instructions of warps in a microsecond, picoseconds for each instruction of the
    // busiest warp, and threads that the device holds: kernels run side by side as long as their
    // threads fit.
    uint64_t instruction_rate = 1'000'000;
    uint64_t instruction_picoseconds = 1500;
    uint64_t threads = 132 * 2048;
    // Links between devices: bytes in a microsecond in each direction, and what each of the
    // messages of a collective takes that wait for one another.
    uint64_t link_rate = 370'000;
    uint64_t link_step = 700;
};

// One piece of work on the timeline, or a wait of the host.
struct Interval {
    enum class Kind : uint8_t { kKernel, kToDevice, kToHost, kOnDevice, kFill, kHostWait } kind;
    int device = 0;
    uint64_t stream = 0;  // the runtime's id; 0 is the default stream
    uint64_t begin = 0, end = 0;
    uint64_t bytes = 0;     // of a copy or fill; of a kernel: 32 for each sector that it accesses
    bool pageable = false;  // a transfer from or to ordinary memory: the host waits for it
    std::string name = {};  // of the kernel, or of the function that was called
    machine::HostSite site = 0;
};

class Timeline final : public machine::Observer {
public:
    static constexpr uint32_t kInterests = machine::kMemoryEvents | machine::kHostEvents |
                                           machine::kLaunchEvents | machine::kGlobalAccess;
    // Beyond this many nothing is stored; the clocks go on.
    static constexpr size_t kMostIntervals = 1 << 16;

    explicit Timeline(TimelineModel model = {}) : model_(model) {}

    // Forgets everything but which streams do not wait for the default stream. Time begins at 0,
    // and all streams are idle.
    void start();
    const std::vector<Interval>& intervals() const { return intervals_; }
    bool full() const { return full_; }
    uint64_t host_time() const { return host_; }
    // In the Trace Event Format, which Perfetto and chrome://tracing show.
    std::string chrome_trace() const;

    void on_free(const machine::Allocation& allocation) override;
    void on_launch_begin(const machine::LaunchInfo& launch) override;
    void on_launch_end(const machine::LaunchInfo& launch,
                       const machine::LaunchSummary& summary) override;
    void on_access(const machine::AccessEvent& event) override;
    uint64_t foresee(const machine::AccessEvent& next, int64_t step, uint64_t most) override;
    void on_access_run(const machine::AccessEvent& first, int64_t step, uint64_t accesses) override;
    void on_host_access(const machine::HostAccess& access) override;
    void on_order(const machine::OrderEvent& event) override;

private:
    struct Stream {
        int device = 0;
        bool legacy = false, blocking = true;
        uint64_t ready = 0;  // when all its work is done
    };
    struct Running {  // a kernel on the timeline of its device
        uint64_t begin, end, threads;
    };
    struct Engines {
        std::array<uint64_t, 2> copies_free{};  // to the device, to the host
        uint64_t link_free = 0;                 // for copies from here to other devices
        std::vector<Running> kernels;
    };

    Stream& stream(uint64_t id, int device);
    void host_waits_for_device(int device, machine::HostSite site);
    // Sectors that the running kernel accesses.
    void count(const machine::AccessEvent& event, uint64_t sectors);
    // When work that the host has just given to the stream may begin.
    uint64_t earliest(Stream& own);
    // When a kernel with so many threads finds room.
    uint64_t room(Engines& engines, uint64_t from, uint64_t length, uint64_t threads) const;
    // Stores the interval, and returns whether there was room for it.
    bool finish(Stream& own, Interval interval);
    // All parts of a collective end when the last one that has begun could.
    void collective_ends();
    void host_waits(uint64_t until, uint64_t stream, int device, const char* what,
                    machine::HostSite site);

    TimelineModel model_;
    std::map<uint64_t, Stream> streams_;
    std::map<uint64_t, uint64_t> events_;
    std::map<int, Engines> engines_;
    std::vector<Interval> intervals_;
    uint64_t host_ = 0;
    uint64_t sectors_ = 0;   // of the running kernel
    uint64_t remote_ = 0;    // those of them that are in another device's memory
    int device_ = 0;         // that it runs on
    unsigned in_graph_ = 0;  // graphs that are being launched: their nodes cost the host nothing
    struct Part {            // of the collective that is under way
        uint64_t stream;
        int device;
        size_t interval;  // ~0: not stored
        uint64_t begin, end;
    };
    std::vector<Part> parts_;
    uint64_t collective_time_ = 0;  // that its messages take at least
    bool in_collective_ = false;
    bool in_launch_ = false;  // also of a library's kernel
    bool full_ = false;
};

}  // namespace checks
