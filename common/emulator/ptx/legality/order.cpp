// SPDX-License-Identifier: MIT
// Modifiers of barriers, fences and mbarrier objects: PTX ISA "Parallel Synchronization and
// Communication Instructions".
#include <initializer_list>

#include "ptx/legality/parts.h"
#include "ptx/tables.h"

namespace ptx {
namespace {

unsigned count(const Instruction& in, std::initializer_list<Mod> mods) {
    unsigned found = 0;
    for (const Mod mod : mods) found += in.has(mod);
    return found;
}

constexpr std::initializer_list<Mod> kScopes = {
    Mod::k_cta, Mod::k_cluster, Mod::k_gpu, Mod::k_sys, Mod::k_gl};

Complaint wrong(const Instruction& in, std::string_view right) {
    return {std::string(in.text), std::string(right)};
}

}  // namespace

// bar and barrier, for a block.
std::optional<Complaint> check_block_barrier(const Instruction& in, unsigned) {
    if (in.has(Mod::k_warp) || in.has(Mod::k_cluster)) return std::nullopt;
    if (in.opcode == Opcode::k_bar && in.has(Mod::k_aligned))
        return wrong(in, "bar is always aligned: .aligned is for barrier");
    if (count(in, {Mod::k_sync, Mod::k_arrive, Mod::k_red}) != 1)
        return wrong(in, "expected one of .sync .arrive .red");
    size_t number = 0;
    if (in.has(Mod::k_red)) {
        const bool counts = in.has(Mod::k_popc);
        const bool right =
            in.types.size() == 1 &&
            (counts ? in.type() == Type::kU32
                    : in.type() == Type::kPred && count(in, {Mod::k_and, Mod::k_or}) == 1);
        if (!right || in.has(Mod::k_xor))
            return wrong(in, "expected .red.popc.u32, .red.and.pred or .red.or.pred");
        number = 1;
    } else if (in.has(Mod::k_arrive) && in.operands.size() != 2) {
        return wrong(in, "expected a number of threads after the barrier's: arrive requires one");
    } else if (in.has(Mod::k_arrive) && in.operands[1].kind == Operand::Kind::kImmediate &&
               in.operands[1].bits == 0) {
        return wrong(in, "expected a number of threads above 0");
    } else if (in.has(Mod::k_sync) && in.operands.empty()) {
        return wrong(in, "expected the number of a barrier");
    }
    if (in.operands.size() <= number) return std::nullopt;
    const Operand& barrier = in.operands[number];
    if (barrier.kind == Operand::Kind::kImmediate && barrier.bits > 15)
        return wrong(in, "a block has the barriers 0 to 15");
    const size_t threads = number + 1;
    if (in.operands.size() <= threads) return std::nullopt;
    const Operand& many = in.operands[threads];
    if (many.kind == Operand::Kind::kImmediate && (number == 0 || in.operands.size() > 3) &&
        many.bits % 32 != 0)
        return wrong(in, "the number of threads at a barrier is a multiple of 32");
    return std::nullopt;
}

std::optional<Complaint> check_membar(const Instruction& in, unsigned) {
    if (in.has(Mod::k_proxy)) return std::nullopt;
    if (count(in, kScopes) != 1 || in.has(Mod::k_gpu) || in.has(Mod::k_cluster))
        return wrong(in, "expected one of membar.cta membar.gl membar.sys");
    return std::nullopt;
}

std::optional<Complaint> check_fence(const Instruction& in, unsigned) {
    if (in.has(Mod::k_proxy)) {
        if (in.has(Mod::k_tensormap_generic) && count(in, {Mod::k_acquire, Mod::k_release}) != 1)
            return wrong(in, "expected .acquire or .release");
        const bool takes_address = in.has(Mod::k_tensormap_generic) && in.has(Mod::k_acquire);
        if (!takes_address && !in.operands.empty())
            return wrong(in, "expected ';': this fence has no address");
        return std::nullopt;
    }
    if (in.has(Mod::k_relaxed)) return wrong(in, "expected .sc, .acq_rel, .acquire or .release");
    if (count(in, kScopes) != 1 || in.has(Mod::k_gl))
        return wrong(in, "expected one of the scopes .cta .cluster .gpu .sys");
    return std::nullopt;
}

std::optional<Complaint> check_mbarrier(const Instruction& in, unsigned) {
    const bool arrives = in.has(Mod::k_arrive) || in.has(Mod::k_arrive_drop);
    const bool waits = in.has(Mod::k_test_wait) || in.has(Mod::k_try_wait);
    if (in.has(Mod::k_gpu) || in.has(Mod::k_sys))
        return wrong(in, "expected one of the scopes .cta .cluster");
    if (arrives && in.has(Mod::k_acquire)) return wrong(in, "expected .release or .relaxed");
    if (waits && in.has(Mod::k_release)) return wrong(in, "expected .acquire or .relaxed");
    if (in.has(Mod::k_test_wait) && in.operands.size() == 4)
        return wrong(in, "a time limit is for .try_wait");
    if (in.has(Mod::k_pending_count) && in.space != Space::kNone && in.space != Space::kGeneric)
        return wrong(in, "expected a state, not a state space");
    return std::nullopt;
}

}  // namespace ptx
