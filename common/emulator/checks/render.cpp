// SPDX-License-Identifier: MIT
// A finding as text, in the shape of rustc's diagnostics, and as one JSON object on a line.
#include <cstdio>
#include <filesystem>

#include "checks/report.h"
#include "checks/source.h"
#include "checks/text.h"

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
    if (!finding.kernel.empty()) append("kernel " + finding.kernel);
    if (place.block) append("block " + coordinates(*place.block));
    if (place.thread) append("thread " + coordinates(*place.thread));
    if (finding.kernel.empty() && !place.function.empty()) {
        append("function " + place.function + ", on the host");
    }
    return text;
}

std::string json_dim(const std::optional<machine::Dim3>& index) {
    if (!index) return "null";
    return '[' + std::to_string(index->x) + ',' + std::to_string(index->y) + ',' +
           std::to_string(index->z) + ']';
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
    std::string out = "{\"code\": " + json_string(finding.code);
    const auto key = [&](const char* name, const std::string& value) {
        out += ", \"" + std::string(name) + "\": " + value;
    };
    key("severity", json_string(severity_name(finding.severity)));
    key("message", json_string(finding.message));
    key("kernel", json_string(finding.kernel));
    key("file", json_string(base_name(place.file)));
    key("line", std::to_string(place.line));
    key("block", json_dim(place.block));
    key("thread", json_dim(place.thread));
    if (finding.other) {
        const Place& other = *finding.other;
        std::string text = "{\"line\": " + std::to_string(other.line);
        text += ", \"block\": " + json_dim(other.block);
        text += ", \"thread\": " + json_dim(other.thread);
        if (other.file != place.file) text += ", \"file\": " + json_string(base_name(other.file));
        key("other", text + '}');
    } else {
        key("other", "null");
    }
    key("count", std::to_string(finding.count));
    key("address", json_string(finding.address));
    key("allocation", json_string(finding.allocation));
    key("bytes", std::to_string(finding.bytes));
    key("path", json_string(place.file));
    key("function", json_string(place.function));
    key("other_text", json_string(finding.other_text));
    std::string notes;
    for (const std::string& note : finding.notes) {
        notes += (notes.empty() ? "" : ", ") + json_string(note);
    }
    key("notes", '[' + notes + ']');
    return out + '}';
}

}  // namespace checks
