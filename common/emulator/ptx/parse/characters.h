// SPDX-License-Identifier: MIT
// Classes of characters in PTX text, for the lexer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ptx {

enum : uint8_t { kFollows = 1, kDigit = 2, kBlank = 4, kStops = 8, kHex = 16 };

// kFollows: allowed inside an identifier. kStops: relevant to brace matching.
constexpr std::array<uint8_t, 256> make_character_classes() {
    std::array<uint8_t, 256> classes{};
    for (int c = 'a'; c <= 'z'; ++c) classes[size_t(c)] |= kFollows;
    for (int c = 'A'; c <= 'Z'; ++c) classes[size_t(c)] |= kFollows;
    for (int c = '0'; c <= '9'; ++c) classes[size_t(c)] |= kFollows | kDigit | kHex;
    for (int c = 'a'; c <= 'f'; ++c) classes[size_t(c)] |= kHex;
    for (int c = 'A'; c <= 'F'; ++c) classes[size_t(c)] |= kHex;
    for (const char c : {'_', '$'}) classes[size_t(c)] |= kFollows;
    for (const char c : {' ', '\t', '\r', '\n', '\f', '\v'}) classes[size_t(c)] |= kBlank;
    for (const char c : {'{', '}', '"', '/', '\n', ';'}) classes[size_t(c)] |= kStops;
    return classes;
}
inline constexpr std::array<uint8_t, 256> kCharacterClasses = make_character_classes();
inline bool has_class(char c, uint8_t what) {
    return kCharacterClasses[uint8_t(c)] & what;
}

}  // namespace ptx
