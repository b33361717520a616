// SPDX-License-Identifier: MIT
// Rewrites instructions to simpler forms, so that the machine supports fewer of them: special
// registers in a conversion, moves of vectors, sums in place of a register. calls.cpp does the same
// for calls.
#include <utility>

#include "ptx/parse/body.h"

namespace ptx {

Operand BodyParser::temporary(Type type) {
    Operand out;
    out.kind = Operand::Kind::kRegister;
    out.index = use_register("temporary", type) - 1;
    out.name = out_.registers[out.index].name;
    return out;
}

void BodyParser::append_move(const Instruction& model, Type type, Operand to, Operand from) {
    Instruction copy;
    copy.opcode = Opcode::k_mov;
    copy.text = model.text;
    copy.types = {type};
    copy.guarded = model.guarded;
    copy.guard_negated = model.guard_negated;
    copy.guard = model.guard;
    copy.location = model.location;
    copy.line = model.line;
    copy.operands = {std::move(to), std::move(from)};
    append(std::move(copy));
}

// shfl and vote without .sync, for targets before sm_70 (PTX ISA "shfl (deprecated)", "vote
// (deprecated)"; until PTX 6.4 also for sm_70): all active lanes take part, so the active mask is
// read first.
void BodyParser::lower_unsynchronized(Instruction& out) {
    const bool old =
        index_.version_major < 6 || (index_.version_major == 6 && index_.version_minor < 4);
    if (out.has(Mod::k_sync) || (index_.target >= 70 && !old)) return;
    const size_t operands = out.opcode == Opcode::k_vote ? 2 : 4;
    if (out.operands.size() != operands) return;
    Operand lanes = temporary(Type::kB32);
    Instruction mask;
    mask.opcode = Opcode::k_activemask;
    mask.text = out.text;
    mask.types = {Type::kB32};
    mask.guarded = out.guarded;
    mask.guard_negated = out.guard_negated;
    mask.guard = out.guard;
    mask.location = out.location;
    mask.line = out.line;
    mask.operands = {lanes};
    append(std::move(mask));
    out.mods.set(size_t(Mod::k_sync));
    out.operands.push_back(std::move(lanes));
}

// Special registers may occur in moves of their own width and, as in ptxas, in conversions,
// narrower moves, packing moves and stored vectors. The latter are rewritten to use a register that
// is filled before.
void BodyParser::lower_specials(Instruction& out) {
    const auto fill = [&](Operand& special) {
        const Type type = type_of(special.special);
        if (type == Type::kPred) return;
        Operand filled = temporary(type);
        append_move(out, type, filled, std::exchange(special, filled));
    };
    for (size_t i = 1; i < out.operands.size(); ++i) {
        Operand& operand = out.operands[i];
        if (operand.kind == Operand::Kind::kVector) {
            for (Operand& element : operand.elements)
                if (element.kind == Operand::Kind::kSpecial) fill(element);
            continue;
        }
        if (operand.kind != Operand::Kind::kSpecial || out.opcode == Opcode::k_st) continue;
        const unsigned bytes = byte_size(type_of(operand.special));
        const Operand& to = out.operands[0];
        const bool narrow = to.kind == Operand::Kind::kRegister && byte_size(out.type()) == 2 &&
                            byte_size(out_.registers[to.index].type) == 2 && bytes == 4;
        if (out.opcode == Opcode::k_cvt) {
            fill(operand);
            // The source type may be narrower: it uses the low part, as with any register.
        } else if (to.kind == Operand::Kind::kVector) {
            fill(operand);
        } else if (narrow) {  // mov.u16 %rs1, %tid.x, of PTX 1
            fill(operand);
            out.opcode = Opcode::k_cvt;
            out.types = {Type::kU16, Type::kU32};
        } else if (to.kind == Operand::Kind::kRegister && bytes != 0 &&
                   operand.special != Special::k_gridid &&
                   byte_size(out_.registers[to.index].type) != bytes) {
            lexer_.fail(out.line,
                        operand.name,
                        "this special register has " + std::to_string(8 * bytes) +
                            " bits: expected a destination of that width");
        }
    }
}

// `mov.v2.f32 a, {b, c}` becomes one move for each element, through temporaries, since an element
// may be read after it has been written.
bool BodyParser::lower_vector_move(Instruction& out, const Token& place) {
    if (out.operands.size() != 2) return false;
    const Operand& to = out.operands[0];
    const Operand& from = out.operands[1];
    if (to.kind != Operand::Kind::kVector || from.kind != Operand::Kind::kVector ||
        to.elements.size() != out.vector || from.elements.size() != out.vector) {
        lexer_.fail(place, "two vectors of " + std::to_string(out.vector) + " elements each");
    }
    const bool narrow = byte_size(out.type()) == 2;
    std::vector<Operand> values;
    for (const Operand& element : from.elements) {
        const bool special = element.kind == Operand::Kind::kSpecial;
        values.push_back(temporary(special ? type_of(element.special) : out.type()));
        append_move(out, special ? type_of(element.special) : out.type(), values.back(), element);
    }
    for (size_t i = 0; i < values.size(); ++i) {
        if (to.elements[i].kind == Operand::Kind::kSink) continue;
        append_move(out, out.type(), to.elements[i], values[i]);
        if (narrow && from.elements[i].kind == Operand::Kind::kSpecial) {
            out_.body.back().opcode = Opcode::k_cvt;
            out_.body.back().types = {Type::kU16, Type::kU32};
        }
    }
    return true;
}

// Inserts the additions before the instruction. The first operand is usually the result.
void BodyParser::lower_sums(const Instruction& out, const Token& place) {
    const bool only_reads = out.opcode == Opcode::k_bar || out.opcode == Opcode::k_barrier ||
                            out.opcode == Opcode::k_nanosleep;
    for (Instruction& add : std::exchange(sums_, {})) {
        const Operand& first = out.operands[0];
        if (!only_reads && first.kind == Operand::Kind::kRegister &&
            first.index == add.operands[0].index)
            lexer_.fail(place, "a register as the result");
        add.text = out.text;
        add.guarded = out.guarded;
        add.guard_negated = out.guard_negated;
        add.guard = out.guard;
        add.location = out.location;
        add.line = out.line;
        append(std::move(add));
    }
}

// PTX ISA "mov": a device function's parameter whose address is taken is on the stack, so the
// address is in local memory.
void BodyParser::lower_parameter_address(Instruction& out) {
    if (out.operands.size() != 2) return;
    Operand& from = out.operands[1];
    if (from.kind != Operand::Kind::kSymbol || from.target != Operand::Target::kParameter) return;
    const auto [known, is_new] =
        parameter_copies_.try_emplace(from.index, uint32_t(out_.variables.size()));
    if (is_new) {
        const Parameter& parameter = out_.parameters[from.index];
        Variable copy;
        copy.name = parameter.name;
        copy.space = Space::kLocal;
        copy.type = parameter.type;
        copy.bytes = parameter.bytes;
        copy.align = parameter.align;
        copy.is_array = parameter.is_array;
        out_.variables.push_back(copy);
    }
    from.target = Operand::Target::kVariable;
    from.index = known->second;
}

// Fills those variables before the first instruction.
void BodyParser::copy_parameters() {
    if (parameter_copies_.empty()) return;
    std::vector<Instruction> body = std::exchange(out_.body, {});
    for (uint32_t index = 0; index < out_.parameters.size(); ++index) {
        const auto copied = parameter_copies_.find(index);
        if (copied == parameter_copies_.end()) continue;
        const Parameter& parameter = out_.parameters[index];
        for (uint32_t at = 0; at < parameter.bytes;) {
            uint32_t step = std::min(parameter.align, 8u);
            while (at + step > parameter.bytes) step /= 2;
            const Type type = step == 8   ? Type::kB64
                              : step == 4 ? Type::kB32
                              : step == 2 ? Type::kB16
                                          : Type::kB8;
            const Operand value = temporary(step == 1 ? Type::kB16 : type);
            const auto piece = [&](Operand::Target target, uint32_t place) {
                Operand memory = address_of(symbol_operand(target, place, parameter.name));
                memory.offset = at;
                return memory;
            };
            Instruction load;
            load.opcode = Opcode::k_ld;
            load.text = "ld.param";
            load.space = Space::kParam;
            load.types = {type};
            load.line = place_.line;
            load.operands = {value, piece(Operand::Target::kParameter, index)};
            Instruction store = load;
            store.opcode = Opcode::k_st;
            store.text = "st.local";
            store.space = Space::kLocal;
            store.operands = {piece(Operand::Target::kVariable, copied->second), value};
            append(std::move(load));
            append(std::move(store));
            at += step;
        }
    }
    const uint32_t inserted = uint32_t(out_.body.size());
    for (Instruction& each : body) {
        for (Operand& operand : each.operands)
            if (operand.kind == Operand::Kind::kLabel) operand.index += inserted;
        append(std::move(each));
    }
    for (auto& table : out_.branch_targets)
        for (uint32_t& target : table.targets) target += inserted;
}

}  // namespace ptx
