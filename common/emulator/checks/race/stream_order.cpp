// SPDX-License-Identifier: MIT
// Vector clocks over streams.
#include "checks/race/stream_order.h"

#include <algorithm>

namespace checks {
namespace {

// The limit of operations that the host has not waited for. If a program queues more, the oldest
// ones are treated as finished.
constexpr size_t kRemembered = 4096;
constexpr size_t kTableEntries = size_t(1) << 24;  // segments whose warp is stored, for messages

}  // namespace

uint64_t StreamOrder::key(uint64_t stream, int device) {
    return stream ? stream : uint64_t(1) << 63 | uint64_t(uint32_t(device));
}

StreamOrder::Stream& StreamOrder::stream(uint64_t id, int device) {
    const auto [entry, fresh] = streams_.try_emplace(key(id, device));
    if (fresh) {
        entry->second.device = device;
        entry->second.legacy = id == 0;
        concurrent_ |= id != 0 || streams_.size() > 1;  // or a second device
    }
    return entry->second;
}

bool StreamOrder::join(Known& into, const Known& from) {
    bool grows = false;
    for (const auto& [id, count] : from) {
        uint64_t& known = into[id];
        grows |= known < count;
        known = std::max(known, count);
    }
    return grows;
}

void StreamOrder::join_peers(Stream& waiting) {
    if (!waiting.blocking) return;
    for (auto& [id, peer] : streams_)
        if (peer.device == waiting.device && peer.blocking && peer.legacy != waiting.legacy)
            join(waiting.known, peer.known);
}

bool StreamOrder::known_to(const Known& known, const StreamOperation& operation) const {
    const auto found = known.find(operation.stream);
    return found != known.end() && operation.index <= found->second;
}

// What the host has waited for is ordered before everything that it starts later.
void StreamOrder::forget() {
    std::erase_if(operations_, [&](const StreamOperation& o) { return known_to(host_, o); });
    while (operations_.size() > kRemembered) operations_.pop_front();
    size_t entries = 0;
    for (auto o = operations_.rbegin(); o != operations_.rend(); ++o) {
        entries += o->segment_warp.size();
        if (!concurrent_ || entries > kTableEntries) {
            o->segment_warp = {};
            o->block_linear = {};
        }
    }
}

StreamOperation& StreamOrder::begin(uint64_t id, int device, Segment next_segment) {
    if (!operations_.empty() && operations_.back().end_segment == ~Segment(0))
        operations_.back().end_segment = next_segment;
    forget();
    Stream& own = stream(id, device);
    join_peers(own);
    now_ = own.known;  // without the operation itself: its own index stays unknown to it
    ordered_before_ = next_segment;
    for (const StreamOperation& o : operations_)
        if (!known_to(now_, o)) {
            ordered_before_ = o.first_segment;
            break;
        }
    const uint64_t index = ++own.operations;
    own.known[key(id, device)] = index;
    StreamOperation& o = operations_.emplace_back();
    o.stream = key(id, device);
    o.index = index;
    o.first_segment = next_segment;
    return o;
}

const StreamOperation* StreamOrder::operation(Segment segment) const {
    auto after = std::upper_bound(
        operations_.begin(), operations_.end(), segment, [](Segment s, const StreamOperation& o) {
            return s < o.first_segment;
        });
    if (after == operations_.begin() || segment >= std::prev(after)->end_segment) return nullptr;
    return &*std::prev(after);
}

bool StreamOrder::ordered(Segment segment) const {
    if (segment < ordered_before_) return true;
    const StreamOperation* o = operation(segment);
    return !o || o == &operations_.back() || known_to(now_, *o);
}

bool StreamOrder::current_is(const machine::HostAccess& access) const {
    if (operations_.empty()) return false;
    const StreamOperation& last = operations_.back();
    const int device = access.allocation ? access.allocation->device : 0;
    return last.launch == 0 && last.stream == key(access.stream, device) &&
           last.site == access.site && last.api == access.api;
}

bool StreamOrder::host_knows(Segment segment) const {
    const StreamOperation* o = operation(segment);
    return !o || known_to(host_, *o);
}

void StreamOrder::host_waits_for(uint64_t id, int device) {
    Stream& s = stream(id, device);
    if (s.legacy) join_peers(s);
    learn(host_, s.known);
}

void StreamOrder::host_waits_for_all() {
    for (const auto& [id, s] : streams_) learn(host_, s.known);
}

void StreamOrder::host_sees_all() {
    for (const auto& [id, s] : streams_) learn(seen_, s.known);
}

bool StreamOrder::in_flight(Segment segment, FlightRange& range) const {
    if (segment >= range.first && segment < range.end) return range.answer;
    const StreamOperation* o = operation(segment);
    if (!o) return false;
    range = {o->first_segment, o->end_segment, in_flight(*o)};
    return range.answer;
}

bool StreamOrder::any_in_flight() const {
    return std::any_of(operations_.rbegin(), operations_.rend(), [&](const StreamOperation& o) {
        return in_flight(o);
    });
}

void StreamOrder::meet(int device, int other_device) {
    Stream &one = stream(0, device), &other = stream(0, other_device);
    join_peers(one);
    join_peers(other);
    join(one.known, other.known);
    join(other.known, one.known);
}

void StreamOrder::on_order(const machine::OrderEvent& event) {
    using Kind = machine::OrderEvent::Kind;
    switch (event.kind) {
    case Kind::kStreamCreate:
        stream(event.stream, event.device).blocking = !event.non_blocking;
        break;
    case Kind::kStreamDestroy:  // its work goes on
    case Kind::kGraphBegin:
    case Kind::kGraphEnd:
    case Kind::kCollectiveBegin:
    case Kind::kCollectiveEnd:
        break;
    case Kind::kDeviceSync:
        for (const auto& [id, s] : streams_)
            if (s.device == event.device) learn(host_, s.known);
        break;
    case Kind::kStreamSync:
        if (!event.staged) host_waits_for(event.stream, event.device);
        break;
    case Kind::kEventRecord: {
        Stream& s = stream(event.stream, event.device);
        join_peers(s);
        events_[event.event] = s.known;
        break;
    }
    case Kind::kEventSync:
        learn(host_, events_[event.event]);
        break;
    case Kind::kHostSees:
        if (event.event) {
            learn(seen_, events_[event.event]);
        } else {
            host_sees(event.stream, event.device);
        }
        break;
    case Kind::kStreamWaitEvent:
        join(stream(event.stream, event.device).known, events_[event.event]);
        break;
    }
}

}  // namespace checks
