// SPDX-License-Identifier: MIT
// The matrix element in each lane's registers. PTX ISA "Matrix Fragments for mma.m8n8k4" and the
// sections after it: one rule covers all of them but the first.
#include "machine/units/matrix.h"

namespace machine {
namespace {

struct Position {
    unsigned row, column;
};
Position flipped(Position p) {
    return {p.column, p.row};
}

// mma with n = 8 and m = 8 or 16: element j of register r.
Position basic(Role role, unsigned m, unsigned per_register, unsigned lane, unsigned r,
               unsigned j) {
    const unsigned group = lane >> 2, in_group = lane & 3, wide = 4 * per_register;
    if (role == Role::kA && m == 16)
        return {group + 8 * (r & 1), in_group * per_register + j + (r >> 1) * wide};
    if (role == Role::kA) return {group, in_group * per_register + j + r * wide};
    if (role == Role::kB) return {in_group * per_register + j + r * wide, group};
    const unsigned i = r * per_register + j;
    return {group + 8 * (i >> 1), 2 * in_group + (i & 1)};
}

// m32n8 and m16n16: blocks of m16n8, each with `in_block` elements of the fragment.
Position blocks(Role role, MatrixShape shape, unsigned per_register, unsigned lane, unsigned i) {
    const unsigned in_block = (role == Role::kA   ? 16 * shape.k
                               : role == Role::kB ? 8 * shape.k
                                                  : 16 * 8) /
                              kWarpSize;
    const unsigned block = i / in_block, rest = i % in_block;
    Position p = basic(role, 16, per_register, lane, rest / per_register, rest % per_register);
    if (role == Role::kA || (role == Role::kC && shape.m == 32))
        p.row += 16 * block;
    else
        p.column += 8 * block;
    return p;
}

// mma.m8n8k4 with f16: four matrices, each held by the eight lanes with equal bits 2 and 3.
Position quad_pair(Role role, bool column_major, Element element, unsigned lane, unsigned i) {
    const unsigned low = lane & 3, upper = lane >= 16 ? 4 : 0;
    if (role == Role::kA) return column_major ? Position{i + upper, low} : Position{low + upper, i};
    if (role == Role::kB) return column_major ? Position{i, low + upper} : Position{low, i + upper};
    if (element == Element::kF16) return {low + upper, i};
    return {(lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)};
}

}  // namespace

unsigned bits_of(Element element) {
    switch (element) {
    case Element::kF16:
    case Element::kBf16:
        return 16;
    case Element::kE4m3:
    case Element::kE5m2:
    case Element::kS8:
    case Element::kU8:
        return 8;
    case Element::kS4:
    case Element::kU4:
        return 4;
    case Element::kB1:
        return 1;
    case Element::kF64:
        return 64;
    default:
        return 32;
    }
}

bool lay_out_fragment(Fragment& out, bool wmma, MatrixShape shape, Role role, Element element,
                      unsigned registers, bool column_major) {
    const unsigned bits = bits_of(element);
    out.role = role;
    out.element = element;
    out.rows = role == Role::kB ? shape.k : shape.m;
    out.columns = role == Role::kA ? shape.k : shape.n;
    out.register_bytes = bits == 64 ? 8 : 4;
    out.per_register = bits >= 32 ? 1 : 32 / bits;
    const bool quads = !wmma && shape == MatrixShape{8, 8, 4} && element != Element::kF64;
    out.copies = quads ? 4 : 1;
    const unsigned size = out.rows * out.columns * out.copies;
    out.distinct = size / kWarpSize / out.per_register;
    out.registers = registers;
    if (out.distinct == 0 || registers % out.distinct != 0) return false;
    const bool spare = wmma && element == Element::kF16 && role != Role::kC && registers == 8;
    if (registers != out.distinct && !spare) return false;
    out.where.resize(size_t(kWarpSize) * out.elements());
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        for (unsigned i = 0; i < out.elements(); ++i) {
            const unsigned e = out.per_register;
            Position p{};
            if (quads) {
                p = quad_pair(role, column_major, element, lane, i);
            } else if (!wmma || shape.m + shape.n == 16) {
                p = basic(role, shape.m, e, lane, i / e, i % e);
            } else if (shape.m == 8) {  // the transpose of m32n8
                const Role other = role == Role::kA   ? Role::kB
                                   : role == Role::kB ? Role::kA
                                                      : Role::kC;
                p = flipped(blocks(other, {shape.n, shape.m, shape.k}, e, lane, i));
            } else {
                p = blocks(role, shape, e, lane, i);
            }
            const unsigned matrix = quads ? lane >> 2 & 3 : 0;
            if (p.row >= out.rows || p.column >= out.columns) return false;
            out.where[lane * out.elements() + i] =
                uint16_t((matrix * out.rows + p.row) * out.columns + p.column);
        }
    }
    return true;
}

}  // namespace machine
