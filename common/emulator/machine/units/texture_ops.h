// SPDX-License-Identifier: MIT
// The handlers of texture and surface instructions.
#pragma once

#include "machine/program/texture_op.h"

namespace machine {

void fetch_texture(Lanes& lanes, const Instr& in);   // tex
void gather_texture(Lanes& lanes, const Instr& in);  // tld4
void query_texture(Lanes& lanes, const Instr& in);   // txq, suq
void access_surface(Lanes& lanes, const Instr& in);  // suld.b, sust.b, sured.b

}  // namespace machine
