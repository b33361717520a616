// SPDX-License-Identifier: MIT
// Appends decoded instructions to a Code, with guard, source site and entry in a side table.
#pragma once

#include <deque>
#include <memory>
#include <utility>

#include "machine/decode/row_layout.h"
#include "machine/program/code.h"

namespace machine {

class Emitter {
public:
    Emitter(ptx::Module& module, const ptx::Function& function, Code& code, const RowLayout& rows)
        : module_(module), function_(function), code_(code), rows_(rows) {}

    // The PTX instruction that the next ones are emitted for.
    void set_index(uint32_t index) { index_ = index; }

    Instr& emit(const ptx::Instruction& in, Control control, Handler handler);
    // For an instruction that only touches rows: its handler also serves a single lane.
    Instr& emit_rows(const ptx::Instruction& in, Handler handler);
    // For an access through `op`.
    Instr& emit_access(const ptx::Instruction& in, Handler handler, const MemoryOp& op);
    // For an instruction that the scheduler executes by means of `op`, an entry of `table`.
    template <class Op>
    Instr& emit_with(const ptx::Instruction& in, Control control, Handler handler,
                     std::deque<Op>& table, Op op) {
        table.push_back(std::move(op));
        Instr& out = emit(in, control, handler);
        out.op = &table.back();
        return out;
    }
    // A step that is no PTX instruction and is not counted as one.
    Instr& emit_hidden(Handler handler);
    void emit_reconvergence();
    // After a guarded instruction that blocks: lanes that skipped it wait here for the others.
    void emit_reconvergence_after(const ptx::Instruction& in) {
        if (in.guarded) emit_reconvergence();
    }

    // An entry of a table for rare instructions; it lives as long as the code.
    template <class T>
    T& side_table(T value) {
        auto owned = std::make_shared<T>(std::move(value));
        code_.side_tables.push_back(owned);
        return *owned;
    }

private:
    ptx::Module& module_;
    const ptx::Function& function_;
    Code& code_;
    const RowLayout& rows_;
    uint32_t index_ = 0;
};

}  // namespace machine
