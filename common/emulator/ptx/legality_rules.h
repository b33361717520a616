// SPDX-License-Identifier: MIT
// Which modifiers an instruction takes with which type: PTX ISA 9.0, chapter "Instruction Set",
// held against what ptxas 13.0 accepts. `(a b)`: one of them must stand; `[a b]`: one of them may;
// other words may stand. An instruction with a line here exists for the types of its lines only.
#pragma once

namespace ptx {

struct WrittenRule {
    const char* opcodes;
    const char* types;
    const char* modifiers;
};

inline constexpr WrittenRule kWrittenRules[] = {
    {"add sub", "u16 s16 u16x2 s16x2", ""},
    {"add sub", "u32 u64 s64 b32 b64", "cc"},
    {"add sub", "s32", "[cc sat]"},
    {"add sub mul", "f32", "[rn rz rm rp] ftz sat"},
    {"add sub mul", "f64", "[rn rz rm rp]"},
    {"add sub mul", "f16 f16x2", "rn ftz sat"},
    {"add sub mul", "bf16 bf16x2", "rn"},
    {"add sub mul", "f32x2", "[rn rz rm rp] ftz"},
    {"addc subc", "u16 s16", ""},
    {"addc subc", "u32 s32 u64 s64 b32 b64", "cc"},
    {"mul", "u16 s16 u32 s32", "(hi lo wide)"},
    {"mul", "u64 s64", "(hi lo)"},
    {"mad", "u16 s16", "(hi lo wide)"},
    {"mad", "u32", "(hi lo wide) cc"},
    {"mad", "s32", "(hi lo wide) [cc sat]"},
    {"mad", "u64 s64", "(hi lo) cc"},
    {"madc", "u16 s16", "(hi lo)"},
    {"madc", "u32 u64 s64", "(hi lo) cc"},
    {"madc", "s32", "(hi lo) [cc sat]"},
    {"mul24", "u32 s32", "(hi lo)"},
    {"mad24", "u32", "(hi lo)"},
    {"mad24", "s32", "(hi lo) sat"},
    {"mad fma", "f32", "(rn rz rm rp) ftz sat"},
    {"mad fma", "f64", "(rn rz rm rp)"},
    {"fma", "f16 f16x2", "(rn) ftz [sat relu]"},
    {"fma", "bf16 bf16x2", "(rn rz rm rp) relu"},
    {"fma", "f32x2", "(rn rz rm rp) ftz"},
    {"div", "u16 s16 u32 s32 u64 s64", ""},
    {"div", "f32", "(approx full rn rz rm rp) ftz"},
    {"div", "f64", "(rn rz rm rp)"},
    {"rem sad", "u16 s16 u32 s32 u64 s64", ""},
    {"abs neg", "s16 s32 s64 f64 bf16 bf16x2", ""},
    {"abs neg", "f32 f16 f16x2", "ftz"},
    {"min max", "u16 s16 u32 u64 s64 u16x2 f64", ""},
    {"min max", "s32 s16x2", "relu"},
    {"min max", "f32 f16 f16x2", "ftz NaN xorsign abs"},
    {"min max", "bf16 bf16x2", "NaN xorsign abs"},
    {"rcp sqrt", "f32", "(approx rn rz rm rp) ftz"},
    {"rcp", "f64", "(approx rn rz rm rp) ftz"},
    {"sqrt", "f64", "(rn rz rm rp)"},
    {"rsqrt", "f32 f64", "(approx) ftz"},
    {"sin cos lg2", "f32", "(approx) ftz"},
    {"ex2", "f32 bf16 bf16x2", "(approx) ftz"},
    {"ex2", "f16 f16x2", "(approx)"},
    {"tanh", "f32 f16 f16x2 bf16 bf16x2", "(approx)"},
    {"testp", "f32 f64", "(finite infinite number notanumber normal subnormal)"},
    {"copysign", "f32 f64", ""},
    {"and or xor not", "b16 b32 b64 pred", ""},
    {"cnot shl", "b16 b32 b64", ""},
    {"shr", "b16 b32 b64 u16 s16 u32 s32 u64 s64", ""},
    {"popc clz brev bfi", "b32 b64", ""},
    {"bfind", "u32 s32 u64 s64", "shiftamt"},
    {"bfe", "u32 s32 u64 s64", ""},
    {"selp", "b16 b32 b64 u16 s16 u32 s32 u64 s64 f32 f64", ""},
    {"slct", "b16 b32 b64 u16 s16 u32 s32 u64 s64 f32 f64", "ftz"},
    {"setp set", "u16 u32 u64", "(eq ne lt le gt ge lo ls hi hs) [and or xor]"},
    {"setp set", "s16 s32 s64", "(eq ne lt le gt ge) [and or xor]"},
    {"setp set", "b16 b32 b64", "(eq ne) [and or xor]"},
    {"setp set",
     "f32 f16 f16x2",
     "(eq ne lt le gt ge equ neu ltu leu gtu geu num nan) [and or xor] ftz"},
    {"setp set",
     "f64 bf16 bf16x2",
     "(eq ne lt le gt ge equ neu ltu leu gtu geu num nan) [and or xor]"},
};

}  // namespace ptx
