// SPDX-License-Identifier: MIT
// The checks that the column `rule` of instructions.def names. Each checks modifiers and types
// only.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ptx/legality/legality.h"

namespace ptx {

// Splits a text at blanks.
std::vector<std::string_view> words(std::string_view text);

// check_<rule> for each rule in instructions.def: the first wrong modifier or type of `in`.
// `target`: 75 for sm_75.
#define PTX_OPCODE(name, decoder, rule, ...)                                                       \
    std::optional<Complaint> check_##rule(const Instruction& in, unsigned target);
#include "ptx/instructions.def"

}  // namespace ptx
