// SPDX-License-Identifier: MIT
// Operations that are too rare for a loop of their own: a function from the bits of a lane's
// operands to the bits of its result, called lane by lane. Private to decode/lane_ops.cpp and
// lane_ops_*.cpp.
#pragma once

#include <string_view>

#include "machine/program/code.h"

namespace machine {

struct LaneOp {
    static constexpr unsigned kMost = 5;
    // Sources as bits (a predicate is 0 or 1); `second` is the second result, if it has one.
    using Apply = uint64_t (*)(const LaneOp& op, const uint64_t* sources, bool& second);
    Apply apply = nullptr;
    // Set by select_video_operation and select_number_operation.
    unsigned count = 0;
    ptx::Type source[kMost] = {};  // the format of immediates, and the required width of registers
    ptx::Type result = ptx::Type::kNone;
    uint32_t flags = 0;  // specific to each operation
    int rounding = 0;    // FE_ constant
    // For video instructions: the selected parts of the sources and of the result.
    std::string_view selector[kMost], result_selector;
    bool negative[kMost] = {};
    // Set by the decoder.
    uint32_t rows[kMost] = {}, dst = kNoRow, dst_second = kNoRow;
    uint8_t bytes[kMost] = {}, dst_bytes = 0;  // 0: a predicate
};

// Each fills `op` and returns true if it supports the instruction.
bool select_video_operation(const ptx::Instruction& in, LaneOp& op);
bool select_number_operation(const ptx::Instruction& in, LaneOp& op);

// Whether there are no other modifiers.
inline bool only(const ptx::Instruction& in, std::initializer_list<ptx::Mod> allowed) {
    auto rest = in.mods;
    for (const ptx::Mod mod : allowed) rest.reset(size_t(mod));
    return rest.none();
}

}  // namespace machine
