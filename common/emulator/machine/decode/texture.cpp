// SPDX-License-Identifier: MIT
// Decoding of texture and surface instructions (PTX ISA "Texture Instructions", "Surface
// Instructions"), in the unified mode: the handle is an object of the runtime API.
#include "machine/decode/families.h"
#include "machine/units/texture_ops.h"

namespace machine {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

bool shape_of(const ptx::Instruction& in, TextureShape& shape) {
    const std::pair<Mod, TextureShape> known[] = {{Mod::k_1d, TextureShape::k1d},
                                                  {Mod::k_2d, TextureShape::k2d},
                                                  {Mod::k_3d, TextureShape::k3d},
                                                  {Mod::k_a1d, TextureShape::kArray1d},
                                                  {Mod::k_a2d, TextureShape::kArray2d},
                                                  {Mod::k_cube, TextureShape::kCube},
                                                  {Mod::k_acube, TextureShape::kArrayCube}};
    for (const auto& [mod, found] : known) {
        if (!in.has(mod)) continue;
        shape = found;
        return true;
    }
    return false;
}

bool is_layered(TextureShape shape) {
    return shape == TextureShape::kArray1d || shape == TextureShape::kArray2d ||
           shape == TextureShape::kArrayCube;
}

unsigned dimensions(TextureShape shape) {
    switch (shape) {
    case TextureShape::k1d:
    case TextureShape::kArray1d:
        return 1;
    case TextureShape::k2d:
    case TextureShape::kArray2d:
        return 2;
    default:
        return 3;
    }
}

const std::vector<Operand>& elements_of(const Operand& operand, std::vector<Operand>& single) {
    if (operand.kind == Operand::Kind::kVector) return operand.elements;
    single = {operand};
    return single;
}

// [handle, {coordinates}] of a texture or surface.
bool texture_address(Decoding& d, Decoding::In in, const Operand& where, TextureOp& op) {
    if (where.kind != Operand::Kind::kAddress || where.elements.empty()) return false;
    const Operand& handle = where.elements[0];
    if (handle.kind != Operand::Kind::kRegister || d.operands.register_bytes(handle) != 8 ||
        where.offset)
        return false;
    op.handle = d.operands.register_row(handle);
    if (op.kind == TextureOp::Kind::kQuery) return where.elements.size() == 1;
    if (!shape_of(in, op.shape) || where.elements.size() != 2) return false;
    std::vector<Operand> single;
    const auto& given = elements_of(where.elements[1], single);
    const unsigned axes = dimensions(op.shape);
    const unsigned first = is_layered(op.shape) ? 1 : 0;
    if (given.size() < axes + first) return false;
    if (first) op.layer = d.operands.source(given[0], Type::kU32);
    for (unsigned axis = 0; axis < axes; ++axis) {
        op.coordinate[axis] =
            d.operands.source(given[first + axis], op.integer ? Type::kS32 : Type::kF32);
        if (op.coordinate[axis] == kNoRow) return false;
    }
    return !first || op.layer != kNoRow;
}

bool texture_results(Decoding& d, const Operand& given, TextureOp& op) {
    const Operand* results = &given;
    if (given.kind == Operand::Kind::kPair && given.elements.size() == 2) {
        results = &given.elements[0];
        if (!d.operands.is_predicate(given.elements[1])) return false;
        op.resident = d.operands.register_row(given.elements[1]);
    }
    std::vector<Operand> single;
    const auto& elements = elements_of(*results, single);
    if (elements.size() != op.vector || op.vector > 4) return false;
    for (unsigned c = 0; c < op.vector; ++c) {
        op.rows[c] = d.operands.destination(elements[c], Type::kB32);
        if (op.rows[c] == kNoRow) return false;
    }
    return true;
}

// suld.b, sust.b and sured.b: x counts bytes. The formatted .p forms are not supported.
bool surface(Decoding& d, Decoding::In in, TextureOp& op) {
    if (!in.has(Mod::k_b)) return false;
    const bool load = in.opcode == Opcode::k_suld;
    op.kind = load                          ? TextureOp::Kind::kLoad
              : in.opcode == Opcode::k_sust ? TextureOp::Kind::kStore
                                            : TextureOp::Kind::kReduce;
    op.integer = true;
    op.vector = in.vector;
    op.outside = in.has(Mod::k_clamp)  ? TextureOp::Outside::kClamp
                 : in.has(Mod::k_zero) ? TextureOp::Outside::kZero
                                       : TextureOp::Outside::kTrap;
    const Type type = in.type(0);
    op.element_bytes = uint8_t(ptx::byte_size(type));
    op.is_signed = ptx::is_signed(type);
    if (in.operands.size() != 2 || !op.element_bytes || op.element_bytes * op.vector > 16)
        return false;
    if (!texture_address(d, in, in.operands[load ? 1 : 0], op)) return false;
    if (op.kind == TextureOp::Kind::kReduce) {
        bool known = false;
        for (const Mod mod : {Mod::k_add, Mod::k_min, Mod::k_max, Mod::k_and, Mod::k_or}) {
            if (!in.has(mod)) continue;
            op.reduction = mod;
            known = true;
        }
        if (!known || op.element_bytes < 4) return false;
    }
    std::vector<Operand> single;
    const auto& given = elements_of(in.operands[load ? 0 : 1], single);
    if (given.size() != op.vector || op.vector > 4) return false;
    op.row_bytes = uint8_t(std::max<unsigned>(2, op.element_bytes));
    for (unsigned e = 0; e < op.vector; ++e) {
        const Type wide = op.row_bytes == 8   ? Type::kB64
                          : op.row_bytes == 4 ? Type::kB32
                                              : Type::kB16;
        op.rows[e] =
            load ? d.operands.destination(given[e], wide) : d.operands.source(given[e], wide);
        if (op.rows[e] == kNoRow) return false;
    }
    return true;
}

}  // namespace

bool decode_texture(Decoding& d, Decoding::In in) {
    TextureOp op;
    Handler handler = nullptr;
    switch (in.opcode) {
    case Opcode::k_tex: {
        op.kind = TextureOp::Kind::kFetch;
        handler = fetch_texture;
        op.integer = in.type(1) == Type::kS32;
        op.vector = in.vector;
        const bool known =
            in.type(0) == Type::kF32 || in.type(0) == Type::kS32 || in.type(0) == Type::kU32;
        if (in.operands.size() < 2 || !known || (!op.integer && in.type(1) != Type::kF32))
            return false;
        if (!texture_address(d, in, in.operands[1], op)) return false;
        if (in.has(Mod::k_level)) {
            if (in.operands.size() != 3) return false;
            op.lod = TextureOp::Lod::kLevel;
            op.level = d.operands.source(in.operands[2], op.integer ? Type::kS32 : Type::kF32);
            if (op.level == kNoRow) return false;
        } else if (in.has(Mod::k_grad)) {
            if (in.operands.size() != 4) return false;
            op.lod = TextureOp::Lod::kGradients;
            for (unsigned which = 0; which < 2; ++which) {
                std::vector<Operand> single;
                const auto& given = elements_of(in.operands[2 + which], single);
                for (unsigned axis = 0; axis < std::min<size_t>(dimensions(op.shape), given.size());
                     ++axis) {
                    op.gradient[which][axis] = d.operands.source(given[axis], Type::kF32);
                    if (op.gradient[which][axis] == kNoRow) return false;
                }
            }
        } else if (in.operands.size() != 2) {
            return false;  // offsets and depth comparison
        }
        if (!texture_results(d, in.operands[0], op)) return false;
        break;
    }
    case Opcode::k_tld4:
        op.kind = TextureOp::Kind::kGather;
        handler = gather_texture;
        op.component = in.has(Mod::k_g) ? 1 : in.has(Mod::k_b) ? 2 : in.has(Mod::k_a) ? 3 : 0;
        if (in.operands.size() != 2 || in.type(1) != Type::kF32 || in.vector != 4) return false;
        if (!texture_address(d, in, in.operands[1], op) || !texture_results(d, in.operands[0], op))
            return false;
        if (op.shape != TextureShape::k2d && op.shape != TextureShape::kArray2d &&
            op.shape != TextureShape::kCube && op.shape != TextureShape::kArrayCube)
            return false;
        break;
    case Opcode::k_txq:
    case Opcode::k_suq: {
        op.kind = TextureOp::Kind::kQuery;
        handler = query_texture;
        op.vector = 1;
        bool known = false;
        for (const Mod mod : {Mod::k_width,
                              Mod::k_height,
                              Mod::k_depth,
                              Mod::k_array_size,
                              Mod::k_num_mipmap_levels,
                              Mod::k_normalized_coords}) {
            if (!in.has(mod)) continue;
            op.query = mod;
            known = true;
        }
        if (!known || in.operands.size() != 2 || in.has(Mod::k_level)) return false;
        if (!texture_address(d, in, in.operands[1], op) || !texture_results(d, in.operands[0], op))
            return false;
        break;
    }
    default:
        if (!surface(d, in, op)) return false;
        handler = access_surface;
        break;
    }
    d.emitter.emit_with(in, kStraight, handler, d.code.textures, op);
    return true;
}

}  // namespace machine
