// SPDX-License-Identifier: MIT
// The checks of legality.h for families of instructions. Each checks modifiers and types only.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ptx/legality/legality.h"

namespace ptx {

// Splits a text at blanks.
std::vector<std::string_view> words(std::string_view text);

// Loads, stores, atomics, addresses and cache hints. `target`: 75 for sm_75.
std::optional<Complaint> complaint_about_memory(const Instruction& in, unsigned target);

// Barriers, fences and mbarrier objects.
std::optional<Complaint> complaint_about_order(const Instruction& in);

}  // namespace ptx
