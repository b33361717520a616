// SPDX-License-Identifier: MIT
// One walk over a compilation unit, and what is found in it by address.
#include "runtime/host_watch/host_scopes.h"

#include <algorithm>
#include <cstddef>
#include <dwarf.h>
#include <unordered_map>

namespace runtime {
namespace {

// A contiguous part of a function's code.
struct CodeRange {
    Dwarf_Addr begin, end;
    Dwarf_Die function;
};

// All functions of a unit that have code.
struct UnitFunctions {
    std::vector<CodeRange> ranges;  // by their beginnings
    Dwarf_Addr longest = 0;         // the length of the longest range
};

std::unordered_map<const void*, UnitFunctions>& units() {
    static auto& known = *new std::unordered_map<const void*, UnitFunctions>;
    return known;
}

bool is_block(int tag) {
    return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
           tag == DW_TAG_try_block || tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt;
}

// Entries that may contain functions; a local class is inside of a function or block.
bool may_contain_functions(int tag) {
    return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
           tag == DW_TAG_union_type || tag == DW_TAG_module || tag == DW_TAG_subprogram ||
           is_block(tag);
}

template <class F>
void for_each_child(Dwarf_Die* parent, F&& f) {
    Dwarf_Die child;
    if (dwarf_child(parent, &child) != 0) return;
    do {
        if (!f(&child)) return;
    } while (dwarf_siblingof(&child, &child) == 0);
}

void collect(Dwarf_Die* parent, UnitFunctions& unit) {
    for_each_child(parent, [&](Dwarf_Die* child) {
        const int tag = dwarf_tag(child);
        if (tag == DW_TAG_subprogram) {
            Dwarf_Addr base = 0, begin = 0, end = 0;
            for (ptrdiff_t at = 0; (at = dwarf_ranges(child, at, &base, &begin, &end)) > 0;) {
                if (begin == 0) continue;  // code that the linker has left out
                unit.ranges.push_back({begin, end, *child});
                unit.longest = std::max(unit.longest, end - begin);
            }
        }
        if (may_contain_functions(tag)) collect(child, unit);
        return true;
    });
}

const UnitFunctions& functions_of(Dwarf_Die* unit) {
    const auto [entry, fresh] = units().try_emplace(unit->addr);
    if (fresh) {
        UnitFunctions& all = entry->second;
        collect(unit, all);
        std::stable_sort(all.ranges.begin(), all.ranges.end(), [](const auto& a, const auto& b) {
            return a.begin < b.begin;
        });
    }
    return entry->second;
}

}  // namespace

std::vector<Dwarf_Die> scopes_at(Dwarf_Die* unit, Dwarf_Addr pc) {
    const UnitFunctions& all = functions_of(unit);
    // The shortest range: a function can be inside of another one only where compilers nest them.
    const CodeRange* best = nullptr;
    auto next = std::upper_bound(all.ranges.begin(),
                                 all.ranges.end(),
                                 pc,
                                 [](Dwarf_Addr at, const CodeRange& r) { return at < r.begin; });
    while (next != all.ranges.begin()) {
        const CodeRange& r = *--next;
        if (pc - r.begin > all.longest) break;
        if (pc < r.end && (!best || r.end - r.begin < best->end - best->begin)) best = &r;
    }
    if (!best) return {};
    std::vector<Dwarf_Die> scopes = {best->function};
    for (bool deeper = true; deeper;) {
        deeper = false;
        Dwarf_Die parent = scopes.back();
        for_each_child(&parent, [&](Dwarf_Die* child) {
            if (!is_block(dwarf_tag(child)) || dwarf_haspc(child, pc) != 1) return true;
            scopes.push_back(*child);
            deeper = true;
            return false;
        });
    }
    std::reverse(scopes.begin(), scopes.end());
    return scopes;
}

void forget_scopes() {
    units().clear();
}

}  // namespace runtime
