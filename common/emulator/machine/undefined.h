// SPDX-License-Identifier: MIT
// Follows values that nothing has defined, from where a thread gets one to where it matters: the
// rule of Seward and Nethercote, "Using Valgrind to detect undefined value errors with
// bit-precision" (USENIX 2005), by register and by lane. Copying such a value is harmless, and
// compilers do so all the time: the padding of a struct, both sides of a phi, a field that is only
// valid when a flag says so. It matters once it decides a branch, is an address, or is stored after
// a computation.
//
// Nothing is followed until there is something to follow, so a correct program pays for a look at
// its accesses only. From then on, the instructions between two accesses are caught up with when
// the next one comes: their effect on definedness needs no more than the registers they name.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "machine/code.h"
#include "machine/liveness.h"

namespace machine {

struct WarpState;

// The registers and constants that a load or store moves: those of a vector, or the one.
std::vector<const ptx::Operand*> elements_of(const ptx::Operand& operand);

// Of one activation: which lanes of which registers are undefined.
struct UndefinedRegisters {
    struct Lanes {
        uint32_t low = 0, high = 0;  // of 64-bit registers, the two halves
        uint32_t origin = 0;
        uint32_t any() const { return low | high; }
    };
    std::vector<Lanes> of;                 // by register
    std::vector<uint32_t> some;            // registers with any, and perhaps more
    std::map<uint32_t, Lanes> parameters;  // of calls: by kind, variable and offset
    bool empty() const { return some.empty() && parameters.empty(); }
};

class UndefinedValues {
public:
    explicit UndefinedValues(Executor& executor) : ex_(executor) {}

    void begin_launch();
    // An activation starts for these lanes; `call`: the instruction in its caller, null for a
    // kernel.
    void enter(Frame& frame, uint32_t lanes, const Instr* call);
    void leave(Frame& callee, uint32_t lanes);
    void release(Frame& frame);

    // A straight run of instructions begins at `pc`, or has reached the one at `pc` that ends it.
    void resume(Frame& frame, uint32_t pc);
    void reached(Frame& frame, uint32_t pc, uint32_t mask);
    // A branch on which all lanes agree, from `pc` to `target`.
    void pass(Frame& frame, uint32_t pc, uint32_t target, uint32_t mask);

    // Round every access to memory by address. In between, `local` for what hits local memory, and
    // an AccessEvent with the two below for the rest.
    void begin_access(const Instr& in, const MemoryOp& op, uint32_t mask);
    void end_access(const Instr& in, const MemoryOp& op, uint32_t mask);
    void local(const MemoryOp& op, uint32_t lanes, const uint64_t* address, bool uniform);
    UndefinedLoad& load() { return load_; }
    // Lanes of a store whose undefined value goes to `space` as a mere copy.
    uint32_t store_into(ptx::Space space, uint32_t mask);
    uint32_t store_origin() const { return store_origin_; }

    // A shuffle: lane i of `frame` got what lane from[i] has in register row `source`; bits of
    // `nobody`: from a lane that took no part.
    struct Shuffled {
        Frame* frame;
        const Instr* in;
        uint32_t mask, nobody;
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
    // What following needs to know of a function.
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

    Executor& ex_;
    std::vector<UndefinedOrigin> origins_;  // 0: a register that nobody has read yet
    uint32_t next_ = 0;                     // instruction to catch up with
    std::vector<std::unique_ptr<UndefinedRegisters>> spare_;
    std::unordered_map<const Code*, std::unique_ptr<Facts>> facts_;
    std::unordered_map<SiteId, bool> copies_, updates_;
    // The latest origin at each instruction: a loop need not make one for every round.
    struct Latest {
        uint64_t block = 0;
        uint32_t warp = 0, origin = 0;
    };
    std::unordered_map<SiteId, Latest> latest_;

    // Of the access under way.
    UndefinedLoad load_;
    Lanes local_[8];
    bool found_ = false;  // something undefined in local_
    uint32_t store_lanes_ = 0, store_origin_ = 0;
    SiteId site_ = 0;
};

}  // namespace machine
