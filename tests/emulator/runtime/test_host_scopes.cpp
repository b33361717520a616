// SPDX-License-Identifier: MIT
// The functions and inlined calls at an address are those that libdw names, all over this file's
// code. (It is compiled with debug information, see ../CMakeLists.txt.)
#include "runtime/host_watch/host_scopes.h"

#include <cmath>
#include <cstdlib>
#include <dwarf.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "catch/catch.h"
#include "runtime/host_watch/host_source.h"

namespace {

struct Free {
    void operator()(Dwarf_Die* scopes) const { std::free(scopes); }
};

// By their places in the debug information: inlined calls, and last the function.
std::vector<Dwarf_Off> calls_of(Dwarf_Die* scopes, int count) {
    std::vector<Dwarf_Off> found;
    for (int i = 0; i < count; ++i) {
        const int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
        found.push_back(dwarf_dieoffset(&scopes[i]));
        if (tag == DW_TAG_subprogram) break;
    }
    return found;
}

std::vector<Dwarf_Off> by_libdw(Dwarf_Die* unit, Dwarf_Addr pc) {
    Dwarf_Die *found = nullptr, *chain = nullptr;
    if (dwarf_getscopes(unit, pc, &found) <= 0) return {};
    const std::unique_ptr<Dwarf_Die, Free> innermost(found);
    const int count = dwarf_getscopes_die(innermost.get(), &chain);
    const std::unique_ptr<Dwarf_Die, Free> scopes(chain);
    return calls_of(scopes.get(), count);
}

// Code with what the search has to see: blocks, inlined calls in inlined calls, a local class, a
// lambda, and a part that the compiler moves away.
namespace inner {

inline double half(double x) {
    return std::sqrt(x) / 2;
}

struct Sum {
    double value = 0;
    void add(double x) {
        for (int i = 0; i < 3; ++i) value += half(x + i);
    }
};

[[gnu::noinline]] double mixed(const std::vector<double>& in) {
    struct Local {
        [[gnu::noinline]] static double last(const std::vector<double>& from) {
            if (from.empty()) std::abort();
            return half(from.back());
        }
    };
    const auto scaled = [&](double by) {
        Sum sum;
        for (const double x : in) {
            double part = x * by;
            if (part < 0) part = half(-part);
            sum.add(part);
        }
        return sum.value;
    };
    std::map<std::string, double> named;
    named["last"] = Local::last(in);
    return scaled(2) + named["last"];
}

}  // namespace inner

}  // namespace

TEST_CASE("host scopes: those of libdw, all over a file", "[runtime][host][slow]") {
    REQUIRE(inner::mixed({1, -2, 3}) > 0);
    const auto here = uint64_t(reinterpret_cast<uintptr_t>(&inner::mixed));
    Dwfl_Module* const module = runtime::module_at(here);
    REQUIRE(module);
    Dwarf_Addr bias = 0;
    Dwarf_Die* const unit = runtime::unit_at(module, here, &bias);
    REQUIRE(unit);
    Dwarf_Addr base = 0, begin = 0, end = 0;
    size_t inlined = 0, deepest = 0, of_local_class = 0;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &begin, &end)) > 0;) {
        if (begin == 0) continue;  // code that the linker has left out
        // libdw takes long for each: every third will do.
        for (Dwarf_Addr pc = begin; pc < end; pc += 3) {
            std::vector<Dwarf_Die> scopes = runtime::scopes_at(unit, pc);
            const auto got = calls_of(scopes.data(), int(scopes.size()));
            CAPTURE(pc);
            const auto wanted = by_libdw(unit, pc);
            // libdw does not look for functions of local classes.
            if (!wanted.empty()) REQUIRE(got == wanted);
            of_local_class += wanted.empty() && !got.empty();
            inlined += got.size() > 1;
            deepest = std::max(deepest, got.size());
        }
    }
    CHECK(inlined > 100);
    CHECK(deepest >= 4);
    CHECK(of_local_class > 0);
    CHECK(runtime::scopes_at(unit, 1).empty());
}
