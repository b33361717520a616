// SPDX-License-Identifier: MIT
#include "checks/report/places.h"

#include <algorithm>

#include "checks/source/python.h"
#include "checks/source/resolvers.h"

namespace checks {

std::string line_text(const ptx::SourceLine& line, std::string_view seen_from) {
    if (line.line == 0) return "an unknown line";
    if (line.file == seen_from || line.file.empty()) return "line " + std::to_string(line.line);
    return base_name(line.file) + ':' + std::to_string(line.line);
}

std::string line_text(const Place& place, std::string_view seen_from) {
    return line_text(ptx::SourceLine{place.file, place.line, 0, {}}, seen_from);
}

Place place_of(machine::SiteId site) {
    const machine::CodeSite& code = site_of(site);
    Place place;
    place.file = code.user.file;
    place.line = code.user.line;
    place.function = code.user.function.empty() ? code.function : code.user.function;
    const auto blamed = std::find_if(code.chain.begin(), code.chain.end(), [&](const auto& line) {
        return line.file == code.user.file && line.line == code.user.line;
    });
    if (blamed != code.chain.end()) place.inlined_at.assign(blamed + 1, code.chain.end());
    return place;
}

std::string script_line(const machine::LaunchInfo& launch) {
    const ptx::SourceLine line = resolve_host(launch.launched_at);
    const bool script = line.line && (is_python(line.file) || line.file[0] == '<');
    return script ? base_name(line.file) + ':' + std::to_string(line.line) : "";
}

Place place_of(machine::SiteId site, const machine::LaunchInfo& launch) {
    Place place = place_of(site);
    place.launched_at = script_line(launch);
    // Of a compiled kernel without lines that a script has launched, its line is all that is known.
    const bool unknown = place.line == 0 && !place.launched_at.empty();
    if (!site_of(site).library && !unknown) return place;
    Place caller = place_of_host(launch.launched_at);
    if (unknown) return caller;
    if (caller.line == 0) return place;
    caller.library_line = base_name(place.file) + ':' + std::to_string(place.line);
    return caller;
}

Place place_of(machine::SiteId site, const machine::WarpInfo& warp, uint32_t lane) {
    const machine::LaunchInfo& launch = *warp.block->launch;
    Place place = place_of(site, launch);
    place.block = warp.block->index;
    place.thread = thread_at(warp.block->launch->block, warp.thread(lane));
    return place;
}

Place place_of_host(machine::HostSite site) {
    ptx::SourceLine line = resolve_host(site);
    Place place;
    place.file = std::move(line.file);
    place.line = line.line;
    place.function = std::move(line.function);
    return place;
}

std::string_view opcode_of(const machine::AccessEvent& event) {
    return site_of(event.instruction ? event.instruction : event.site).opcode;
}

void add_shape(JsonObject& facts, const machine::LaunchInfo& launch) {
    const auto list = [](const machine::Dim3& d) {
        return JsonList().add(d.x).add(d.y).add(d.z).text();
    };
    facts.json("grid", list(launch.grid)).json("block_size", list(launch.block));
}

const char* access_name(machine::AccessKind kind) {
    switch (kind) {
    case machine::AccessKind::kLoad:
        return "read";
    case machine::AccessKind::kStore:
        return "write";
    default:
        return "update";
    }
}

const char* done_by(machine::AccessKind kind) {
    switch (kind) {
    case machine::AccessKind::kLoad:
        return "read";
    case machine::AccessKind::kStore:
        return "written";
    default:
        return "updated";
    }
}

}  // namespace checks
