// SPDX-License-Identifier: MIT
// Decodes instructions after Intel, "64 and IA-32 Architectures Software Developer's Manual",
// volume 2, "Instruction Format" and appendix A: only the moves, calls and jumps that compilers
// emit after a call.
#include "runtime/host_watch/result_use.h"

#include <cstring>
#include <utility>

namespace runtime {

#if defined(__x86_64__)

namespace {

constexpr unsigned kRax = 0, kNone = 16;
constexpr unsigned kMostInstructions = 32;

enum class Seen { kGoOn, kUsed, kIgnored, kReturns };

struct Reader {
    const uint8_t* at;
    bool rex_w = false, rex_r = false, rex_x = false, rex_b = false, operand_size = false;
    bool guarded = false;  // the instruction before compared the stack's guard value

    uint8_t byte() { return *at++; }
    int32_t number(unsigned bytes) {
        int32_t out = 0;
        if (bytes == 1) {
            out = int8_t(*at);
        } else {
            std::memcpy(&out, at, 4);
        }
        at += bytes;
        return out;
    }
};

// The operands of an instruction with a ModRM byte: a register, and a register or memory.
struct Operands {
    unsigned reg = 0, rm = kNone;  // rm: kNone for memory
    bool address_uses_rax = false;
    unsigned extension = 0;  // the opcode's, in the place of reg
};

Operands operands(Reader& in) {
    Operands out;
    const uint8_t modrm = in.byte();
    const unsigned mod = modrm >> 6, low = modrm & 7;
    out.extension = modrm >> 3 & 7;
    out.reg = out.extension | unsigned(in.rex_r) << 3;
    if (mod == 3) {
        out.rm = low | unsigned(in.rex_b) << 3;
        return out;
    }
    unsigned base = low | unsigned(in.rex_b) << 3, index = kNone;
    bool has_base = true;
    if (low == 4) {
        const uint8_t sib = in.byte();
        base = (sib & 7) | unsigned(in.rex_b) << 3;
        index = (sib >> 3 & 7) | unsigned(in.rex_x) << 3;
        if (index == 4) index = kNone;
        if ((sib & 7) == 5 && mod == 0) {
            has_base = false;
            in.number(4);
        }
    } else if (low == 5 && mod == 0) {
        has_base = false;  // relative to the instruction
        in.number(4);
    }
    if (mod == 1) in.number(1);
    if (mod == 2) in.number(4);
    out.address_uses_rax = (has_base && base == kRax) || index == kRax;
    return out;
}

// rm is the source, reg the destination.
Seen load(const Operands& o) {
    if (o.rm == kRax || o.address_uses_rax) return Seen::kUsed;
    return o.reg == kRax ? Seen::kIgnored : Seen::kGoOn;
}

Seen two_byte(Reader& in) {
    const uint8_t opcode = in.byte();
    switch (opcode) {
    case 0x10:  // moves of floating-point registers, including conversions and logic
    case 0x11:
    case 0x14:
    case 0x16:
    case 0x28:
    case 0x29:
    case 0x2e:
    case 0x2f:
    case 0x54:
    case 0x57:
    case 0x58:
    case 0x59:
    case 0x5a:
    case 0x5c:
    case 0x5e:
    case 0x6f:
    case 0x7f:
    case 0xd6:
    case 0xef:
        return operands(in).address_uses_rax ? Seen::kUsed : Seen::kGoOn;
    case 0x7e: {  // movd, movq: to a general register or memory, with the prefix 66
        const Operands o = operands(in);
        if (o.address_uses_rax) return Seen::kUsed;
        return in.operand_size && o.rm == kRax ? Seen::kIgnored : Seen::kGoOn;
    }
    case 0x1e:  // endbr64
    case 0x1f:  // nop
        operands(in);
        return Seen::kGoOn;
    case 0xb6:  // movzx, movsx
    case 0xb7:
    case 0xbe:
    case 0xbf:
        return load(operands(in));
    default:
        return Seen::kUsed;
    }
}

// -fstack-protector, which Ubuntu's compilers have by default, ends a function with
// `mov rdx, [rsp+N]; sub rdx, fs:[0x28]; jne` to __stack_chk_fail, which does not return.
Seen guard_compared(Reader& in) {
    uint8_t opcode = in.byte();
    in.rex_r = (opcode & 0xf4) == 0x44;
    if ((opcode & 0xf0) == 0x40) opcode = in.byte();
    if (opcode != 0x2b && opcode != 0x33) return Seen::kUsed;  // sub, xor
    const Operands o = operands(in);
    if (o.address_uses_rax || o.reg == kRax) return Seen::kUsed;
    in.guarded = true;
    return Seen::kGoOn;
}

// The instruction overwrites rm.
Seen overwrites(const Operands& o) {
    if (o.address_uses_rax) return Seen::kUsed;
    return o.rm == kRax ? Seen::kIgnored : Seen::kGoOn;
}

// add, sub, ... of rm and an immediate: mostly of the stack pointer.
Seen arithmetic(Reader& in, unsigned immediate_bytes) {
    const Operands o = operands(in);
    in.at += immediate_bytes;
    return o.rm == kRax || o.rm == kNone ? Seen::kUsed : Seen::kGoOn;
}

Seen jump(Reader& in, unsigned distance_bytes) {
    const int32_t distance = in.number(distance_bytes);
    in.at += distance;
    return Seen::kGoOn;
}

// By the first byte of the opcode, after prefixes.
Seen one_byte(Reader& in, uint8_t opcode) {
    const unsigned immediate = in.operand_size ? 2 : 4;
    switch (opcode) {
    case 0x0f:
        return two_byte(in);
    case 0x8b:  // mov reg, rm
        return load(operands(in));
    case 0x89: {  // mov rm, reg
        const Operands o = operands(in);
        return o.reg == kRax ? Seen::kUsed : overwrites(o);
    }
    case 0x8d: {  // lea
        const Operands o = operands(in);
        if (o.address_uses_rax) return Seen::kUsed;
        return o.reg == kRax ? Seen::kIgnored : Seen::kGoOn;
    }
    case 0xc7: {  // mov rm, immediate
        const Operands o = operands(in);
        in.at += immediate;
        return overwrites(o);
    }
    case 0x31:  // xor of a register with itself clears it
    case 0x33: {
        const Operands o = operands(in);
        if (o.rm != o.reg) return Seen::kUsed;
        return o.reg == kRax ? Seen::kIgnored : Seen::kGoOn;
    }
    case 0x83:
        return arithmetic(in, 1);
    case 0x81:
        return arithmetic(in, immediate);
    case 0x90:
    case 0xc9:  // leave
        return Seen::kGoOn;
    case 0xe8:  // another call; its result replaces this one
        return Seen::kIgnored;
    case 0xff: {
        const Operands o = operands(in);
        return o.extension != 2 || o.rm == kRax || o.address_uses_rax ? Seen::kUsed
                                                                      : Seen::kIgnored;
    }
    case 0xe9:
        return jump(in, 4);
    case 0xeb:
        return jump(in, 1);
    case 0xc3:
        return Seen::kReturns;
    default:
        break;
    }
    if ((opcode & 0xf8) == 0xb8)  // mov reg, immediate
        in.at += in.rex_w ? 8 : immediate;
    else if ((opcode & 0xf8) != 0x58)  // pop
        return Seen::kUsed;
    return (opcode & 7) == kRax && !in.rex_b ? Seen::kIgnored : Seen::kGoOn;
}

Seen instruction(Reader& in) {
    in.rex_w = in.rex_r = in.rex_x = in.rex_b = in.operand_size = false;
    uint8_t opcode = in.byte();
    if (opcode == 0x64) return guard_compared(in);
    if (std::exchange(in.guarded, false)) {  // jne
        if (opcode == 0x75) return in.number(1), Seen::kGoOn;
        if (opcode == 0x0f && *in.at == 0x85) return ++in.at, in.number(4), Seen::kGoOn;
    }
    while (opcode == 0x66 || opcode == 0xf2 || opcode == 0xf3) {
        in.operand_size |= opcode == 0x66;
        opcode = in.byte();
    }
    if ((opcode & 0xf0) == 0x40) {
        in.rex_w = opcode & 8;
        in.rex_r = opcode & 4;
        in.rex_x = opcode & 2;
        in.rex_b = opcode & 1;
        opcode = in.byte();
    }
    return one_byte(in, opcode);
}

}  // namespace

bool result_is_ignored(std::span<const uint64_t> return_addresses) {
    for (const uint64_t address : return_addresses) {
        Reader in{reinterpret_cast<const uint8_t*>(address)};
        Seen seen = Seen::kGoOn;
        for (unsigned i = 0; seen == Seen::kGoOn; ++i)
            seen = i < kMostInstructions ? instruction(in) : Seen::kUsed;
        if (seen != Seen::kReturns) return seen == Seen::kIgnored;
    }
    return false;
}

#else

bool result_is_ignored(std::span<const uint64_t>) {
    return false;
}

#endif

}  // namespace runtime
