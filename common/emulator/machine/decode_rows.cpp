// SPDX-License-Identifier: MIT
// Decoding: the rows of registers, parameters and constants, and how long each straight run is.
#include <algorithm>
#include <cstring>

#include "machine/decoder.h"

namespace machine {

using ptx::Operand;
using ptx::Type;

namespace {

uint32_t width_of(Type type) {
    if (type == Type::kPred) return 4;
    return std::max(2u, ptx::byte_size(type));
}

// Beyond these, 32-bit sizes of rows and stacks would overflow. Local memory: CUDA C++ Programming
// Guide, "Technical Specifications per Compute Capability".
constexpr uint64_t kMostLocalBytes = 512 << 10, kMostParameterBytes = 64 << 10;
// Of all registers, parameters and constants of one activation, for a warp: half a million 32-bit
// registers. A block has up to 32 warps, and each call takes it again.
constexpr uint64_t kMostRowBytes = 64 << 20;

constexpr const char* kRows = "registers and parameters for a warp";

void refuse_size(const std::string& function, uint64_t bytes, uint64_t most, const char* what) {
    if (bytes <= most) return;
    throw UnsupportedPtx("`" + function + "` asks for " + std::to_string(bytes) + " bytes of " +
                         what + ", and " + std::to_string(most) + " is the most: declare less");
}

}  // namespace

uint32_t Decoder::reserve(uint32_t bytes_per_lane, bool predicate) {
    const uint32_t size = predicate ? 4 : bytes_per_lane * kWarpSize;
    if (!predicate) code_->row_bytes = (code_->row_bytes + 63) & ~63u;
    const uint32_t offset = code_->row_bytes;
    refuse_size(code_->name, uint64_t(offset) + size, kMostRowBytes, kRows);
    code_->row_bytes += size;
    return offset;
}

void Decoder::lay_out() {
    Code& code = *code_;
    register_rows_.resize(function_.registers.size());
    for (size_t i = 0; i < function_.registers.size(); ++i)
        if (function_.registers[i].type == Type::kPred) register_rows_[i] = reserve(4, true);
    for (size_t i = 0; i < function_.registers.size(); ++i) {
        const Type type = function_.registers[i].type;
        if (type == Type::kPred) continue;
        register_rows_[i] = reserve(width_of(type));
    }
    const auto region = [&](uint64_t bytes) {
        refuse_size(code.name, bytes, kMostParameterBytes, "a parameter");
        Region out;
        out.bytes = uint32_t(bytes);
        out.stride = (out.bytes + 15) & ~15u;
        out.offset = reserve(out.stride ? out.stride : 16);
        return out;
    };
    if (!function_.is_entry) {
        for (const auto& p : function_.parameters) code.parameters.push_back(region(p.bytes));
        for (const auto& p : function_.results) code.results.push_back(region(p.bytes));
    }
    for (const auto& variable : function_.variables) {
        uint32_t offset = 0;
        if (variable.space == ptx::Space::kLocal) {
            const uint32_t align = std::max(variable.align, 1u);
            offset = (code.local_bytes + align - 1) / align * align;
            refuse_size(code.name, offset + variable.bytes, kMostLocalBytes, "local memory");
            code.local_bytes = offset + uint32_t(variable.bytes);
        } else if (variable.space == ptx::Space::kParam) {
            offset = uint32_t(regions_.size());
            regions_.push_back(region(variable.bytes));
        }
        variable_offsets_.push_back(offset);
    }
}

uint32_t Decoder::constant(Type type, uint64_t bits) {
    const uint32_t width = width_of(type);
    const auto key = std::make_pair(type == Type::kPred ? 0u : width, std::make_pair(bits, 0ull));
    if (const auto found = constants_.find(key); found != constants_.end()) return found->second;
    const bool predicate = type == Type::kPred;
    std::vector<std::byte> row;
    if (predicate) {
        const uint32_t mask = bits ? kAllLanes : 0;
        row.resize(4);
        std::memcpy(row.data(), &mask, 4);
    } else {
        row.resize(size_t(width) * kWarpSize);
        for (uint32_t lane = 0; lane < kWarpSize; ++lane)
            std::memcpy(row.data() + lane * width, &bits, std::min(width, 8u));
    }
    // Constants stand behind everything else: the offset is fixed up once all rows are known.
    const uint32_t placeholder = 0x80000000u | uint32_t(constant_rows_.size());
    constant_rows_.push_back({0, std::move(row)});
    constants_[key] = placeholder;
    return placeholder;
}

uint32_t Decoder::immediate(const Operand& operand, Type type) {
    uint64_t bits = operand.bits;
    if (operand.literal == Operand::Literal::kFloat32) {
        if (type == Type::kF64)
            bits = std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(bits))));
    } else if (operand.literal == Operand::Literal::kFloat64) {
        if (type == Type::kF32) bits = std::bit_cast<uint32_t>(float(std::bit_cast<double>(bits)));
    } else if (type == Type::kF32) {
        bits = std::bit_cast<uint32_t>(float(int64_t(bits)));
    } else if (type == Type::kF64) {
        bits = std::bit_cast<uint64_t>(double(int64_t(bits)));
    }
    return constant(type, bits);
}

bool Decoder::is_predicate(const Operand& operand) const {
    return operand.kind == Operand::Kind::kRegister &&
           function_.registers[operand.index].type == Type::kPred;
}

uint32_t Decoder::register_bytes(const Operand& operand) const {
    return width_of(function_.registers[operand.index].type);
}

bool Decoder::fits(const Operand& operand, Type type) const {
    return is_predicate(operand) == (type == Type::kPred) &&
           register_bytes(operand) == width_of(type);
}

uint32_t Decoder::scratch(uint32_t bytes_per_lane) {
    auto [found, fresh] = scratch_.try_emplace(bytes_per_lane, 0);
    if (fresh) found->second = reserve(bytes_per_lane);
    return found->second;
}

uint32_t Decoder::source(const Operand& operand, Type type) {
    switch (operand.kind) {
    case Operand::Kind::kRegister: {
        if (!fits(operand, type)) return kNoRow;
        const uint32_t row = register_rows_[operand.index];
        if (!operand.negated) return row;
        if (type != Type::kPred) return kNoRow;  // a negative is the video instructions' own affair
        const uint32_t flipped = reserve(4, true);
        Instr& hidden = emit_hidden(move_handlers().complement_predicate);
        hidden.src[0] = row;
        hidden.dst = flipped;
        return flipped;
    }
    case Operand::Kind::kImmediate:
        return immediate(operand, type);
    case Operand::Kind::kSymbol:
        return constant(type, symbol(operand));
    default:
        return kNoRow;
    }
}

uint32_t Decoder::destination(const Operand& operand, Type type) {
    if (operand.kind == Operand::Kind::kRegister)
        return fits(operand, type) ? register_rows_[operand.index] : kNoRow;
    if (operand.kind == Operand::Kind::kSink) return scratch(std::max(width_of(type), 8u));
    return kNoRow;
}

ptx::Space Decoder::symbol_space(const Operand& operand) const {
    switch (operand.target) {
    case Operand::Target::kVariable:
        return function_.variables[operand.index].space;
    case Operand::Target::kParameter:
    case Operand::Target::kResult:
        return ptx::Space::kParam;
    default:
        return module_.module_shared(operand.name) ? ptx::Space::kShared : ptx::Space::kGlobal;
    }
}

Region Decoder::variable_region(const Operand& operand) const {
    if (function_.variables[operand.index].space != ptx::Space::kParam) return {};
    return regions_[variable_offsets_[operand.index]];
}

uint64_t Decoder::symbol(const Operand& operand) {
    const auto use_shared = [&](const ptx::Variable& variable, std::string_view owner) {
        const uint32_t index = module_.shared_index(variable, owner);
        code_->shared.push_back(index);
        return module_.shared[index].address + uint64_t(operand.offset);
    };
    if (operand.target == Operand::Target::kVariable) {
        const ptx::Variable& variable = function_.variables[operand.index];
        if (variable.space == ptx::Space::kShared) return use_shared(variable, function_.name);
        if (variable.space == ptx::Space::kGlobal || variable.space == ptx::Space::kConst)
            return module_.function_variable(function_.name, operand.index, variable) +
                   uint64_t(operand.offset);
        return variable_offsets_[operand.index] + uint64_t(operand.offset);
    }
    if (operand.target == Operand::Target::kParameter)
        return function_.parameters[operand.index].offset + uint64_t(operand.offset);
    if (const ptx::Variable* variable = module_.module_shared(operand.name))
        return use_shared(*variable, {});
    return module_.symbol_address(operand.name) + uint64_t(operand.offset);
}

// Constants stand behind all other rows, whose number is known only now: puts every use right.
void Decoder::place_constants() {
    Code& code = *code_;
    code.row_bytes = (code.row_bytes + 63) & ~63u;
    code.constants_begin = code.row_bytes;
    for (auto& [offset, row] : constant_rows_) {
        offset = code.row_bytes;
        code.row_bytes += uint32_t((row.size() + 63) & ~size_t(63));
        refuse_size(code.name, code.row_bytes, kMostRowBytes, kRows);
    }
    code.constants.resize(code.row_bytes - code.constants_begin);
    for (const auto& [offset, row] : constant_rows_)
        std::memcpy(
            code.constants.data() + (offset - code.constants_begin), row.data(), row.size());
    const auto fix = [&](uint32_t& row) {
        if (row != kNoRow && (row & 0x80000000u)) row = constant_rows_[row & 0x7fffffffu].first;
    };
    for (auto* list : {&code.instructions, &code.invariants}) {
        for (Instr& in : *list) {
            fix(in.dst);
            fix(in.dst2);
            for (uint32_t& row : in.src) fix(row);
        }
    }
    for (MemoryOp& op : code.memory) {
        for (uint32_t& row : op.rows) fix(row);
        for (uint32_t& row : op.operands) fix(row);
        fix(op.base_row);
        fix(op.dst);
    }
    for (TextureOp& op : code.textures) {
        for (uint32_t* row : op.all_rows()) fix(*row);
    }
    for (CallOp& op : code.calls) {
        for (auto& s : op.arguments) fix(s.row);
        for (auto& s : op.results) fix(s.row);
        fix(op.pointer_row);
    }
    for (uint32_t* row : late_rows_) fix(*row);
    for (BranchOp& op : code.branches) fix(op.index_row);
    for (BarrierOp& op : code.barriers) {
        fix(op.id_row);
        fix(op.count_row);
        fix(op.predicate_row);
    }
    for (WarpOp& op : code.warp_ops) {
        fix(op.a);
        fix(op.b);
        fix(op.c);
        fix(op.mask_row);
    }
}

void Decoder::count_runs() {
    Code& code = *code_;
    code.deltas.assign(code.instructions.size() + 1, {});
    code.runs.resize(code.instructions.size());
    for (const Code::Counted& also : code.counted_with) ++code.runs[also.pc].instructions;
    for (uint32_t pc = uint32_t(code.runs.size()); pc-- > 0;) {
        Code::Run& run = code.runs[pc];
        const uint8_t control = code.instructions[pc].control;
        run.end = pc + 1;
        run.instructions += control != kReconverge;
        if (control > kReconverge) continue;  // the body's last instruction is none of these
        run.end = code.runs[pc + 1].end;
        run.instructions += code.runs[pc + 1].instructions;
    }
}

}  // namespace machine
