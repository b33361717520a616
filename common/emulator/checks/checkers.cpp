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
#include "checks/race/races.h"
#include "checks/uninitialized/local.h"
#include "checks/uninitialized/uninitialized.h"

namespace checks {

// What a checker is made from. (Not in an unnamed namespace: g++ 13 crashes on CheckerEntry, which
// is declared in a header and has a member of such a type.)
struct CheckerSetup {
    Report& report;
    machine::Memory& memory;
    const std::set<std::string>& codes;  // see Selection
};

namespace {

template <class T, class... Arguments>
Checker made(Arguments&... arguments) {
    return {"", std::make_unique<T>(arguments...), T::kInterests};
}

// A kind of memory whose races are not wanted is not compared at all.
Checker make_races(const CheckerSetup& s) {
    const auto wanted = [&](const char* code) { return s.codes.empty() || s.codes.contains(code); };
    const RaceKinds kinds = !wanted("race-global")   ? RaceKinds::kShared
                            : !wanted("race-shared") ? RaceKinds::kGlobal
                                                     : RaceKinds::kBoth;
    auto races = std::make_unique<Races>(s.report, s.memory, kinds);
    HostWatch* const watch = races->host_watch();
    return {"", std::move(races), Races::kInterests, watch};
}

}  // namespace

struct CheckerEntry {
    const char* name;
    std::vector<std::string> codes;
    Checker (*make)(const CheckerSetup& s);
};

namespace {

const std::vector<CheckerEntry>& table() {
    using S = const CheckerSetup&;
    static const std::vector<CheckerEntry> entries = {
        {"bounds",
         {"out-of-bounds-global",
          "out-of-bounds-shared",
          "out-of-bounds-local",
          "invalid-address",
          "use-after-free"},
         [](S s) { return made<Bounds>(s.report, s.memory); }},
        {"alignment", {"misaligned"}, [](S s) { return made<Alignment>(s.report, s.memory); }},
        {"uninitialized",
         {"uninitialized-global"},
         [](S s) { return made<UninitializedGlobal>(s.report, s.memory); }},
        {"uninitialized",
         {"uninitialized-shared"},
         [](S s) { return made<UninitializedShared>(s.report); }},
        {"uninitialized",
         {"uninitialized-local"},
         [](S s) { return made<UninitializedLocal>(s.report); }},
        {"race", {"race-shared", "race-global"}, make_races},
        {"barriers", {"barrier-divergence"}, [](S s) { return made<Barriers>(s.report); }},
        {"stalls", {"deadlock", "hang"}, [](S s) { return made<Stalls>(s.report); }},
        {"warp-mask", {"warp-mask"}, [](S s) { return made<WarpMask>(s.report); }},
        {"faults",
         {"assert", "stack-overflow", "invalid-address", "out-of-bounds-global"},
         [](S s) { return made<Faults>(s.report); }},
        {"lifetime",
         {"leak", "double-free"},
         [](S s) { return made<Lifetime>(s.report, s.memory); }},
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
         [](S s) { return made<Api>(s.report); }},
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

using Codes = std::set<std::string>;
using Entries = std::set<const CheckerEntry*>;  // in the order of the table

void add_entry(const CheckerEntry& entry, Codes& codes, Entries& entries) {
    codes.insert(entry.codes.begin(), entry.codes.end());
    entries.insert(&entry);
}

// Adds the codes of a checker's name, or one code, and the checkers that find them.
void add_word(const std::string& word, Codes& codes, Entries& entries) {
    bool known = false;
    for (const CheckerEntry& entry : table()) {
        if (word == entry.name) {
            add_entry(entry, codes, entries);
        } else if (std::count(entry.codes.begin(), entry.codes.end(), word)) {
            codes.insert(word);
            entries.insert(&entry);
        } else {
            continue;
        }
        known = true;
    }
    if (!known) refuse(word);
}

}  // namespace

// `quick` is all but the races, which take most of the checks' time and memory. `-leak` alone is
// `all,-leak`.
Selection select_checkers(const std::string& text) {
    Codes wanted, unwanted;
    Entries chosen, excluded;
    bool all = false, none = false;
    const std::vector<std::string> words = words_of(text);
    for (const std::string& word : words) {
        if (word == "none") {
            none = true;
        } else if (word == "all" || word == "full") {
            all = true;
        } else if (word == "quick") {
            for (const CheckerEntry& entry : table())
                if (std::string_view(entry.name) != "race") add_entry(entry, wanted, chosen);
        } else if (word.starts_with("-")) {
            add_word(word.substr(1), unwanted, excluded);
        } else {
            add_word(word, wanted, chosen);
        }
    }
    if (none && words.size() > 1)
        throw std::invalid_argument("`none` cannot stand beside other checks: " + text);
    if (none) return {};
    all = all || words.empty();
    if (all || wanted.empty())
        for (const CheckerEntry& entry : table()) add_entry(entry, wanted, chosen);
    for (const std::string& code : unwanted) wanted.erase(code);
    std::erase_if(chosen, [&](const CheckerEntry* entry) {
        return std::none_of(entry->codes.begin(), entry->codes.end(), [&](const auto& code) {
            return wanted.contains(code);
        });
    });
    if (all && unwanted.empty()) wanted.clear();
    return {wanted, {chosen.begin(), chosen.end()}};
}

std::vector<Checker> make_checkers(const Selection& selection, Report& report,
                                   machine::Memory& memory) {
    std::vector<Checker> checkers;
    for (const CheckerEntry* entry : selection.checkers) {
        checkers.push_back(entry->make({report, memory, selection.codes}));
        checkers.back().name = entry->name;
    }
    return checkers;
}

}  // namespace checks
