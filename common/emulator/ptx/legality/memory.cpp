// SPDX-License-Identifier: MIT
// Modifiers and types of instructions that access memory: PTX ISA "Data Movement and Conversion
// Instructions", and atom and red of "Parallel Synchronization and Communication Instructions".
#include <algorithm>
#include <initializer_list>

#include "ptx/legality/parts.h"
#include "ptx/tables.h"

namespace ptx {
namespace {

// A set of modifiers that an instruction does not accept.
std::optional<Complaint> check_without(const Instruction& in, std::initializer_list<Mod> mods) {
    for (const Mod mod : mods)
        if (in.has(mod))
            return Complaint{"." + std::string(spelling(mod)),
                             "`" + std::string(in.text) + "`: not allowed for this instruction"};
    return std::nullopt;
}

std::optional<Complaint> check_width(const Instruction& in, unsigned target) {
    const Type type = in.type();
    for (const Type packed :
         {Type::kF16, Type::kF16x2, Type::kBf16, Type::kBf16x2, Type::kTf32, Type::kF32x2})
        if (type == packed)
            return Complaint{"." + std::string(spelling(type)),
                             "loads and stores use .b16 for halves and .b32 for pairs of them"};
    const unsigned bytes = byte_size(type) * in.vector;
    if (bytes > 32 || (bytes > 16 && type == Type::kB128))
        return Complaint{std::string(in.text), "an access has at most 128 bits"};
    if (bytes > 16 && target < 100)
        return Complaint{std::string(in.text), "256-bit accesses need .target sm_100 or higher"};
    return std::nullopt;
}

// The modifiers that neither prefetches nor applypriority and discard accept.
std::optional<Complaint> check_hint(const Instruction& in) {
    return check_without(in, {Mod::k_L1_evict_normal, Mod::k_L1_evict_last});
}

bool has_space(const Instruction& in) {
    return in.space != Space::kGeneric && in.space != Space::kNone;
}

bool is_global(const Instruction& in) {
    return in.space == Space::kGlobal || !has_space(in);
}

bool evicts(const Instruction& in) {
    return in.has(Mod::k_L2_evict_last) || in.has(Mod::k_L2_evict_normal);
}

std::optional<Complaint> check_line_size(const Instruction& in) {
    const Operand* size = in.operands.size() == 2 ? &in.operands[1] : nullptr;
    if (size && size->kind == Operand::Kind::kImmediate && size->bits != 128)
        return Complaint{std::string(in.text), "expected 128, the size of a line"};
    return std::nullopt;
}

}  // namespace

// The operation of an atom or red restricts its type; order, scope and cache hints do not matter.
std::optional<Complaint> check_atomic(const Instruction& in, unsigned) {
    static constexpr struct {
        Mod operation;
        const char* types;
    } kTypes[] = {
        {Mod::k_and, "b32 b64"},
        {Mod::k_or, "b32 b64"},
        {Mod::k_xor, "b32 b64"},
        {Mod::k_exch, "b32 b64 b128"},
        {Mod::k_cas, "b16 b32 b64 b128"},
        {Mod::k_add, "u32 s32 u64 f32 f64 f16 f16x2 bf16 bf16x2"},
        {Mod::k_inc, "u32"},
        {Mod::k_dec, "u32"},
        {Mod::k_min, "u32 s32 u64 s64 f16 f16x2 bf16 bf16x2"},
        {Mod::k_max, "u32 s32 u64 s64 f16 f16x2 bf16 bf16x2"},
    };
    if (in.has(Mod::k_async) || in.types.size() != 1) return std::nullopt;
    const std::string_view type = spelling(in.types[0]);
    bool known = false;
    for (const auto& [operation, types] : kTypes) {
        if (!in.has(operation)) continue;
        known = true;
        const auto list = words(types);
        if (std::find(list.begin(), list.end(), type) == list.end())
            return Complaint{"." + std::string(type),
                             "`" + std::string(in.text) + "`: expected one of the types " + types};
    }
    const bool half = in.types[0] >= Type::kF16 && in.types[0] <= Type::kBf16x2;
    if (half != in.has(Mod::k_noftz))
        return Complaint{std::string(in.text),
                         half ? "expected .noftz with this type" : ".noftz is for .f16 and .bf16"};
    if (!known)
        return Complaint{std::string(in.text), "expected an operation such as .add or .exch"};
    for (const Mod mod : {Mod::k_ftz, Mod::k_weak, Mod::k_volatile})
        if (in.has(mod))
            return Complaint{"." + std::string(spelling(mod)),
                             "`" + std::string(in.text) + "`: not allowed for atomics"};
    if (in.space == Space::kShared && in.has(Mod::k_L2_cache_hint))
        return Complaint{std::string(in.text), "cache hints are for .global and generic addresses"};
    if (in.opcode == Opcode::k_red && (in.has(Mod::k_exch) || in.has(Mod::k_cas)))
        return Complaint{std::string(in.text), "red has no result: expected atom"};
    if (in.opcode == Opcode::k_red && (in.has(Mod::k_acquire) || in.has(Mod::k_acq_rel)))
        return Complaint{std::string(in.text), "red only writes: expected .relaxed or .release"};
    return std::nullopt;
}

std::optional<Complaint> check_access(const Instruction& in, unsigned target) {
    if (in.has(Mod::k_async)) return std::nullopt;
    const bool reads_only = in.space == Space::kConst || in.space == Space::kParam;
    const bool global = in.space == Space::kGlobal || in.space == Space::kGeneric;
    const std::string text(in.text);
    if (in.opcode == Opcode::k_st && in.space == Space::kConst)
        return Complaint{text, "constant memory cannot be written by a kernel"};
    for (const Mod mod : {Mod::k_volatile, Mod::k_relaxed, Mod::k_acquire, Mod::k_release})
        if (in.has(mod) && (reads_only || (in.space == Space::kLocal && mod != Mod::k_volatile)))
            return Complaint{text, "expected a state space that other threads can write"};
    if (in.has(Mod::k_volatile) && in.space == Space::kLocal)
        return Complaint{text,
                         "no other thread sees local memory: .volatile is for .global, "
                         ".shared and generic addresses"};
    const bool ordered = in.has(Mod::k_relaxed) || in.has(Mod::k_acquire) || in.has(Mod::k_release);
    const bool scoped =
        in.has(Mod::k_cta) || in.has(Mod::k_cluster) || in.has(Mod::k_gpu) || in.has(Mod::k_sys);
    if (ordered && !scoped) return Complaint{text, "expected a scope: .cta .cluster .gpu .sys"};
    if (in.has(Mod::k_mmio) && (!in.has(Mod::k_relaxed) || in.vector != 1))
        return Complaint{text, "expected .mmio.relaxed.sys and a single value"};
    if (auto wrong = check_width(in, target)) return wrong;
    if (auto wrong = in.opcode == Opcode::k_st ? check_without(in,
                                                               {Mod::k_ca,
                                                                Mod::k_lu,
                                                                Mod::k_cv,
                                                                Mod::k_nc,
                                                                Mod::k_unified,
                                                                Mod::k_L2_64B,
                                                                Mod::k_L2_128B,
                                                                Mod::k_L2_256B})
                                               : check_without(in, {Mod::k_wb, Mod::k_wt}))
        return wrong;
    if (in.has(Mod::k_acquire) && in.opcode == Opcode::k_st)
        return Complaint{text, "a store may .release, not .acquire"};
    if (in.has(Mod::k_release) && in.opcode != Opcode::k_st)
        return Complaint{text, "a load may .acquire, not .release"};
    if (in.has(Mod::k_nc) && in.space != Space::kGlobal)
        return Complaint{text, "expected .global with .nc"};
    for (const Mod hint : {Mod::k_L1_evict_normal,
                           Mod::k_L1_evict_unchanged,
                           Mod::k_L1_evict_first,
                           Mod::k_L1_evict_last,
                           Mod::k_L1_no_allocate,
                           Mod::k_L2_64B,
                           Mod::k_L2_128B,
                           Mod::k_L2_256B,
                           Mod::k_L2_cache_hint})
        if (in.has(hint) && !global)
            return Complaint{"." + std::string(spelling(hint)),
                             "cache hints are for .global and generic addresses"};
    if ((in.has(Mod::k_mmio) || in.opcode == Opcode::k_ldu) && !global)
        return Complaint{text, "expected .global or a generic address"};
    return std::nullopt;
}

std::optional<Complaint> check_prefetch(const Instruction& in, unsigned) {
    if (auto wrong = check_hint(in)) return wrong;
    const bool tensormap = in.has(Mod::k_tensormap);
    if (!in.has(Mod::k_L1) && !in.has(Mod::k_L2) && !evicts(in) && !tensormap)
        return Complaint{std::string(in.text), "expected a cache level: .L1 .L2"};
    if (!is_global(in) && (in.space != Space::kLocal || evicts(in)) && !tensormap)
        return Complaint{std::string(in.text), "expected .global, .local or a generic address"};
    return std::nullopt;
}

std::optional<Complaint> check_prefetchu(const Instruction& in, unsigned) {
    if (auto wrong = check_hint(in)) return wrong;
    if (!in.has(Mod::k_L1) || in.has(Mod::k_L2) || has_space(in) || evicts(in))
        return Complaint{std::string(in.text), "expected prefetchu.L1 and a generic address"};
    return std::nullopt;
}

std::optional<Complaint> check_applypriority(const Instruction& in, unsigned) {
    if (auto wrong = check_hint(in)) return wrong;
    if (!in.has(Mod::k_L2_evict_normal) || !is_global(in))
        return Complaint{std::string(in.text), "expected applypriority{.global}.L2::evict_normal"};
    return check_line_size(in);
}

std::optional<Complaint> check_discard(const Instruction& in, unsigned) {
    if (auto wrong = check_hint(in)) return wrong;
    if (!in.has(Mod::k_L2) || !is_global(in))
        return Complaint{std::string(in.text), "expected discard{.global}.L2"};
    return check_line_size(in);
}

std::optional<Complaint> check_address_conversion(const Instruction& in, unsigned) {
    const bool word = in.types.size() == 1 && (in.type() == Type::kU64 || in.type() == Type::kU32);
    if (!word) return Complaint{std::string(in.text), "an address has the type .u64"};
    return std::nullopt;
}

}  // namespace ptx
