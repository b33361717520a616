// SPDX-License-Identifier: MIT
#include "ptx/source_map.h"

#include "ptx/demangle/demangle.h"
#include "ptx/parse/lexer.h"

namespace ptx {
namespace {

constexpr size_t kMaxChain = 1000;

}  // namespace

void SourceMap::begin_function(std::string_view mangled) {
    functions_.push_back(demangled_function(mangled));
    latest_.clear();
    known_.clear();
    previous_ = 0;
}

uint32_t SourceMap::add(const Place& place, std::string_view label, int64_t label_offset,
                        const Place& inlined_at) {
    Entry entry;
    entry.place = place;
    entry.label = label;
    entry.label_offset = label_offset;
    entry.function = functions_.empty() ? 0 : uint32_t(functions_.size() - 1);
    if (!label.empty()) {
        const auto parent = latest_.find(inlined_at);
        if (parent != latest_.end()) {
            entry.parent = parent->second;
        } else {
            // The place has no `.loc` of its own: it is added as an outermost one.
            entry.parent = add(inlined_at, {}, 0, {});
        }
    }
    if (place.line == 0 && previous_ != 0) {
        const uint32_t id = previous_;
        latest_[place] = id;
        return id;
    }
    const auto [known, is_new] = known_.try_emplace({place, label, label_offset, entry.parent}, 0);
    if (is_new) {
        entries_.push_back(entry);
        known->second = uint32_t(entries_.size());
    }
    latest_[place] = known->second;
    if (place.line != 0) previous_ = known->second;
    return known->second;
}

void SourceMap::read_strings() const {
    if (strings_read_) return;
    strings_read_ = true;
    try {
        Lexer lexer(strings_text_, {}, 0, strings_line_);
        lexer.accept('{');
        while (lexer.peek().kind == Token::Kind::kName) {
            labels_[lexer.take().text] = strings_.size();
            lexer.expect(':', "after a label");
            while (lexer.accept_dotted(".b8")) {
                do {
                    strings_ += char(lexer.expect_integer("a byte"));
                } while (lexer.accept(','));
            }
        }
    } catch (const ParseError&) {
        // Names are optional: a section in an unexpected form costs only the names.
    }
}

std::string SourceMap::function_name(const Entry& entry) const {
    if (entry.label.empty()) {
        return entry.function < functions_.size() ? functions_[entry.function] : std::string{};
    }
    read_strings();
    const auto found = labels_.find(entry.label);
    if (found == labels_.end()) return {};
    const uint64_t at = found->second + uint64_t(entry.label_offset);
    if (at >= strings_.size()) return {};
    const auto [name, is_new] = names_.try_emplace(size_t(at));
    if (is_new) name->second = demangled_function(strings_.c_str() + at);
    return name->second;
}

SourceLine SourceMap::line_of(const Entry& entry) const {
    SourceLine out;
    const auto file = files_.find(entry.place.file);
    if (file != files_.end()) out.file = file->second;
    out.line = entry.place.line;
    out.column = entry.place.column;
    out.function = function_name(entry);
    return out;
}

std::vector<SourceLine> SourceMap::chain(uint32_t id) const {
    std::vector<SourceLine> out;
    // A parent's id is less than its child's, so the loop ends; the bound is for damaged text.
    while (id != 0 && id <= entries_.size() && out.size() < kMaxChain) {
        const Entry& entry = entries_[id - 1];
        out.push_back(line_of(entry));
        id = entry.parent < id ? entry.parent : 0;
    }
    return out;
}

SourceLine SourceMap::user_line(uint32_t id) const {
    const Entry* last = nullptr;
    for (size_t n = 0; id != 0 && id <= entries_.size() && n < kMaxChain; ++n) {
        last = &entries_[id - 1];
        const auto file = files_.find(last->place.file);
        if (last->place.line != 0 && file != files_.end() &&
            user_files_.is_user_file(file->second)) {
            break;
        }
        id = last->parent < id ? last->parent : 0;
    }
    return last ? line_of(*last) : SourceLine{};
}

bool SourceMap::in_user_file(uint32_t id) const {
    const SourceLine line = user_line(id);
    return line.line != 0 && user_files_.is_user_file(line.file);
}

}  // namespace ptx
