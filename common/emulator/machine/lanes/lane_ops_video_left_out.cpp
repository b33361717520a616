// SPDX-License-Identifier: MIT
// In place of lane_ops_video.cpp, where a build leaves the video instructions out
// (EMULATOR_VIDEO=OFF).
#include "machine/lanes/lane_op.h"

namespace machine {

bool select_video_operation(const ptx::Instruction& in, LaneOp& op) {
    for (const std::string_view name :
         {"vabsdiff", "vadd", "vavrg", "vmad", "vmax", "vmin", "vset", "vshl", "vshr", "vsub"})
        if (in.text.starts_with(name)) op.left_out = "EMULATOR_VIDEO";
    return false;
}

}  // namespace machine
