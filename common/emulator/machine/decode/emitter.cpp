// SPDX-License-Identifier: MIT
#include "machine/decode/emitter.h"

#include "machine/execute/access_runs.h"
#include "machine/program/sites.h"

namespace machine {

Instr& Emitter::emit(const ptx::Instruction& in, Control control, Handler handler) {
    Instr out;
    out.control = control == kStraight && in.guarded ? kGuarded : control;
    out.handler = handler;
    out.one_lane = run_alone;  // unless the caller sets a handler for a single lane
    out.guarded = in.guarded;
    out.guard_negated = in.guard_negated;
    if (in.guarded) out.guard = rows_.of_register(in.guard);
    out.site = register_site(module_, function_, index_);
    code_.instructions.push_back(out);
    return code_.instructions.back();
}

Instr& Emitter::emit_rows(const ptx::Instruction& in, Handler handler) {
    Instr& out = emit(in, kStraight, handler);
    out.one_lane = handler;
    return out;
}

Instr& Emitter::emit_access(const ptx::Instruction& in, Handler handler, const MemoryOp& op) {
    Instr& out = emit_with(in, kStraight, handler, code_.memory, op);
    if (op.base <= MemoryOp::Base::kRow64)
        code_.memory.back().pattern = &code_.patterns.emplace_back();
    return out;
}

Instr& Emitter::emit_hidden(Handler handler) {
    Instr out;
    out.handler = out.one_lane = handler;
    code_.instructions.push_back(out);
    return code_.instructions.back();
}

void Emitter::emit_reconvergence() {
    Instr join;
    join.control = kReconverge;
    code_.instructions.push_back(join);
}

}  // namespace machine
