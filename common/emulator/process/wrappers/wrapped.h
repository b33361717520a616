// SPDX-License-Identifier: MIT
// A wrapper takes the place of one of NVIDIA's compilers, which work without a card: it passes the
// calls on, and changes what is asked for so that the emulated device can load the result.
#pragma once

#define WRAPPER_API extern "C" __attribute__((visibility("default")))

namespace wrapper {

// A function of the real library; null where it is missing, or lacks that function.
void* find(const char* name);

template <class Function>
Function real(const char* name) {
    return reinterpret_cast<Function>(find(name));
}

}  // namespace wrapper

// PASS_ON(name): a function that jumps to the real one of its name, with any arguments.
// FILL(name), in a constructor: finds the real one, or takes wrapper_lacks instead.
#if defined(__x86_64__)
#define WRAPPER_JUMP(name) "jmp *wrapper_slot_" #name "(%rip)\n"
#elif defined(__aarch64__)
#define WRAPPER_JUMP(name)                                                                         \
    "adrp x16, wrapper_slot_" #name "\n"                                                           \
    "ldr x16, [x16, #:lo12:wrapper_slot_" #name "]\n"                                              \
    "br x16\n"
#else
#error "wrappers need the jump instructions of this processor"
#endif
#define PASS_ON(name)                                                                              \
    extern "C" __attribute__((visibility("hidden"))) void* wrapper_slot_##name;                    \
    void* wrapper_slot_##name = nullptr;                                                           \
    asm(".text\n.p2align 4\n.globl " #name "\n.type " #name ", %function\n" #name                  \
        ":\n" WRAPPER_JUMP(name) ".size " #name ", .-" #name "\n");
#define FILL(name)                                                                                 \
    wrapper_slot_##name = wrapper::find(#name);                                                    \
    if (!wrapper_slot_##name) wrapper_slot_##name = reinterpret_cast<void*>(wrapper_lacks);
