// SPDX-License-Identifier: MIT
#include "machine/decode/row_layout.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "machine/machine.h"

namespace machine {

using ptx::Type;

namespace {

constexpr uint32_t kPlaceholder = 0x80000000u;

// Beyond these, 32-bit sizes of rows and stacks would overflow. Local memory: CUDA C++ Programming
// Guide, "Technical Specifications per Compute Capability".
constexpr uint64_t kMostLocalBytes = 512 << 10, kMostParameterBytes = 64 << 10;
// Of all registers, parameters and constants of one activation, for a warp: half a million 32-bit
// registers. A block has up to 32 warps, and each call needs as much again.
constexpr uint64_t kMostRowBytes = 64 << 20;

constexpr const char* kRows = "registers and parameters for a warp";

void refuse_size(const std::string& function, uint64_t bytes, uint64_t most, const char* what) {
    if (bytes <= most) return;
    throw UnsupportedPtx("`" + function + "` asks for " + std::to_string(bytes) + " bytes of " +
                         what + ", and " + std::to_string(most) + " is the most: declare less");
}

}  // namespace

RowLayout::RowLayout(const ptx::Function& function, Code& code) : function_(function), code_(code) {
    register_rows_.resize(function.registers.size());
    for (uint32_t i = 0; i < register_rows_.size(); ++i)
        if (is_predicate(i)) register_rows_[i] = reserve_predicate();
    for (uint32_t i = 0; i < register_rows_.size(); ++i)
        if (!is_predicate(i)) register_rows_[i] = reserve(register_bytes(i));
    if (!function.is_entry) {
        for (const auto& p : function.parameters) code.parameters.push_back(make_region(p.bytes));
        for (const auto& p : function.results) code.results.push_back(make_region(p.bytes));
    }
    for (const auto& variable : function.variables) {
        uint32_t offset = 0;
        if (variable.space == ptx::Space::kLocal) {
            const uint32_t align = std::max(variable.align, 1u);
            offset = (code.local_bytes + align - 1) / align * align;
            refuse_size(code.name, offset + variable.bytes, kMostLocalBytes, "local memory");
            code.local_bytes = offset + uint32_t(variable.bytes);
        } else if (variable.space == ptx::Space::kParam) {
            offset = uint32_t(regions_.size());
            regions_.push_back(make_region(variable.bytes));
        }
        variable_offsets_.push_back(offset);
    }
}

uint32_t RowLayout::width_of(Type type) {
    if (type == Type::kPred) return 4;
    return std::max(2u, ptx::byte_size(type));
}

bool RowLayout::is_predicate(uint32_t index) const {
    return function_.registers[index].type == Type::kPred;
}

uint32_t RowLayout::register_bytes(uint32_t index) const {
    return width_of(function_.registers[index].type);
}

uint32_t RowLayout::append(uint32_t bytes, uint32_t alignment) {
    const uint32_t offset = (code_.row_bytes + alignment - 1) & ~(alignment - 1);
    refuse_size(code_.name, uint64_t(offset) + bytes, kMostRowBytes, kRows);
    code_.row_bytes = offset + bytes;
    return offset;
}

uint32_t RowLayout::reserve(uint32_t bytes_per_lane) {
    return append(bytes_per_lane * kWarpSize, 64);
}

uint32_t RowLayout::reserve_predicate() {
    return append(4, 1);
}

uint32_t RowLayout::scratch(uint32_t bytes_per_lane) {
    auto [found, fresh] = scratch_.try_emplace(bytes_per_lane, 0);
    if (fresh) found->second = reserve(bytes_per_lane);
    return found->second;
}

Region RowLayout::make_region(uint64_t bytes) {
    refuse_size(code_.name, bytes, kMostParameterBytes, "a parameter");
    Region out;
    out.bytes = uint32_t(bytes);
    out.stride = (out.bytes + 15) & ~15u;
    out.offset = reserve(out.stride ? out.stride : 16);
    return out;
}

Region RowLayout::parameter_region(uint32_t variable) const {
    if (function_.variables[variable].space != ptx::Space::kParam) return {};
    return regions_[variable_offsets_[variable]];
}

uint32_t RowLayout::constant(Type type, uint64_t bits) {
    const bool predicate = type == Type::kPred;
    const uint32_t width = width_of(type);
    const auto [known, fresh] = placeholders_.try_emplace({predicate ? 0u : width, bits}, 0);
    if (!fresh) return known->second;
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
    known->second = kPlaceholder | uint32_t(constants_.size());
    constants_.push_back({0, std::move(row)});
    return known->second;
}

void RowLayout::resolve(uint32_t& row) const {
    if (row != kNoRow && (row & kPlaceholder)) row = constants_[row & ~kPlaceholder].offset;
}

void RowLayout::place_constants() {
    Code& code = code_;
    code.row_bytes = (code.row_bytes + 63) & ~63u;
    code.constants_begin = code.row_bytes;
    for (Constant& constant : constants_) {
        constant.offset = code.row_bytes;
        code.row_bytes += uint32_t((constant.row.size() + 63) & ~size_t(63));
        refuse_size(code.name, code.row_bytes, kMostRowBytes, kRows);
    }
    code.constants.resize(code.row_bytes - code.constants_begin);
    for (const Constant& constant : constants_)
        std::memcpy(code.constants.data() + (constant.offset - code.constants_begin),
                    constant.row.data(),
                    constant.row.size());
    for (auto* list : {&code.instructions, &code.invariants}) {
        for (Instr& in : *list) {
            resolve(in.dst);
            resolve(in.dst2);
            for (uint32_t& row : in.src) resolve(row);
        }
    }
    for (MemoryOp& op : code.memory) {
        for (uint32_t& row : op.rows) resolve(row);
        for (uint32_t& row : op.operands) resolve(row);
        resolve(op.base_row);
        resolve(op.dst);
    }
    for (TextureOp& op : code.textures) {
        for (uint32_t* row : op.all_rows()) resolve(*row);
    }
    for (CallOp& op : code.calls) {
        for (auto& s : op.arguments) resolve(s.row);
        for (auto& s : op.results) resolve(s.row);
        resolve(op.pointer_row);
    }
    for (BranchOp& op : code.branches) resolve(op.index_row);
    for (BarrierOp& op : code.barriers) {
        resolve(op.id_row);
        resolve(op.count_row);
        resolve(op.predicate_row);
    }
    for (WarpOp& op : code.warp_ops) {
        resolve(op.a);
        resolve(op.b);
        resolve(op.c);
        resolve(op.mask_row);
    }
    for (uint32_t* row : later_) resolve(*row);
}

}  // namespace machine
