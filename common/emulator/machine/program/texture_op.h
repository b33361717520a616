// SPDX-License-Identifier: MIT
// The decoded form of texture and surface instructions.
#pragma once

#include "machine/program/instr.h"
#include "machine/texture.h"

namespace machine {

struct TextureOp {
    enum class Kind : uint8_t { kFetch, kGather, kQuery, kLoad, kStore, kReduce } kind;
    TextureShape shape = TextureShape::k2d;
    uint32_t handle = kNoRow;  // row of 64-bit handles
    bool integer = false;      // coordinates are s32, else f32
    uint32_t coordinate[3] = {kNoRow, kNoRow, kNoRow};
    uint32_t layer = kNoRow;
    enum class Lod : uint8_t { kBase, kLevel, kGradients } lod = Lod::kBase;
    uint32_t level = kNoRow;  // f32, or s32 with integer coordinates
    uint32_t gradient[2][3] = {{kNoRow, kNoRow, kNoRow}, {kNoRow, kNoRow, kNoRow}};
    uint32_t rows[4] = {kNoRow, kNoRow, kNoRow, kNoRow};  // results, or values to store
    uint8_t row_bytes = 4, vector = 4;
    uint32_t resident = kNoRow;  // predicate: all texels are resident, always true
    uint8_t component = 0;       // gather
    ptx::Mod query{};            // the property that txq or suq queries
    // Surfaces.
    enum class Outside : uint8_t { kTrap, kClamp, kZero } outside = Outside::kTrap;
    uint8_t element_bytes = 4;
    ptx::Mod reduction{};
    bool is_signed = false;

    std::array<uint32_t*, 16> all_rows() {
        return {&handle,
                &coordinate[0],
                &coordinate[1],
                &coordinate[2],
                &layer,
                &level,
                &gradient[0][0],
                &gradient[0][1],
                &gradient[0][2],
                &gradient[1][0],
                &gradient[1][1],
                &gradient[1][2],
                &rows[0],
                &rows[1],
                &rows[2],
                &rows[3]};
    }
};

}  // namespace machine
