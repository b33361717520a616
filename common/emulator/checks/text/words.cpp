// SPDX-License-Identifier: MIT
#include "checks/text/words.h"

#include <bit>
#include <cstdio>

namespace checks {
namespace {

// Runs of consecutive numbers, as pairs of first and last.
std::vector<std::pair<uint32_t, uint32_t>> runs(const std::vector<uint32_t>& numbers) {
    std::vector<std::pair<uint32_t, uint32_t>> result;
    for (const uint32_t number : numbers) {
        if (!result.empty() && result.back().second + 1 == number) {
            result.back().second = number;
        } else {
            result.push_back({number, number});
        }
    }
    return result;
}

template <class Name>
std::string ranges(const std::vector<uint32_t>& numbers, Name&& name) {
    constexpr size_t kShown = 3;
    const auto found = runs(numbers);
    std::vector<std::string> words;
    uint32_t shown = 0;
    for (size_t i = 0; i < found.size() && (i < kShown || found.size() == kShown + 1); ++i) {
        const auto [first, last] = found[i];
        shown += last - first + 1;
        words.push_back(first == last ? name(first) : name(first) + " to " + name(last));
    }
    if (shown < numbers.size()) words.push_back(std::to_string(numbers.size() - shown) + " more");
    return joined(words);
}

}  // namespace

std::string hex(uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

std::string coordinates(const machine::Dim3& index) {
    return '(' + std::to_string(index.x) + ',' + std::to_string(index.y) + ',' +
           std::to_string(index.z) + ')';
}

machine::Dim3 thread_at(const machine::Dim3& shape, uint32_t linear) {
    const uint32_t row = shape.x ? shape.x : 1, plane = row * (shape.y ? shape.y : 1);
    return {linear % row, linear % plane / row, linear / plane};
}

std::string plural(uint64_t count, std::string_view noun, std::string_view ending) {
    return std::to_string(count) + ' ' + std::string(noun) +
           (count == 1 ? "" : std::string(ending));
}

std::string backticked(std::string_view name) {
    return '`' + std::string(name) + '`';
}

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (size_t i = 0; i < words.size(); ++i) {
        if (i) text += i + 1 == words.size() ? " and " : ", ";
        text += words[i];
    }
    return text;
}

std::string base_name(std::string_view path) {
    const size_t slash = path.rfind('/');
    return std::string(slash == path.npos ? path : path.substr(slash + 1));
}

std::string thread_ranges(const std::vector<uint32_t>& threads, const machine::Dim3& shape) {
    return ranges(threads, [&](uint32_t linear) { return coordinates(thread_at(shape, linear)); });
}

std::string lane_ranges(uint32_t mask) {
    std::vector<uint32_t> lanes;
    for (uint32_t m = mask; m; m &= m - 1) lanes.push_back(uint32_t(std::countr_zero(m)));
    return ranges(lanes, [](uint32_t lane) { return std::to_string(lane); });
}

}  // namespace checks
