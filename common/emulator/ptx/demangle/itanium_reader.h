// SPDX-License-Identifier: MIT
// Private to itanium*.cpp: the recursive reader of one mangled name. itanium.cpp has the rules for
// names, itanium_types.cpp those for types, template arguments and expressions.
#pragma once

#include <utility>

#include "ptx/demangle/itanium.h"

namespace ptx::itanium {

inline constexpr size_t kMaxText =
    48;  // of a type or of template arguments; longer ones are not shown
inline constexpr unsigned kMaxDepth = 200;
inline constexpr std::string_view kLong = "...";

using Name = std::vector<NameComponent>;

inline std::string clipped(std::string text) {
    if (text.size() > kMaxText || text.find(kLong) != std::string::npos) return std::string(kLong);
    return text;
}

class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    Name run() {
        Name out;
        try {
            encoding(out, false);
        } catch (const Unreadable&) {
        }
        while (!out.empty() && out.back().name.empty()) out.pop_back();
        return out;
    }

private:
    struct Unreadable {};
    // Limits the depth of the recursion; every recursive rule has one.
    class Level {
    public:
        explicit Level(Reader& reader) : reader_(reader) {
            if (++reader_.depth_ > kMaxDepth) {
                --reader_.depth_;
                throw Unreadable{};
            }
        }
        Level(const Level&) = delete;
        Level& operator=(const Level&) = delete;
        ~Level() { --reader_.depth_; }

    private:
        Reader& reader_;
    };

    char peek(size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }
    bool accept(std::string_view what) {
        if (text_.substr(at_, what.size()) != what) return false;
        at_ += what.size();
        return true;
    }
    void expect(std::string_view what) {
        if (!accept(what)) throw Unreadable{};
    }
    static bool is_digit(char c) { return c >= '0' && c <= '9'; }

    size_t number() {
        if (!is_digit(peek())) throw Unreadable{};
        size_t value = 0;
        while (is_digit(peek())) {
            value = value * 10 + size_t(text_[at_++] - '0');
            if (value > text_.size() + 1000000) throw Unreadable{};
        }
        return value;
    }
    void skip_digits() {
        while (is_digit(peek())) ++at_;
    }

    std::string source_name() {
        const size_t length = number();
        if (length == 0 || length > text_.size() - at_) throw Unreadable{};
        std::string out(text_.substr(at_, length));
        at_ += length;
        return out;
    }

    void remember(std::string text) { known_.push_back(clipped(std::move(text))); }

    // <encoding>: a name, and within another name also the types of its parameters.
    void encoding(Name& out, bool inner);
    // <name>, appended to `out`; returns its text as a type.
    std::string name(Name& out);
    std::string nested(Name& out);
    // Z <function> E <what is declared in it>
    std::string local(Name& out);
    std::string unqualified(const Name& around);
    // S_, S0_, ...; Sa and the like. Not `St`.
    std::string substitution();
    std::string template_parameter();
    // I ... E, stored in the last component of `out`.
    std::string arguments(Name& out);
    std::string argument();
    // L <type> <value> E
    std::string literal();
    // Expressions are skipped: messages do not show them.
    void expression();
    // <simple-id> or operator name, with template arguments.
    void unresolved();
    void skip_arguments();
    std::string type();
    // Types that start with D.
    std::string extended_type();

    std::string_view text_;
    size_t at_ = 0;
    unsigned depth_ = 0;
    std::vector<std::string> known_;  // substitutions, in order
};

}  // namespace ptx::itanium
