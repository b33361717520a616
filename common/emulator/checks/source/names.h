// SPDX-License-Identifier: MIT
// The student's name for an array: the kernel's parameter, the shared or module variable, else the
// line of the allocation. Reads source files, so it is for findings, not for hot paths.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checks/source/source.h"
#include "machine/events.h"

namespace checks {

struct Array {
    std::string name;            // as the source spells it; empty when unknown
    std::string description;     // "`out`, argument 3, 1000 floats": Finding::allocation
    std::string subject;         // "`out`" or "the array allocated at main.cu:14"
    std::string type;            // element type in the source; empty when unknown
    uint64_t base = 0;           // address of element 0; an argument may point into an allocation
    uint64_t bytes = 0;          // from `base` to the end
    uint32_t element_bytes = 0;  // 0: a type whose size the text does not show
    std::vector<uint64_t> extents;  // of a declared array with two or more constant dimensions
    bool scalar = false;            // a plain variable, not an array
    std::vector<StructText::Member> members;  // of one element, a struct

    // Index of the element at `address`, negative before the first. Needs element_bytes.
    int64_t index(uint64_t address) const;

    // The subject again, later in a sentence: its name, or "it".
    std::string again() const { return name.empty() ? "it" : subject; }
    uint64_t elements() const { return element_bytes ? bytes / element_bytes : 0; }
    // "`out[1000]`", "`tile[3][0]`", "`out[-1]`", "`p[3].mass`", "element 1000 of ...", "byte 4000
    // of ...".
    std::string element(uint64_t address) const;
    // "`in[4]` to `in[7]`" for an access wider than an element, else element().
    std::string elements_at(uint64_t address, uint32_t access_bytes) const;
    // "`out` has 1000 elements (0 to 999)"; "it has ..." for an array without a name.
    std::string extent() const;
    // "`out[1000]` to `out[1023]`", "elements 16 to 17"; empty when both are the same or have no
    // index.
    std::string range(uint64_t first, uint64_t last) const;

private:
    std::string indexed(int64_t index) const;       // tile[3][0]
    std::string member_at(uint64_t address) const;  // .mass, .v[2], or nothing
};

// `launch`: its arguments may name the array; null on the host. `written` prefers a parameter that
// is not const where two point to the same place. `access_bytes`: element size when the source
// shows none. `address`: the accessed address, where known: of several arguments that point into
// the allocation, the nearest one below it names the array.
Array name_global(const machine::LaunchInfo* launch, const machine::Allocation& allocation,
                  uint32_t access_bytes, bool written, uint64_t address = 0);
Array name_shared(const machine::LaunchInfo& launch, const machine::SharedVariable& variable,
                  uint32_t access_bytes);

// The thread's own array at [begin, end), padding included, found by what `line` indexes; nothing
// where the text is ambiguous.
std::optional<Array> name_local(const std::string& file, uint32_t line, uint64_t begin,
                                uint64_t end);

// The pointer argument that `address` was probably computed from, though it points to no
// allocation: the nearest 8-byte argument at or below it, at most `reach` bytes away.
struct PointerArgument {
    uint32_t index = 0;  // 1 is the first
    uint64_t value = 0;
    std::string name;  // empty when unknown
    std::string text;  // "`out`, argument 3" or "argument 3"
    uint32_t element_bytes = 0;
};
std::optional<PointerArgument> pointer_argument(const machine::LaunchInfo& launch, uint64_t address,
                                                uint64_t reach);

}  // namespace checks
