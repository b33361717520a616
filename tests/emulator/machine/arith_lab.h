// SPDX-License-Identifier: MIT
// Runs one arithmetic PTX instruction on lane values, under every kind of mask, with every table
// that this processor can run. Mnemonics are read here by the same .def tables that the reader
// uses.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "catch/catch.h"
#include "machine/lanes/arith_core.h"
#include "machine/lanes/levels.h"

namespace lab {

using machine::kAllLanes;
using machine::kWarpSize;
using ptx::Type;

inline const std::map<std::string, Type>& type_names() {
    static const std::map<std::string, Type> names = {
        {"pred", Type::kPred},   {"b8", Type::kB8},     {"b16", Type::kB16},
        {"b32", Type::kB32},     {"b64", Type::kB64},   {"b128", Type::kB128},
        {"u8", Type::kU8},       {"u16", Type::kU16},   {"u32", Type::kU32},
        {"u64", Type::kU64},     {"s8", Type::kS8},     {"s16", Type::kS16},
        {"s32", Type::kS32},     {"s64", Type::kS64},   {"f16", Type::kF16},
        {"f16x2", Type::kF16x2}, {"bf16", Type::kBf16}, {"bf16x2", Type::kBf16x2},
        {"tf32", Type::kTf32},   {"f32", Type::kF32},   {"f64", Type::kF64},
    };
    return names;
}
inline const std::map<std::string, ptx::Opcode>& opcode_names() {
    static const std::map<std::string, ptx::Opcode> names = {
#define PTX_OPCODE(name, ...) {#name, ptx::Opcode::k_##name},
#include "ptx/instructions.def"
    };
    return names;
}
inline const std::map<std::string, ptx::Mod>& mod_names() {
    static const std::map<std::string, ptx::Mod> names = {
#define PTX_MODIFIER(name, spelling) {spelling, ptx::Mod::k_##name},
#include "ptx/modifiers.def"
#undef PTX_MODIFIER
    };
    return names;
}

// "setp.lt.and.s32" as an instruction without operands.
inline ptx::Instruction parse(const std::string& mnemonic) {
    ptx::Instruction instruction;
    std::istringstream text(mnemonic);
    std::string part;
    std::getline(text, part, '.');
    instruction.opcode = opcode_names().at(part);
    while (std::getline(text, part, '.')) {
        if (const auto type = type_names().find(part); type != type_names().end())
            instruction.types.push_back(type->second);
        else
            instruction.mods.set(size_t(mod_names().at(part)));
    }
    return instruction;
}

// What an instruction runs with. Values are bits; a predicate is 0 or 1.
struct Setup {
    std::string mnemonic;
    std::vector<std::vector<uint64_t>> sources;  // [source][lane]; one value: the same in all lanes
    bool pair = false;                           // p|q
    Type dst_register = Type::kNone;             // cvt: a register wider than the type
    Type src_register = Type::kNone;
    std::optional<uint64_t> table{};  // lop3's last operand
    uint32_t carry = 0;
};
struct Outcome {
    std::vector<uint64_t> dst, dst2;
    uint32_t carry = 0;
};

inline unsigned row_bytes(Type type) {
    const unsigned bytes = ptx::byte_size(type);
    return type == Type::kPred ? 0 : bytes == 1 ? 2 : bytes;
}

inline void build(const Setup& setup, ptx::Instruction& instruction, ptx::Function& function) {
    using Kind = ptx::Operand::Kind;
    instruction = parse(setup.mnemonic);
    const auto add_register = [&](Type type) {
        ptx::Operand operand;
        operand.kind = Kind::kRegister;
        operand.index = uint32_t(function.registers.size());
        function.registers.push_back({"%r", type});
        return operand;
    };
    const bool converts = instruction.opcode == ptx::Opcode::k_cvt;
    Type dst = setup.dst_register, src = setup.src_register;
    if (dst == Type::kNone) dst = instruction.type(0);
    if (src == Type::kNone) src = instruction.type(converts ? 1 : 0);
    if (setup.pair) {
        ptx::Operand both;
        both.kind = Kind::kPair;
        both.elements = {add_register(Type::kPred), add_register(Type::kPred)};
        instruction.operands.push_back(both);
    } else {
        instruction.operands.push_back(add_register(dst));
    }
    for (size_t k = 0; k < setup.sources.size(); ++k)
        instruction.operands.push_back(add_register(src));
    if (setup.table) {
        ptx::Operand immediate;
        immediate.kind = Kind::kImmediate;
        immediate.bits = *setup.table;
        instruction.operands.push_back(immediate);
    }
}

// A block of rows with room for six operands.
class Rows {
public:
    static constexpr uint32_t kStride = 512;
    Rows() : bytes_(8 * kStride + 64) {}
    std::byte* base() {
        return reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(bytes_.data()) + 63) &
                                            ~uintptr_t(63));
    }
    void put(uint32_t row, Type type, uint32_t lane, uint64_t value) {
        if (type == Type::kPred) {
            uint32_t mask;
            std::memcpy(&mask, base() + row, 4);
            mask = (mask & ~(1u << lane)) | uint32_t(value & 1) << lane;
            std::memcpy(base() + row, &mask, 4);
            return;
        }
        const unsigned bytes = row_bytes(type);
        std::memset(base() + row + lane * bytes, 0, bytes);
        std::memcpy(base() + row + lane * bytes, &value, std::min(bytes, 8u));
    }
    uint64_t get(uint32_t row, Type type, uint32_t lane) {
        uint64_t value = 0;
        if (type == Type::kPred) {
            std::memcpy(&value, base() + row, 4);
            return value >> lane & 1;
        }
        const unsigned bytes = row_bytes(type);
        std::memcpy(&value, base() + row + lane * bytes, std::min(bytes, 8u));
        return value;
    }

private:
    std::vector<std::byte> bytes_;
};

// Every level that was linked in and that this processor can run.
inline std::vector<machine::ProcessorLevel> levels() {
    using enum machine::ProcessorLevel;
    std::vector<machine::ProcessorLevel> list;
    for (const auto level : {kBaseline, kX86_64_v2, kX86_64_v3, kX86_64_v4})
        if (machine::can_run(level)) list.push_back(level);
    return list;
}

// No value an instruction under test gives by accident.
constexpr uint64_t kUntouched = 0x5ca1ab1e0ddba11e;

// One run. `in_place`: the destination is the first source's row.
inline Outcome run_once(const machine::Selected& selected, const Setup& setup, uint32_t mask,
                        bool in_place) {
    Rows rows;
    machine::Instr in;
    // The way of a lane that is alone has a handler of its own.
    const bool alone = std::has_single_bit(mask) && selected.one_lane;
    in.handler = alone ? selected.one_lane : selected.handler;
    in.extra = selected.extra;
    for (unsigned k = 0; k < setup.sources.size(); ++k) {
        in.src[k] = (k + 2) * Rows::kStride;
        const auto& values = setup.sources[k];
        for (uint32_t i = 0; i < kWarpSize; ++i)
            rows.put(in.src[k], selected.src[k], i, values[values.size() == 1 ? 0 : i]);
    }
    in.dst = in_place ? in.src[0] : 0;
    in.dst2 = selected.has_dst2 ? Rows::kStride : machine::kNoRow;
    if (!in_place)
        for (uint32_t i = 0; i < kWarpSize; ++i) rows.put(in.dst, selected.dst, i, kUntouched);
    machine::Lanes lanes{rows.base(), mask, uint32_t(std::countr_zero(mask)), setup.carry};
    in.handler(lanes, in);
    Outcome outcome;
    for (uint32_t i = 0; i < kWarpSize; ++i) {
        outcome.dst.push_back(rows.get(in.dst, selected.dst, i));
        if (selected.has_dst2) outcome.dst2.push_back(rows.get(in.dst2, Type::kPred, i));
    }
    outcome.carry = lanes.carry;
    return outcome;
}

// All lanes' results under a full mask, after checking that partial masks give the same in their
// lanes and touch no other, that the destination may be a source, and that all tables agree.
inline Outcome run(const Setup& setup) {
    INFO(setup.mnemonic);
    ptx::Instruction instruction;
    ptx::Function function;
    build(setup, instruction, function);
    std::optional<Outcome> result;
    for (const auto level : levels()) {
        INFO("level " << machine::level_name(level));
        const auto selected = machine::select_arithmetic_for(level, instruction, function);
        REQUIRE(selected);
        REQUIRE(selected->handler != nullptr);
        REQUIRE(selected->sources == setup.sources.size());
        const Outcome full = run_once(*selected, setup, kAllLanes, false);
        for (const uint32_t mask :
             {0x00000001u, 0x00000040u, 0x80000000u, 0x00018001u, 0x0f0f3355u, 0xfffffffeu}) {
            INFO("mask " << std::hex << mask);
            const Outcome part = run_once(*selected, setup, mask, false);
            Rows pattern;
            for (uint32_t i = 0; i < kWarpSize; ++i) {
                INFO("lane " << std::dec << i);
                pattern.put(0, selected->dst, i, kUntouched);
                const bool active = mask >> i & 1;
                if (part.dst[i] != (active ? full.dst[i] : pattern.get(0, selected->dst, i)))
                    FAIL("a partial mask gives " << std::hex << part.dst[i] << ", a full one "
                                                 << full.dst[i]);
                const uint32_t bit = 1u << i;
                const uint32_t carry = active ? full.carry : setup.carry;
                if ((part.carry & bit) != (carry & bit)) FAIL("carry differs");
                if (selected->has_dst2 && part.dst2[i] != (active ? full.dst2[i] : 0))
                    FAIL("the second destination differs");
            }
        }
        if (!setup.sources.empty() && row_bytes(selected->src[0]) == row_bytes(selected->dst)) {
            INFO("in place");
            for (const uint32_t mask : {kAllLanes, 0x0f0f3355u, 0x00100000u}) {
                const Outcome same = run_once(*selected, setup, mask, true);
                for (uint32_t i = 0; i < kWarpSize; ++i)
                    if ((mask >> i & 1) && same.dst[i] != full.dst[i]) FAIL("lane " << i);
            }
        }
        if (result) {
            for (uint32_t i = 0; i < kWarpSize; ++i)
                if (result->dst[i] != full.dst[i])
                    FAIL("tables differ in lane " << i << ": " << std::hex << result->dst[i]
                                                  << " and " << full.dst[i]);
            if (result->carry != full.carry || result->dst2 != full.dst2) FAIL("tables differ");
        }
        result = full;
    }
    return *result;
}

// The result for the same sources in all lanes.
inline uint64_t eval(const std::string& mnemonic, const std::vector<uint64_t>& sources) {
    Setup setup{.mnemonic = mnemonic, .sources = {}};
    for (const uint64_t value : sources) setup.sources.push_back({value});
    return run(setup).dst[7];
}
inline uint64_t convert(const std::string& mnemonic, uint64_t source, Type dst = Type::kNone,
                        Type src = Type::kNone) {
    Setup setup{.mnemonic = mnemonic, .sources = {{source}}};
    setup.dst_register = dst;
    setup.src_register = src;
    return run(setup).dst[7];
}
inline uint64_t bits(float x) {
    return machine::bits_as<uint32_t>(x);
}
inline uint64_t bits(double x) {
    return machine::bits_as<uint64_t>(x);
}
inline float as_float(uint64_t x) {
    return machine::bits_as<float>(uint32_t(x));
}
inline double as_double(uint64_t x) {
    return machine::bits_as<double>(x);
}

// Whether any table has a handler for the form.
inline bool known(const Setup& setup) {
    ptx::Instruction instruction;
    ptx::Function function;
    build(setup, instruction, function);
    return machine::select_arithmetic(instruction, function).has_value();
}

struct Case {
    std::string mnemonic;
    std::vector<uint64_t> sources;
    uint64_t result;
};
// One check per line of a table; the failing line is shown.
inline void check(const std::vector<Case>& cases) {
    for (const Case& c : cases) {
        std::ostringstream shown;
        shown << std::hex << c.mnemonic;
        for (const uint64_t value : c.sources) shown << " " << value;
        shown << " gives ";
        const std::string line = shown.str();
        std::ostringstream got, want;
        got << line << std::hex << eval(c.mnemonic, c.sources);
        want << line << std::hex << c.result;
        CHECK(got.str() == want.str());
    }
}

}  // namespace lab
