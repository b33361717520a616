// SPDX-License-Identifier: MIT
// Words that all findings share: coordinates, places, counts, ranges of threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checks/report.h"

namespace checks {

std::string hex(uint64_t value);                      // 0x7f00
std::string coordinates(const machine::Dim3& index);  // (1,0,0)
// threadIdx of a linear thread number in a block of this shape.
machine::Dim3 thread_at(const machine::Dim3& block_shape, uint32_t linear);
// "1 thread", "2 threads"
std::string plural(uint64_t count, std::string_view noun, std::string_view ending = "s");
// As a JSON string, quotes included; bytes that are not UTF-8 become U+FFFD.
std::string json_string(const std::string& text);
std::string quoted(std::string_view name);                  // `name`
std::string joined(const std::vector<std::string>& words);  // "a, b and c"
std::string base_name(std::string_view path);

// "line 13", or "file.cu:13" when that is another file than `seen_from`.
std::string line_text(const ptx::SourceLine& line, std::string_view seen_from);
std::string line_text(const Place& place, std::string_view seen_from);

// Threads of one block, as sorted linear numbers, in words without the word "threads":
// "(0,0,0) to (31,0,0) and (64,0,0)"; long lists end with "and 7 more".
std::string thread_ranges(const std::vector<uint32_t>& threads, const machine::Dim3& block_shape);
std::string lane_ranges(uint32_t mask);  // "0 to 15 and 31"; one lane: "5"

// The user's line of an instruction as a Place, with block and thread of a lane. In a kernel that
// is wholly a library's (CUB, Thrust) it is the line that called the library, where that is known.
Place place_of(machine::SiteId site);
Place place_of(machine::SiteId site, const machine::LaunchInfo& launch);
Place place_of(machine::SiteId site, const machine::WarpInfo& warp, uint32_t lane);
Place place_of_host(machine::HostSite site);

// As PTX writes it: "atom.global.cas.b32".
std::string_view opcode_of(const machine::AccessEvent& event);

// Past participle of what an access does: "read", "written" or "updated".
const char* done_by(machine::AccessKind kind);

}  // namespace checks
