// SPDX-License-Identifier: MIT
// Matrix instructions of a warp: wmma, mma, ldmatrix, stmatrix, movmatrix (PTX ISA "Warp Level
// Matrix Multiply-Accumulate Instructions"). Private to matrix*.cpp and decode/matrix.cpp.
//
// Fragments of mma have the layout that the PTX ISA draws ("Matrix Fragments for mma.m16n8k16" and
// similar). A wmma fragment, whose layout PTX leaves open, is composed of those: m16n16 is two
// m16n8 side by side, m32n8 two on top of each other, m8n32 the transpose of m32n8; f16 fragments
// of A and B hold every element several times if they have registers to spare.
//
// Accesses of wmma are those of machine code for sm_80 and sm_90: a fragment of 16-bit
// multiplicands is loaded 16 bytes a lane from shared memory (LDSM) and 4 from global memory, a
// pair of f32 is moved at once where it is adjacent (STS.64, STG.E.64).
//
// Values: products are exact, they and the element of C are summed in binary64, and the sum is
// rounded once to the type of D (to nearest even; f64 is instead a chain of fused operations in
// order of k, in the instruction's rounding). PTX leaves order and rounding open for f16, bf16,
// tf32 and f8 ("the accumulation order, rounding and handling of subnormal inputs are
// unspecified"), so a card may differ by the rounding of each of its partial sums: for f32
// accumulators by at most (k + 1) * 2^-23 times the sum of the magnitudes.
#pragma once

#include <vector>

#include "machine/program/code.h"

namespace machine {

enum class Element : uint8_t {
    kNone,
    kF16,
    kBf16,
    kTf32,
    kF32,
    kF64,
    kE4m3,
    kE5m2,
    kS32,
    kS8,
    kU8,
    kS4,
    kU4,
    kB1
};
unsigned bits_of(Element element);
enum class Role : uint8_t { kA, kB, kC };

struct MatrixShape {
    unsigned m = 0, n = 0, k = 0;
    bool operator==(const MatrixShape&) const = default;
};

// One operand: the matrix element in each lane's registers.
struct Fragment {
    Role role = Role::kA;
    Element element = Element::kNone;
    unsigned rows = 0, columns = 0;        // of the matrix
    unsigned registers = 0, distinct = 0;  // the other registers repeat the first `distinct` ones
    unsigned per_register = 1;             // elements
    unsigned copies = 1;                   // m8n8k4 of f16: four matrices at once
    uint8_t register_bytes = 4;
    std::vector<uint32_t> register_rows;  // a row of 32 lanes for each register
    // [lane][element of the distinct registers]: row * columns + column, plus the number of the
    // matrix (m8n8k4 of f16 has four) times rows * columns.
    std::vector<uint16_t> where;
    unsigned elements() const { return distinct * per_register; }
};
// Computes the layout (everything but register_rows) of an operand with that number of registers;
// false if the shape and type do not match. `column_major`: of mma.m8n8k4 only.
bool lay_out_fragment(Fragment& out, bool wmma, MatrixShape shape, Role role, Element element,
                      unsigned registers, bool column_major);

struct MatrixOp {
    MatrixShape shape;
    Fragment a, b, c, d;
    bool saturate = false, popc_and = false;
    int rounding = 0;  // FE_ constant, for f64
    // Memory.
    MemoryOp memory;  // space and address of the first element, or of each lane's row
    uint32_t stride_row = kNoRow;
    uint8_t stride_row_bytes = 4;
    unsigned default_stride = 0;  // elements
    bool column_major = false, transpose = false;
    unsigned matrices = 0;  // ldmatrix, stmatrix: 1, 2 or 4
    uint32_t staging[4] = {kNoRow, kNoRow, kNoRow, kNoRow};
    uint32_t address = kNoRow;  // scratch row of addresses
};

// Executed for the lanes of ex.mask, which are all that arrived, on the rows of ex.frame.
void matrix_load(LaunchState& ex, const MatrixOp& op);
void matrix_store(LaunchState& ex, const MatrixOp& op);
void matrix_multiply(LaunchState& ex, const MatrixOp& op);
void matrix_ldmatrix(LaunchState& ex, const MatrixOp& op);
void matrix_stmatrix(LaunchState& ex, const MatrixOp& op);
void matrix_movmatrix(LaunchState& ex, const MatrixOp& op);

// How many pairs of elements one execution multiplies; 0 for operations that only move data.
uint32_t matrix_products(const WarpOp& op);

}  // namespace machine
