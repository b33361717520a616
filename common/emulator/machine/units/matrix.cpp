// SPDX-License-Identifier: MIT
// Executes matrix instructions. Every access to memory goes through access.cpp, lane by lane as the
// fragment specifies, so that bounds, races and bank conflicts are checked.
#include "machine/units/matrix.h"

#include <cfenv>
#include <cmath>
#include <cstring>

#include "machine/lanes/levels.h"
#include "machine/lanes/numeric.h"
#include "machine/lanes/small_float.h"
#include "machine/state/launch_state.h"

namespace machine {
namespace {

// Executes one load or store of all lanes at the current instruction.
void access(LaunchState& ex, const MemoryOp& op, uint32_t lanes) {
    if (!lanes) return;
    const Instr* const whole = ex.current;
    const uint32_t before = ex.mask;
    Instr part;
    part.site = whole->site;
    part.op = &op;
    ex.mask = lanes;
    access_handlers().address(op.space, op.kind)(ex, part);
    ex.mask = before;
    ex.current = whole;
}

uint64_t element_bits(const LaunchState& ex, const Fragment& f, unsigned lane, unsigned i) {
    const unsigned r = i / f.per_register, j = i % f.per_register;
    const std::byte* at = ex.rows + f.register_rows[r] + size_t(lane) * f.register_bytes;
    uint64_t whole = 0;
    std::memcpy(&whole, at, f.register_bytes);
    const unsigned bits = bits_of(f.element);
    return bits >= 32 ? whole : whole >> (bits * j) & ((1u << bits) - 1);
}

double number(Element element, uint64_t bits) {
    switch (element) {
    case Element::kF16:
        return double(half_to_float(uint32_t(bits)));
    case Element::kBf16:
        return double(bf16_to_float(uint32_t(bits)));
    case Element::kTf32:  // the low 13 bits are ignored
        return double(bits_as<float>(uint32_t(bits) & 0xffffe000u));
    case Element::kF32:
        return double(bits_as<float>(uint32_t(bits)));
    case Element::kF64:
        return bits_as<double>(bits);
    case Element::kE4m3:
        return small_to_double(kE4m3, uint8_t(bits));
    case Element::kE5m2:
        return small_to_double(kE5m2, uint8_t(bits));
    default:
        return 0;
    }
}
int32_t integer(Element element, uint64_t bits) {
    switch (element) {
    case Element::kS8:
        return int8_t(bits);
    case Element::kS4:
        return int32_t(uint32_t(bits) << 28) >> 28;
    default:  // u8, u4, b1 and s32
        return int32_t(uint32_t(bits));
    }
}

uint64_t encoded(Element element, double value) {
    if (element == Element::kF64) return bits_as<uint64_t>(value);
    if (element == Element::kF16) return double_to_half(value, Rounding::kNearestEven);
    const float rounded = float(value);
    return rounded == rounded ? bits_as<uint32_t>(rounded) : kCanonicalNan32;
}

void put(LaunchState& ex, const Fragment& f, unsigned lane, unsigned i, uint64_t bits) {
    for (unsigned r = i / f.per_register; r < f.registers; r += f.distinct) {
        std::byte* at = ex.rows + f.register_rows[r] + size_t(lane) * f.register_bytes;
        const unsigned bytes = bits_of(f.element) / 8;
        std::memcpy(at + bytes * (i % f.per_register), &bits, bytes);
    }
}

template <class T, class F>
std::vector<T> gathered(const LaunchState& ex, const Fragment& f, F&& decode) {
    std::vector<T> out(size_t(f.rows) * f.columns * f.copies);
    const unsigned count = f.elements();
    for (unsigned lane = 0; lane < kWarpSize; ++lane)
        for (unsigned i = 0; i < count; ++i)
            out[f.where[lane * count + i]] = T(decode(f.element, element_bits(ex, f, lane, i)));
    return out;
}

template <class F>
void spread(LaunchState& ex, const Fragment& f, F&& bits_at) {
    const unsigned count = f.elements();
    for_lanes(ex.mask, [&](uint32_t lane) {
        for (unsigned i = 0; i < count; ++i)
            put(ex, f, lane, i, bits_at(f.where[lane * count + i]));
    });
}

// d[m][n] = c[m][n] + sum over k of a[m][k] * b[k][n], computed by `step`.
template <class T, class Sum, class Step>
std::vector<Sum> product(const MatrixShape& s, unsigned matrices, const std::vector<T>& a,
                         const std::vector<T>& b, std::vector<Sum> c, Step&& step) {
    for (unsigned q = 0; q < matrices; ++q) {
        const T* const x = a.data() + size_t(q) * s.m * s.k;
        const T* const y = b.data() + size_t(q) * s.k * s.n;
        Sum* const z = c.data() + size_t(q) * s.m * s.n;
        for (unsigned m = 0; m < s.m; ++m)
            for (unsigned k = 0; k < s.k; ++k) {
                const T left = x[m * s.k + k];
                for (unsigned n = 0; n < s.n; ++n)
                    z[m * s.n + n] = step(z[m * s.n + n], left, y[k * s.n + n]);
            }
    }
    return c;
}

// f64's chain of fused operations under another rounding mode.
[[gnu::noinline]] double fused(double a, double b, double c) {
    volatile double x = a, y = b, z = c;
    volatile double result = std::fma(x, y, z);
    const double sum = result;
    return sum == sum ? sum : nan_of(a, c, b);
}

// The bytes of a register, or of one of its elements, that a lane moves at once.
struct Run {
    unsigned reg, first, count;
};
std::vector<Run> runs(const MatrixOp& op, const Fragment& f) {
    // Elements of a register are adjacent in memory or a whole row apart.
    const unsigned e = f.per_register;
    const auto offset = [&](unsigned i) {
        const unsigned row = f.where[i] / f.columns, column = f.where[i] % f.columns;
        return op.column_major ? column * 4096 + row : row * 4096 + column;
    };
    const bool together = e > 1 && offset(1) == offset(0) + 1;
    std::vector<Run> out;
    for (unsigned r = 0; r < f.distinct; ++r) {
        if (e == 1 || together)
            out.push_back({r, 0, e});
        else
            for (unsigned j = 0; j < e; ++j) out.push_back({r, j, 1});
    }
    return out;
}

uint64_t base_of(const LaunchState& ex, const MemoryOp& op, uint32_t lane) {
    switch (op.base) {
    case MemoryOp::Base::kRow64:
        return ex.row<uint64_t>(op.base_row)[lane] + uint64_t(op.offset);
    case MemoryOp::Base::kRow32:
        return ex.row<uint32_t>(op.base_row)[lane] + uint64_t(op.offset);
    case MemoryOp::Base::kLocal:
        return uint64_t(op.offset) + ex.frame->local_base;
    default:
        return uint64_t(op.offset);
    }
}

// Writes the address of a run's first element for every lane to the scratch row.
void addresses(LaunchState& ex, const MatrixOp& op, const Fragment& f, const Run& run) {
    const unsigned bits = bits_of(f.element), index = run.reg * f.per_register + run.first;
    uint64_t* const out = ex.row<uint64_t>(op.address);
    for_lanes(ex.mask, [&](uint32_t lane) {
        uint64_t stride = op.default_stride;
        if (op.stride_row != kNoRow)
            stride = op.stride_row_bytes == 8 ? ex.row<uint64_t>(op.stride_row)[lane]
                                              : ex.row<uint32_t>(op.stride_row)[lane];
        const unsigned at = f.where[lane * f.elements() + index];
        const uint64_t row = at / f.columns, column = at % f.columns;
        const uint64_t element = op.column_major ? column * stride + row : row * stride + column;
        out[lane] = base_of(ex, op.memory, lane) + element * bits / 8;
    });
}

MemoryOp part_of(const MatrixOp& op, const Fragment& f, const Run& run, AccessKind kind) {
    MemoryOp part;
    const unsigned bits = bits_of(f.element);
    part.space = op.memory.space;
    part.kind = kind;
    part.bytes = uint8_t(run.count * bits / 8);
    part.element_bytes = uint8_t(std::max(1u, bits / 8));
    part.base = MemoryOp::Base::kRow64;
    part.base_row = op.address;
    part.offset = 0;
    part.row_bytes = f.register_bytes;
    return part;
}

}  // namespace

// PTX ISA "wmma.load".
void matrix_load(LaunchState& ex, const MatrixOp& op) {
    const Fragment& f = op.d;
    for (const Run& run : runs(op, f)) {
        addresses(ex, op, f, run);
        MemoryOp part = part_of(op, f, run, AccessKind::kLoad);
        part.rows[0] = op.staging[0];
        part.row_bytes = f.register_bytes;
        part.mover = access_handlers().load(part.bytes, part.row_bytes, false);
        access(ex, part, ex.mask);
        for_lanes(ex.mask, [&](uint32_t lane) {
            const unsigned shift = run.first * part.element_bytes;
            for (unsigned r = run.reg; r < f.registers; r += f.distinct)
                std::memcpy(ex.rows + f.register_rows[r] + lane * f.register_bytes + shift,
                            ex.rows + op.staging[0] + lane * f.register_bytes,
                            part.bytes);
        });
    }
}

// PTX ISA "wmma.store".
void matrix_store(LaunchState& ex, const MatrixOp& op) {
    const Fragment& f = op.d;
    for (const Run& run : runs(op, f)) {
        addresses(ex, op, f, run);
        MemoryOp part = part_of(op, f, run, AccessKind::kStore);
        for_lanes(ex.mask, [&](uint32_t lane) {
            uint64_t value = 0;
            std::memcpy(&value,
                        ex.rows + f.register_rows[run.reg] + lane * f.register_bytes +
                            run.first * part.element_bytes,
                        part.bytes);
            std::memcpy(
                ex.rows + op.staging[0] + lane * f.register_bytes, &value, f.register_bytes);
        });
        part.rows[0] = op.staging[0];
        part.mover = access_handlers().store(part.bytes, part.row_bytes);
        access(ex, part, ex.mask);
    }
}

// PTX ISA "wmma.mma" and "mma".
void matrix_multiply(LaunchState& ex, const MatrixOp& op) {
    const MatrixShape& s = op.shape;
    const unsigned matrices = op.c.copies;
    if (op.c.element == Element::kS32) {
        const auto a = gathered<int32_t>(ex, op.a, integer);
        const auto b = gathered<int32_t>(ex, op.b, integer);
        auto c = gathered<int64_t>(ex, op.c, integer);
        if (op.a.element == Element::kB1 && op.popc_and)
            c = product(s, 1, a, b, std::move(c), [](int64_t z, int32_t x, int32_t y) {
                return z + (x & y);
            });
        else if (op.a.element == Element::kB1)
            c = product(s, 1, a, b, std::move(c), [](int64_t z, int32_t x, int32_t y) {
                return z + (x ^ y);
            });
        else
            c = product(s, 1, a, b, std::move(c), [](int64_t z, int32_t x, int32_t y) {
                return z + int64_t(x) * y;
            });
        spread(ex, op.d, [&](unsigned at) {
            const int64_t value = c[at];
            if (!op.saturate) return uint64_t(uint32_t(value));
            return uint64_t(uint32_t(value > INT32_MAX   ? INT32_MAX
                                     : value < INT32_MIN ? INT32_MIN
                                                         : int32_t(value)));
        });
        return;
    }
    const auto a = gathered<double>(ex, op.a, number);
    const auto b = gathered<double>(ex, op.b, number);
    auto c = gathered<double>(ex, op.c, number);
    if (op.d.element == Element::kF64) {
        const int before = std::fegetround();
        std::fesetround(op.rounding);
        c = product(s, matrices, a, b, std::move(c), [](double z, double x, double y) {
            return fused(x, y, z);
        });
        std::fesetround(before);
    } else {
        c = product(s, matrices, a, b, std::move(c), [](double z, double x, double y) {
            return z + x * y;
        });
    }
    spread(ex, op.d, [&](unsigned at) {
        double value = c[at];
        if (op.saturate)  // .satfinite of f16: the largest number instead of infinity, 0 instead of
                          // NaN
            value = value != value ? 0 : std::fmin(std::fmax(value, -65504.0), 65504.0);
        return encoded(op.d.element, value);
    });
}

// PTX ISA "ldmatrix": lane l gives the address of row l % 8 of matrix l / 8.
void matrix_ldmatrix(LaunchState& ex, const MatrixOp& op) {
    const uint32_t lanes = op.matrices == 4 ? kAllLanes : (1u << 8 * op.matrices) - 1;
    for (uint32_t row : op.staging) std::memset(ex.rows + row, 0xff, 4 * kWarpSize);
    access(ex, op.memory, ex.mask & lanes);
    const auto half = [&](unsigned matrix, unsigned row, unsigned column) {
        uint16_t value;
        std::memcpy(
            &value, ex.rows + op.staging[column / 2] + (8 * matrix + row) * 4 + column % 2 * 2, 2);
        return uint32_t(value);
    };
    for (unsigned x = 0; x < op.matrices; ++x) {
        uint32_t* const d = ex.row<uint32_t>(op.d.register_rows[x]);
        for_lanes(ex.mask, [&](uint32_t lane) {
            const unsigned row = lane / 4, column = lane % 4 * 2;
            d[lane] = op.transpose ? half(x, column, row) | half(x, column + 1, row) << 16
                                   : half(x, row, column) | half(x, row, column + 1) << 16;
        });
    }
}

// PTX ISA "stmatrix".
void matrix_stmatrix(LaunchState& ex, const MatrixOp& op) {
    const uint32_t lanes = op.matrices == 4 ? kAllLanes : (1u << 8 * op.matrices) - 1;
    for (unsigned x = 0; x < op.matrices; ++x) {
        const uint32_t* const s = ex.row<uint32_t>(op.d.register_rows[x]);
        for (unsigned lane = 0; lane < kWarpSize; ++lane)
            for (unsigned j = 0; j < 2; ++j) {
                unsigned row = lane / 4, column = lane % 4 * 2 + j;
                if (op.transpose) std::swap(row, column);
                const uint16_t value = uint16_t(s[lane] >> 16 * j);
                std::memcpy(ex.rows + op.staging[column / 2] + (8 * x + row) * 4 + column % 2 * 2,
                            &value,
                            2);
            }
    }
    access(ex, op.memory, ex.mask & lanes);
}

// PTX ISA "movmatrix": an 8x8 matrix of 16-bit elements, transposed across the warp.
void matrix_movmatrix(LaunchState& ex, const MatrixOp& op) {
    uint16_t whole[8][8];
    const uint32_t* const s = ex.row<uint32_t>(op.a.register_rows[0]);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        whole[lane / 4][lane % 4 * 2] = uint16_t(s[lane]);
        whole[lane / 4][lane % 4 * 2 + 1] = uint16_t(s[lane] >> 16);
    }
    uint32_t* const d = ex.row<uint32_t>(op.d.register_rows[0]);
    for_lanes(ex.mask, [&](uint32_t lane) {
        d[lane] = whole[lane % 4 * 2][lane / 4] | uint32_t(whole[lane % 4 * 2 + 1][lane / 4]) << 16;
    });
}

}  // namespace machine
