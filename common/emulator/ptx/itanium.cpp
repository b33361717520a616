// SPDX-License-Identifier: MIT
#include "ptx/itanium.h"

#include <utility>

namespace ptx {
namespace {

constexpr size_t kMaxText = 48;  // of a type or of template arguments; longer ones are noise
constexpr unsigned kMaxDepth = 200;
constexpr std::string_view kLong = "...";

using Name = std::vector<NameComponent>;

struct Spelling {
    std::string_view code, text;
};
constexpr Spelling kOperators[] = {
    {"nw", " new"}, {"na", " new[]"}, {"dl", " delete"}, {"da", " delete[]"}, {"aw", " co_await"},
    {"ps", "+"},    {"ng", "-"},      {"ad", "&"},       {"de", "*"},         {"co", "~"},
    {"pl", "+"},    {"mi", "-"},      {"ml", "*"},       {"dv", "/"},         {"rm", "%"},
    {"an", "&"},    {"or", "|"},      {"eo", "^"},       {"aS", "="},         {"pL", "+="},
    {"mI", "-="},   {"mL", "*="},     {"dV", "/="},      {"rM", "%="},        {"aN", "&="},
    {"oR", "|="},   {"eO", "^="},     {"ls", "<<"},      {"rs", ">>"},        {"lS", "<<="},
    {"rS", ">>="},  {"eq", "=="},     {"ne", "!="},      {"lt", "<"},         {"gt", ">"},
    {"le", "<="},   {"ge", ">="},     {"ss", "<=>"},     {"nt", "!"},         {"aa", "&&"},
    {"oo", "||"},   {"pp", "++"},     {"mm", "--"},      {"cm", ","},         {"pm", "->*"},
    {"pt", "->"},   {"cl", "()"},     {"ix", "[]"},      {"qu", "?"},
};
constexpr std::string_view kUnary = "ps ng ad de co nt pp mm nw dl te sz az nx sp sZ tw";
constexpr std::string_view kBinary =
    "pl mi ml dv rm an or eo aS pL mI mL dV rM aN oR eO ls rs lS rS eq ne lt gt le ge ss aa oo cm "
    "pm pt ix dt ds";

std::string_view builtin(char c) {
    switch (c) {
    case 'v':
        return "void";
    case 'w':
        return "wchar_t";
    case 'b':
        return "bool";
    case 'c':
        return "char";
    case 'a':
        return "signed char";
    case 'h':
        return "unsigned char";
    case 's':
        return "short";
    case 't':
        return "unsigned short";
    case 'i':
        return "int";
    case 'j':
        return "unsigned";
    case 'l':
        return "long";
    case 'm':
        return "unsigned long";
    case 'x':
        return "long long";
    case 'y':
        return "unsigned long long";
    case 'n':
        return "__int128";
    case 'o':
        return "unsigned __int128";
    case 'f':
        return "float";
    case 'd':
        return "double";
    case 'e':
        return "long double";
    case 'g':
        return "__float128";
    case 'z':
        return kLong;
    default:
        return {};
    }
}

bool has_code(std::string_view list, std::string_view code) {
    for (size_t at = 0; at < list.size(); at += 3) {
        if (list.substr(at, 2) == code) return true;
    }
    return false;
}

std::string clipped(std::string text) {
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
    // Counts how deep the recursion is; every recursive rule holds one.
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

    // <encoding>: a name, and inside another name also the types of its parameters.
    void encoding(Name& out, bool inner) {
        const Level level(*this);
        if (peek() == 'T' &&
            (peek(1) == 'V' || peek(1) == 'T' || peek(1) == 'I' || peek(1) == 'S')) {
            const bool table = peek(1) == 'V' || peek(1) == 'T';
            at_ += 2;
            out.push_back(
                {std::string(table ? "vtable for " : "typeinfo for ") + type(), {}, false});
            return;
        }
        if (accept("GV")) {
            name(out);
            return;
        }
        name(out);
        if (!inner) return;
        while (peek() != 'E' && peek() != '\0') type();
    }

    // <name>, appended to `out`; the text of it as a type.
    std::string name(Name& out) {
        const Level level(*this);
        if (accept("N")) return nested(out);
        if (accept("Z")) return local(out);
        std::string text;
        if (peek() == 'S' && peek(1) != 't') {
            text = substitution();
            out.push_back({text, {}, false});
        } else {
            const bool in_std = accept("St");
            if (in_std) out.push_back({"std", {}, false});
            const std::string own = unqualified(out);
            out.push_back({own, {}, false});
            text = (in_std ? "std::" : "") + own;
            if (peek() == 'I') remember(text);
        }
        if (peek() == 'I') text += arguments(out);
        return clipped(std::move(text));
    }

    std::string nested(Name& out) {
        while (peek() == 'r' || peek() == 'V' || peek() == 'K') ++at_;
        if (peek() == 'R' || peek() == 'O') ++at_;
        std::string text;   // of what has been read, clipped
        bool known = true;  // it is a substitution already, or nothing
        while (!accept("E")) {
            if (!known) remember(text);
            known = false;
            const auto extend = [&](const std::string& part) {
                if (is_noise(part)) return;
                text = clipped(text.empty() ? part : text + "::" + part);
            };
            if (accept("St")) {
                out.push_back({"std", {}, false});
                text = "std";
                known = true;
            } else if (peek() == 'S') {
                text = substitution();
                out.push_back({text, {}, false});
                known = true;
            } else if (peek() == 'I') {
                if (out.empty()) throw Unreadable{};
                text = clipped(text + arguments(out));
            } else if (peek() == 'T') {
                text = template_parameter();
                out.push_back({text, {}, false});
            } else if (peek() == 'D' && (peek(1) == 't' || peek(1) == 'T')) {
                at_ += 2;
                expression();
                expect("E");
                text = kLong;
                out.push_back({text, {}, false});
            } else if (accept("M")) {
                known = true;
            } else {
                const std::string own = unqualified(out);
                out.push_back({own, {}, false});
                extend(own);
            }
        }
        return text;
    }

    // Z <function> E <what is declared in it>
    std::string local(Name& out) {
        encoding(out, true);
        expect("E");
        std::string text;
        if (accept("s")) {
            text = "string literal";
            out.push_back({text, {}, false});
        } else {
            if (accept("d")) {
                skip_digits();
                expect("_");
            }
            text = name(out);
        }
        if (accept("__")) {
            skip_digits();
            accept("_");
        } else if (peek() == '_') {
            ++at_;
            skip_digits();
        }
        return text;
    }

    std::string unqualified(const Name& around) {
        std::string out;
        accept("L");
        if (is_digit(peek())) {
            out = source_name();
        } else if (peek() == 'C' && peek(1) >= '1' && peek(1) <= '5') {
            at_ += 2;
            out = around.empty() ? "" : around.back().name;
        } else if (peek() == 'D' && is_digit(peek(1))) {
            at_ += 2;
            out = "~" + (around.empty() ? "" : around.back().name);
        } else if (accept("Ul")) {
            while (!accept("E")) type();
            skip_digits();
            expect("_");
            out = "lambda";
        } else if (accept("Ut")) {
            skip_digits();
            expect("_");
            out = "unnamed";
        } else if (accept("DC")) {
            while (!accept("E")) out = source_name();
        } else if (accept("cv")) {
            out = "operator " + type();
        } else if (accept("li")) {
            out = "operator\"\" " + source_name();
        } else {
            for (const Spelling& each : kOperators) {
                if (!accept(each.code)) continue;
                out = "operator" + std::string(each.text);
                break;
            }
            if (out.empty()) throw Unreadable{};
        }
        while (accept("B")) source_name();
        return out;
    }

    // S_, S0_, ...; Sa and the like. Not `St`.
    std::string substitution() {
        expect("S");
        switch (peek()) {
        case 'a':
            ++at_;
            return "std::allocator";
        case 'b':
            ++at_;
            return "std::basic_string";
        case 's':
            ++at_;
            return "std::string";
        case 'i':
            ++at_;
            return "std::istream";
        case 'o':
            ++at_;
            return "std::ostream";
        case 'd':
            ++at_;
            return "std::iostream";
        default:
            break;
        }
        size_t index = 0;
        if (peek() != '_') {
            while (is_digit(peek()) || (peek() >= 'A' && peek() <= 'Z')) {
                const char c = text_[at_++];
                index = index * 36 + size_t(is_digit(c) ? c - '0' : c - 'A' + 10);
                if (index > text_.size()) throw Unreadable{};
            }
            ++index;
        }
        expect("_");
        if (index >= known_.size()) throw Unreadable{};
        return known_[index];
    }

    std::string template_parameter() {
        expect("T");
        if (accept("L")) {
            skip_digits();
            expect("_");
        }
        skip_digits();
        expect("_");
        return "T";
    }

    // I ... E, noted in the last component of `out`.
    std::string arguments(Name& out) {
        out.back().is_template = true;
        out.back().arguments = "<...>";  // what stays if reading fails in here
        std::string text;
        expect("I");
        while (!accept("E")) {
            const std::string one = argument();
            text = clipped(text.empty() ? one : text + ", " + one);
        }
        out.back().arguments = "<" + text + ">";
        return out.back().arguments;
    }

    std::string argument() {
        const Level level(*this);
        if (peek() == 'L') return literal();
        if (accept("X")) {
            expression();
            expect("E");
            return std::string(kLong);
        }
        if (accept("J")) {
            std::string text;
            while (!accept("E")) {
                const std::string one = argument();
                text = clipped(text.empty() ? one : text + ", " + one);
            }
            return text;
        }
        return type();
    }

    // L <type> <value> E
    std::string literal() {
        const Level level(*this);
        expect("L");
        if (accept("_Z")) {
            Name inner;
            encoding(inner, true);
            expect("E");
            return inner.empty() ? std::string(kLong) : inner.back().name;
        }
        if (accept("DnE")) return "nullptr";
        const bool is_bool = peek() == 'b';
        type();
        std::string value = accept("n") ? "-" : "";
        while (peek() != 'E' && peek() != '\0') value += text_[at_++];
        expect("E");
        if (is_bool) return value == "0" ? "false" : "true";
        return value.empty() ? std::string(kLong) : clipped(std::move(value));
    }

    // Expressions are only passed over: a message has no use for them.
    void expression() {
        const Level level(*this);
        if (peek() == 'L') {
            literal();
            return;
        }
        if (peek() == 'T') {
            template_parameter();
            if (peek() == 'I') skip_arguments();
            return;
        }
        if (accept("fpT")) return;
        if (peek() == 'f' && (peek(1) == 'p' || peek(1) == 'L')) {
            at_ += 2;
            while (is_digit(peek()) || peek() == 'p' || peek() == 'K') ++at_;
            expect("_");
            return;
        }
        if (accept("sr")) {
            type();
            unresolved();
            return;
        }
        if (accept("cl") || accept("tl")) {
            if (text_[at_ - 2] == 't') type();
            while (!accept("E")) expression();
            return;
        }
        if (accept("il")) {
            while (!accept("E")) expression();
            return;
        }
        if (accept("cv")) {
            type();
            if (accept("_")) {
                while (!accept("E")) expression();
            } else {
                expression();
            }
            return;
        }
        if (accept("sc") || accept("dc") || accept("rc") || accept("cc")) {
            type();
            expression();
            return;
        }
        if (accept("st") || accept("at") || accept("ti")) {
            type();
            return;
        }
        if (accept("sP")) {
            while (!accept("E")) argument();
            return;
        }
        if (accept("qu")) {
            expression();
            expression();
            expression();
            return;
        }
        accept("gs");
        const std::string_view code = text_.substr(at_, 2);
        if (has_code(kUnary, code)) {
            at_ += 2;
            if (code == "pp" || code == "mm") accept("_");
            expression();
        } else if (has_code(kBinary, code)) {
            at_ += 2;
            expression();
            expression();
        } else {
            unresolved();
        }
    }

    // <simple-id> or operator name, with template arguments.
    void unresolved() {
        if (accept("on")) {
            unqualified({});
        } else {
            source_name();
        }
        if (peek() == 'I') skip_arguments();
    }

    void skip_arguments() {
        Name ignored(1);
        arguments(ignored);
    }

    std::string type() {
        const Level level(*this);
        const char c = peek();
        std::string out;
        if (c == 'r' || c == 'V' || c == 'K') {
            bool is_const = false;
            while (peek() == 'r' || peek() == 'V' || peek() == 'K') is_const |= text_[at_++] == 'K';
            out = type();
            if (is_const) out = clipped(out + " const");
        } else if (c == 'P' || c == 'R' || c == 'O' || c == 'C' || c == 'G') {
            ++at_;
            out = clipped(type() + (c == 'P' ? "*" : c == 'R' ? "&" : c == 'O' ? "&&" : ""));
        } else if (c == 'F') {
            ++at_;
            accept("Y");
            while (!accept("E")) {
                if ((peek() == 'R' || peek() == 'O') && peek(1) == 'E')
                    ++at_;
                else
                    type();
            }
            out = kLong;
        } else if (c == 'A') {
            ++at_;
            if (is_digit(peek()))
                skip_digits();
            else if (peek() != '_')
                expression();
            expect("_");
            out = clipped(type() + "[]");
        } else if (c == 'M') {
            ++at_;
            type();
            type();
            out = kLong;
        } else if (c == 'T') {
            out = template_parameter();
            if (peek() == 'I') {
                remember(out);
                skip_arguments();
            }
        } else if (c == 'U') {
            ++at_;
            source_name();
            if (peek() == 'I') skip_arguments();
            out = type();
        } else if (c == 'u') {
            ++at_;
            out = source_name();
            if (peek() == 'I') skip_arguments();
        } else if (c == 'S' && peek(1) != 't') {
            out = substitution();
            if (peek() != 'I') return out;  // known already
            Name whole(1);
            out = clipped(out + arguments(whole));
        } else if (c == 'D') {
            return extended_type();
        } else if (c == 'N' || c == 'Z' || c == 'S' || is_digit(c)) {
            Name ignored;
            out = name(ignored);
        } else {
            const std::string_view known = builtin(c);
            if (known.empty()) throw Unreadable{};
            ++at_;
            return std::string(known);
        }
        remember(out);
        return out;
    }

    // Types that start with D.
    std::string extended_type() {
        ++at_;
        const char c = peek();
        ++at_;
        std::string out(kLong);
        switch (c) {
        case 'n':
            return "nullptr_t";
        case 'a':
            return "auto";
        case 'c':
            return "auto";
        case 'h':
            return "half";
        case 'i':
            return "char32_t";
        case 's':
            return "char16_t";
        case 'u':
            return "char8_t";
        case 'd':
        case 'e':
        case 'f':
            return "decimal";
        case 'F':
            number();
            if (!accept("_") && !accept("b")) expect("x");
            return "_Float16";
        case 'B':
        case 'U':
            number();
            expect("_");
            return "_BitInt";
        case 'p':
            out = type();
            break;
        case 't':
        case 'T':
            expression();
            expect("E");
            break;
        case 'v':
            if (is_digit(peek()))
                number();
            else
                expression();
            expect("_");
            type();
            break;
        case 'o':
        case 'x':
            return type();
        case 'O':
            expression();
            expect("E");
            return type();
        case 'w':
            while (!accept("E")) type();
            return type();
        default:
            throw Unreadable{};
        }
        remember(out);
        return out;
    }

    std::string_view text_;
    size_t at_ = 0;
    unsigned depth_ = 0;
    std::vector<std::string> known_;  // substitutions in order
};

}  // namespace

bool is_noise(std::string_view name) {
    for (const std::string_view prefix : {"_INTERNAL_", "_GLOBAL__N_", "CUB_", "THRUST_"}) {
        if (name.starts_with(prefix)) return true;
    }
    // Inline namespaces that carry a version: std::__4, __v1, _V1.
    std::string_view rest = name;
    while (rest.starts_with("_")) rest.remove_prefix(1);
    if (rest.size() == name.size()) return name.empty();
    if (rest.starts_with("v") || rest.starts_with("V")) rest.remove_prefix(1);
    return rest.find_first_not_of("0123456789") == std::string_view::npos && !rest.empty();
}

std::vector<NameComponent> read_mangled(std::string_view mangled) {
    if (!mangled.starts_with("_Z")) return {};
    return Reader(mangled.substr(2)).run();
}

}  // namespace ptx
