// SPDX-License-Identifier: MIT
// The only writer of JSON: strings, lists, and objects whose keys keep their order.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace checks {

// As a JSON string, quotes included; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

// The JSON of one value.
inline std::string json_value(std::string_view text) {
    return json_string(text);
}
inline std::string json_value(const char* text) {
    return json_string(text);
}
inline std::string json_value(bool value) {
    return value ? "true" : "false";
}
template <std::integral T>
std::string json_value(T value) {
    return std::to_string(value);
}

// Members are separated by `separator`, which has to contain one comma.
class JsonList {
public:
    explicit JsonList(std::string_view separator = ", ") : separator_(separator) {}

    template <class T>
    JsonList& add(const T& value) {
        return json(json_value(value));
    }
    // `value` is JSON already.
    JsonList& json(std::string_view value) {
        if (!members_.empty()) members_ += separator_;
        members_ += value;
        return *this;
    }
    std::string text() const { return '[' + members_ + ']'; }

private:
    std::string_view separator_;
    std::string members_;
};

class JsonObject {
public:
    explicit JsonObject(std::string_view separator = ", ") : separator_(separator) {}

    template <class T>
    JsonObject& add(std::string_view key, const T& value) {
        return json(key, json_value(value));
    }
    // `value` is JSON already.
    JsonObject& json(std::string_view key, std::string_view value);
    bool empty() const { return members_.empty(); }
    std::string text() const { return '{' + members_ + '}'; }

private:
    std::string_view separator_;
    std::string members_;
};

}  // namespace checks
