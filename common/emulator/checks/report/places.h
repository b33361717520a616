// SPDX-License-Identifier: MIT
// Places in the source, and the words that findings use for accesses.
#pragma once

#include <string>
#include <string_view>

#include "checks/report/report.h"
#include "checks/text/json.h"
#include "checks/text/words.h"

namespace checks {

// "line 13", or "file.cu:13" when that is another file than `seen_from`.
std::string line_text(const ptx::SourceLine& line, std::string_view seen_from);
std::string line_text(const Place& place, std::string_view seen_from);

// The user's line of an instruction as a Place, with block and thread of a lane. In a kernel that
// is wholly a library's (CUB, Thrust) it is the line that called the library, where that is known.
Place place_of(machine::SiteId site);
Place place_of(machine::SiteId site, const machine::LaunchInfo& launch);
Place place_of(machine::SiteId site, const machine::WarpInfo& warp, uint32_t lane);
Place place_of_host(machine::HostSite site);

// The line of a script that launched a kernel, "main.py:13"; empty where none did.
std::string script_line(const machine::LaunchInfo& launch);

// As PTX writes it: "atom.global.cas.b32".
std::string_view opcode_of(const machine::AccessEvent& event);

// The facts "grid" and "block_size", each a list of x, y and z.
void add_shape(JsonObject& facts, const machine::LaunchInfo& launch);

// The fact "access": "read", "write" or "update".
const char* access_name(machine::AccessKind kind);

// Past participle of what an access does: "read", "written" or "updated".
const char* done_by(machine::AccessKind kind);

}  // namespace checks
