// SPDX-License-Identifier: MIT
#include "checks/report/thread_findings.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_set>

#include "checks/report/places.h"

namespace checks {
namespace {

// Distinct warps that one finding records; beyond this, every access counts as another thread.
constexpr size_t kMaxWarps = 1 << 20;

struct Order {
    uint64_t launch = 0, block = 0;
    uint32_t thread = 0;
    bool operator<(const Order& other) const {
        // Only within a launch: an earlier launch always comes first.
        if (launch != other.launch) return launch < other.launch;
        return block != other.block ? block < other.block : thread < other.thread;
    }
};

struct Group {
    size_t index = 0;  // in the report
    Order first;
    machine::Dim3 first_block, shape;
    uint64_t first_serial = 0;
    uint32_t block_threads = 0;
    uint64_t threads = 0;
    std::unordered_map<uint64_t, uint32_t> warps;  // block serial * 32 + warp -> lanes seen
    std::unordered_set<uint64_t> blocks;           // serials, of the first launch
    std::unordered_set<uint64_t> launches;         // serials
    std::array<uint32_t, 32> here{};               // lanes seen of the first block, by warp
    uint64_t last_key = ~0ull;
    uint32_t* last_mask = nullptr;   // into `warps`, whose elements do not move
    std::vector<std::string> notes;  // as the maker wrote them
    JsonObject facts;
    std::string count_text;
    // The range of elements, of the first array only; the others by name.
    uint64_t subject = 0, low = 0, high = 0;
    Array array;
    std::map<uint64_t, std::string> others;
    bool changed = false;
};

}  // namespace

struct ThreadFindings::State {
    explicit State(Report& to) : report(&to), generation(to.generation()) {}

    Report* report;
    uint32_t generation;
    std::unordered_map<uint64_t, Group*> by_site;
    std::unordered_map<size_t, std::unique_ptr<Group>> groups;  // by index in the report
    Group dropped;

    void forget_after_clear() {
        if (generation == report->generation()) return;
        generation = report->generation();
        by_site.clear();
        groups.clear();
    }
    void write();
};

namespace {

void count(Group& group, const machine::WarpInfo& warp, uint32_t mask) {
    const uint64_t key = warp.block->serial * 32 + warp.index;
    if (key != group.last_key) {
        if (group.warps.size() >= kMaxWarps) {
            group.threads += uint64_t(std::popcount(mask));
            return;
        }
        group.last_mask = &group.warps[key];
        group.last_key = key;
        group.launches.insert(warp.block->launch->serial);
        if (warp.block->launch->serial == group.first.launch)
            group.blocks.insert(warp.block->serial);
    }
    group.threads += uint64_t(std::popcount(mask & ~*group.last_mask));
    *group.last_mask |= mask;
    if (warp.block->serial == group.first_serial) group.here[warp.index % 32] |= mask;
}

void widen(Group& group, uint32_t mask, const uint64_t* addresses) {
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t address = addresses[std::countr_zero(m)];
        group.low = std::min(group.low, address);
        group.high = std::max(group.high, address);
    }
}

// Everything that was not seen before replaces what the finding said.
void show(Group& group, Report& report, Draft draft, const machine::WarpInfo& warp, uint32_t lane,
          machine::SiteId site) {
    const Place place = place_of(site, warp, lane);
    Finding& finding = draft.finding;
    if (finding.place.line == 0 && finding.place.file.empty()) finding.place = place;
    finding.place.block = place.block;
    finding.place.thread = place.thread;
    finding.kernel = warp.block->launch->kernel;
    group.first = {warp.block->launch->serial, warp.block->linear, warp.thread(lane)};
    group.first_block = warp.block->index;
    if (group.first_serial != warp.block->serial) {
        group.first_serial = warp.block->serial;
        for (uint32_t i = 0; i < group.here.size(); ++i) {
            const auto seen = group.warps.find(group.first_serial * 32 + i);
            group.here[i] = seen == group.warps.end() ? 0 : seen->second;
        }
    }
    group.shape = warp.block->launch->block;
    group.block_threads = warp.block->threads;
    group.notes = finding.notes;
    add_shape(finding.facts, *warp.block->launch);
    group.facts = finding.facts;
    group.count_text = finding.count_text;
    group.array = std::move(draft.array);
    if (group.index != Report::kDropped) report.at(group.index) = std::move(finding);
}

}  // namespace

ThreadFindings::ThreadFindings(Report& report) : state_(std::make_shared<State>(report)) {
    report.before_reading([state = state_] { state->write(); });
}

ThreadFindings::~ThreadFindings() = default;

void ThreadFindings::add(const char* code, machine::SiteId site, const machine::WarpInfo& warp,
                         uint32_t mask, uint64_t subject, const uint64_t* addresses,
                         const std::function<Draft(uint32_t)>& make) {
    State& state = *state_;
    state.forget_after_clear();
    const uint32_t lane = uint32_t(std::countr_zero(mask));
    // Codes are string literals, so a few bytes distinguish them; the report compares their text.
    const uint64_t key = uint64_t(site) << 32 | uint32_t(std::hash<std::string_view>{}(code));
    Group*& known = state.by_site[key];
    if (!known) {
        Draft draft = make(lane);
        draft.finding.code = code;
        if (draft.finding.place.line == 0 && draft.finding.place.file.empty()) {
            draft.finding.place = place_of(site, warp, lane);
        }
        draft.finding.kernel = warp.block->launch->kernel;
        const size_t index = state.report->add(draft.finding);
        if (index == Report::kDropped) {
            known = &state.dropped;
        } else {
            auto& group = state.groups[index];
            if (!group) {
                group = std::make_unique<Group>();
                group->index = index;
                group->subject = subject;
                if (addresses) group->low = group->high = addresses[lane];
                show(*group, *state.report, std::move(draft), warp, lane, site);
            }
            known = group.get();
        }
    }
    if (known == &state.dropped) return;
    Group& group = *known;
    const Order order{warp.block->launch->serial, warp.block->linear, warp.thread(lane)};
    if (subject == group.subject) {
        if (order < group.first) {
            Draft draft = make(lane);
            draft.finding.code = code;
            show(group, *state.report, std::move(draft), warp, lane, site);
        }
        if (addresses) widen(group, mask, addresses);
    } else if (group.others.size() < 4 && !group.others.count(subject)) {
        group.others[subject] = make(lane).array.subject;
    }
    count(group, warp, mask);
    group.changed = true;
}

void ThreadFindings::State::write() {
    forget_after_clear();
    for (auto& [index, owned] : groups) {
        Group& group = *owned;
        if (!group.changed) continue;
        group.changed = false;
        Finding& finding = report->at(index);
        finding.count = group.threads;
        finding.notes = group.notes;
        finding.facts = group.facts;
        finding.count_text.clear();  // the notes below say it with names
        if (const std::string range = group.array.range(group.low, group.high); !range.empty()) {
            finding.notes.push_back("in all, " + range);
        }
        if (group.array.element_bytes && group.high)
            finding.facts.add("first_index", group.array.index(group.low))
                .add("last_index", group.array.index(group.high));
        std::vector<std::string> others;
        for (const auto& [subject, name] : group.others) {
            if (!name.empty() && name != group.array.subject &&
                std::find(others.begin(), others.end(), name) == others.end()) {
                others.push_back(name);
            }
        }
        if (!others.empty()) {
            finding.notes.push_back("the same happens to " + joined(others));
            JsonList names;
            for (const std::string& name : others) names.add(std::string_view(name));
            finding.facts.json("other_arrays", names.text());
        }
        if (group.threads < 2) continue;

        std::vector<uint32_t> here;
        for (uint32_t i = 0; i < group.here.size(); ++i) {
            for (uint32_t m = group.here[i]; m; m &= m - 1) {
                here.push_back(i * machine::kWarpSize + uint32_t(std::countr_zero(m)));
            }
        }
        finding.facts.add("threads_of_block", here.size());
        std::string text = plural(group.threads, "thread") + " did this: ";
        if (here.size() == group.block_threads && here.size() > 1) {
            text += "all of block " + coordinates(group.first_block);
        } else {
            text +=
                thread_ranges(here, group.shape) + " of block " + coordinates(group.first_block);
        }
        std::vector<std::string> rest;
        if (group.blocks.size() > 1) rest.push_back(plural(group.blocks.size() - 1, "other block"));
        if (group.launches.size() > 1) {
            finding.facts.add("other_launches", group.launches.size() - 1);
            rest.push_back(plural(group.launches.size() - 1, "other launch", "es"));
        }
        if (!rest.empty()) text += ", the rest in " + joined(rest);
        finding.notes.push_back(std::move(text));
    }
}

}  // namespace checks
