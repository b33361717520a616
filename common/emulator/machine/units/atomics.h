// SPDX-License-Identifier: MIT
// Chooses the code of an atomic operation (PTX ISA "atom", "red").
#pragma once

#include "machine/program/code.h"

namespace machine {

// Null: an unknown form.
Mover atomic_mover(const ptx::Instruction& in);
Mover vector_atomic_mover(const ptx::Instruction& in);

}  // namespace machine
