// SPDX-License-Identifier: MIT
// Operations that are too rare for a loop of their own: one function from the bits of a lane's
// operands to the bits of its result, called lane by lane. Private to decode_lane_ops.cpp and
// lane_ops_*.cpp.
#pragma once

#include <string_view>

#include "machine/code.h"

namespace machine {

struct LaneOp {
    static constexpr unsigned kMost = 5;
    // Sources as bits (a predicate is 0 or 1); `second` is the second result, if it has one.
    using Apply = uint64_t (*)(const LaneOp& op, const uint64_t* sources, bool& second);
    Apply apply = nullptr;
    // Set by select_lane_op.
    unsigned count = 0;
    ptx::Type source[kMost] = {};  // how immediates are read, and how wide a register must be
    ptx::Type result = ptx::Type::kNone;
    uint32_t flags = 0;  // each operation's own
    int rounding = 0;    // FE_ constant
    // For the video instructions: the parts of the sources and of the result that are meant.
    std::string_view selector[kMost], result_selector;
    bool negative[kMost] = {};
    // Set by the decoder.
    uint32_t rows[kMost] = {}, dst = kNoRow, dst_second = kNoRow;
    uint8_t bytes[kMost] = {}, dst_bytes = 0;  // 0: a predicate
};

// Each fills `op` and returns true when it knows the instruction.
bool select_video_operation(const ptx::Instruction& in, LaneOp& op);
bool select_number_operation(const ptx::Instruction& in, LaneOp& op);

// No modifiers but these.
inline bool only(const ptx::Instruction& in, std::initializer_list<ptx::Mod> allowed) {
    auto rest = in.mods;
    for (const ptx::Mod mod : allowed) rest.reset(size_t(mod));
    return rest.none();
}

}  // namespace machine
