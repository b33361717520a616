// SPDX-License-Identifier: MIT
#include "checks/report/report.h"

#include <algorithm>
#include <string_view>

#include "checks/source/python.h"

namespace checks {
namespace {

uint64_t hash(std::string_view text) {  // FNV-1a
    uint64_t value = 0xcbf29ce484222325ull;
    for (const char c : text) value = (value ^ uint8_t(c)) * 0x100000001b3ull;
    return value;
}

std::array<uint64_t, 2> site_key(const char* code, machine::SiteId site, machine::SiteId other) {
    return {uint64_t(site) << 32 | other, hash(code)};
}

bool is_race(const Finding& finding) {
    return finding.code == "race-shared" || finding.code == "race-global";
}

bool same_line(const std::optional<Place>& a, const std::optional<Place>& b) {
    return a.has_value() == b.has_value() && (!a || (a->line == b->line && a->file == b->file));
}

// A race of the same line with another one, or of another array: a note says so.
void merge_race(Finding& known, const Finding& more) {
    constexpr size_t kMostNotes = 3;
    if (!more.other || same_line(known.other, more.other)) return;
    known.count_text = "more pairs of threads";
    const std::string where =
        (more.other->file == known.place.file ? " (line " : " (" + more.other->file + ':') +
        std::to_string(more.other->line) + ')';
    const bool mentioned =
        std::any_of(known.notes.begin(), known.notes.end(), [&](const std::string& n) {
            return n.size() > where.size() &&
                   n.compare(n.size() - where.size(), n.npos, where) == 0;
        });
    if (known.notes.size() < kMostNotes && !mentioned)
        known.notes.push_back("as well: " + more.message + where);
}

// The key by which findings are merged. Without a line, only the texts can distinguish them.
std::string cause(const Finding& finding, bool merge_races) {
    const Place& place = finding.place;
    std::string key = finding.code + '\n' + place.file + ':' + std::to_string(place.line);
    if (merge_races && is_race(finding) && place.line) {
        // One unordered access races with all accesses of other threads.
        key += finding.severity == Severity::kError ? "" : "\nwarning";
    } else if (finding.other) {
        key += '\n' + finding.other->file + ':' + std::to_string(finding.other->line);
    }
    if (place.line == 0) {
        key += '\n' + finding.kernel + '\n' + place.function + '\n' + finding.message;
    }
    return key;
}

// Advice on a library's kernel is of no use to a script that calls it.
bool is_advice_on_python_library(const Finding& finding) {
    return finding.severity != Severity::kError && !finding.place.library_line.empty() &&
           is_python(finding.place.file);
}

}  // namespace

size_t Report::add(Finding finding) {
    if (!codes_.empty() && !codes_.count(finding.code)) return last_ = kDropped;
    if (is_advice_on_python_library(finding)) return last_ = kDropped;
    const std::string key = cause(finding, merge_races_);
    if (merge_races_ && is_race(finding) && finding.other && !index_.count(key)) {
        // In a loop each of the two lines comes after the other one: still one finding.
        Finding turned = finding;
        std::swap(turned.place, *turned.other);
        const auto known = index_.find(cause(turned, true));
        if (known != index_.end() && same_line(findings_[known->second].other, finding.place)) {
            findings_[known->second].count += finding.count;
            findings_[known->second].count_text = "more pairs of threads";
            return last_ = known->second;
        }
    }
    const auto [entry, fresh] = index_.try_emplace(key, findings_.size());
    if (fresh) {
        findings_.push_back(std::move(finding));
    } else {
        Finding& known = findings_[entry->second];
        known.count += finding.count;
        if (merge_races_ && is_race(finding)) merge_race(known, finding);
    }
    return last_ = entry->second;
}

bool Report::bump(const char* code, machine::SiteId site, machine::SiteId other, uint64_t count) {
    const auto found = by_site_.find(site_key(code, site, other));
    if (found == by_site_.end() || found->second.first != code) return false;
    if (found->second.second != kDropped) findings_[found->second.second].count += count;
    return true;
}

void Report::remember(const char* code, machine::SiteId site, machine::SiteId other) {
    by_site_[site_key(code, site, other)] = {code, last_};
}

const std::vector<Finding>& Report::findings() const {
    for (const auto& update : updates_) update();
    return findings_;
}

size_t Report::errors() const {
    return size_t(std::count_if(findings_.begin(), findings_.end(), [](const Finding& finding) {
        return finding.severity == Severity::kError;
    }));
}

size_t Report::warnings() const {
    return size_t(std::count_if(findings_.begin(), findings_.end(), [](const Finding& finding) {
        return finding.severity == Severity::kWarning;
    }));
}

void Report::clear() {
    findings_.clear();
    index_.clear();
    by_site_.clear();
    last_ = kDropped;
    ++generation_;
}

}  // namespace checks
