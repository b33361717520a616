// SPDX-License-Identifier: MIT
// Decoding of matrix instructions: shapes, types and layouts from the mnemonic, whose order matters
// here, and the rows of the fragments.
#include <cfenv>
#include <charconv>

#include "machine/decode/families.h"
#include "machine/state/launch_state.h"
#include "machine/units/matrix.h"

namespace machine {

using ptx::Mod;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

namespace {

struct Mnemonic {
    MatrixShape shape;
    std::vector<Element> types;
    std::vector<bool> column_major;
};

bool read_shape(std::string_view word, MatrixShape& out) {
    const char* at = word.data();
    const char* const end = at + word.size();
    const auto part = [&](char letter, unsigned& value) {
        if (at == end || *at != letter) return false;
        const auto [next, error] = std::from_chars(at + 1, end, value);
        at = next;
        return error == std::errc();
    };
    return part('m', out.m) && part('n', out.n) && part('k', out.k) && at == end;
}

Element element_of(std::string_view word) {
    static constexpr std::pair<std::string_view, Element> kNames[] = {
        {"f16", Element::kF16},
        {"bf16", Element::kBf16},
        {"tf32", Element::kTf32},
        {"f32", Element::kF32},
        {"f64", Element::kF64},
        {"e4m3", Element::kE4m3},
        {"e5m2", Element::kE5m2},
        {"s32", Element::kS32},
        {"s8", Element::kS8},
        {"u8", Element::kU8},
        {"s4", Element::kS4},
        {"u4", Element::kU4},
        {"b1", Element::kB1},
    };
    for (const auto& [name, element] : kNames)
        if (name == word) return element;
    return Element::kNone;
}

Mnemonic read(std::string_view text) {
    Mnemonic out;
    while (!text.empty()) {
        const size_t dot = text.find('.');
        const std::string_view word = text.substr(0, dot);
        text.remove_prefix(dot == std::string_view::npos ? text.size() : dot + 1);
        if (word == "row" || word == "col")
            out.column_major.push_back(word == "col");
        else if (const Element element = element_of(word); element != Element::kNone)
            out.types.push_back(element);
        else if (word.size() > 4 && word[0] == 'm')
            read_shape(word, out.shape);
    }
    return out;
}

bool is_one_of(Element element, std::initializer_list<Element> set) {
    for (const Element each : set)
        if (each == element) return true;
    return false;
}

// Whether the PTX ISA has this combination of shape and multiplicand type.
bool known(bool wmma, const MatrixShape& s, Element element) {
    const unsigned bits = bits_of(element), wide = 4 * std::max(1u, 32 / bits);
    const bool small = s.m == 8 && s.n == 8;
    if (wmma) {
        if (is_one_of(element, {Element::kF16, Element::kBf16, Element::kS8, Element::kU8}))
            return s.k == 16 &&
                   ((s.m == 16 && s.n == 16) || (s.m == 32 && s.n == 8) || (s.m == 8 && s.n == 32));
        if (element == Element::kTf32) return s == MatrixShape{16, 16, 8};
        return is_one_of(element, {Element::kF64, Element::kS4, Element::kU4, Element::kB1}) &&
               small && s.k == wide;
    }
    if (small && element == Element::kF16) return s.k == 4;
    if (small)
        return s.k == wide && is_one_of(element,
                                        {Element::kF64,
                                         Element::kS8,
                                         Element::kU8,
                                         Element::kS4,
                                         Element::kU4,
                                         Element::kB1});
    if (s.m != 16 || s.n != 8 || is_one_of(element, {Element::kF32, Element::kS32})) return false;
    return s.k == wide || s.k == 2 * wide || (element == Element::kF64 && s.k == 16);
}

// Whether C and D may have this type with such multiplicands.
bool accumulates(bool wmma, Element multiplicand, Element sum) {
    switch (multiplicand) {
    case Element::kF16:
        return sum == Element::kF16 || sum == Element::kF32;
    case Element::kE4m3:
    case Element::kE5m2:
        return !wmma && (sum == Element::kF16 || sum == Element::kF32);
    case Element::kBf16:
    case Element::kTf32:
        return sum == Element::kF32;
    case Element::kF64:
        return sum == Element::kF64;
    default:
        return sum == Element::kS32;
    }
}

// Of A and B: the same, but for signedness and the two formats of f8 in mma.
bool may_meet(bool wmma, Element a, Element b) {
    if (a == b) return true;
    const auto pair = [&](Element x, Element y) {
        return (a == x && b == y) || (a == y && b == x);
    };
    return !wmma && (pair(Element::kS8, Element::kU8) || pair(Element::kS4, Element::kU4) ||
                     pair(Element::kE4m3, Element::kE5m2));
}

int rounding_of(const ptx::Instruction& in) {
    return in.has(Mod::k_rz)   ? FE_TOWARDZERO
           : in.has(Mod::k_rm) ? FE_DOWNWARD
           : in.has(Mod::k_rp) ? FE_UPWARD
                               : FE_TONEAREST;
}

// One matrix instruction on its way into the code.
class MatrixDecoder {
public:
    MatrixDecoder(Decoding& d, Decoding::In in) : words(read(in.text)), d_(d), in_(in) {
        op.shape = words.shape;
    }

    const Mnemonic words;
    MatrixOp op;

    // All of them name the whole warp; sparse ones (.sp) are not supported.
    bool is_supported() const {
        return in_.has(Mod::k_sync) && in_.has(Mod::k_aligned) && !in_.has(Mod::k_sp);
    }

    // The registers of one operand, a vector or a single one.
    bool registers(const Operand& operand, unsigned bytes, bool writes,
                   std::vector<uint32_t>& rows) {
        const std::vector<Operand> single{operand};
        const bool vector = operand.kind == Operand::Kind::kVector;
        for (const Operand& each : vector ? operand.elements : single) {
            if (each.kind == Operand::Kind::kRegister &&
                (d_.operands.is_predicate(each) || d_.operands.register_bytes(each) != bytes))
                return false;
            rows.push_back(writes
                               ? d_.operands.destination(each, bytes == 8 ? Type::kB64 : Type::kB32)
                               : d_.operands.source(each, bytes == 8 ? Type::kF64 : Type::kB32));
            if (rows.back() == kNoRow) return false;
        }
        return !rows.empty();
    }

    bool fragment(Fragment& out, const Operand& operand, Role role, Element element, bool writes,
                  bool column_major) {
        const unsigned bytes = element == Element::kF64 ? 8 : 4;
        return registers(operand, bytes, writes, out.register_rows) &&
               lay_out_fragment(out,
                                in_.opcode == Opcode::k_wmma,
                                op.shape,
                                role,
                                element,
                                unsigned(out.register_rows.size()),
                                column_major);
    }

    bool in_memory(const Operand& where) {
        return d_.operands.address(in_, where, op.memory) && op.memory.region.stride == 0 &&
               (op.memory.space == ptx::Space::kGeneric || op.memory.space == ptx::Space::kGlobal ||
                op.memory.space == ptx::Space::kShared);
    }

    // `together`: what the lanes do when they have met; `orders`: see WarpOp.
    bool finish(void (*together)(LaunchState&, const MatrixOp&), bool orders) {
        WarpOp warp_op;
        warp_op.kind = WarpOp::Kind::kMatrix;
        warp_op.mask_row = d_.rows.constant(Type::kU32, kAllLanes);
        MatrixOp& stored = d_.emitter.side_table(std::move(op));
        for (Fragment* f : {&stored.a, &stored.b, &stored.c, &stored.d})
            for (uint32_t& row : f->register_rows) d_.rows.resolve_later(row);
        d_.rows.resolve_later(stored.stride_row);
        d_.rows.resolve_later(stored.memory.base_row);
        for (uint32_t& row : stored.memory.rows) d_.rows.resolve_later(row);
        warp_op.together = together;
        warp_op.matrix = &stored;
        warp_op.orders = orders;
        d_.emitter.emit_with(in_, kWarpOp, nullptr, d_.code.warp_ops, warp_op);
        d_.emitter.emit_reconvergence_after(in_);
        return true;
    }

private:
    Decoding& d_;
    Decoding::In in_;
};

// wmma.load and wmma.store
bool decode_fragment_access(Decoding& d, Decoding::In in, MatrixDecoder& m) {
    const auto& operands = in.operands;
    MatrixOp& op = m.op;
    const bool load = in.has(Mod::k_load);
    if (operands.size() < 2 || operands.size() > 3 || m.words.column_major.size() != 1)
        return false;
    const Role role = in.has(Mod::k_a) ? Role::kA : in.has(Mod::k_b) ? Role::kB : Role::kC;
    const Element element = m.words.types[0];
    if (role != Role::kC && !known(true, op.shape, element)) return false;
    op.column_major = m.words.column_major[0];
    // Elements of less than a byte lie next to each other along k.
    const bool tiny = bits_of(element) < 8;
    if (tiny && op.column_major != (role == Role::kB)) return false;
    if (!m.fragment(op.d, operands[load ? 0 : 1], role, element, load, false) ||
        !m.in_memory(operands[load ? 1 : 0]))
        return false;
    op.default_stride = op.column_major ? op.d.rows : op.d.columns;
    if (operands.size() == 3) {
        const bool wide = operands[2].kind == Operand::Kind::kRegister &&
                          d.operands.register_bytes(operands[2]) == 8;
        op.stride_row = d.operands.source(operands[2], wide ? Type::kU64 : Type::kU32);
        if (op.stride_row == kNoRow) return false;
        op.stride_row_bytes = wide ? 8 : 4;
    }
    for (uint32_t& row : op.staging) row = d.rows.reserve(8);
    op.address = d.rows.reserve(8);
    return m.finish(load ? matrix_load : matrix_store, true);
}

// The types of D, A, B and C, which the instruction can multiply and add; empty: it cannot.
std::vector<Element> multiplied_types(Decoding::In in, const Mnemonic& words) {
    const bool wmma = in.opcode == Opcode::k_wmma;
    std::vector<Element> types = words.types;
    // wmma.mma names only D and C when A and B are f16.
    if (wmma && types.size() == 2) types = {types[0], Element::kF16, Element::kF16, types[1]};
    if (types.size() != 4 || !known(wmma, words.shape, types[1]) ||
        !may_meet(wmma, types[1], types[2]) || !accumulates(wmma, types[1], types[0]) ||
        !accumulates(wmma, types[1], types[3]))
        return {};
    const bool quads = !wmma && words.shape == MatrixShape{8, 8, 4} && types[1] == Element::kF16;
    // Only m8n8k4 and wmma have C and D of two types, m8n8k4 none of f16 from f32.
    if (!wmma && types[0] != types[3] && (!quads || types[0] == Element::kF16)) return {};
    // Without memory the layout of wmma's fragments is the same whichever was named.
    if (!wmma && !quads && (words.column_major[0] || !words.column_major[1])) return {};
    if (types[1] == Element::kB1 &&
        (!in.has(Mod::k_popc) || (!in.has(Mod::k_and) && !in.has(Mod::k_xor))))
        return {};
    return types;
}

// mma and wmma.mma
bool decode_product(Decoding::In in, MatrixDecoder& m) {
    const auto& operands = in.operands;
    if (operands.size() != 4 || m.words.column_major.size() != 2) return false;
    const std::vector<Element> types = multiplied_types(in, m.words);
    if (types.empty()) return false;
    MatrixOp& op = m.op;
    op.saturate = in.has(Mod::k_satfinite);
    op.popc_and = in.has(Mod::k_and);
    op.rounding = rounding_of(in);
    const auto& column_major = m.words.column_major;
    return m.fragment(op.d, operands[0], Role::kC, types[0], true, false) &&
           m.fragment(op.a, operands[1], Role::kA, types[1], false, column_major[0]) &&
           m.fragment(op.b, operands[2], Role::kB, types[2], false, column_major[1]) &&
           m.fragment(op.c, operands[3], Role::kC, types[3], false, false) &&
           m.finish(matrix_multiply, false);
}

}  // namespace

bool decode_wmma(Decoding& d, Decoding::In in) {
    MatrixDecoder m(d, in);
    if (!m.is_supported() || m.words.types.empty()) return false;
    return in.has(Mod::k_mma) ? decode_product(in, m) : decode_fragment_access(d, in, m);
}

bool decode_mma(Decoding& d, Decoding::In in) {
    MatrixDecoder m(d, in);
    return m.is_supported() && decode_product(in, m);
}

// ldmatrix and stmatrix
bool decode_matrix_access(Decoding& d, Decoding::In in) {
    MatrixDecoder m(d, in);
    MatrixOp& op = m.op;
    const bool load = in.opcode == Opcode::k_ldmatrix;
    op.matrices = in.has(Mod::k_x1) ? 1 : in.has(Mod::k_x2) ? 2 : in.has(Mod::k_x4) ? 4 : 0;
    op.transpose = in.has(Mod::k_trans);
    if (!m.is_supported() || !op.matrices || !in.has(Mod::k_m8n8) || in.type() != Type::kB16 ||
        in.operands.size() != 2 ||
        !m.registers(in.operands[load ? 0 : 1], 4, load, op.d.register_rows) ||
        op.d.register_rows.size() != op.matrices || !m.in_memory(in.operands[load ? 1 : 0]))
        return false;
    if (op.memory.space == ptx::Space::kGlobal) return false;
    op.memory.kind = load ? AccessKind::kLoad : AccessKind::kStore;
    op.memory.element_bytes = 4;
    op.memory.vector = 4;
    op.memory.bytes = 16;
    op.memory.row_bytes = 4;
    for (unsigned k = 0; k < 4; ++k) op.memory.rows[k] = op.staging[k] = d.rows.reserve(4);
    op.memory.mover = load ? access_handlers().load(4, 4, false) : access_handlers().store(4, 4);
    return m.finish(load ? matrix_ldmatrix : matrix_stmatrix, true);
}

// movmatrix
bool decode_matrix_transpose(Decoding& d, Decoding::In in) {
    MatrixDecoder m(d, in);
    if (!m.is_supported() || in.operands.size() != 2 || !in.has(Mod::k_trans) ||
        in.type() != Type::kB16 || !m.registers(in.operands[0], 4, true, m.op.d.register_rows) ||
        !m.registers(in.operands[1], 4, false, m.op.a.register_rows))
        return false;
    return m.finish(matrix_movmatrix, false);
}

}  // namespace machine
