// SPDX-License-Identifier: MIT
// The model timeline beside the counters: when the work of an answer would run on a card, what runs
// at the same time, and when the host waits. common/emulator/TIMELINE.md states the model. On a
// real GPU there is none, and the cases that need it are skipped as those that need counters.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lesson_test.h"

namespace wb {
namespace {

class Timeline {
public:
    enum class Kind { kKernel, kUp, kDown, kOnDevice, kFill, kWait };
    // A piece of work, or a wait of the host. Times are in nanoseconds from the start of the call.
    struct Interval {
        Kind kind;
        uint64_t stream;  // 0: the default stream
        uint64_t begin, end, bytes;
        bool pageable;  // a copy from or to memory that is not pinned
        unsigned line;  // of the call in `file`; 0: not known
        std::string name, file;
        unsigned device;  // its number; of a copy between two: of the one that is written
    };

    // That of everything that `work` does; empty on a real GPU. `shown`: it is the answer's own, of
    // which the grader draws pictures and tells causes.
    static std::optional<Timeline> of(const std::function<void()>& work, bool shown = true) {
        const auto start = (void (*)())dlsym(RTLD_DEFAULT, "emulatorTimelineStart");
        const auto host = (uint64_t(*)())dlsym(RTLD_DEFAULT, "emulatorTimelineHost");
        const auto get =
            (int (*)(uint32_t, EmulatorInterval*))dlsym(RTLD_DEFAULT, "emulatorTimelineGet");
        if (!start || !host || !get) {
            work();
            return std::nullopt;
        }
        start();
        work();
        Timeline timeline;
        timeline.returned_ = host();
        EmulatorInterval one{};
        one.size = sizeof one;
        for (uint32_t i = 0; get(i, &one) == 0; ++i) {
            timeline.all_.push_back({kind_of(one.kind),
                                     one.stream,
                                     one.begin,
                                     one.end,
                                     one.bytes,
                                     one.pageable != 0,
                                     one.line,
                                     one.name,
                                     one.file,
                                     one.device});
        }
        if (shown) timeline.note();
        return timeline;
    }

    // In the order of the calls.
    const std::vector<Interval>& all() const { return all_; }
    std::vector<Interval> of(Kind kind) const {
        std::vector<Interval> found;
        for (const Interval& one : all_)
            if (one.kind == kind) found.push_back(one);
        return found;
    }
    uint64_t bytes(Kind kind) const {
        uint64_t sum = 0;
        for (const Interval& one : of(kind)) sum += one.bytes;
        return sum;
    }
    // Streams in which there is work.
    size_t streams() const {
        std::vector<uint64_t> found;
        for (const Interval& one : all_)
            if (one.kind != Kind::kWait) found.push_back(one.stream);
        std::sort(found.begin(), found.end());
        return size_t(std::unique(found.begin(), found.end()) - found.begin());
    }
    // When the call returned, and when its last piece of work ends.
    uint64_t returned() const { return returned_; }
    uint64_t last_end() const {
        uint64_t last = 0;
        for (const Interval& one : all_) last = std::max(last, one.end);
        return last;
    }
    uint64_t total() const { return std::max(returned_, last_end()); }
    // The time during which work of this kind is under way.
    uint64_t busy(Kind kind) const { return length(united(kind)); }
    // The time during which work of both kinds is under way.
    uint64_t overlap(Kind one, Kind other) const {
        uint64_t sum = 0;
        for (const auto& [begin, end] : united(one))
            for (const auto& [from, to] : united(other))
                sum += std::max(begin, from) < std::min(end, to)
                           ? std::min(end, to) - std::max(begin, from)
                           : 0;
        return sum;
    }
    // Waits of the host after which more work is queued.
    size_t waits_between() const {
        size_t waits = 0, found = 0;
        for (const Interval& one : all_) {
            if (one.kind == Kind::kWait) {
                ++waits;
            } else if (one.pageable && waits > 0) {  // its own wait comes before it
                found = std::max(found, waits);
            } else {
                found = waits;
            }
        }
        return found;
    }
    // Of these, the waits at whose end all work that was queued before is done: the device is idle
    // until more is queued.
    size_t waits_that_leave_it_idle() const {
        size_t found = 0, waits = 0;
        uint64_t end = 0;
        for (const Interval& one : all_) {
            if (one.kind == Kind::kWait) {
                waits += end > 0 && one.end >= end;
            } else {
                end = std::max(end, one.end);
                found = waits;
            }
        }
        return found;
    }

private:
    using Spans = std::vector<std::pair<uint64_t, uint64_t>>;

    static Kind kind_of(uint32_t kind) {
        switch (kind) {
        case EMULATOR_INTERVAL_KERNEL:
            return Kind::kKernel;
        case EMULATOR_INTERVAL_TO_DEVICE:
            return Kind::kUp;
        case EMULATOR_INTERVAL_TO_HOST:
            return Kind::kDown;
        case EMULATOR_INTERVAL_ON_DEVICE:
            return Kind::kOnDevice;
        case EMULATOR_INTERVAL_FILL:
            return Kind::kFill;
        default:
            return Kind::kWait;
        }
    }
    Spans united(Kind kind) const {
        Spans spans, joined;
        for (const Interval& one : of(kind)) spans.emplace_back(one.begin, one.end);
        std::sort(spans.begin(), spans.end());
        for (const auto& span : spans) {
            if (!joined.empty() && span.first <= joined.back().second)
                joined.back().second = std::max(joined.back().second, span.second);
            else
                joined.push_back(span);
        }
        return joined;
    }
    static uint64_t length(const Spans& spans) {
        uint64_t sum = 0;
        for (const auto& [begin, end] : spans) sum += end - begin;
        return sum;
    }

    // {"timeline": [{"kind", "device", "stream", "begin", "end", "bytes", "pageable", "line",
    // "file", "name"}, ...], "returned": 123}
    void note() const {
        if (!details::wanted()) return;
        static const char* const words[] = {"kernel", "up", "down", "on_device", "fill", "wait"};
        std::string list;
        for (const Interval& one : all_) {
            list += (list.empty() ? "{" : ", {") +
                    ("\"kind\": " + details::quoted(words[size_t(one.kind)])) +
                    ", \"device\": " + std::to_string(one.device) +
                    ", \"stream\": " + std::to_string(one.stream) +
                    ", \"begin\": " + std::to_string(one.begin) +
                    ", \"end\": " + std::to_string(one.end) +
                    ", \"bytes\": " + std::to_string(one.bytes) +
                    ", \"pageable\": " + (one.pageable ? "true" : "false") +
                    ", \"line\": " + std::to_string(one.line) +
                    ", \"file\": " + details::quoted(one.file) +
                    ", \"name\": " + details::quoted(one.name) + "}";
        }
        details::append("{\"timeline\": [" + list +
                        "], \"returned\": " + std::to_string(returned_) + "}");
    }

    std::vector<Interval> all_;
    uint64_t returned_ = 0;
};

// The timeline knows which streams wait for the default stream from their making on: it has to run
// before the first is made.
inline const bool timeline_runs = [] {
    if (const auto start = (void (*)())dlsym(RTLD_DEFAULT, "emulatorTimelineStart")) start();
    return true;
}();

}  // namespace
}  // namespace wb

// Ends an [efficient] test case on a device without a timeline.
#define NEED_TIMELINE(timeline)                                                                    \
    if (!(timeline)) {                                                                             \
        WARN("no timeline on this device: efficiency is graded on the emulator");                  \
        return;                                                                                    \
    }
