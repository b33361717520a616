// SPDX-License-Identifier: MIT
// Activations of functions: their rows, calls and returns.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "machine/execute/executor.h"

namespace machine {

namespace {

// The limit of host memory for the registers of a recursion whose activations are all alike.
constexpr uint64_t kMostStackRows = 256 << 20;

}  // namespace

Code::~Code() {
    for (Frame* f : spare_frames) {
        std::free(f->rows);
        delete f;
    }
}

Frame* Executor::make_frame(Code& code, Frame* caller) {
    auto& pool = code.spare_frames;
    Frame* out = nullptr;
    if (!pool.empty()) {
        out = pool.back();
        pool.pop_back();
    } else {
        const size_t bytes = (std::max<size_t>(code.row_bytes, 64) + 63) & ~size_t(63);
        void* const rows = std::aligned_alloc(64, bytes);
        if (!rows) throw std::bad_alloc();
        out = new Frame;
        out->code = &code;
        out->rows = static_cast<std::byte*>(rows);
        std::fill(out->rows, out->rows + bytes, std::byte{0});
        std::copy(code.constants.begin(), code.constants.end(), out->rows + code.constants_begin);
    }
    if (!code.touched) {
        code.touched = true;
        touched_.push_back(&code);
    }
    out->caller = caller;
    out->refs = 0;
    out->blame = 0;
    out->depth = caller ? caller->depth + 1 : 0;
    // A gap between depots, so that an overrun of one does not reach the next.
    out->local_base = caller ? ((caller->local_end() + 15) & ~15u) + 1024 : 1024;
    if (out->dynamic_bytes) out->dynamic.fill(0);
    out->dynamic_bytes = 0;
    FrameReferences::add(caller);
    if (out->prepared != info.serial) execute_invariants(*out);
    return out;
}

bool Executor::call(WarpSplit& split, const Instr& in) {
    Code& code = *split.frame->code;
    const CallOp& op = in.as<CallOp>();
    if (op.builtin) {
        rows = split.frame->rows;
        mask = split.mask;
        frame = split.frame;
        op.builtin(*this, in, op);
        ++split.pc;
        return !abort;
    }
    Code* target = op.target;
    if (op.pointer_row != kNoRow) {
        // Lanes may call different functions: one group at a time, the rest repeats the call.
        const uint64_t* pointers =
            reinterpret_cast<const uint64_t*>(split.frame->rows + op.pointer_row);
        const uint64_t first = pointers[std::countr_zero(split.mask)];
        uint32_t same = 0;
        for_lanes(split.mask, [&](uint32_t i) { same |= uint32_t(pointers[i] == first) << i; });
        if (first >> 56 == kCodeTag) target = code.module->linker().at((first & 0xffffffffu) / 16);
        if (!target) {
            mask = same;
            fault(FaultKind::kBadCall, same, "a call through a pointer that is not a function's");
            stop(LaunchStatus::kIllegalAddress);
            return false;
        }
        if (same != split.mask) {
            divergence_.diverge(*warp, split, split.mask & ~same, split.pc, split.pc, split.pc + 1);
            return true;
        }
    } else if (!target) {
        target = op.target = code.module->code(op.name);
        if (!target) {
            fault(FaultKind::kBadCall, split.mask, "`" + op.name + "` is declared but not defined");
            stop(LaunchStatus::kUnsupported);
            return false;
        }
    }
    Frame* callee = make_frame(*target, split.frame);
    if (callee->local_base + callee->code->local_bytes > local_stride_ || callee->depth > 20000 ||
        callee->depth * uint64_t(target->row_bytes) > kMostStackRows) {
        frame_references_.remove(callee->caller);
        callee->caller = nullptr;
        target->spare_frames.push_back(callee);
        fault(FaultKind::kStackOverflow,
              split.mask,
              "the stack of " + std::to_string(local_stride_) + " bytes per thread is used up");
        stop(LaunchStatus::kStackOverflow);
        return false;
    }
    // Arguments: copied lane by lane, as every lane has its own.
    const size_t count = std::min(op.arguments.size(), target->parameters.size());
    for (size_t k = 0; k < count; ++k) {
        const CallOp::Slot& from = op.arguments[k];
        const Region& to = target->parameters[k];
        for_lanes(split.mask, [&](uint32_t lane) {
            std::byte* d = callee->rows + to.offset + lane * to.stride;
            if (from.row != kNoRow)
                std::memcpy(d,
                            split.frame->rows + from.row + lane * from.row_bytes,
                            std::min(to.bytes, from.row_bytes));
            else
                std::memcpy(d,
                            split.frame->rows + from.region.offset + lane * from.region.stride,
                            std::min(to.bytes, from.region.bytes));
        });
    }
    callee->return_pc = split.pc + 1;
    callee->blame = target->foreign.empty() ? 0 : blamed(split.frame, in);
    callee->call = &op;
    // pc + 1 is a kReconverge, where lanes that return at different times wait.
    divergence_.join_at(split, split.pc + 1);
    FrameReferences::add(callee);
    frame_references_.remove(split.frame);  // the callee and the join keep it
    split.frame = callee;
    split.pc = 0;
    if (follows) undefined.enter(*callee, split.mask, &in);
    return true;
}

void Executor::do_return(WarpSplit& split) {
    Frame* callee = split.frame;
    Frame* caller = callee->caller;
    const CallOp& op = *callee->call;
    const Code& code = *callee->code;
    const size_t count = std::min(op.results.size(), code.results.size());
    for (size_t k = 0; k < count; ++k) {
        const CallOp::Slot& to = op.results[k];
        const Region& from = code.results[k];
        for_lanes(split.mask, [&](uint32_t lane) {
            const std::byte* s = callee->rows + from.offset + lane * from.stride;
            if (to.row != kNoRow)
                std::memcpy(caller->rows + to.row + lane * to.row_bytes,
                            s,
                            std::min(from.bytes, to.row_bytes));
            else
                std::memcpy(caller->rows + to.region.offset + lane * to.region.stride,
                            s,
                            std::min(from.bytes, to.region.bytes));
        });
    }
    if (follows) undefined.leave(*callee, split.mask);
    split.pc = callee->return_pc;
    FrameReferences::add(caller);
    split.frame = caller;
    frame_references_.remove(callee);
}

void Executor::execute_invariants(Frame& activation) {
    activation.prepared = info.serial;
    const Lanes before = *this;
    rows = activation.rows;
    mask = kAllLanes;
    for (const Instr& in : activation.code->invariants) in.handler(*this, in);
    static_cast<Lanes&>(*this) = before;
}

}  // namespace machine
