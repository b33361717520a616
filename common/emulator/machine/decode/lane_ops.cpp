// SPDX-License-Identifier: MIT
// Decoding and running of the operations in lane_ops_*.cpp.
#include <cstring>

#include "machine/decode/families.h"
#include "machine/lanes/lane_op.h"
#include "machine/state/launch_state.h"

namespace machine {

using ptx::Operand;
using ptx::Type;

namespace {

void run_lane_op(Lanes& lanes, const Instr& in) {
    const LaneOp& op = in.as<LaneOp>();
    for_lanes(lanes.mask, [&](uint32_t i) {
        uint64_t sources[LaneOp::kMost] = {};
        for (unsigned k = 0; k < op.count; ++k) {
            if (op.bytes[k])
                std::memcpy(&sources[k], lanes.rows + op.rows[k] + i * op.bytes[k], op.bytes[k]);
            else
                sources[k] = lanes.predicate(op.rows[k]) >> i & 1;
        }
        bool second = false;
        const uint64_t value = op.apply(op, sources, second);
        const auto put = [&](uint32_t row, bool bit) {
            uint32_t& d = lanes.predicate(row);
            d = (d & ~(1u << i)) | uint32_t(bit) << i;
        };
        if (op.dst_bytes)
            std::memcpy(lanes.rows + op.dst + i * op.dst_bytes, &value, op.dst_bytes);
        else
            put(op.dst, value & 1);
        if (op.dst_second != kNoRow) put(op.dst_second, second);
    });
}

}  // namespace

bool decode_lane_operation(Decoding& d, Decoding::In in) {
    LaneOp op;
    const auto& operands = in.operands;
    if (operands.empty() || operands.size() > 1 + LaneOp::kMost) return false;
    for (size_t k = 1; k < operands.size(); ++k) {
        op.selector[k - 1] = operands[k].selector;
        op.negative[k - 1] = operands[k].negated && !d.operands.is_predicate(operands[k]);
    }
    op.result_selector = operands[0].selector;
    const bool video = select_video_operation(in, op);
    if (!video && !select_number_operation(in, op)) return false;
    if (operands.size() != 1 + op.count) return false;
    for (size_t k = 0; k < operands.size(); ++k)
        if (!video && (!operands[k].selector.empty() || (k && op.negative[k - 1]))) return false;
    const Operand* first = &operands[0];
    if (first->kind == Operand::Kind::kPair) {
        op.dst_second = d.operands.destination(first->elements[1], Type::kPred);
        if (op.dst_second == kNoRow) return false;
        first = &first->elements[0];
    }
    const bool predicate = op.result == Type::kPred;
    op.dst_bytes = predicate ? 0 : uint8_t(std::max(2u, ptx::byte_size(op.result)));
    if (first->kind == Operand::Kind::kRegister) {
        if (d.operands.is_predicate(*first) != predicate) return false;
        if (!predicate && d.operands.register_bytes(*first) < op.dst_bytes) return false;
        if (!predicate) op.dst_bytes = uint8_t(d.operands.register_bytes(*first));
    }
    op.dst = first->kind == Operand::Kind::kRegister ? d.operands.register_row(*first)
                                                     : d.operands.destination(*first, Type::kB64);
    if (op.dst == kNoRow || op.dst_bytes > 8) return false;
    for (unsigned k = 0; k < op.count; ++k) {
        Operand operand = operands[k + 1];
        const bool is_flag = op.source[k] == Type::kPred;
        if (!is_flag) operand.negated = false;
        unsigned bytes = is_flag ? 0 : std::max(2u, ptx::byte_size(op.source[k]));
        if (operand.kind == Operand::Kind::kRegister) {
            if (d.operands.is_predicate(operand) != is_flag) return false;
            if (!is_flag && d.operands.register_bytes(operand) < bytes) return false;
            if (!is_flag) bytes = d.operands.register_bytes(operand);
        }
        // A register may be wider than its part that counts.
        op.rows[k] = is_flag || operand.kind != Operand::Kind::kRegister
                         ? d.operands.source(operand, op.source[k])
                         : d.operands.register_row(operand);
        op.bytes[k] = uint8_t(bytes);
        if (op.rows[k] == kNoRow || bytes > 8) return false;
    }
    LaneOp& stored = d.emitter.side_table(std::move(op));
    for (uint32_t& row : stored.rows) d.rows.resolve_later(row);
    d.emitter.emit(in, kStraight, run_lane_op).op = &stored;
    return true;
}

}  // namespace machine
