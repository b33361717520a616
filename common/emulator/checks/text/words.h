// SPDX-License-Identifier: MIT
// Words that all findings share: coordinates, counts, ranges of threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "machine/events.h"

namespace checks {

std::string hex(uint64_t value);                      // 0x7f00
std::string coordinates(const machine::Dim3& index);  // (1,0,0)
// threadIdx of a linear thread number in a block of this shape.
machine::Dim3 thread_at(const machine::Dim3& block_shape, uint32_t linear);
// "1 thread", "2 threads"
std::string plural(uint64_t count, std::string_view noun, std::string_view ending = "s");
std::string backticked(std::string_view name);              // `name`
std::string joined(const std::vector<std::string>& words);  // "a, b and c"
std::string base_name(std::string_view path);

// Threads of one block, as sorted linear numbers, in words without the word "threads":
// "(0,0,0) to (31,0,0) and (64,0,0)"; long lists end with "and 7 more".
std::string thread_ranges(const std::vector<uint32_t>& threads, const machine::Dim3& block_shape);
std::string lane_ranges(uint32_t mask);  // "0 to 15 and 31"; one lane: "5"

}  // namespace checks
