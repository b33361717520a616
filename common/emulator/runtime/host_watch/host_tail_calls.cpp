// SPDX-License-Identifier: MIT
// Restores removed frames from DW_TAG_call_site entries with DW_AT_call_tail_call (DWARF 5, section
// 3.4).
#include "runtime/host_watch/host_tail_calls.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <optional>
#include <unordered_map>

#include "runtime/host_watch/host_scopes.h"
#include "runtime/host_watch/host_source.h"

namespace runtime {
namespace {

constexpr int kMostJumps = 4;

// The function that contains `pc`, as compiled: the outermost scope.
std::optional<Dwarf_Die> function_at(Dwfl_Module* module, uint64_t pc, Dwarf_Addr& bias) {
    Dwarf_Die* unit = unit_at(module, pc, &bias);
    if (!unit) return std::nullopt;
    const std::vector<Dwarf_Die> scopes = scopes_at(unit, pc - bias);
    if (!scopes.empty()) return scopes.back();
    return std::nullopt;
}

std::string identity(Dwarf_Die* die) {
    Dwarf_Attribute attribute;
    const char* text = nullptr;
    if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute))
        text = dwarf_formstring(&attribute);
    if (!text) text = dwarf_diename(die);
    return text ? text : "";
}

struct CallSite {
    Dwarf_Addr return_pc = 0;  // without the module's bias
    bool is_jump = false;
    std::string target;  // empty: called through a pointer
};

// All call sites of a function, including those in its blocks and inlined parts.
void collect(Dwarf_Die* parent, std::vector<CallSite>& sites) {
    Dwarf_Die child;
    if (dwarf_child(parent, &child) != 0) return;
    do {
        const int tag = dwarf_tag(&child);
        if (tag == DW_TAG_call_site) {
            CallSite site;
            Dwarf_Attribute attribute;
            if (dwarf_attr(&child, DW_AT_call_return_pc, &attribute))
                dwarf_formaddr(&attribute, &site.return_pc);
            bool flag = false;
            if (dwarf_attr(&child, DW_AT_call_tail_call, &attribute) &&
                dwarf_formflag(&attribute, &flag) == 0)
                site.is_jump = flag;
            Dwarf_Die target;
            if (dwarf_attr(&child, DW_AT_call_origin, &attribute) &&
                dwarf_formref_die(&attribute, &target))
                site.target = identity(&target);
            sites.push_back(site);
        } else if (tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) {
            collect(&child, sites);
        }
    } while (dwarf_siblingof(&child, &child) == 0);
}

// The start of a function of the module, by its name in the symbol table; 0 if it is not there.
uint64_t address_of(Dwfl_Module* module, const std::string& name) {
    static auto& known = *new std::unordered_map<std::string, uint64_t>;
    const std::string key = std::to_string(reinterpret_cast<uintptr_t>(module)) + ":" + name;
    if (const auto found = known.find(key); found != known.end()) return found->second;
    uint64_t address = 0;
    const int count = dwfl_module_getsymtab(module);
    for (int i = 0; i < count && address == 0; ++i) {
        GElf_Sym symbol;
        GElf_Addr value = 0;
        const char* text =
            dwfl_module_getsym_info(module, i, &symbol, &value, nullptr, nullptr, nullptr);
        const bool function =
            text && GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
        // A function with internal linkage is mangled here, but has no mangled name in DWARF.
        if (function &&
            (name == text ||
             "_ZL" + std::to_string(name.size()) + name ==
                 std::string(text).substr(0, name.size() + 3 + std::to_string(name.size()).size())))
            address = value;
    }
    return known[key] = address;
}

// Jumps from the function at `start` to `callee`, outermost first.
bool find_jumps(Dwfl_Module* module, uint64_t start, const std::string& callee, int depth,
                std::vector<uint64_t>& jumps) {
    Dwarf_Addr bias = 0;
    auto function = function_at(module, start, bias);
    if (!function) return false;
    std::vector<CallSite> sites;
    collect(&*function, sites);
    for (const CallSite& site : sites) {
        if (!site.is_jump || site.target != callee) continue;
        jumps.push_back(site.return_pc + bias - 1);
        return true;
    }
    if (depth == kMostJumps) return false;
    for (const CallSite& site : sites) {
        const uint64_t next =
            site.is_jump && !site.target.empty() ? address_of(module, site.target) : 0;
        if (next == 0) continue;
        jumps.push_back(site.return_pc + bias - 1);
        if (find_jumps(module, next, callee, depth + 1, jumps)) return true;
        jumps.pop_back();
    }
    return false;
}

}  // namespace

std::string compiled_function(uint64_t pc) {
    Dwfl_Module* module = module_at(pc);
    Dwarf_Addr bias = 0;
    auto function = module ? function_at(module, pc, bias) : std::nullopt;
    return function ? identity(&*function) : "";
}

std::vector<uint64_t> tail_calls(uint64_t caller, const std::string& callee) {
    Dwfl_Module* module = module_at(caller);
    Dwarf_Addr bias = 0;
    auto function = module && !callee.empty() ? function_at(module, caller, bias) : std::nullopt;
    if (!function) return {};
    std::vector<CallSite> sites;
    collect(&*function, sites);
    for (const CallSite& site : sites) {
        if (site.return_pc + bias != caller + 1) continue;
        if (site.target.empty() || site.target == callee) return {};
        const uint64_t start = address_of(module, site.target);
        std::vector<uint64_t> jumps;
        if (start == 0 || !find_jumps(module, start, callee, 1, jumps)) return {};
        return {jumps.rbegin(), jumps.rend()};
    }
    return {};
}

}  // namespace runtime
