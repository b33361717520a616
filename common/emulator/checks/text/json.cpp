// SPDX-License-Identifier: MIT
#include "checks/text/json.h"

#include <cstdio>

namespace checks {

std::string json_string(std::string_view text) {
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

JsonObject& JsonObject::json(std::string_view key, std::string_view value) {
    if (!members_.empty()) members_ += separator_;
    members_ += json_string(key);
    members_ += ": ";
    members_ += value;
    return *this;
}

}  // namespace checks
