// SPDX-License-Identifier: MIT
// The contents of libcudart.so.12: functions that jump to one of libcudart.so.13, through the table
// that generate_stubs.py writes into that library.
#pragma once

// Both use a register that carries no argument.
#if defined(__x86_64__)
#define JUMP_INSTRUCTIONS(position)                                                                \
    "movq emulatorCuda12Functions@GOTPCREL(%rip), %r11\n"                                          \
    "jmp *8*" #position "(%r11)\n"
#define JUMP_FUNCTION_TYPE "@function"
#elif defined(__aarch64__)
#define JUMP_INSTRUCTIONS(position)                                                                \
    "adrp x16, :got:emulatorCuda12Functions\n"                                                     \
    "ldr x16, [x16, #:got_lo12:emulatorCuda12Functions]\n"                                         \
    "ldr x16, [x16, #8*" #position "]\n"                                                           \
    "br x16\n"
#define JUMP_FUNCTION_TYPE "%function"
#else
#error "libcudart.so.12 needs the jump instructions of this processor: runtime/cuda12/jump.h"
#endif

// `name` jumps to the function at that position of the table.
#define JUMP(name, position)                                                                       \
    asm(".text\n.p2align 4\n.globl " #name "\n.type " #name ", " JUMP_FUNCTION_TYPE "\n" #name     \
        ":\n" JUMP_INSTRUCTIONS(position) ".size " #name ", .-" #name "\n");
