// SPDX-License-Identifier: MIT
// Where undefined values come from and go to: activations, calls, uses, shuffles.
#include "machine/definedness/undefined.h"

#include <algorithm>

#include "machine/program/sites.h"
#include "machine/state/launch_state.h"

namespace machine {

using ptx::Opcode;
using ptx::Operand;
using OriginKind = UndefinedOrigin::Kind;

namespace {

constexpr size_t kMostOrigins = 1 << 20;  // of a launch; later values are not tracked

uint32_t parameter_key(Operand::Target target, uint32_t index, uint64_t offset) {
    return uint32_t(target) << 28 | (index & 0xfff) << 16 | uint32_t(offset & 0xffff);
}

}  // namespace

void UndefinedValues::begin_launch() {
    origins_.assign(1, {});
    latest_.clear();
}

UndefinedRegisters& UndefinedValues::table(Frame& frame) {
    if (!frame.undefined) {
        if (spare_.empty()) spare_.push_back(std::make_unique<UndefinedRegisters>());
        frame.undefined = spare_.back().release();
        spare_.pop_back();
        frame.undefined->of.assign(frame.code->function->registers.size(), {});
    }
    return *frame.undefined;
}

void UndefinedValues::release(Frame& frame) {
    if (!frame.undefined) return;
    frame.undefined->some.clear();
    frame.undefined->parameters.clear();
    spare_.emplace_back(frame.undefined);
    frame.undefined = nullptr;
}

const ptx::Instruction& UndefinedValues::body(const Frame& frame, uint32_t index) const {
    return frame.code->function->body[index];
}

// The PTX instruction at `pc`, or the next one where there is none (a point of reconvergence).
uint32_t UndefinedValues::index_at(const Code& code, uint32_t pc) {
    while (code.instructions[pc].site == 0) ++pc;
    return instruction_of_site(code.instructions[pc].site);
}

UndefinedValues::Facts::Facts(const Code& code)
    : liveness(*code.function), sites(code.function->body.size()) {
    for (const auto* list : {&code.instructions, &code.invariants})
        for (const Instr& in : *list)
            if (in.site) sites[instruction_of_site(in.site)] = in.site;
}

const UndefinedValues::Facts& UndefinedValues::facts(const Code& code) {
    auto& mine = facts_[&code];
    if (!mine) mine = std::make_unique<Facts>(code);
    return *mine;
}

void UndefinedValues::enter(Frame& frame, uint32_t lanes, const Instr* call) {
    const Code& code = *frame.code;
    if (code.local_bytes) {
        auto& memory = ex_.warp->undefined_local;
        const size_t end = frame.local_base + code.local_bytes;
        if (memory.size() < end) memory.resize(end);
        for (size_t i = frame.local_base; i < end; ++i) memory[i] |= lanes;
        std::erase_if(ex_.warp->undefined_from, [&](const auto& entry) {
            return entry.first >= frame.local_base && entry.first < end;
        });
    }
    const std::vector<uint32_t>& unset = facts(code).liveness.at_entry();
    for (const uint32_t r : unset) set(frame, r, lanes, {lanes, wide(frame, r) ? lanes : 0, 0});
    Frame* const caller = frame.caller;
    if (!call || !caller || !caller->undefined || caller->undefined->parameters.empty()) return;
    const ptx::Instruction& in = body(*caller, instruction_of_site(call->site));
    auto& from = caller->undefined->parameters;
    const auto& arguments = in.operands.size() > 2 ? in.operands[2].elements : in.operands;
    for (uint32_t k = 0; in.operands.size() > 2 && k < arguments.size(); ++k) {
        if (arguments[k].kind != Operand::Kind::kSymbol) continue;
        const uint32_t first = parameter_key(arguments[k].target, arguments[k].index, 0);
        const auto end = from.lower_bound(first + 0x10000);
        for (auto it = from.lower_bound(first); it != end; it = from.erase(it)) {
            const Lanes& l = it->second;
            if (!(l.any() & lanes)) continue;
            const uint32_t to = parameter_key(Operand::Target::kParameter, k, it->first & 0xffff);
            table(frame).parameters[to] = {l.low & lanes, l.high & lanes, l.origin};
        }
    }
}

void UndefinedValues::leave(Frame& callee, uint32_t lanes) {
    if (!callee.undefined || !callee.caller || callee.undefined->parameters.empty()) return;
    Frame& caller = *callee.caller;
    const uint32_t index = index_at(*caller.code, callee.return_pc - 1);
    const ptx::Instruction& in = body(caller, index);
    if (in.opcode != Opcode::k_call || in.operands.empty()) return;
    for (uint32_t k = 0; k < in.operands[0].elements.size(); ++k) {
        const Operand& to = in.operands[0].elements[k];
        if (to.kind != Operand::Kind::kSymbol) continue;
        const uint32_t first = parameter_key(Operand::Target::kResult, k, 0);
        auto& from = callee.undefined->parameters;
        for (auto it = from.lower_bound(first); it != from.lower_bound(first + 0x10000); ++it) {
            Lanes l = it->second;
            l.low &= lanes;
            l.high &= lanes;
            if (l.any())
                table(caller).parameters[parameter_key(to.target, to.index, it->first & 0xffff)] =
                    l;
        }
    }
}

// ld.param and st.param of calls: registers to and from the call's parameter variables.
bool UndefinedValues::parameter(Frame& frame, const ptx::Instruction& in, uint32_t mask) {
    if (in.space != ptx::Space::kParam || in.operands.size() != 2) return false;
    const bool store = in.opcode == Opcode::k_st;
    const Operand& where = in.operands[store ? 0 : 1];
    if (where.elements.empty() || where.elements[0].kind != Operand::Kind::kSymbol) return false;
    const Operand& symbol = where.elements[0];
    const uint64_t start = uint64_t(where.offset + symbol.offset);
    const auto values = elements_of(in.operands[store ? 1 : 0]);
    auto& parameters = table(frame).parameters;
    for (size_t e = 0; e < values.size(); ++e) {
        const uint64_t offset = start + e * ptx::byte_size(in.type());
        const uint32_t key = parameter_key(symbol.target, symbol.index, offset);
        if (store) {
            const Lanes l = of(frame, *values[e]);
            Lanes& known = parameters[key];
            known.low = (known.low & ~mask) | (l.low & mask);
            known.high = (known.high & ~mask) | (l.high & mask);
            if (l.any() & mask) known.origin = l.origin;
            if (!known.any()) parameters.erase(key);
        } else if (values[e]->kind == Operand::Kind::kRegister) {
            const auto found = parameters.find(key);
            set(frame, values[e]->index, mask, found == parameters.end() ? Lanes{} : found->second);
            // The result of a call is read once; a parameter may be read again.
            if (found != parameters.end() && symbol.target == Operand::Target::kVariable)
                parameters.erase(found);
        }
    }
    return true;
}

void UndefinedValues::prune(Frame& frame, uint32_t index) {
    UndefinedRegisters& t = *frame.undefined;
    const Liveness& live = facts(*frame.code).liveness;
    const bool knows = live.starts_block(index);
    std::erase_if(t.some, [&](uint32_t r) {
        // Dead for the lanes that arrive here; others may use the same registers elsewhere.
        if (knows && !live.live(index, r)) {
            const uint32_t mask = ex_.warp->splits.back().mask;
            t.of[r].low &= ~mask;
            t.of[r].high &= ~mask;
        }
        return t.of[r].any() == 0;
    });
    if (t.empty()) release(frame);
}

void UndefinedValues::resume(Frame& frame, uint32_t pc) {
    // From after the previous instruction on: hoisted instructions are tracked too.
    const auto& instructions = frame.code->instructions;
    uint32_t before = pc;
    while (before > 0 && instructions[before - 1].site == 0) --before;
    next_ = before == 0 ? 0 : instruction_of_site(instructions[before - 1].site) + 1;
    prune(frame, next_);
}

void UndefinedValues::catch_up(Frame& frame, uint32_t to, uint32_t mask) {
    const auto& instructions = frame.code->function->body;
    const Facts& known = facts(*frame.code);
    for (; next_ < to && !frame.undefined->empty(); ++next_) {
        const SiteId site = frame.blame ? frame.blame : known.sites[next_];
        step(frame, instructions[next_], site, mask);
    }
    next_ = to;
}

void UndefinedValues::reached(Frame& frame, uint32_t pc, uint32_t mask) {
    catch_up(frame, index_at(*frame.code, pc), mask);
    const Instr& in = frame.code->instructions[pc];
    if (in.control == kReconverge || !frame.undefined) return;
    const SiteId site = LaunchState::blamed(&frame, in);
    const ptx::Instruction& what = body(frame, instruction_of_site(in.site));
    const auto decides = [&](uint32_t r) {
        const Lanes l = frame.undefined->of[r];
        if (!(l.any() & mask)) return;
        use(How::kBranch, site, l.any() & mask, l.origin);
        set(frame, r, mask, {});
    };
    if (in.guarded) decides(what.guard);
    if (in.control == kBranchTable && !what.operands.empty() &&
        what.operands[0].kind == Operand::Kind::kRegister)
        decides(what.operands[0].index);
    // What they write. Shuffles are reported after they have run.
    if (in.control == kBarrier || in.control == kWarpOp)
        if (what.opcode != Opcode::k_shfl)
            for_written(what, [&](uint32_t r) { set(frame, r, mask, {}); });
}

void UndefinedValues::pass(Frame& frame, uint32_t pc, uint32_t target, uint32_t mask) {
    reached(frame, pc, mask);
    if (frame.undefined) resume(frame, target);
}

uint32_t UndefinedValues::make_origin(OriginKind kind, SiteId site) {
    if (origins_.size() >= kMostOrigins) return 0;
    const bool again = kind != OriginKind::kLoad && site;
    const uint64_t block = ex_.block->info.serial;
    const uint32_t warp = ex_.warp->info.index;
    if (again) {
        const Latest& known = latest_[site];
        if (known.origin && known.block == block && known.warp == warp &&
            origins_[known.origin].kind == kind)
            return known.origin;
    }
    UndefinedOrigin origin;
    origin.kind = kind;
    origin.site = site;
    origins_.push_back(origin);
    const uint32_t made = uint32_t(origins_.size() - 1);
    if (again) latest_[site] = {block, warp, made};
    return made;
}

// Something other than a copy reads a value of this origin at `site`.
uint32_t UndefinedValues::read_at(uint32_t origin, SiteId site) {
    if (!origin) origin = make_origin(OriginKind::kRegister, site);
    if (origin) origins_[origin].computed = true;
    return origin;
}

void UndefinedValues::use(How how, SiteId site, uint32_t lanes, uint32_t origin) {
    if (!lanes) return;
    origin = read_at(origin, site);
    if (!origin) return;
    UndefinedOrigin& from = origins_[origin];
    lanes &= ~from.reported;
    if (!lanes) return;
    from.reported |= lanes;
    const UndefinedUse event{how, &ex_.warp->info, site, lanes, &from};
    for (Observer* o : ex_.observers.undefined) o->on_undefined_use(event);
}

void UndefinedValues::shuffled(const std::vector<Shuffled>& parties) {
    const auto source = [&](const Shuffled& party) -> const Operand& {
        return body(*party.frame, instruction_of_site(party.in->site)).operands[1];
    };
    uint32_t missing = 0;
    uint32_t from_origin[kWarpSize] = {};
    bool any = false;
    for (const Shuffled& party : parties) {
        any |= party.absent != 0;
        if (!party.frame->undefined) continue;
        any = true;
        const Lanes l = of(*party.frame, source(party));
        missing |= l.any() & party.mask;
        for_lanes(l.any() & party.mask, [&](uint32_t i) { from_origin[i] = l.origin; });
    }
    if (!any) return;
    for (const Shuffled& party : parties) {
        const SiteId site = LaunchState::blamed(party.frame, *party.in);
        const ptx::Instruction& what = body(*party.frame, instruction_of_site(party.in->site));
        Lanes now;
        for_lanes(party.mask & ~party.absent, [&](uint32_t i) {
            if (!(missing >> party.from[i] & 1)) return;
            now.low |= 1u << i;
            now.origin = read_at(from_origin[party.from[i]], site);
        });
        if (party.absent & party.mask) {
            now.low |= party.absent & party.mask;
            now.origin = make_origin(OriginKind::kShuffle, site);
        }
        if (now.low && !now.origin) now = {};
        if (!now.low && !party.frame->undefined) continue;
        // The first of the pair is the value; the second says whether the lane was in range.
        bool first = true;
        for_written(what, [&](uint32_t r) {
            set(*party.frame, r, party.mask, first ? now : Lanes{});
            first = false;
        });
    }
}

}  // namespace machine
