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

#include "machine/events.h"

namespace checks {

enum class Severity : uint8_t { kError, kWarning, kPerf };

struct Place {
    std::string
        file;  // as compiled in; rendering shortens it to be relative to the working directory
    uint32_t line = 0;
    std::optional<machine::Dim3> block, thread;  // absent on the host
    std::string function;
    std::string library_line{};  // of a library's kernel: where in its header it happened
};

struct Finding {
    std::string code;  // kebab-case, from the list in DESIGN section 4
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
    // Runs before anybody reads findings(): a checker writes its totals then, not at every access.
    void before_reading(std::function<void()> update) { updates_.push_back(std::move(update)); }
    // Grows with every clear(); an index from before is no longer valid.
    uint32_t generation() const { return generation_; }
    // From now on the races of one line are one finding, with notes on the other lines and arrays:
    // a barrier that is missing parts one access from several.
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

// Text as in DESIGN section 4; colour only when asked. Reads source lines from disk when they
// exist.
std::string render_text(const Finding& finding, bool colour);
std::string render_json(const Finding& finding);  // one line, no newline at its end

// Turns a HostSite into file and line; set by whoever assembles the library.
using HostResolver = std::function<ptx::SourceLine(machine::HostSite)>;
void set_host_resolver(HostResolver resolver);
ptx::SourceLine resolve_host(machine::HostSite site);

// What checkers ask for the line of an instruction: machine::code_site, unless a test says
// otherwise.
using SiteResolver = const machine::CodeSite& (*)(machine::SiteId);
void set_site_resolver(SiteResolver resolver);  // null: machine::code_site again
const machine::CodeSite& site_of(machine::SiteId site);

}  // namespace checks
