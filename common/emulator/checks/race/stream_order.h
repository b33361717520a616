// SPDX-License-Identifier: MIT
// Which launches, copies and fills are ordered: streams, events and host synchronisation, by the
// rules of the CUDA programming guide ("Asynchronous Concurrent Execution"). The legacy default
// stream waits for all blocking streams of its device and they wait for it; non-blocking ones do
// not. Every operation owns a range of segments, so shadow state remembers it by a segment number.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "checks/race/clock.h"
#include "machine/events.h"

namespace checks {

// What names the arrays of a launch, as long as the host may race with it.
struct LaunchNames {
    machine::LaunchInfo launch;
    std::vector<ptx::Parameter> parameters;
    std::vector<std::byte> arguments;
};

// One operation of a stream: a launch, or a copy or fill of the host.
struct StreamOperation {
    uint64_t stream = 0;  // key: see StreamOrder
    uint64_t index = 0;   // 1, 2, 3 ... in that stream
    Segment first_segment = 0, end_segment = ~Segment(0);
    uint64_t launch = 0;  // LaunchInfo::serial; 0: an operation of the host
    std::string kernel;
    machine::Dim3 grid, block;
    uint32_t warps_per_block = 0;
    // Of a launch: which warp each segment belongs to, and which block each dense number means.
    // Only stored while another stream may still race with this operation.
    std::vector<uint32_t> segment_warp;
    std::vector<uint32_t> block_linear;
    const char* api = nullptr;   // of a host operation
    machine::HostSite site = 0;  // of the call, also of a launch
    bool writes = false;
    bool allocates = false;  // in the order of its stream
    bool fill = false;       // cudaMemset and relatives
    bool staged = false;     // a blocking copy that may go on after its call
    // A transfer's other end in pinned memory; null: it has none.
    const machine::Allocation* pinned = nullptr;
    bool writes_pinned = false;
    bool writes_to(const machine::Allocation* a) const {
        return a && a == pinned ? writes_pinned : writes;
    }
    // A launch that signals its progress to the host through a flag in the host's memory.
    bool talks_to_host = false;
    std::shared_ptr<const LaunchNames> names;  // of a launch that used memory of the host
};

class StreamOrder {
public:
    // Starts an operation and returns it; the reference is valid until the next begin().
    StreamOperation& begin(uint64_t stream, int device, Segment next_segment);
    // The operation that began last.
    StreamOperation& current() { return operations_.back(); }
    // Whether it is the copy or fill that `access` is another row of.
    bool current_is(const machine::HostAccess& access) const;
    // Everything that happened in segments below this is ordered before the current operation.
    Segment ordered_before() const { return ordered_before_; }
    // Whether an older segment (of an earlier operation) is ordered before the current operation.
    bool ordered(Segment segment) const;
    // The operation of a segment; null when it is forgotten.
    const StreamOperation* operation(Segment segment) const;

    void on_order(const machine::OrderEvent& event);
    // The host waited for everything in a stream, or on all devices.
    void host_waits_for(uint64_t stream, int device);
    void host_waits_for_all();
    // The host may know that the stream's work is done, although it has not waited.
    void host_sees(uint64_t stream, int device) {
        learn(seen_, this->stream(stream, device).known);
    }
    void host_sees_all();
    // Whether the operation of a segment may still be running when the host continues, and whether
    // there is any such operation. `range`: caches the answer for all segments of an operation.
    bool in_flight(Segment segment) const {
        FlightRange range;
        return in_flight(segment, range);
    }
    struct FlightRange {
        Segment first = 1, end = 0;
        bool answer = false;
    };
    bool in_flight(Segment segment, FlightRange& range) const;
    bool any_in_flight() const;
    // Whether the host has waited for the operation of a segment.
    bool host_knows(Segment segment) const;
    // Grows whenever the host may know of more that is done.
    uint64_t host_knowledge() const { return host_knowledge_; }
    // A copy between two devices in default streams waits for both, and both for it: call this
    // before and after begin().
    void meet(int device, int other_device);
    // Segment numbers start again: all operations so far count as ordered.
    void restart() { operations_.clear(); }
    // More than the default stream has been used: host operations must be recorded, too.
    bool concurrent() const { return concurrent_; }

private:
    using Known = std::map<uint64_t, uint64_t>;  // stream -> operations known, 1 .. n
    struct Stream {
        int device = 0;
        bool legacy = false, blocking = true;
        uint64_t operations = 0;
        Known known;
    };

    static uint64_t key(uint64_t stream, int device);
    Stream& stream(uint64_t id, int device);
    static bool join(Known& into, const Known& from);  // whether it brought anything new
    void learn(Known& host, const Known& from) { host_knowledge_ += join(host, from); }
    void join_peers(Stream& stream);  // the implicit waits of and for the legacy default stream
    void forget();
    bool known_to(const Known& known, const StreamOperation& operation) const;
    bool in_flight(const StreamOperation& operation) const {
        return !operation.talks_to_host && !known_to(host_, operation) &&
               !known_to(seen_, operation);
    }

    std::map<uint64_t, Stream> streams_;
    std::map<uint64_t, Known> events_;
    Known host_;
    Known seen_;  // what the host may know beyond that
    uint64_t host_knowledge_ = 0;
    Known now_;  // what the current operation waited for
    // In order of segments; those that the host has waited for are dropped.
    std::deque<StreamOperation> operations_;
    Segment ordered_before_ = 0;
    bool concurrent_ = false;
};

}  // namespace checks
