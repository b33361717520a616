// SPDX-License-Identifier: MIT
// In place of texture.cpp and of the handlers in units/texture_ops.cpp, where a build leaves
// textures and surfaces out (EMULATOR_TEXTURES=OFF).
#include "machine/decode/families.h"

namespace machine {

bool decode_texture(Decoding& d, Decoding::In) {
    d.left_out = "EMULATOR_TEXTURES";
    return false;
}

}  // namespace machine
