// SPDX-License-Identifier: MIT
// Undefined values in memory: what a load reads, what a store writes, and whether it is a copy.
#include <algorithm>

#include "machine/definedness/undefined.h"
#include "machine/program/sites.h"
#include "machine/state/launch_state.h"

namespace machine {

using ptx::Opcode;
using ptx::Operand;
using OriginKind = UndefinedOrigin::Kind;

namespace {

const Operand kNone{};

// The operand at `k`, or an empty one: barrier objects and asynchronous copies may have fewer
// operands than loads and stores.
const Operand& operand(const ptx::Instruction& in, size_t k) {
    return k < in.operands.size() ? in.operands[k] : kNone;
}

const Operand& address_of(const ptx::Instruction& in) {
    const bool matrix = in.opcode == Opcode::k_stmatrix ||
                        (in.opcode == Opcode::k_wmma && in.has(ptx::Mod::k_store));
    const bool first = in.opcode == Opcode::k_st || in.opcode == Opcode::k_red || matrix;
    return operand(in, first ? 0 : 1);
}

// An address as an offset from the object that it was computed from.
struct ObjectMember {
    const Operand* base = nullptr;
    int64_t offset = 0;
    bool same_object(const ObjectMember& other) const {
        return base->kind == other.base->kind && base->index == other.base->index &&
               base->name == other.base->name;
    }
};

ObjectMember member(const ptx::Function& function, const Operand& address) {
    ObjectMember out{&address.elements[0], address.offset};
    // `add.s64 %rd8, %rd4, 8`, as often as it takes.
    for (int depth = 0; depth < 8 && out.base->kind == Operand::Kind::kRegister; ++depth) {
        const ptx::Instruction* made = nullptr;
        unsigned writers = 0;
        for (const ptx::Instruction& in : function.body)
            for_written(in, [&](uint32_t r) {
                if (r != out.base->index) return;
                ++writers;
                made = &in;
            });
        if (writers != 1 || made->opcode != Opcode::k_add || made->operands.size() != 3 ||
            made->operands[1].kind != Operand::Kind::kRegister ||
            made->operands[2].kind != Operand::Kind::kImmediate)
            break;
        out.base = &made->operands[1];
        out.offset += int64_t(made->operands[2].bits);
    }
    return out;
}

}  // namespace

void UndefinedValues::begin_access(const Instr& in, const MemoryOp& op, uint32_t mask) {
    load_ = {};
    store_lanes_ = 0;
    if (found_) {
        std::fill(std::begin(local_), std::end(local_), Lanes{});
        found_ = false;
    }
    site_ = LaunchState::blamed(ex_.frame, in);
    Frame& frame = *ex_.frame;
    if (!frame.undefined) return;
    const uint32_t index = instruction_of_site(in.site);
    catch_up(frame, index, ex_.warp->splits.back().mask);
    next_ = index + 1;
    if (!frame.undefined) return;
    const ptx::Instruction& what = body(frame, index);
    const Operand& where = address_of(what);
    if (!where.elements.empty() && where.elements[0].kind == Operand::Kind::kRegister) {
        const uint32_t r = where.elements[0].index;
        const Lanes l = frame.undefined->of[r];
        if (l.any() & mask) {
            use(How::kAddress, site_, l.any() & mask, l.origin);
            set(frame, r, mask, {});
        }
    }
    if (op.kind == AccessKind::kLoad) return;
    const size_t first = op.kind == AccessKind::kAtomic ? 2 : 1;
    if (op.kind != AccessKind::kStore) {
        for (size_t k = first; k < what.operands.size(); ++k) {
            const Lanes l = of(frame, what.operands[k]);
            use(How::kStored, site_, l.any() & mask, l.origin);
        }
        return;
    }
    // Undefined as a whole: a partly defined value is a copy of an object that is partly defined.
    uint32_t all = mask;
    for (const Operand* element : elements_of(operand(what, 1))) {
        const Lanes l = of(frame, *element);
        all &= op.element_bytes == 8 ? l.low & l.high : l.low;
        if (l.any()) store_origin_ = l.origin;
    }
    store_lanes_ = all;
    // A matrix is the sum of products: storing it is no mere copy.
    if (what.opcode == Opcode::k_wmma && all) {
        use(How::kStored, site_, all, store_origin_);
        store_lanes_ = 0;
    }
}

void UndefinedValues::loaded(const UndefinedLoad& answer) {
    load_.lanes |= answer.lanes;
    if (answer.origin) load_.origin = answer.origin;
    if (!answer.by) return;
    load_.by = answer.by;
    load_.token = answer.token;
}

void UndefinedValues::end_access(const Instr& in, const MemoryOp& op, uint32_t mask) {
    const bool gives = op.kind == AccessKind::kLoad || op.kind == AccessKind::kAtomic;
    Frame& frame = *ex_.frame;
    if (!gives || !(frame.undefined || found_ || load_.lanes)) return;
    const uint32_t index = instruction_of_site(in.site);
    const ptx::Instruction& what = body(frame, index);
    if (!frame.undefined) next_ = index + 1;
    uint32_t origin = 0;
    if (load_.lanes) {
        origin = load_.origin;
        if (!origin && (origin = make_origin(OriginKind::kLoad, site_))) {
            origins_[origin].by = load_.by;
            origins_[origin].token = load_.token;
        }
        if (!origin) load_.lanes = 0;  // too many origins to track this one
    }
    size_t e = 0;
    for (const Operand* element : elements_of(operand(what, 0))) {
        const Lanes& l = local_[std::min<size_t>(e++, 7)];
        if (element->kind != Operand::Kind::kRegister) continue;
        Lanes now{l.low | load_.lanes, l.high | load_.lanes, load_.lanes ? origin : l.origin};
        set(frame, element->index, mask, now);
    }
}

void UndefinedValues::local(const MemoryOp& op, uint32_t lanes, const uint64_t* address,
                            bool uniform) {
    auto& memory = ex_.warp->undefined_local;
    auto& from = ex_.warp->undefined_from;
    const bool load = op.kind == AccessKind::kLoad;
    Frame& frame = *ex_.frame;
    std::vector<const Operand*> values;
    if (op.kind == AccessKind::kStore && frame.undefined)
        values = elements_of(operand(body(frame, instruction_of_site(ex_.current->site)), 1));
    while (lanes) {
        const uint64_t start = address[std::countr_zero(lanes)];
        const uint32_t together = uniform ? lanes : lanes & (0 - lanes);
        lanes &= ~together;
        if (start + op.bytes > memory.size()) continue;  // an array of another thread's making
        for (uint32_t e = 0; e < op.vector; ++e) {
            const uint64_t at = start + e * op.element_bytes;
            const uint32_t half = op.element_bytes == 8 ? 4 : op.element_bytes;
            for (uint32_t part = 0; part * half < op.element_bytes; ++part) {
                uint32_t* const bytes = memory.data() + at + part * half;
                if (load) {
                    uint32_t missing = together;
                    for (uint32_t b = 0; b < half; ++b) missing &= bytes[b];
                    if (!missing) continue;
                    found_ = true;
                    Lanes& mine = local_[e];
                    (part ? mine.high : mine.low) |= missing;
                    if (op.element_bytes < 8) mine.high |= missing;
                    const auto copied = from.find(uint32_t(at + part * half));
                    // A copy of another local variable is a variable of its own.
                    const bool from_afar = copied != from.end() &&
                                           copied->second < origins_.size() &&
                                           (origins_[copied->second].kind != OriginKind::kLocal ||
                                            origins_[copied->second].computed);
                    mine.origin =
                        from_afar ? copied->second : make_origin(OriginKind::kLocal, site_);
                    if (!mine.origin) mine = {};
                } else {
                    Lanes stored;
                    if (e < values.size()) stored = of(frame, *values[e]);
                    const uint32_t undefined = (part ? stored.high : stored.low) & together;
                    for (uint32_t b = 0; b < half; ++b)
                        bytes[b] = (bytes[b] & ~together) | undefined;
                    if (undefined && stored.origin)
                        from[uint32_t(at + part * half)] = stored.origin;
                    else if (!from.empty())
                        from.erase(uint32_t(at + part * half));
                }
            }
        }
    }
}

uint32_t UndefinedValues::store_into(ptx::Space space, uint32_t mask) {
    const uint32_t lanes = store_lanes_ & mask;
    if (!lanes) return 0;
    const ptx::Instruction& what = body(*ex_.frame, instruction_of_site(ex_.current->site));
    const SiteId site = ex_.current->site;
    const bool computed = store_origin_ && origins_[store_origin_].computed;
    if (space != ptx::Space::kShared && (!is_mere_copy(*ex_.frame, what, site) ||
                                         (computed && is_update(*ex_.frame, what, site)))) {
        use(How::kStored, site_, lanes, store_origin_);
        store_lanes_ &= ~lanes;
        return 0;
    }
    store_origin_ = read_at(store_origin_, site_);
    return store_origin_ ? lanes : 0;
}

// Whether the store is part of a copy: of one member of a struct (another store of the same line
// goes to the same object), of a byte in a copying loop, or in a function of the toolkit, whose
// lines are not statements of the user's.
bool UndefinedValues::is_mere_copy(const Frame& frame, const ptx::Instruction& in, SiteId site) {
    const auto [entry, fresh] = copies_.try_emplace(site, false);
    if (!fresh) return entry->second;
    bool copy = frame.code->is_toolkit || ptx::byte_size(in.type()) == 1;
    if (!copy && !in.operands[0].elements.empty()) {
        const ptx::Function& function = *frame.code->function;
        ptx::Module& module = frame.code->module->ptx();
        const ObjectMember here = member(function, in.operands[0]);
        const ptx::SourceLine line = module.user_line(in.location);
        for (const ptx::Instruction& other : function.body) {
            if (other.opcode != Opcode::k_st || other.operands[0].elements.empty()) continue;
            const ptx::SourceLine its = module.user_line(other.location);
            if (its.line != line.line || its.file != line.file) continue;
            const ObjectMember there = member(function, other.operands[0]);
            copy |= there.same_object(here) && there.offset != here.offset;
        }
    }
    return copies_[site] = copy;
}

// A member that is stored where the same line has loaded it: `p.x += p.vx; p.y += p.vy;`.
bool UndefinedValues::is_update(const Frame& frame, const ptx::Instruction& in, SiteId site) {
    const auto [entry, fresh] = updates_.try_emplace(site, false);
    if (!fresh || in.operands[0].elements.empty()) return entry->second;
    const ptx::Function& function = *frame.code->function;
    ptx::Module& module = frame.code->module->ptx();
    const ObjectMember here = member(function, in.operands[0]);
    const ptx::SourceLine line = module.user_line(in.location);
    const bool update =
        std::any_of(function.body.begin(), function.body.end(), [&](const ptx::Instruction& other) {
            if (other.opcode != Opcode::k_ld || other.operands.size() < 2 ||
                other.operands[1].elements.empty())
                return false;
            const ptx::SourceLine its = module.user_line(other.location);
            const ObjectMember there = member(function, other.operands[1]);
            return its.line == line.line && its.file == line.file && there.same_object(here) &&
                   there.offset == here.offset;
        });
    return updates_[site] = update;
}

}  // namespace machine
