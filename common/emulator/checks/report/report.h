// SPDX-License-Identifier: MIT
// Findings: one shape for all checkers, merged by cause, rendered as text and as JSON lines.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "checks/source/resolvers.h"
#include "checks/text/json.h"
#include "machine/events.h"

namespace checks {

enum class Severity : uint8_t { kError, kWarning, kPerf };

struct Place {
    std::string
        file;  // as compiled in; rendering shortens it to be relative to the working directory
    uint32_t line = 0;
    std::optional<machine::Dim3> block, thread;  // absent on the host
    std::string function;
    std::vector<ptx::SourceLine> inlined_at{};  // the calls that were inlined here, innermost first
    std::string launched_at{};   // of a kernel that a script launched: the script's line
    std::string library_line{};  // of a library's kernel: where in its header it happened
};

struct Finding {
    std::string code;  // kebab-case, see explain/
    Severity severity = Severity::kError;
    std::string message;  // lowercase, no full stop, backticks round names
    std::string kernel;   // empty for host findings
    Place place;
    std::optional<Place> other;
    std::string other_text;  // "thread (128,0,0) wrote it on line 13, and no barrier lies between"
    std::vector<std::string> notes;
    uint64_t count = 1;      // merged occurrences (threads, pairs)
    std::string count_text;  // unit of the rest: "more pairs of threads on the same two lines"
    std::string address;     // hex, or empty
    std::string allocation;  // "`out`, argument 3, 1000 floats"
    uint32_t bytes = 0;
    // The facts, for programs that read findings. The texts above may change, the fields do not.
    //   what threads do: "grid" and "block_size" of the launch
    //   races: "relation" ("warp", "block", "grid", "streams", "graph", "host"), "clash" ("plain",
    //     "scope", "same-store", "lost-update", "async-copy", "allocation"), "access" and
    //     "other_access" ("read", "write", "update"), "one_atomic"
    //   accesses to an array: "array", "access" (as above), "index", "elements", "dynamic" (and
    //     its "bytes"), "past_end" (bytes, negative before its start), "first_index" and
    //     "last_index" over all threads, "threads_of_block" of the first block, "other_arrays" of
    //     the same line
    //   API calls: "reason" (api.cpp), and "lanes-differ" of a matrix (alignment.cpp)
    //   barriers, hangs: "returned": threads that had returned
    //   barriers: "passed_by": these threads went round the block that holds the barrier
    //   hangs: "threads" that run, "budget" in thread-instructions (0: all of them poll), "ended":
    //     whether the process was asked to end meanwhile
    JsonObject facts;
};

class Report {
public:
    // Same code, place and other line merge: counts add, the first one found stays. Returns the
    // finding's index, kDropped when restrict_to() does not let its code through.
    size_t add(Finding finding);
    // Cheap pre-check for hot loops: bumps the count and returns true when such a finding exists
    // already.
    bool bump(const char* code, machine::SiteId site, machine::SiteId other_site,
              uint64_t count = 1);
    void remember(const char* code, machine::SiteId site,
                  machine::SiteId other_site);  // after add()

    const std::vector<Finding>& findings() const;
    size_t errors() const;
    size_t warnings() const;
    void clear();

    static constexpr size_t kDropped = size_t(-1);
    // For a checker that keeps a finding up to date: the finding that add() returned.
    Finding& at(size_t index) { return findings_[index]; }
    // Runs before findings() are read: a checker writes its totals then, not at every access.
    void before_reading(std::function<void()> update) { updates_.push_back(std::move(update)); }
    // Grows with every clear(), which invalidates indexes.
    uint32_t generation() const { return generation_; }
    // From now on the races of one line are one finding, with notes on the other lines and arrays:
    // a missing barrier makes one access race with several others.
    void merge_races_of_a_line() { merge_races_ = true; }
    // Findings of any other code are dropped. Empty: all pass.
    void restrict_to(std::set<std::string> codes) { codes_ = std::move(codes); }

private:
    std::vector<Finding> findings_;
    std::map<std::string, size_t> index_;
    std::map<std::array<uint64_t, 2>, std::pair<std::string, size_t>> by_site_;
    std::vector<std::function<void()>> updates_;
    std::set<std::string> codes_;
    bool merge_races_ = false;
    size_t last_ = kDropped;
    uint32_t generation_ = 0;
};

// Text in the shape of rustc's diagnostics; colour only when asked. Reads source lines from disk
// when they exist.
std::string render_text(const Finding& finding, bool colour);
std::string render_json(const Finding& finding);  // one line, no newline at its end

}  // namespace checks
