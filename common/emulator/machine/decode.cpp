// SPDX-License-Identifier: MIT
// Decoding: the body of a function, and the instructions that only touch rows.
#include <algorithm>
#include <cstring>
#include <optional>
#include <sstream>

#include "machine/control_flow.h"
#include "machine/decoder.h"
#include "machine/sites.h"
#include "machine/streaks.h"
#include "machine/texture_ops.h"
#include "ptx/demangle.h"

namespace machine {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

Decoder::Decoder(ModuleImage& module, const ptx::Function& function)
    : module_(module), function_(function), code_(std::make_unique<Code>()) {}

Instr& Decoder::emit(In in, Control control, Handler handler) {
    Instr out;
    out.control = control == kStraight && in.guarded ? kGuarded : control;
    out.handler = handler;
    out.one_lane = run_alone;  // until somebody knows better
    out.guarded = in.guarded;
    out.guard_negated = in.guard_negated;
    if (in.guarded) out.guard = register_rows_[in.guard];
    out.site = register_site(module_.ptx(), function_, index_);
    code_->instructions.push_back(out);
    return code_->instructions.back();
}

Instr& Decoder::emit_hidden(Handler handler) {
    Instr out;
    out.handler = out.one_lane = handler;
    code_->instructions.push_back(out);
    return code_->instructions.back();
}

Instr& Decoder::emit_rows(In in, Handler handler) {
    Instr& out = emit(in, kStraight, handler);
    out.one_lane = handler;
    return out;
}

void Decoder::emit_meeting(In in) {
    if (!in.guarded) return;
    Instr join;
    join.control = kReconverge;
    code_->instructions.push_back(join);
}

bool Decoder::arithmetic(In in) {
    const auto selected = select_arithmetic(in, function_);
    if (!selected) return false;
    size_t next = 0;
    uint32_t dst = kNoRow, dst2 = kNoRow;
    if (selected->has_dst) {
        if (in.operands.size() <= next) return false;
        const Operand& operand = in.operands[next++];
        if (operand.kind == Operand::Kind::kPair) {
            dst = destination(operand.elements[0], selected->dst);
            dst2 = destination(operand.elements[1], selected->dst);
            if (dst2 == kNoRow) return false;
        } else {
            dst = destination(operand, selected->dst);
        }
    }
    std::array<uint32_t, 4> rows{};
    for (unsigned k = 0; k < selected->sources; ++k) {
        if (next >= in.operands.size()) return false;
        rows[k] = source(in.operands[next++], selected->src[k]);
        if (rows[k] == kNoRow) return false;
    }
    if (selected->has_dst && dst == kNoRow) return false;
    Instr& out = emit_rows(in, selected->handler);
    if (selected->one_lane) out.one_lane = selected->one_lane;
    out.dst = dst;
    out.dst2 = dst2 == kNoRow && selected->has_dst2 ? scratch(8) : dst2;
    out.src = rows;
    out.extra = selected->extra;
    // A selection copies bits, whatever its type says.
    out.in_double = in.opcode != ptx::Opcode::k_selp &&
                    std::find(in.types.begin(), in.types.end(), ptx::Type::kF64) != in.types.end();
    return true;
}

namespace {

// The shared memory that every block of an sm_80 device and newer has besides its own: the
// toolkit's cooperative groups keep a few bytes there.
constexpr uint32_t kReservedBytes = 1024;

std::optional<uint32_t> offset_in_reserved(ptx::Special special) {
    switch (special) {
    case ptx::Special::k_reserved_smem_offset_begin:
    case ptx::Special::k_reserved_smem_offset_0:
    case ptx::Special::k_reserved_smem_offset_1:
        return 0;
    case ptx::Special::k_reserved_smem_offset_2:
        return kReservedBytes / 2;
    case ptx::Special::k_reserved_smem_offset_cap:
    case ptx::Special::k_reserved_smem_offset_end:
        return kReservedBytes;
    default:
        return std::nullopt;
    }
}

}  // namespace

uint64_t Decoder::reserved_shared() {
    ptx::Variable variable;
    variable.name = "reserved_shared_memory";
    variable.space = ptx::Space::kShared;
    variable.bytes = kReservedBytes;
    variable.align = 16;
    const uint32_t index = module_.shared_index(variable, "the toolkit");
    code_->shared.push_back(index);
    module_.shared[index].reserved = true;
    return module_.shared[index].address;
}

bool Decoder::move(In in) {
    if (in.operands.size() != 2) return false;
    const Operand& to = in.operands[0];
    const Operand& from = in.operands[1];
    const auto is_address = [&](const Operand& operand) {
        return fits(operand, Type::kB32) || fits(operand, Type::kB64);
    };
    if (from.kind == Operand::Kind::kSpecial) {
        if (const auto offset = offset_in_reserved(from.special)) {
            if (to.kind != Operand::Kind::kRegister || !is_address(to)) return false;
            const uint32_t bytes = register_bytes(to);
            const uint32_t row =
                constant(bytes == 8 ? Type::kU64 : Type::kU32, reserved_shared() + *offset);
            Instr& out = emit_rows(in, move_handlers().copy(bytes));
            out.src[0] = row;
            out.dst = register_rows_[to.index];
            return true;
        }
        if (from.special == ptx::Special::k_is_explicit_cluster) {
            if (to.kind != Operand::Kind::kRegister || !is_predicate(to)) return false;
            Operand never;  // no launch here has clusters
            never.kind = Operand::Kind::kImmediate;
            ptx::Instruction plain = in;
            plain.operands[1] = never;
            return arithmetic(plain);
        }
        const Handler handler = move_handlers().special(from.special);
        if (!handler || to.kind != Operand::Kind::kRegister || !(is_address(to))) return false;
        Instr& out = emit_rows(in, handler);
        out.dst = register_rows_[to.index];
        out.extra = uint16_t(uint16_t(from.special) | (register_bytes(to) == 8 ? 0x8000 : 0));
        return true;
    }
    if (from.kind == Operand::Kind::kVector || to.kind == Operand::Kind::kVector) {
        const bool packing = from.kind == Operand::Kind::kVector;
        const auto& elements = packing ? from.elements : to.elements;
        MemoryOp op;
        op.vector = uint8_t(elements.size());
        const uint32_t total = ptx::byte_size(in.type());
        if (total == 0 || elements.empty() || elements.size() > 8 || total % elements.size())
            return false;
        op.element_bytes = uint8_t(total / elements.size());
        const Type element = op.element_bytes == 8   ? Type::kB64
                             : op.element_bytes == 4 ? Type::kB32
                             : op.element_bytes == 2 ? Type::kB16
                                                     : Type::kB8;
        op.row_bytes = uint8_t(std::max<uint32_t>(2, op.element_bytes));
        for (size_t k = 0; k < elements.size(); ++k) {
            op.rows[k] = packing ? source(elements[k], element) : destination(elements[k], element);
            if (op.rows[k] == kNoRow) return false;
        }
        op.dst = packing ? destination(to, in.type()) : source(from, in.type());
        op.bytes = uint8_t(total);
        if (op.dst == kNoRow) return false;
        const MoveTable& moves = move_handlers();
        const bool words = op.vector == 2 && op.element_bytes == 4 && op.row_bytes == 4;
        const Handler pack = words ? moves.pack_words : moves.pack;
        Instr& out = emit_rows(in, packing ? pack : words ? moves.unpack_words : moves.unpack);
        code_->memory.push_back(op);
        out.op = &code_->memory.back();
        return true;
    }
    if (from.kind == Operand::Kind::kSymbol && to.kind == Operand::Kind::kRegister) {
        if (!is_address(to)) return false;
        const uint32_t bytes = register_bytes(to);
        if (from.target == Operand::Target::kVariable && symbol_space(from) == ptx::Space::kLocal) {
            const uint32_t offset = constant(bytes == 8 ? Type::kU64 : Type::kU32, symbol(from));
            Instr& out = emit_rows(in, move_handlers().local_address(bytes));
            out.src[0] = offset;
            out.dst = register_rows_[to.index];
            return true;
        }
        if (symbol_space(from) == ptx::Space::kParam && !function_.is_entry) return false;
        const uint32_t row = constant(bytes == 8 ? Type::kU64 : Type::kU32, symbol(from));
        Instr& out = emit_rows(in, move_handlers().copy(bytes));
        out.src[0] = row;
        out.dst = register_rows_[to.index];
        return true;
    }
    return arithmetic(in);
}

bool Decoder::convert_address(In in) {
    if (in.operands.size() != 2 || in.operands[0].kind != Operand::Kind::kRegister) return false;
    const bool to_space = in.has(Mod::k_to);
    const ptx::Space space = in.space;
    const uint32_t bytes = register_bytes(in.operands[0]);
    const Operand& from = in.operands[1];
    const bool local_symbol =
        from.kind == Operand::Kind::kSymbol && symbol_space(from) == ptx::Space::kLocal;
    const uint32_t row = source(from, in.type());
    if (row == kNoRow || !fits(in.operands[0], in.type()) || (bytes != 4 && bytes != 8))
        return false;
    uint64_t tag = 0;
    if (space == ptx::Space::kShared)
        tag = kSharedTag;
    else if (space == ptx::Space::kLocal)
        tag = kLocalTag;
    else if (space == ptx::Space::kParam)
        tag = kParamTag;
    else if (space != ptx::Space::kGlobal && space != ptx::Space::kConst)
        return false;
    if (local_symbol) {
        Instr& base = emit_rows(in, move_handlers().local_address(bytes));
        base.src[0] = row;
        base.dst = register_rows_[in.operands[0].index];
    }
    Instr& out = emit_rows(in,
                           tag == 0   ? move_handlers().copy(bytes)
                           : to_space ? move_handlers().from_generic(bytes)
                                      : move_handlers().to_generic(bytes, tag));
    out.src[0] = local_symbol ? register_rows_[in.operands[0].index] : row;
    out.dst = register_rows_[in.operands[0].index];
    out.extra = uint16_t(tag);
    return true;
}

// Part of a register, or its negative.
bool Decoder::is_partial(Op operand) const {
    return !operand.selector.empty() || (operand.negated && !is_predicate(operand));
}

// Whether an element of a vector, list or address is: no instruction has these.
bool Decoder::has_partial_elements(Op operand) const {
    return std::any_of(operand.elements.begin(), operand.elements.end(), [&](Op element) {
        return is_partial(element) || has_partial_elements(element);
    });
}

bool Decoder::instruction(In in) {
    for (Op operand : in.operands) {
        if (is_partial(operand)) return lane_operation(in);  // the video instructions
        if (has_partial_elements(operand)) return false;
    }
    switch (in.opcode) {
    case Opcode::k_mov:
        return move(in);
    case Opcode::k_cvta:
        return convert_address(in);
    case Opcode::k_ld:
    case Opcode::k_ldu:
    case Opcode::k_st:
        return memory_access(in);
    case Opcode::k_atom:
    case Opcode::k_red:
        return atomic(in);
    case Opcode::k_membar:
    case Opcode::k_fence:
        return fence(in);
    case Opcode::k_bra:
    case Opcode::k_brx:
        return branch(in);
    case Opcode::k_call:
        return call(in);
    case Opcode::k_bar:
    case Opcode::k_barrier:
        return in.text.starts_with("bar.warp") ? warp_operation(in) : barrier(in);
    case Opcode::k_shfl:
    case Opcode::k_vote:
    case Opcode::k_match:
    case Opcode::k_redux:
    case Opcode::k_elect:
        return warp_operation(in);
    case Opcode::k_wmma:
    case Opcode::k_mma:
    case Opcode::k_ldmatrix:
    case Opcode::k_stmatrix:
    case Opcode::k_movmatrix:
        return matrix(in);
    case Opcode::k_cp:
        return async_copy(in);
    case Opcode::k_mbarrier:
        return mbarrier(in);
    case Opcode::k_alloca:
    case Opcode::k_stacksave:
    case Opcode::k_stackrestore:
        return stack(in);
    case Opcode::k_tex:
    case Opcode::k_tld4:
    case Opcode::k_txq:
    case Opcode::k_suld:
    case Opcode::k_sust:
    case Opcode::k_sured:
    case Opcode::k_suq:
        return texture(in);
    default:
        break;
    }
    if (miscellaneous(in)) return true;
    return arithmetic(in) || lane_operation(in);
}

std::unique_ptr<Code> Decoder::run() {
    Code& code = *code_;
    code.module = &module_;
    code.function = &function_;
    code.name = ptx::plain_function(function_.name);
    code.is_entry = function_.is_entry;
    // Without any line it is nobody's code that a student could look at.
    if (!function_.is_entry && !is_users(module_.ptx(), function_)) {
        code.foreign.assign(function_.body.size(), true);
        for (size_t i = 0; i < function_.body.size(); ++i) {
            const uint32_t location = function_.body[i].location;
            if (location && module_.ptx().in_user_file(location)) code.foreign[i] = false;
        }
        code.is_toolkit =
            std::find(code.foreign.begin(), code.foreign.end(), false) == code.foreign.end();
    }
    lay_out();
    count_definitions();
    count_uses();
    meeting_ = reconvergence_points(function_);
    objects_ = local_objects(function_);
    const uint32_t count = uint32_t(function_.body.size());
    std::vector<bool> meets(count + 1, false);
    for (uint32_t m : meeting_)
        if (m != kNoInstruction) meets[m] = true;
    pc_of_.resize(count + 1);
    std::ostringstream missing;
    // Lines with a word that the reader does not know: they mean something else without it.
    std::vector<uint32_t> unread;
    for (const ptx::Unsupported& each : module_.ptx().unsupported(function_.name))
        unread.push_back(each.line);
    std::sort(unread.begin(), unread.end());
    unsigned bad = 0;
    for (index_ = 0; index_ < count; ++index_) {
        const auto& in = function_.body[index_];
        pc_of_[index_] = uint32_t(code.instructions.size());
        if (meets[index_]) {
            Instr join;
            join.control = kReconverge;
            code.instructions.push_back(join);
        }
        const size_t first = code.instructions.size();
        const bool strange = std::binary_search(unread.begin(), unread.end(), in.line);
        if (!strange && (fused_addition(in) || instruction(in))) {
            note_invariant(in, first);
        } else if (bad++ < 20) {
            missing << "\n  PTX line " << in.line << ": " << in.text;
            for (Op operand : in.operands)
                if (in.opcode == Opcode::k_call && operand.kind == Operand::Kind::kSymbol)
                    missing << " " << operand.name;
            const ptx::SourceLine line =
                in.location ? module_.ptx().user_line(in.location) : ptx::SourceLine{};
            if (!line.file.empty()) missing << "  (" << line.file << ":" << line.line << ")";
        }
    }
    if (bad)
        throw UnsupportedPtx(
            "`" + code.name + "` uses PTX that the emulated device cannot execute:" +
            missing.str() + (bad > 20 ? "\n  and more" : "") +
            (calls_device_runtime_ ? "\n  These calls are of the device runtime (CUDA Dynamic "
                                     "Parallelism: kernels that launch kernels, or make streams), "
                                     "which the emulated device does not have. Launch from the "
                                     "host instead."
                                   : ""));
    pc_of_[count] = uint32_t(code.instructions.size());
    Instr end;
    end.control = function_.is_entry ? kExit : kMissing;
    end.site = count ? register_site(module_.ptx(), function_, count - 1) : 0;
    code.instructions.push_back(end);

    hoist_invariants();
    // Branches were decoded with PTX indexes.
    for (uint32_t i = 0; i < code.branches.size(); ++i) {
        BranchOp& branch = code.branches[i];
        branch.target = pc_of_[branch.target];
        if (branch.meeting != kNoInstruction) branch.meeting = pc_of_[branch.meeting];
        for (uint32_t& t : branch.table) t = pc_of_[t];
    }
    place_constants();
    count_runs();
    code.register_rows = std::move(register_rows_);
    code.divergent.assign(code.instructions.size(), 0);
    return std::move(code_);
}

std::unique_ptr<Code> decode(ModuleImage& module, const ptx::Function& function) {
    return Decoder(module, function).run();
}

void Code::reset_counts() {
    std::fill(deltas.begin(), deltas.end(), Delta{});
    for (Run& run : runs) run.executed = {};
    std::fill(divergent.begin(), divergent.end(), 0);
    touched = false;
}

}  // namespace machine
