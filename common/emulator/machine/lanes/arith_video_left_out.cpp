// SPDX-License-Identifier: MIT
// In place of arith_video.cpp, where a build leaves the video instructions out
// (EMULATOR_VIDEO=OFF). lane_ops_video_left_out.cpp names the option.
#include "machine/lanes/arith_core.h"

namespace machine::LEVEL_NS {

bool select_video(const Form&, Selected&) {
    return false;
}

}  // namespace machine::LEVEL_NS
