// SPDX-License-Identifier: MIT
// The table of checkers, and their selection by name or by code.
#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>

#include "checks/checks.h"
#include "checks/execution/api.h"
#include "checks/execution/barriers.h"
#include "checks/execution/faults.h"
#include "checks/execution/stalls.h"
#include "checks/execution/warp_mask.h"
#include "checks/memory/alignment.h"
#include "checks/memory/bounds.h"
#include "checks/memory/lifetime.h"
#include "checks/race/race_global.h"
#include "checks/race/race_shared.h"
#include "checks/uninitialized/local.h"
#include "checks/uninitialized/uninitialized.h"

namespace checks {
namespace {

using Made = std::unique_ptr<machine::Observer>;

struct CheckerEntry {
    const char* name;
    std::vector<std::string> codes;
    uint32_t interests;
    Made (*make)(Report&, machine::Memory&);
};

const std::vector<CheckerEntry>& table() {
    using R = Report;
    using M = machine::Memory;
    static const std::vector<CheckerEntry> entries = {
        {"bounds",
         {"out-of-bounds-global",
          "out-of-bounds-shared",
          "out-of-bounds-local",
          "invalid-address",
          "use-after-free"},
         Bounds::kInterests,
         [](R& r, M& m) -> Made { return std::make_unique<Bounds>(r, m); }},
        {"alignment",
         {"misaligned"},
         Alignment::kInterests,
         [](R& r, M& m) -> Made { return std::make_unique<Alignment>(r, m); }},
        {"uninitialized",
         {"uninitialized-global"},
         UninitializedGlobal::kInterests,
         [](R& r, M& m) -> Made { return std::make_unique<UninitializedGlobal>(r, m); }},
        {"uninitialized",
         {"uninitialized-shared"},
         UninitializedShared::kInterests,
         [](R& r, M&) -> Made { return std::make_unique<UninitializedShared>(r); }},
        {"uninitialized",
         {"uninitialized-local"},
         UninitializedLocal::kInterests,
         [](R& r, M&) -> Made { return std::make_unique<UninitializedLocal>(r); }},
        {"race",
         {"race-shared"},
         kRaceSharedInterest,
         [](R& r, M& m) -> Made { return make_race_shared(r, m); }},
        {"race",
         {"race-global"},
         kRaceGlobalInterest,
         [](R& r, M& m) -> Made { return make_race_global(r, m); }},
        {"barriers",
         {"barrier-divergence"},
         Barriers::kInterests,
         [](R& r, M&) -> Made { return std::make_unique<Barriers>(r); }},
        {"stalls",
         {"deadlock", "hang"},
         Stalls::kInterests,
         [](R& r, M&) -> Made { return std::make_unique<Stalls>(r); }},
        {"warp-mask",
         {"warp-mask"},
         WarpMask::kInterests,
         [](R& r, M&) -> Made { return std::make_unique<WarpMask>(r); }},
        {"faults",
         {"assert", "stack-overflow", "invalid-address", "out-of-bounds-global"},
         Faults::kInterests,
         [](R& r, M&) -> Made { return std::make_unique<Faults>(r); }},
        {"lifetime",
         {"leak", "double-free"},
         Lifetime::kInterests,
         [](R& r, M& m) -> Made { return std::make_unique<Lifetime>(r, m); }},
        {"api",
         {"invalid-launch",
          "invalid-copy",
          "host-dereference",
          "unchecked-error",
          "library-misuse",
          "collective-deadlock",
          "collective-mismatch",
          "out-of-bounds-global",
          "use-after-free",
          "invalid-address"},
         Api::kInterests,
         [](R& r, M&) -> Made { return std::make_unique<Api>(r); }},
    };
    return entries;
}

// Words between commas, without surrounding blanks; empty ones are left out.
std::vector<std::string> words_of(const std::string& list) {
    std::vector<std::string> words;
    for (size_t at = 0; at <= list.size();) {
        const size_t end = std::min(list.find(',', at), list.size());
        const size_t first = list.find_first_not_of(" \t", at);
        if (first < end) {
            words.push_back(list.substr(first, list.find_last_not_of(" \t", end - 1) - first + 1));
        }
        at = end + 1;
    }
    return words;
}

[[noreturn]] void refuse(const std::string& word) {
    std::set<std::string> names, codes;
    for (const CheckerEntry& entry : table()) {
        names.insert(entry.name);
        codes.insert(entry.codes.begin(), entry.codes.end());
    }
    std::string known = "all (or full), quick, none";
    for (const auto* set : {&names, &codes}) {
        for (const std::string& name : *set) {
            if (set == &codes && names.count(name)) continue;
            known += ", " + name;
        }
    }
    throw std::invalid_argument("there is no check `" + word + "`; known are: " + known);
}

}  // namespace

// `-leak`: not that one. `quick` is all but the races: of the time and memory that the checks take,
// most is theirs.
std::vector<Checker> make_checkers(const std::string& selection, Report& report,
                                   machine::Memory& memory) {
    std::set<std::string> wanted, unwanted;  // codes
    std::set<const CheckerEntry*> chosen;
    bool all = false, none = false;
    const std::vector<std::string> words = words_of(selection);
    for (const std::string& entry_word : words) {
        const bool without = entry_word.starts_with("-");
        const std::string word = entry_word.substr(without);
        if (!without && (word == "all" || word == "full")) {
            all = true;
            continue;
        }
        if (!without && word == "quick") {
            for (const CheckerEntry& entry : table()) {
                if (std::string_view(entry.name) == "race") continue;
                wanted.insert(entry.codes.begin(), entry.codes.end());
                chosen.insert(&entry);
            }
            continue;
        }
        if (!without && word == "none") {
            none = true;
            continue;
        }
        bool known = false;
        for (const CheckerEntry& entry : table()) {
            std::set<std::string>& codes = without ? unwanted : wanted;
            if (word == entry.name) {
                codes.insert(entry.codes.begin(), entry.codes.end());
            } else if (std::count(entry.codes.begin(), entry.codes.end(), word)) {
                codes.insert(word);
            } else {
                continue;
            }
            if (!without) chosen.insert(&entry);
            known = true;
        }
        if (!known) refuse(word);
    }
    if (none && (all || words.size() > 1)) {
        throw std::invalid_argument("`none` cannot stand beside other checks: " + selection);
    }
    std::vector<Checker> checkers;
    if (none) return checkers;
    all = all || words.empty();
    if (!unwanted.empty()) {
        if (all || wanted.empty()) {  // `-leak` alone is `all,-leak`
            for (const CheckerEntry& entry : table()) {
                wanted.insert(entry.codes.begin(), entry.codes.end());
                chosen.insert(&entry);
            }
        }
        for (const std::string& code : unwanted) wanted.erase(code);
        std::erase_if(chosen, [&](const CheckerEntry* entry) {
            return std::none_of(entry->codes.begin(), entry->codes.end(), [&](const auto& code) {
                return wanted.contains(code);
            });
        });
        all = false;
    }
    report.merge_races_of_a_line();
    report.restrict_to(all ? std::set<std::string>{} : wanted);
    for (const CheckerEntry& entry : table()) {
        if (all || chosen.count(&entry))
            checkers.push_back({entry.name, entry.make(report, memory), entry.interests});
    }
    return checkers;
}

}  // namespace checks
