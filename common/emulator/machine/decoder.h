// SPDX-License-Identifier: MIT
// Turns a parsed PTX function into Code. Private to decode*.cpp.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "machine/code.h"
#include "machine/levels.h"
#include "machine/module_image.h"
#include "machine/texture_ops.h"

namespace machine {

class Decoder {
public:
    Decoder(ModuleImage& module, const ptx::Function& function);
    std::unique_ptr<Code> run();

private:
    using In = const ptx::Instruction&;
    using Op = const ptx::Operand&;

    // What becomes of a decoded instruction when the body is complete.
    enum class Fate : uint8_t { kStays, kHoisted, kDropped };

    // One call per instruction; each returns false when the form is unknown.
    bool instruction(In in);
    bool arithmetic(In in);
    bool move(In in);
    bool convert_address(In in);
    bool memory_access(In in);
    bool atomic(In in);
    bool fence(In in);
    bool branch(In in);
    bool call(In in);
    bool barrier(In in);
    bool warp_operation(In in);
    bool miscellaneous(In in);
    bool texture(In in);
    bool surface(In in, TextureOp& op);
    bool texture_address(In in, Op where, TextureOp& op);
    bool texture_results(Op given, TextureOp& op);
    bool matrix(In in);      // decode_matrix.cpp
    bool async_copy(In in);  // decode_async.cpp
    bool mbarrier(In in);
    bool stack(In in);        // decode_memory.cpp: alloca and others
    bool wide_access(In in);  // vectors of 32 bytes
    bool vector_atomic(In in);
    bool lane_operation(In in);  // decode_lane_ops.cpp: what is too rare for a handler of its own

    // Launch invariants (invariants.cpp).
    void count_definitions();
    bool is_invariant(In in) const;
    // Marks the instruction just decoded, if it is the only one from `first` on and qualifies.
    void note_invariant(In in, size_t first);
    void hoist_invariants();
    bool hoisted_at(size_t pc) const { return pc < fate_.size() && fate_[pc] == Fate::kHoisted; }

    // Products that are added at once (fusion.cpp).
    void count_uses();
    uint32_t product_of(Op factor, uint32_t bytes) const;
    bool fused_addition(In in);
    void drop(size_t pc) {
        fate_.resize(code_->instructions.size(), Fate::kStays);
        fate_[pc] = Fate::kDropped;
    }

    // Rows.
    void lay_out();
    void place_constants();
    void count_runs();
    uint32_t reserve(uint32_t bytes_per_lane, bool predicate = false);
    uint32_t scratch(uint32_t bytes_per_lane);
    uint32_t constant(ptx::Type type, uint64_t bits);  // a row with this value in every lane
    uint32_t immediate(Op operand, ptx::Type type);
    uint32_t register_bytes(Op operand) const;  // 4 for a predicate's mask
    bool is_predicate(Op operand) const;
    bool is_partial(Op operand) const;
    bool has_partial_elements(Op operand) const;
    // Whether a register is as wide as `type` and a predicate where that is one. Handlers step
    // through rows by their own type, so a row of another width would lead them out of it.
    bool fits(Op operand, ptx::Type type) const;
    // The row of a source, reading it as `type`; emits a complement for !%p. kNoRow where it does
    // not fit.
    uint32_t source(Op operand, ptx::Type type);
    // The row for a result of that type. kNoRow where it does not fit.
    uint32_t destination(Op operand, ptx::Type type);
    uint64_t reserved_shared();   // the address of the shared memory that the toolkit may use
    uint64_t symbol(Op operand);  // address in its own space
    Region variable_region(Op operand) const;  // empty for variables that are not .param
    ptx::Space symbol_space(Op operand) const;
    bool address(In in, Op operand, MemoryOp& op);
    CallOp::Slot slot(Op operand, uint32_t bytes);

    // An entry of a side table; run() puts rows of constants right where late() has been told of.
    template <class T>
    T& side_table(T value) {
        auto owned = std::make_shared<T>(std::move(value));
        code_->side_tables.push_back(owned);
        return *owned;
    }
    void late(uint32_t& row) { late_rows_.push_back(&row); }

    Instr& emit(In in, Control control, Handler handler);
    // One that touches rows alone: the handler does for one lane, too.
    Instr& emit_rows(In in, Handler handler);
    Instr& emit_hidden(Handler handler);
    // Behind a guarded instruction that blocks: lanes that skipped it wait there for the others.
    void emit_meeting(In in);

    ModuleImage& module_;
    const ptx::Function& function_;
    std::unique_ptr<Code> code_;
    std::vector<uint32_t> register_rows_;
    bool calls_device_runtime_ = false;       // to launch kernels, say
    std::vector<uint32_t> variable_offsets_;  // .local: in the depot; .param: index into regions_
    std::vector<Region> regions_;
    std::map<std::pair<uint32_t, std::pair<uint64_t, uint64_t>>, uint32_t> constants_;
    std::vector<std::pair<uint32_t, std::vector<std::byte>>> constant_rows_;
    std::map<uint32_t, uint32_t> scratch_;
    std::vector<uint32_t> pc_of_;        // PTX instruction -> decoded
    std::vector<uint32_t> meeting_;      // where each branch's lanes meet again
    uint32_t index_ = 0;                 // PTX instruction being decoded
    std::vector<uint32_t> definitions_;  // by register: instructions that may write it
    std::vector<bool> invariant_;        // by register
    std::vector<Fate> fate_;             // by decoded instruction
    std::vector<bool> passed_on_;        // by register: written by one, read by one
    std::vector<bool> jumped_to_;        // by PTX instruction
    std::vector<LocalObject> objects_;   // by register
    std::vector<uint32_t*> late_rows_;
};

Scope scope_of(const ptx::Instruction& in);  // decode_vectors.cpp
MemoryOrder order_of(const ptx::Instruction& in);
Mover vector_atomic_mover(const ptx::Instruction& in);  // atomics.cpp
Mover atomic_mover(const ptx::Instruction& in);         // atomics.cpp; null: unknown form

}  // namespace machine
