// SPDX-License-Identifier: MIT
// Matrix instructions that load or store. Every access goes through access.cpp, so that bounds,
// races and bank conflicts are checked.
#include <algorithm>
#include <bit>
#include <cstring>

#include "machine/lanes/levels.h"
#include "machine/units/matrix_registers.h"

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

// What a lane moves at once: a register, one of its elements, or two registers.
struct Run {
    unsigned reg, first, count, registers = 1;
};
std::vector<Run> runs(const MatrixOp& op, const Fragment& f) {
    // Elements of a register are adjacent in memory or a whole row apart, and so are those of two
    // registers of an accumulator: cards move such a pair at once, too.
    const unsigned e = f.per_register;
    const auto offset = [&](unsigned i) {
        const unsigned row = f.where[i] / f.columns, column = f.where[i] % f.columns;
        return op.column_major ? column * 4096 + row : row * 4096 + column;
    };
    const bool together = e > 1 && offset(1) == offset(0) + 1;
    const bool pairs = e == 1 && f.distinct % 2 == 0 && offset(1) == offset(0) + 1;
    std::vector<Run> out;
    for (unsigned r = 0; r < f.distinct; r += pairs ? 2 : 1) {
        if (pairs)
            out.push_back({r, 0, 1, 2});
        else if (e == 1 || together)
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

// Where the first lane's matrix is: global, shared, or neither.
ptx::Space space_of(const LaunchState& ex, const MatrixOp& op) {
    if (op.memory.space != ptx::Space::kGeneric || !ex.mask) return op.memory.space;
    const uint64_t tag = base_of(ex, op.memory, uint32_t(std::countr_zero(ex.mask))) >> 56;
    return tag == kSharedTag ? ptx::Space::kShared
           : tag == 0        ? ptx::Space::kGlobal
                             : ptx::Space::kNone;
}

uint64_t stride_of(const LaunchState& ex, const MatrixOp& op, uint32_t lane) {
    if (op.stride_row == kNoRow) return op.default_stride;
    return op.stride_row_bytes == 8 ? ex.row<uint64_t>(op.stride_row)[lane]
                                    : ex.row<uint32_t>(op.stride_row)[lane];
}

// Writes the address of a run's first element for every lane to the scratch row.
void addresses(LaunchState& ex, const MatrixOp& op, const Fragment& f, const Run& run) {
    const unsigned bits = bits_of(f.element), index = run.reg * f.per_register + run.first;
    uint64_t* const out = ex.row<uint64_t>(op.address);
    for_lanes(ex.mask, [&](uint32_t lane) {
        const uint64_t stride = stride_of(ex, op, lane);
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
    part.vector = uint8_t(run.registers);
    part.bytes = uint8_t(run.registers * run.count * bits / 8);
    part.element_bytes = uint8_t(std::max(1u, bits / 8));
    part.base = MemoryOp::Base::kRow64;
    part.base_row = op.address;
    part.offset = 0;
    part.row_bytes = f.register_bytes;
    for (unsigned j = 0; j < run.registers; ++j) part.rows[j] = op.staging[j];
    return part;
}

// 16-bit multiplicands, as cards load them whichever dimension is contiguous: from shared memory
// like ldmatrix, 16 bytes for each lane, and otherwise 4 bytes for each lane, so that four lanes
// load 16 bytes of one line. The warp exchanges elements afterwards.
void load_halves(LaunchState& ex, const MatrixOp& op, const Fragment& f) {
    const bool shared = space_of(ex, op) == ptx::Space::kShared;
    const unsigned lines = op.column_major ? f.columns : f.rows;
    const unsigned length = op.column_major ? f.rows : f.columns;
    const unsigned pieces = lines * length / 8;          // of 8 elements
    const unsigned at_once = shared ? kWarpSize : 8;     // pieces for each access
    const unsigned each = at_once == kWarpSize ? 8 : 2;  // elements for each lane
    std::vector<uint16_t> loaded(size_t(lines) * length);
    uint64_t* const addresses = ex.row<uint64_t>(op.address);
    const auto element = [&](unsigned from, uint32_t lane) {  // the lane's first, in `loaded`
        const unsigned piece = from + lane * each / 8;
        return piece % lines * length + piece / lines * 8 + lane * each % 8;
    };
    for (unsigned from = 0; from < pieces; from += at_once) {
        const unsigned lanes_needed = std::min(kWarpSize, (pieces - from) * 8 / each);
        const uint32_t lanes =
            ex.mask & (lanes_needed == kWarpSize ? kAllLanes : (1u << lanes_needed) - 1);
        for_lanes(lanes, [&](uint32_t lane) {
            const uint64_t at = element(from, lane);
            addresses[lane] = base_of(ex, op.memory, lane) +
                              2 * (at / length * stride_of(ex, op, lane) + at % length);
        });
        MemoryOp part;
        part.space = op.memory.space;
        part.kind = AccessKind::kLoad;
        part.base = MemoryOp::Base::kRow64;
        part.base_row = op.address;
        part.vector = uint8_t(each / 2);
        part.element_bytes = shared ? 4 : 2;
        part.bytes = uint8_t(each * 2);
        part.row_bytes = 4;
        for (unsigned j = 0; j < part.vector; ++j) part.rows[j] = op.staging[j];
        part.mover = access_handlers().load(4, 4, false);
        access(ex, part, lanes);
        for_lanes(lanes, [&](uint32_t lane) {
            for (unsigned j = 0; j < part.vector; ++j)
                std::memcpy(
                    &loaded[element(from, lane) + 2 * j], ex.rows + op.staging[j] + lane * 4, 4);
        });
    }
    spread(ex, f, [&](unsigned at) {
        const unsigned row = at / f.columns, column = at % f.columns;
        return loaded[op.column_major ? column * length + row : row * length + column];
    });
}

// The lanes whose address or stride is not the first lane's.
uint32_t strayed_lanes(const LaunchState& ex, const MatrixOp& op) {
    const uint32_t first = uint32_t(std::countr_zero(ex.mask));
    const uint64_t address = base_of(ex, op.memory, first), stride = stride_of(ex, op, first);
    uint32_t strayed = 0;
    for_lanes(ex.mask, [&](uint32_t lane) {
        if (base_of(ex, op.memory, lane) != address || stride_of(ex, op, lane) != stride)
            strayed |= 1u << lane;
    });
    return strayed;
}

// Reports a matrix whose address is no multiple of its fragment's size (PTX ISA "Matrix Storage"),
// or whose rows are no multiple of 16 bytes apart (CUDA C++ Programming Guide, "Warp Matrix
// Functions"; PTX asks for the fragment's size), or whose address or stride is not the same in all
// lanes (PTX ISA "wmma.load"). Not an error of the launch: cards often execute it.
void check_placement(LaunchState& ex, const MatrixOp& op, const Fragment& f, AccessKind kind) {
    if (ex.observers.bad.empty() || !ex.mask) return;
    const uint32_t strayed = strayed_lanes(ex, op), first = uint32_t(std::countr_zero(ex.mask));
    const uint32_t lane = strayed ? uint32_t(std::countr_zero(strayed)) : first;
    const unsigned bits = bits_of(f.element);
    const unsigned fragment = f.registers * f.register_bytes;
    const ptx::Space space = space_of(ex, op);
    if (space == ptx::Space::kNone) return;
    uint64_t addresses[kWarpSize];
    for_lanes(ex.mask, [&](uint32_t each) {
        addresses[each] = base_of(ex, op.memory, each);
        if (space == ptx::Space::kShared) addresses[each] = uint32_t(addresses[each]);
    });
    const MisplacedMatrix matrix{f.rows,
                                 f.columns,
                                 op.column_major,
                                 stride_of(ex, op, lane) * bits / 8,
                                 fragment,
                                 std::min(16u, fragment),
                                 strayed,
                                 first,
                                 addresses[first],
                                 stride_of(ex, op, first) * bits / 8};
    if (!strayed && addresses[first] % matrix.address_multiple == 0 &&
        matrix.stride % matrix.stride_multiple == 0)
        return;
    AccessEvent event{};
    event.warp = &ex.warp->info;
    event.site = LaunchState::blamed(ex.frame, *ex.current);
    event.instruction = ex.current->site;
    event.space = space;
    event.kind = kind;
    event.bytes = event.element_bytes = uint8_t(std::max(1u, bits / 8));
    event.mask = ex.mask;
    event.misaligned_lanes = strayed ? strayed : ex.mask;
    event.address = addresses;
    event.misplaced = &matrix;
    for (Observer* o : ex.observers.bad) o->on_access(event);
}

}  // namespace

// PTX ISA "wmma.load".
void matrix_load(LaunchState& ex, const MatrixOp& op) {
    const Fragment& f = op.d;
    check_placement(ex, op, f, AccessKind::kLoad);
    if (bits_of(f.element) == 16 && f.role != Role::kC) return load_halves(ex, op, f);
    for (const Run& run : runs(op, f)) {
        addresses(ex, op, f, run);
        MemoryOp part = part_of(op, f, run, AccessKind::kLoad);
        const unsigned bytes = part.bytes / run.registers;
        part.mover = access_handlers().load(bytes, part.row_bytes, false);
        access(ex, part, ex.mask);
        for_lanes(ex.mask, [&](uint32_t lane) {
            const unsigned shift = run.first * part.element_bytes;
            for (unsigned j = 0; j < run.registers; ++j)
                for (unsigned r = run.reg + j; r < f.registers; r += f.distinct)
                    std::memcpy(ex.rows + f.register_rows[r] + lane * f.register_bytes + shift,
                                ex.rows + op.staging[j] + lane * f.register_bytes,
                                bytes);
        });
    }
}

// PTX ISA "wmma.store".
void matrix_store(LaunchState& ex, const MatrixOp& op) {
    const Fragment& f = op.d;
    check_placement(ex, op, f, AccessKind::kStore);
    for (const Run& run : runs(op, f)) {
        addresses(ex, op, f, run);
        MemoryOp part = part_of(op, f, run, AccessKind::kStore);
        const unsigned bytes = part.bytes / run.registers;
        for_lanes(ex.mask, [&](uint32_t lane) {
            for (unsigned j = 0; j < run.registers; ++j) {
                uint64_t value = 0;
                std::memcpy(&value,
                            ex.rows + f.register_rows[run.reg + j] + lane * f.register_bytes +
                                run.first * part.element_bytes,
                            bytes);
                std::memcpy(
                    ex.rows + op.staging[j] + lane * f.register_bytes, &value, f.register_bytes);
            }
        });
        part.mover = access_handlers().store(bytes, part.row_bytes);
        access(ex, part, ex.mask);
    }
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

}  // namespace machine
