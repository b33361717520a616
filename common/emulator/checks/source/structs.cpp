// SPDX-License-Identifier: MIT
// The layout of plain structs, from their text: data members of known types, one after the other.
#include <algorithm>

#include "checks/source/source.h"
#include "checks/source/text.h"

namespace checks {
namespace {

constexpr int kMostNestedStructs = 4;

uint64_t round_up(uint64_t value, uint64_t to) {
    return (value + to - 1) / to * to;
}

struct Body {
    std::string text;    // between the braces
    uint64_t align = 1;  // from alignas
};

// The start of a definition before its name: `struct`, `template <class T> struct`,
// `struct alignas(16)`. Returns the alignment; nothing if this is not a definition, or not
// understood.
std::optional<uint64_t> alignment_of_head(const Source& source,
                                          const std::vector<std::string>& words) {
    size_t at = words.size();
    for (size_t i = 0; i < words.size(); ++i)
        if (words[i] == "struct" || words[i] == "class") at = i;
    // A template is understood where the layout does not depend on its arguments: `T* data`.
    if (at == words.size() || (at > 0 && words[0].rfind("template", 0) != 0)) return std::nullopt;
    if (++at == words.size()) return 1;
    const bool aligns = words[at] == "alignas" || words[at] == "__align__";
    if (!aligns || at + 3 > words.size() || words[at + 1] != "(" || words.back() != ")")
        return std::nullopt;
    std::string number;
    for (size_t i = at + 2; i + 1 < words.size(); ++i) number += words[i] + ' ';
    const auto align = constant_value(source, number);
    if (!align || *align < 1 || *align > 4096 || (*align & (*align - 1))) return std::nullopt;
    return uint64_t(*align);
}

// `typedef struct { ... } name;`, with or without a name of its own.
std::optional<Body> body_of_typedef(const Source& source, const std::string& name) {
    const std::string& code = source.code;
    for (size_t at = find_word(code, "typedef", 0); at != code.npos;
         at = find_word(code, "typedef", at + 1)) {
        const size_t open = code.find_first_of("{;", at);
        if (open == code.npos || code[open] == ';') continue;
        const size_t past = close_of(code, open);
        if (past == code.npos) return std::nullopt;
        const size_t word = skip_space(code, past);
        if (find_word(code, name, word) != word) continue;
        std::vector<std::string> head = tokens(code.substr(at, open - at));
        head.erase(head.begin());
        if (head.size() == 2 && is_word(head.back())) head.pop_back();  // the name of its own
        const auto align = alignment_of_head(source, head);
        if (!align) return std::nullopt;
        return Body{code.substr(open + 1, past - open - 2), *align};
    }
    return std::nullopt;
}

// The definition of `name`. Nothing if there is a base class: its layout is not in this text.
std::optional<Body> body_of(const Source& source, const std::string& name) {
    const std::string& code = source.code;
    for (size_t at = find_word(code, name, 0); at != code.npos;
         at = find_word(code, name, at + 1)) {
        const size_t begin = code.find_last_of(";{}", at);
        const size_t line = source.starts[source.line_of(at) - 1];  // after an #include
        const size_t first = std::max(line, begin == code.npos ? 0 : begin + 1);
        const size_t open = skip_space(code, at + name.size());
        if (open >= code.size() || code[open] != '{') continue;
        const auto align = alignment_of_head(source, tokens(code.substr(first, at - first)));
        if (!align) continue;
        const size_t past = close_of(code, open);
        if (past == code.npos) return std::nullopt;
        return Body{code.substr(open + 1, past - open - 2), *align};
    }
    return body_of_typedef(source, name);
}

// The statements of a struct's body. Functions and types, which have a body of their own, end with
// it.
std::vector<std::string> statements(const std::string& body) {
    std::vector<std::string> out(1);
    for (size_t i = 0; i < body.size(); ++i) {
        if (body[i] == '(' || body[i] == '[' || body[i] == '{') {
            const size_t past = std::min(close_of(body, i), body.size());
            out.back() += body.substr(i, past - i);
            const bool initialiser = out.back().find('(') == std::string::npos;
            if (body[i] == '{' && !initialiser) out.emplace_back();
            i = past - 1;
        } else if (body[i] == ';') {
            out.emplace_back();
        } else if (body[i] == ':' && body.substr(i, 2) != "::" && (i == 0 || body[i - 1] != ':')) {
            const std::vector<std::string> words = tokens(out.back());
            const bool access =
                words.size() == 1 &&
                (words[0] == "public" || words[0] == "private" || words[0] == "protected");
            if (access)
                out.back().clear();
            else
                out.back() += ':';  // a bit-field, or a constructor's initialisers
        } else {
            out.back() += body[i];
        }
    }
    return out;
}

class Reader {
public:
    Reader(const Source& source, const std::string& file, int depth)
        : source_(source), file_(file), depth_(depth) {}

    std::optional<StructText> read(const Body& body) {
        out_.align = body.align;
        for (const std::string& statement : statements(body.text))
            if (!add(statement)) return std::nullopt;
        if (out_.members.empty()) return std::nullopt;
        out_.bytes = round_up(at_, out_.align);
        return out_;
    }

private:
    // False: the text is not understood, so the members after it have unknown offsets.
    bool add(const std::string& statement) {
        std::string text = statement;
        if (text.find('(') != text.npos) {
            // A function, or an attribute that may change the layout.
            const std::vector<std::string> words = tokens(text);
            return std::none_of(words.begin(), words.end(), [](const std::string& word) {
                return word == "virtual" || word == "alignas" || word.rfind("__align", 0) == 0 ||
                       word == "__attribute__" || word == "struct" || word == "union";
            });
        }
        std::vector<std::string> words = tokens(text);
        if (words.empty()) return true;
        for (const char* other : {"static", "using", "typedef", "friend", "template", "enum"})
            if (words[0] == other) return words[0] != "template" && words[0] != "enum";
        if (std::find(words.begin(), words.end(), ":") != words.end()) return false;  // bit-field
        return members(text);
    }

    // `float x, y[3];`
    bool members(const std::string& text) {
        std::string type;
        size_t from = 0;
        for (bool more = true; more;) {
            size_t comma = from;
            while (comma < text.size() && text[comma] != ',')
                comma = text[comma] == '{' || text[comma] == '['
                            ? std::min(close_of(text, comma), text.size())
                            : comma + 1;
            more = comma < text.size();
            std::string part = text.substr(from, comma - from);
            part.erase(std::min(part.find_first_of("={"), part.size()));  // the initialiser
            from = comma + 1;
            const size_t bracket = part.find('[');
            std::vector<std::string> words = tokens(part.substr(0, bracket));
            words.erase(std::remove_if(words.begin(), words.end(), is_noise), words.end());
            words.erase(std::remove(words.begin(), words.end(), "const"), words.end());
            if (words.empty() || !is_word(words.back())) return false;
            StructText::Member member;
            member.name = words.back();
            words.pop_back();
            std::string stars;  // `T *a, b`: each declarator has its own
            for (; !words.empty() && words.back() == "*"; words.pop_back()) stars += '*';
            if (type.empty() == words.empty()) return false;
            if (type.empty()) type = spelled(words);
            member.type = type + stars;
            if (!place(member, member.type, bracket == part.npos ? "" : part.substr(bracket)))
                return false;
        }
        return true;
    }

    bool place(StructText::Member& member, const std::string& type, const std::string& extents) {
        uint64_t align = 0;
        member.element_bytes = type_bytes(file_, type);
        if (member.element_bytes) {
            // The vector types of three have the alignment of one; those of four the size's.
            const bool vector = !type.empty() && type.back() >= '2' && type.back() <= '4' &&
                                type.find('_') == type.npos;
            const uint32_t lanes = vector ? uint32_t(type.back() - '0') : 1;
            align = lanes == 3 ? member.element_bytes / 3 : member.element_bytes;
            if (align > 16 || (align & (align - 1))) return false;
        } else {
            const auto inner =
                depth_ < kMostNestedStructs ? struct_text(file_, type, depth_ + 1) : std::nullopt;
            if (!inner) return false;
            member.element_bytes = inner->bytes;
            align = inner->align;
        }
        uint64_t count = 1;
        for (size_t open = extents.find('['); open != extents.npos;
             open = extents.find('[', open + 1)) {
            const size_t past = close_of(extents, open);
            if (past == extents.npos) return false;
            const auto extent = constant_value(source_, extents.substr(open + 1, past - open - 2));
            if (!extent || *extent <= 0 || *extent > (1 << 20)) return false;
            count *= uint64_t(*extent);
        }
        at_ = round_up(at_, align);
        member.offset = at_;
        member.bytes = member.element_bytes * count;
        at_ += member.bytes;
        out_.align = std::max(out_.align, align);
        out_.members.push_back(member);
        return at_ < (1u << 30);
    }

    const Source& source_;
    const std::string& file_;
    int depth_;
    uint64_t at_ = 0;
    StructText out_;
};

}  // namespace

std::optional<StructText> struct_text(const std::string& file, const std::string& name, int depth) {
    const Source* const text = source(file);
    if (!text || name.empty() || !is_word(name)) return std::nullopt;
    const std::string plain = name.substr(0, name.find('<'));  // of View<float>
    for (const Source* each : with_includes(*text))
        if (const auto body = body_of(*each, plain)) return Reader(*text, file, depth).read(*body);
    return std::nullopt;
}

}  // namespace checks
