// SPDX-License-Identifier: MIT
// Watches the host threads of a lesson that has any: which threads are started, which memory each
// of them reads and writes, and whether two of them meet on one address without an order between
// them. A race is found by happens-before, whatever the timing of the run, on one core as on many.
//
// The lesson's file is compiled with -fsanitize=thread (common/cmake/WorkbookLesson.cmake does it),
// so that it calls a function of thread_hooks.h at each access to memory. The test's own code is
// not watched. Order comes from starting and joining threads, mutexes (a wait for a condition
// variable gives one back and takes it again) and atomics. Vector clocks: Mattern, "Virtual time
// and global states of distributed systems", 1989. On the emulator a race is reported with its
// lines, which the emulated device reads from the program's debug information.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <dlfcn.h>
#include <sched.h>

#include "common/emulator/emulator_api.h"

namespace wb {

// An instruction and the calls that led to it, innermost first; 0 where there is none.
using CodePath = std::array<uint64_t, 4>;

// `line 12` of the lesson's file; "" where that is not known.
inline std::string line_at(const CodePath& path) {
    const auto get = (int (*)(const uint64_t*, uint32_t, EmulatorSource*))dlsym(RTLD_DEFAULT,
                                                                                "emulatorSourceOf");
    EmulatorSource source{};
    source.size = sizeof source;
    const auto length = uint32_t(std::find(path.begin(), path.end(), 0) - path.begin());
    if (!get || length == 0 || get(path.data(), length, &source) != 0) return "";
    return "line " + std::to_string(source.line);
}

// Watches while it lives, from the thread that made it, which is number 0. One at a time.
class ThreadWatch {
public:
    ThreadWatch();
    ~ThreadWatch();
    ThreadWatch(const ThreadWatch&) = delete;
    ThreadWatch& operator=(const ThreadWatch&) = delete;

    // Counts the reads of each of these floats, which no thread may write.
    void input(const float* data, size_t count) {
        inputs_.push_back({uintptr_t(data), count, std::vector<uint8_t>(count)});
    }
    // Reads of an input float by all threads, at most 255.
    const std::vector<uint8_t>& reads(size_t input) const { return inputs_[input].reads; }
    // Floats of all inputs that each thread read.
    const std::vector<size_t>& reads_by_thread() const { return reads_by_thread_; }

    size_t started = 0;  // threads
    size_t not_joined() const { return running_; }
    // "thread 2 is started after thread 1 has been joined", for the first such pair; "" where all
    // threads can run at the same time. That is a matter of order, not of the timing of this run.
    std::string one_after_the_other() const {
        for (size_t later = 1; later < first_clocks_.size(); ++later)
            for (size_t earlier = 1; earlier < joined_at_.size() && earlier < later; ++earlier) {
                const Clock& clock = first_clocks_[later];
                if (!joined_at_[earlier] || earlier >= clock.size()) continue;
                if (clock[earlier] < joined_at_[earlier]) continue;
                return "thread " + std::to_string(later) + " is started after thread " +
                       std::to_string(earlier) + " has been joined";
            }
        return "";
    }
    // What was wrong, in words, in an order of its own: not that of the run.
    std::set<std::string> races() const {
        std::set<std::string> texts;
        for (const Race& race : races_) texts.insert(text_of(race));
        return texts;
    }

    // Writes, made while threads were running, to cache lines that several threads wrote.
    size_t writes_to_shared_lines() const {
        size_t writes = 0;
        for (const auto& [line, by_thread] : lines_)
            if (by_thread.size() > 1)
                for (const auto& [thread, count] : by_thread) writes += count;
        return writes;
    }

    // --- called by the functions below, under the lock ------------------------------------------
    using Clock = std::vector<uint32_t>;  // by thread

    int start(int parent) {
        const int child = int(clocks_.size());
        clocks_.push_back(clocks_[parent]);
        clocks_.back().resize(child + 1);
        clocks_[child][child] = 1;
        tick(parent);
        first_clocks_.resize(child + 1);
        first_clocks_[child] = clocks_[child];
        joined_at_.resize(child + 1);
        reads_by_thread_.push_back(0);
        ++started;
        ++running_;
        return child;
    }
    void join(int parent, int child) {
        joined_at_[child] = clocks_[child][child];
        merge(clocks_[parent], clocks_[child]);
        --running_;
    }
    void acquire(int thread, const void* object) {
        merge(clocks_[thread], objects_[uintptr_t(object)]);
    }
    void release(int thread, const void* object) {
        merge(objects_[uintptr_t(object)], clocks_[thread]);
        tick(thread);
    }
    void access(int thread, uintptr_t address, size_t bytes, bool write, const CodePath& path) {
        for (Input& in : inputs_) {
            const uintptr_t end = in.begin + in.count * sizeof(float);
            if (address + bytes <= in.begin || address >= end) continue;
            if (write) report({thread, thread, bytes, "writes to its input", path, path});
            const size_t first = (std::max(address, in.begin) - in.begin) / sizeof(float);
            const size_t last = (std::min(address + bytes, end) - in.begin - 1) / sizeof(float);
            for (size_t i = first; i <= last; ++i) in.reads[i] += in.reads[i] < 255;
            reads_by_thread_[thread] += last - first + 1;
            return;
        }
        if (write) line_write(thread, address);
        for (uintptr_t word = address / 8; word <= (address + bytes - 1) / 8; ++word) {
            const uintptr_t from = std::max(address, word * 8),
                            to = std::min(address + bytes, word * 8 + 8);
            const auto mask = uint8_t(((1u << (to - from)) - 1) << (from - word * 8));
            touch({thread, clocks_[thread][thread], mask, write, path}, shadow_[word], bytes);
        }
    }
    void line_write(int thread, uintptr_t address) {
        if (running_ > 0) ++lines_[address / 64][thread];
    }
    // Memory that is freed, and the stack of a new thread, has no history: neither accesses nor the
    // order that an atomic or a mutex in it once gave.
    void forget(uintptr_t address, size_t bytes) {
        objects_.erase(objects_.lower_bound(address), objects_.lower_bound(address + bytes));
        const uintptr_t first = address / 8, end = (address + bytes + 7) / 8;
        if (end - first < shadow_.size()) {
            for (uintptr_t word = first; word < end; ++word) shadow_.erase(word);
            return;
        }
        for (auto word = shadow_.begin(); word != shadow_.end();)
            word = word->first >= first && word->first < end ? shadow_.erase(word) : ++word;
    }

private:
    struct Input {
        uintptr_t begin;
        size_t count;
        std::vector<uint8_t> reads;
    };
    struct Access {
        int thread;
        uint32_t time;
        uint8_t mask;  // bytes of the word
        bool write;
        CodePath path;
    };
    struct Race {
        int one, other;
        size_t bytes;
        const char* what;
        CodePath first, second;
        bool operator<(const Race& o) const {
            return std::tie(one, other, bytes, what, first, second) <
                   std::tie(o.one, o.other, o.bytes, o.what, o.first, o.second);
        }
    };

    static void merge(Clock& into, const Clock& from) {
        if (into.size() < from.size()) into.resize(from.size());
        for (size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
    }
    void tick(int thread) { ++clocks_[thread][thread]; }
    bool ordered(const Access& earlier, int thread) const {
        const Clock& clock = clocks_[thread];
        return size_t(earlier.thread) < clock.size() && clock[earlier.thread] >= earlier.time;
    }
    void touch(const Access& now, std::vector<Access>& word, size_t bytes) {
        bool kept = false;
        for (Access& other : word) {
            const bool meets = other.mask & now.mask && (other.write || now.write);
            if (other.thread != now.thread && meets && !ordered(other, now.thread)) {
                const char* what =
                    now.write && other.write ? "both write" : "one writes, one reads";
                if (other.thread < now.thread)
                    report({other.thread, now.thread, bytes, what, other.path, now.path});
                else
                    report({now.thread, other.thread, bytes, what, now.path, other.path});
            }
            if (other.thread == now.thread && other.write == now.write && other.mask == now.mask) {
                other = now;
                kept = true;
            }
        }
        if (!kept) word.push_back(now);
    }
    void report(const Race& race) {
        if (races_.size() < kMostRaces) races_.insert(race);
    }
    static std::string text_of(const Race& race) {
        const std::string first = line_at(race.first), second = line_at(race.second);
        const bool same = first == second;
        const auto on = [](const std::string& line) { return line.empty() ? "" : " on " + line; };
        std::ostringstream text;
        if (race.one == race.other) {
            text << "thread " << race.one << " " << race.what << on(first);
            return text.str();
        }
        if (same)
            text << "threads " << race.one << " and " << race.other;
        else
            text << "thread " << race.one << on(first) << " and thread " << race.other
                 << on(second);
        text << " use the same " << race.bytes << " bytes" << (same ? on(first) : "") << ", "
             << race.what << ", and nothing orders the two";
        return text.str();
    }

    static constexpr size_t kMostRaces = 1000;
    std::set<Race> races_;
    std::vector<Clock> clocks_{Clock{1}};
    std::vector<Clock> first_clocks_{Clock{1}};  // of each thread, when it was started
    std::vector<uint32_t> joined_at_{0};         // its own time when it was joined; 0: not yet
    std::vector<size_t> reads_by_thread_{0};
    size_t running_ = 0;
    std::vector<Input> inputs_;
    std::unordered_map<uintptr_t, std::vector<Access>> shadow_;
    std::map<uintptr_t, Clock> objects_;  // atomics and mutexes, by address
    std::unordered_map<uintptr_t, std::map<int, size_t>> lines_;
};

namespace watch_detail {

inline std::atomic<ThreadWatch*> watch{nullptr};
inline std::atomic_flag busy = ATOMIC_FLAG_INIT;
inline thread_local int self = 0;
inline thread_local bool inside = false;

// Runs work(watch) alone, and not for what the watch itself does.
template <class Work>
void with_watch(Work work) {
    if (inside || !watch.load(std::memory_order_relaxed)) return;
    inside = true;
    while (busy.test_and_set(std::memory_order_acquire)) sched_yield();
    if (ThreadWatch* current = watch.load()) work(*current);
    busy.clear(std::memory_order_release);
    inside = false;
}

// The calls that this thread is in, of functions of the lesson's file: where each returns to. There
// is nothing to destroy: such functions also run while the process ends, after the destructors.
struct Calls {
    std::array<uint64_t, 1024> returns_to;  // of deeper calls it is not known
    size_t depth;

    void enter(uint64_t where) {
        if (depth < returns_to.size()) returns_to[depth] = where;
        ++depth;
    }
    void leave() { depth -= depth > 0; }
    // Of the innermost call but k.
    uint64_t innermost(size_t k) const {
        return k < depth && depth - k <= returns_to.size() ? returns_to[depth - k - 1] : 0;
    }
};
inline thread_local Calls calls{};

inline void access(const void* address, size_t bytes, bool write, const void* returns_to) {
    with_watch([&](ThreadWatch& w) {
        CodePath path{uint64_t(returns_to) - 1};
        for (size_t i = 1; i < path.size(); ++i) {
            const uint64_t call = calls.innermost(i - 1);
            if (!call) break;
            path[i] = call - 1;
        }
        w.access(self, uintptr_t(address), bytes, write, path);
    });
}
inline void acquire(const void* object) {
    with_watch([&](ThreadWatch& w) { w.acquire(self, object); });
}
inline void release(const void* object) {
    with_watch([&](ThreadWatch& w) { w.release(self, object); });
}

// What an atomic that stores does: it is ordered, and takes the cache line all the same.
inline void release_and_write(const void* object) {
    with_watch([&](ThreadWatch& w) {
        w.release(self, object);
        w.line_write(self, uintptr_t(object));
    });
}

}  // namespace watch_detail

inline ThreadWatch::ThreadWatch() {
    watch_detail::watch = this;
}
inline ThreadWatch::~ThreadWatch() {
    watch_detail::watch = nullptr;
}

}  // namespace wb
