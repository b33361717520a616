// SPDX-License-Identifier: MIT
// Shared by the two parts of cvt: arith_convert.cpp parses the instruction and has the general
// handler, arith_convert_loops.cpp has the fast ones.
#pragma once

#include "machine/lanes/arith_core.h"

namespace machine::LEVEL_NS {

// Rounding as cvt spells it: none, to the destination's precision, or to an integer.
enum Round : uint8_t { kNoRound, kRn, kRz, kRm, kRp, kRna, kRni, kRzi, kRmi, kRpi };
enum ConvertFlags { kFtz = 1, kSat = 2, kRelu = 4, kSatFinite = 8 };

// A loop that vectorises for this conversion, if there is one. `round` is a Round, `flags` a sum of
// ConvertFlags; the sizes are those of the registers.
bool bind_conversion_loop(const Form& form, unsigned round, unsigned flags, unsigned from_bytes,
                          unsigned to_bytes, Selected& out);
// cvt.rn.f16x2.f32 and cvt.rn.bf16x2.f32 without further modifiers.
bool bind_pair_loop(bool half, Selected& out);

}  // namespace machine::LEVEL_NS
