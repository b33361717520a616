// SPDX-License-Identifier: MIT
#include "checks/text.h"

#include <bit>
#include <cstdio>

namespace checks {
namespace {

// Runs of consecutive numbers, as pairs of first and last.
std::vector<std::pair<uint32_t, uint32_t>> runs(const std::vector<uint32_t>& numbers) {
    std::vector<std::pair<uint32_t, uint32_t>> result;
    for (const uint32_t number : numbers) {
        if (!result.empty() && result.back().second + 1 == number) {
            result.back().second = number;
        } else {
            result.push_back({number, number});
        }
    }
    return result;
}

template <class Name>
std::string ranges(const std::vector<uint32_t>& numbers, Name&& name) {
    constexpr size_t kShown = 3;
    const auto found = runs(numbers);
    std::vector<std::string> words;
    uint32_t shown = 0;
    for (size_t i = 0; i < found.size() && (i < kShown || found.size() == kShown + 1); ++i) {
        const auto [first, last] = found[i];
        shown += last - first + 1;
        words.push_back(first == last ? name(first) : name(first) + " to " + name(last));
    }
    if (shown < numbers.size()) words.push_back(std::to_string(numbers.size() - shown) + " more");
    return joined(words);
}

}  // namespace

std::string hex(uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

std::string coordinates(const machine::Dim3& index) {
    return '(' + std::to_string(index.x) + ',' + std::to_string(index.y) + ',' +
           std::to_string(index.z) + ')';
}

machine::Dim3 thread_at(const machine::Dim3& shape, uint32_t linear) {
    const uint32_t row = shape.x ? shape.x : 1, plane = row * (shape.y ? shape.y : 1);
    return {linear % row, linear % plane / row, linear / plane};
}

std::string plural(uint64_t count, std::string_view noun, std::string_view ending) {
    return std::to_string(count) + ' ' + std::string(noun) +
           (count == 1 ? "" : std::string(ending));
}

std::string json_string(const std::string& text) {
    std::string out = "\"";
    for (size_t i = 0; i < text.size(); ++i) {
        const unsigned char c = static_cast<unsigned char>(text[i]);
        switch (c) {
        case '"':
            out += "\\\"";
            break;
        case '\\':
            out += "\\\\";
            break;
        case '\n':
            out += "\\n";
            break;
        case '\t':
            out += "\\t";
            break;
        case '\r':
            out += "\\r";
            break;
        default:
            if (c < 0x20 || c == 0x7f) {
                char escape[8];
                std::snprintf(escape, sizeof escape, "\\u%04x", c);
                out += escape;
            } else if (c < 0x80) {
                out += text[i];
            } else {
                // Only whole UTF-8 sequences may stand in JSON; a stray byte becomes U+FFFD.
                const size_t more = c >= 0xf0 && c < 0xf5 ? 3 : c >= 0xe0 ? 2 : c >= 0xc2 ? 1 : 0;
                size_t valid = more && c < 0xf5 && i + more < text.size() ? 1 : 0;
                for (size_t k = 1; valid && k <= more; ++k) {
                    valid = (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
                }
                if (valid) {
                    out += text.substr(i, more + 1);
                    i += more;
                } else {
                    out += "\\ufffd";
                }
            }
        }
    }
    return out + '"';
}

std::string quoted(std::string_view name) {
    return '`' + std::string(name) + '`';
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (size_t i = 0; i < words.size(); ++i) {
        if (i) text += i + 1 == words.size() ? " and " : ", ";
        text += words[i];
    }
    return text;
}

std::string base_name(std::string_view path) {
    const size_t slash = path.rfind('/');
    return std::string(slash == path.npos ? path : path.substr(slash + 1));
}

std::string line_text(const ptx::SourceLine& line, std::string_view seen_from) {
    if (line.line == 0) return "an unknown line";
    if (line.file == seen_from || line.file.empty()) return "line " + std::to_string(line.line);
    return base_name(line.file) + ':' + std::to_string(line.line);
}

std::string line_text(const Place& place, std::string_view seen_from) {
    return line_text(ptx::SourceLine{place.file, place.line, 0, {}}, seen_from);
}

std::string thread_ranges(const std::vector<uint32_t>& threads, const machine::Dim3& shape) {
    return ranges(threads, [&](uint32_t linear) { return coordinates(thread_at(shape, linear)); });
}

std::string lane_ranges(uint32_t mask) {
    std::vector<uint32_t> lanes;
    for (uint32_t m = mask; m; m &= m - 1) lanes.push_back(uint32_t(std::countr_zero(m)));
    return ranges(lanes, [](uint32_t lane) { return std::to_string(lane); });
}

Place place_of(machine::SiteId site) {
    const machine::CodeSite& code = site_of(site);
    Place place;
    place.file = code.user.file;
    place.line = code.user.line;
    place.function = code.user.function.empty() ? code.function : code.user.function;
    return place;
}

Place place_of(machine::SiteId site, const machine::LaunchInfo& launch) {
    Place place = place_of(site);
    if (!site_of(site).library) return place;
    Place caller = place_of_host(launch.launched_at);
    if (caller.line == 0) return place;
    caller.library_line = base_name(place.file) + ':' + std::to_string(place.line);
    return caller;
}

Place place_of(machine::SiteId site, const machine::WarpInfo& warp, uint32_t lane) {
    Place place = place_of(site, *warp.block->launch);
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
