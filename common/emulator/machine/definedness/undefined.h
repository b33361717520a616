// SPDX-License-Identifier: MIT
// Tracks undefined values by register and lane, from their origin to the place where they matter.
// The rule is that of Seward and Nethercote, "Using Valgrind to detect undefined value errors with
// bit-precision" (USENIX 2005). Copying such a value is harmless, and compilers do so all the time:
// the padding of a struct, both sides of a phi, a field that is only valid if a flag is set. It
// matters once it decides a branch, is an address, or is stored after a computation.
//
// Tracking starts with the first undefined value, so a correct program only pays for a test at each
// access. From then on, the instructions between two accesses are processed at the next access:
// their effect on definedness depends only on the registers that they name.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "machine/program/code.h"
#include "machine/program/liveness.h"

namespace machine {

struct WarpState;

// The registers and constants that a load or store moves: the elements of a vector, or one.
std::vector<const ptx::Operand*> elements_of(const ptx::Operand& operand);

// Which lanes of which registers of one activation are undefined.
struct UndefinedRegisters {
    struct Lanes {
        uint32_t low = 0, high = 0;  // of 64-bit registers, the two halves
        uint32_t origin = 0;
        uint32_t any() const { return low | high; }
    };
    std::vector<Lanes> of;                 // by register
    std::vector<uint32_t> some;            // all registers with undefined lanes, and perhaps others
    std::map<uint32_t, Lanes> parameters;  // of calls: by kind, variable and offset
    bool empty() const { return some.empty() && parameters.empty(); }
};

class UndefinedValues {
public:
    explicit UndefinedValues(LaunchState& executor) : ex_(executor) {}

    void begin_launch();
    // An activation starts for these lanes; `call`: the instruction in its caller, null for a
    // kernel.
    void enter(Frame& frame, uint32_t lanes, const Instr* call);
    void leave(Frame& callee, uint32_t lanes);
    void release(Frame& frame);

    // A straight run of instructions begins at `pc`, or has reached the one at `pc` that ends it.
    void resume(Frame& frame, uint32_t pc);
    void reached(Frame& frame, uint32_t pc, uint32_t mask);
    // A branch from `pc` to `target` that all lanes take or skip together.
    void pass(Frame& frame, uint32_t pc, uint32_t target, uint32_t mask);

    // Around every access to memory by address. In between: local() for accesses to local memory,
    // loaded() for what observers answer about other loads, and store_into() for other stores.
    void begin_access(const Instr& in, const MemoryOp& op, uint32_t mask);
    void end_access(const Instr& in, const MemoryOp& op, uint32_t mask);
    // Whether the current access has read an undefined value; if not, and nothing was undefined
    // before, end_access() has nothing to do.
    bool found() const { return found_ || load_.lanes; }
    void local(const MemoryOp& op, uint32_t lanes, const uint64_t* address, bool uniform);
    // An observer's answer about the current access.
    void loaded(const UndefinedLoad& answer);
    // Lanes of a store to `space` that only copy an undefined value.
    uint32_t store_into(ptx::Space space, uint32_t mask);
    uint32_t store_origin() const { return store_origin_; }

    // A shuffle: lane i of `frame` received the value of lane from[i], or (bits of `absent`) read a
    // lane that did not participate.
    struct Shuffled {
        Frame* frame;
        const Instr* in;
        uint32_t mask, absent;
        const uint32_t* from;
    };
    void shuffled(const std::vector<Shuffled>& parties);

private:
    using Lanes = UndefinedRegisters::Lanes;
    using How = UndefinedUse::How;

    UndefinedRegisters& table(Frame& frame);
    const ptx::Instruction& body(const Frame& frame, uint32_t index) const;
    static uint32_t index_at(const Code& code, uint32_t pc);
    void catch_up(Frame& frame, uint32_t to, uint32_t mask);
    void prune(Frame& frame, uint32_t index);
    // Properties of a function that tracking needs.
    struct Facts {
        explicit Facts(const Code& code);
        Liveness liveness;
        std::vector<SiteId> sites;  // by PTX instruction
    };
    const Facts& facts(const Code& code);

    // One instruction's effect (undefined_step.cpp).
    void step(Frame& frame, const ptx::Instruction& in, SiteId site, uint32_t mask);
    Lanes result(Frame& frame, const ptx::Instruction& in, SiteId site, uint32_t mask);
    Lanes logic(Frame& frame, const ptx::Instruction& in, uint32_t mask);
    Lanes selected(Frame& frame, const ptx::Instruction& in, uint32_t mask);
    bool pack_or_unpack(Frame& frame, const ptx::Instruction& in, uint32_t mask);
    bool parameter(Frame& frame, const ptx::Instruction& in, uint32_t mask);
    Lanes of(const Frame& frame, const ptx::Operand& operand) const;
    Lanes of_all(const Frame& frame, const ptx::Instruction& in) const;
    void set(Frame& frame, uint32_t index, uint32_t mask, Lanes value);
    static bool wide(const Frame& frame, uint32_t register_index);
    uint64_t value(const Frame& frame, const ptx::Operand& operand, uint32_t lane) const;
    uint32_t predicate(const Frame& frame, uint32_t register_index) const;

    uint32_t make_origin(UndefinedOrigin::Kind kind, SiteId site);
    uint32_t read_at(uint32_t origin, SiteId site);
    void use(How how, SiteId site, uint32_t lanes, uint32_t origin);
    bool is_mere_copy(const Frame& frame, const ptx::Instruction& in, SiteId site);
    bool is_update(const Frame& frame, const ptx::Instruction& in, SiteId site);

    LaunchState& ex_;
    std::vector<UndefinedOrigin> origins_;  // 0: a register that was not read yet
    uint32_t next_ = 0;                     // the next instruction to process
    std::vector<std::unique_ptr<UndefinedRegisters>> spare_;
    std::unordered_map<const Code*, std::unique_ptr<Facts>> facts_;
    std::unordered_map<SiteId, bool> copies_, updates_;
    // The latest origin at each instruction, reused in every iteration of a loop.
    struct Latest {
        uint64_t block = 0;
        uint32_t warp = 0, origin = 0;
    };
    std::unordered_map<SiteId, Latest> latest_;

    // Of the current access.
    UndefinedLoad load_;
    Lanes local_[8];
    bool found_ = false;  // something undefined in local_
    uint32_t store_lanes_ = 0, store_origin_ = 0;
    SiteId site_ = 0;
};

}  // namespace machine
