// SPDX-License-Identifier: MIT
// A finding as text, in the shape of rustc's diagnostics, and as one JSON object on a line.
#include <cstdio>
#include <filesystem>

#include "checks/report/places.h"
#include "checks/report/report.h"
#include "checks/source/source.h"

namespace checks {
namespace {

const char* severity_name(Severity severity) {
    switch (severity) {
    case Severity::kError:
        return "error";
    case Severity::kWarning:
        return "warning";
    default:
        return "perf";
    }
}

// The shorter of the path as it is and the path relative to the working directory.
std::string shown_path(const std::string& path) {
    std::error_code error;
    const std::filesystem::path here = std::filesystem::current_path(error);
    if (error || path.empty() || path[0] != '/') return path;
    const std::string relative = std::filesystem::path(path).lexically_relative(here).string();
    return relative.empty() || relative.size() >= path.size() ? path : relative;
}

// "127 more pairs of threads on ..."; with one left, the counted word loses its plural.
std::string rest_text(uint64_t rest, std::string text) {
    if (rest == 1) {
        for (const auto& [many, one] : {std::pair{"more pairs", "more pair"},
                                        std::pair{"more threads", "more thread"},
                                        std::pair{"more accesses", "more access"},
                                        std::pair{"more times", "more time"},
                                        std::pair{"more warps", "more warp"},
                                        std::pair{"more blocks", "more block"},
                                        std::pair{"more allocations", "more allocation"}}) {
            if (text.rfind(many, 0) == 0) {
                text.replace(0, std::string(many).size(), one);
                break;
            }
        }
    }
    return std::to_string(rest) + ' ' + text;
}

std::string where_text(const Finding& finding) {
    const Place& place = finding.place;
    std::string text;
    const auto append = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    if (!finding.kernel.empty())
        append("kernel " + finding.kernel +
               (place.launched_at.empty() ? "" : " launched at " + place.launched_at));
    if (place.block) append("block " + coordinates(*place.block));
    if (place.thread) append("thread " + coordinates(*place.thread));
    if (finding.kernel.empty() && !place.function.empty()) {
        append("function " + place.function + ", on the host");
    }
    return text;
}

std::string json_dim(const std::optional<machine::Dim3>& index) {
    if (!index) return "null";
    return JsonList(",").add(index->x).add(index->y).add(index->z).text();
}

}  // namespace

std::string render_text(const Finding& finding, bool colour) {
    const char* const reset = colour ? "\033[0m" : "";
    const char* const bold = colour ? "\033[1m" : "";
    const char* const frame = colour ? "\033[1;34m" : "";
    const char* tint = "";
    if (colour) {
        tint = finding.severity == Severity::kError     ? "\033[1;31m"
               : finding.severity == Severity::kWarning ? "\033[1;33m"
                                                        : "\033[1;36m";
    }
    const Place& place = finding.place;
    const std::string number = place.line ? std::to_string(place.line) : "  ";
    const std::string pad(number.size(), ' ');
    const std::string bar = std::string(frame) + pad + " |" + reset;

    std::string out = std::string(tint) + severity_name(finding.severity) + '[' + finding.code +
                      ']' + reset + bold + ": " + finding.message + reset + '\n';
    const std::string arrow = std::string(frame) + pad + "--> " + reset;
    if (place.line) {
        out += arrow + shown_path(place.file) + ':' + number + '\n';
        if (const auto line = source_line(place.file, place.line)) {
            out += bar + '\n';
            out += std::string(frame) + number + " |" + reset + (line->empty() ? "" : ' ' + *line) +
                   '\n';
            out += bar + '\n';
        }
    } else if (!place.file.empty()) {
        out += arrow + shown_path(place.file) + '\n';
    } else if (!finding.kernel.empty()) {
        out += arrow + "no line known: compile with -lineinfo\n";
    }
    const auto entry = [&](const char* label, const std::string& text) {
        out += std::string(frame) + pad + " = " + reset + bold + label + reset + text + '\n';
    };
    if (const std::string where = where_text(finding); !where.empty()) entry("where: ", where);
    if (!finding.other_text.empty()) entry("other: ", finding.other_text);
    if (!place.library_line.empty())
        entry("note:  ", "it happens in the library, at " + place.library_line);
    for (const std::string& note : finding.notes) entry("note:  ", note);
    if (finding.count > 1 && !finding.count_text.empty()) {
        entry("note:  ", rest_text(finding.count - 1, finding.count_text));
    }
    entry("help:  ", "make explain-" + finding.code);
    return out;
}

std::string render_json(const Finding& finding) {
    const Place& place = finding.place;
    JsonObject out;
    out.add("code", finding.code).add("severity", severity_name(finding.severity));
    out.add("message", finding.message).add("kernel", finding.kernel);
    out.add("file", base_name(place.file)).add("line", place.line);
    out.json("block", json_dim(place.block)).json("thread", json_dim(place.thread));
    std::string other_text = "null";
    if (finding.other) {
        const Place& other = *finding.other;
        JsonObject object;
        object.add("line", other.line).json("block", json_dim(other.block));
        object.json("thread", json_dim(other.thread));
        if (other.file != place.file) object.add("file", base_name(other.file));
        other_text = object.text();
    }
    out.json("other", other_text).add("count", finding.count).add("address", finding.address);
    out.add("allocation", finding.allocation).add("bytes", finding.bytes);
    out.add("path", place.file).add("function", place.function);
    out.add("other_text", finding.other_text);
    JsonList notes, calls;
    for (const std::string& note : finding.notes) notes.add(note);
    out.json("notes", notes.text());
    for (const ptx::SourceLine& line : place.inlined_at)
        calls.json(JsonObject().add("path", line.file).add("line", line.line).text());
    out.json("inlined_at", calls.text()).json("facts", finding.facts.text());
    // There is no file in which a reader could look this line up.
    if (const auto line = run_time_line(place.file, place.line)) out.add("compiled_line", *line);
    return out.text();
}

}  // namespace checks
