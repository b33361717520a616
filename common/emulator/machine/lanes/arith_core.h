// SPDX-License-Identifier: MIT
// How an operation on one lane becomes a handler for 32: a struct with a static `apply` provides
// its types, run<> is the loop, bind<> fills in the Selected. Every arith_*.cpp is compiled once
// per processor level, each time into a namespace of its own (LEVEL_NS), so that the linker can
// never choose code for a newer processor in place of an older one's. For the same reason
// operations are in unnamed namespaces, and this code uses no inline library functions: a test
// checks that these objects define no weak symbol.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "machine/lanes/numeric.h"
#include "machine/platform/processor.h"
#include "machine/program/instr.h"

#ifndef LEVEL_NS
#if defined(__x86_64__)
#define LEVEL_NS x86_64_v2
#else
#define LEVEL_NS baseline
#endif
#endif

namespace machine {

// The properties of an instruction that the tables use, as plain data.
struct Form {
    static constexpr unsigned kWords = (unsigned(ptx::Mod::kCount) + 63) / 64;
    ptx::Opcode opcode{};
    unsigned type_count = 0;
    ptx::Type types[3] = {};
    uint64_t mods[kWords] = {};
    unsigned source_count = 0;
    bool pair = false;           // the destination is p|q
    unsigned dst_bytes = 0;      // of the destination's register; 0: a predicate or none
    unsigned src_bytes[5] = {};  // likewise; 0 for an immediate
    bool immediate[5] = {};
    uint64_t immediate_bits[5] = {};

    [[gnu::always_inline]] ptx::Type type(unsigned i = 0) const { return types[i]; }
    [[gnu::always_inline]] bool has(ptx::Mod mod) const {
        return mods[unsigned(mod) / 64] >> (unsigned(mod) % 64) & 1;
    }
    // Whether there are no other modifiers: an instruction with another one has a different
    // meaning.
    template <ptx::Mod... allowed>
    [[gnu::always_inline]] bool only() const {
        uint64_t rest[kWords];
        for (unsigned w = 0; w < kWords; ++w) rest[w] = mods[w];
        ((rest[unsigned(allowed) / 64] &= ~(uint64_t(1) << (unsigned(allowed) % 64))), ...);
        uint64_t any = 0;
        for (unsigned w = 0; w < kWords; ++w) any |= rest[w];
        return any == 0;
    }
};

namespace LEVEL_NS {

using ptx::Mod;
using ptx::Opcode;
using ptx::Type;

// Reads a special register; null where specials.def names no handler.
Handler special_handler(ptx::Special special);

// Each fills `out` and returns true if it supports the form.
bool select_integer(const Form& form, Selected& out);
bool select_multiply(const Form& form, Selected& out);
bool select_carry(const Form& form, Selected& out);
bool select_bits(const Form& form, Selected& out);
bool select_fields(const Form& form, Selected& out);
bool select_move(const Form& form, Selected& out);
bool select_float(const Form& form, Selected& out);
bool select_rounded(const Form& form, Selected& out);
bool select_approximate(const Form& form, Selected& out);
bool select_half(const Form& form, Selected& out);
bool select_compare(const Form& form, Selected& out);
bool select_convert(const Form& form, Selected& out);
bool select_video(const Form& form, Selected& out);

// Lane values that are not C++ numbers, as their bits.
enum class Half : uint16_t {};
enum class Bf16 : uint16_t {};
enum class Half2 : uint32_t {};  // the lower half-word is the first element
enum class Bf162 : uint32_t {};
struct Quad {
    uint64_t low, high;
};
// First parameter of an operation that uses Instr::extra.
enum class Extra : uint16_t {};

template <class T>
constexpr Type type_of() {
    if constexpr (std::is_same_v<T, bool>) return Type::kPred;
    if constexpr (std::is_same_v<T, uint16_t>) return Type::kU16;
    if constexpr (std::is_same_v<T, int16_t>) return Type::kS16;
    if constexpr (std::is_same_v<T, uint32_t>) return Type::kU32;
    if constexpr (std::is_same_v<T, int32_t>) return Type::kS32;
    if constexpr (std::is_same_v<T, uint64_t>) return Type::kU64;
    if constexpr (std::is_same_v<T, int64_t>) return Type::kS64;
    if constexpr (std::is_same_v<T, float>) return Type::kF32;
    if constexpr (std::is_same_v<T, double>) return Type::kF64;
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Bf16>) return Type::kB16;
    if constexpr (std::is_same_v<T, Half2> || std::is_same_v<T, Bf162>) return Type::kB32;
    if constexpr (std::is_same_v<T, Quad>) return Type::kB128;
}

template <unsigned bytes>
using Unsigned = std::conditional_t<
    bytes == 1, uint8_t,
    std::conditional_t<bytes == 2, uint16_t, std::conditional_t<bytes == 4, uint32_t, uint64_t>>>;
template <class T>
using Bits = Unsigned<sizeof(T)>;
// A signed integer as wide as T, for lane_mask.
template <class T>
using LaneOf = std::make_signed_t<Bits<T>>;

// A source row.
template <class T>
struct Row {
    const T* values;
    [[gnu::always_inline]] Row(const Lanes& lanes, uint32_t offset)
        : values(lanes.row<T>(offset)) {}
    [[gnu::always_inline]] T operator[](uint32_t i) const { return values[i]; }
};
template <>
struct Row<bool> {
    uint32_t bits;
    [[gnu::always_inline]] Row(const Lanes& lanes, uint32_t offset)
        : bits(lanes.predicate(offset)) {}
    [[gnu::always_inline]] bool operator[](uint32_t i) const { return bits & kLaneBit32.bit[i]; }
};

// An operation may declare `static constexpr bool kPerLane = true`: its body is a call or a long
// scalar sequence, so it is run for active lanes only.
template <class Op>
constexpr bool per_lane() {
    if constexpr (requires { Op::kPerLane; }) return Op::kPerLane;
    return false;
}

template <class Op, class D, class F>
[[gnu::always_inline]] inline void store(Lanes& lanes, const Instr& in, F&& f) {
    if constexpr (std::is_same_v<D, bool>) {
        map_predicate<typename Op::Lane>(lanes.predicate(in.dst), lanes.mask, f);
    } else if constexpr (per_lane<Op>()) {
        D* const d = lanes.row<D>(in.dst);
        for_lanes(
            lanes.mask, [&](uint32_t i) __attribute__((always_inline)) { d[i] = f(i); });
    } else {
        map_row(lanes.row<D>(in.dst), lanes.mask, f);
    }
}

template <class Op, class D, class... S, size_t... k>
[[gnu::always_inline]] inline void run_with(Lanes& lanes, const Instr& in, D (*)(S...),
                                            std::index_sequence<k...>) {
    [&](auto... rows) __attribute__((always_inline)) {
        store<Op, D>(
            lanes, in, [&](uint32_t i) __attribute__((always_inline)) {
                return Op::apply(rows[i]...);
            });
    }
    (Row<S>(lanes, in.src[k])...);
}
template <class Op, class D, class... S>
[[gnu::always_inline]] inline void run_as(Lanes& lanes, const Instr& in, D (*op)(S...)) {
    run_with<Op>(lanes, in, op, std::index_sequence_for<S...>{});
}
template <class Op, class D, class... S, size_t... k>
[[gnu::always_inline]] inline void run_with(Lanes& lanes, const Instr& in, D (*)(Extra, S...),
                                            std::index_sequence<k...>) {
    const Extra extra = Extra(in.extra);
    [&](auto... rows) __attribute__((always_inline)) {
        store<Op, D>(
            lanes, in, [&](uint32_t i) __attribute__((always_inline)) {
                return Op::apply(extra, rows[i]...);
            });
    }
    (Row<S>(lanes, in.src[k])...);
}
template <class Op, class D, class... S>
[[gnu::always_inline]] inline void run_as(Lanes& lanes, const Instr& in, D (*op)(Extra, S...)) {
    run_with<Op>(lanes, in, op, std::index_sequence_for<S...>{});
}

// The handler of an operation. Flattened, because one call left in the loop keeps it scalar.
template <class Op>
[[gnu::flatten]] void run(Lanes& lanes, const Instr& in) {
    run_as<Op>(lanes, in, &Op::apply);
}

// The same for lanes.lane alone.
template <class D>
[[gnu::always_inline]] inline void store_one(Lanes& lanes, const Instr& in, D value) {
    if constexpr (std::is_same_v<D, bool>) {
        uint32_t& d = lanes.predicate(in.dst);
        d = (d & ~lanes.mask) | ((0u - uint32_t(value)) & lanes.mask);
    } else {
        lanes.row<D>(in.dst)[lanes.lane] = value;
    }
}
template <class Op, class D, class... S, size_t... k>
[[gnu::always_inline]] inline void run_one_as(Lanes& lanes, const Instr& in, D (*)(S...),
                                              std::index_sequence<k...>) {
    store_one<D>(lanes, in, Op::apply(Row<S>(lanes, in.src[k])[lanes.lane]...));
}
template <class Op, class D, class... S, size_t... k>
[[gnu::always_inline]] inline void run_one_as(Lanes& lanes, const Instr& in, D (*)(Extra, S...),
                                              std::index_sequence<k...>) {
    store_one<D>(lanes, in, Op::apply(Extra(in.extra), Row<S>(lanes, in.src[k])[lanes.lane]...));
}
template <class D, class... S>
constexpr std::index_sequence_for<S...> rows_of(D (*)(S...)) {
    return {};
}
template <class D, class... S>
constexpr std::index_sequence_for<S...> rows_of(D (*)(Extra, S...)) {
    return {};
}
template <class Op>
[[gnu::flatten]] void run_one(Lanes& lanes, const Instr& in) {
    run_one_as<Op>(lanes, in, &Op::apply, rows_of(&Op::apply));
}

template <class D, class... S>
void describe(D (*)(S...), Selected& out) {
    const Type types[] = {type_of<S>()..., Type::kNone};
    out.sources = sizeof...(S);
    for (unsigned k = 0; k < sizeof...(S); ++k) out.src[k] = types[k];
    out.dst = type_of<D>();
}
template <class D, class... S>
void describe(D (*)(Extra, S...), Selected& out) {
    describe(static_cast<D (*)(S...)>(nullptr), out);
}

template <class Op>
[[gnu::always_inline]] inline bool bind(Selected& out, unsigned extra = 0) {
    out.handler = &run<Op>;
    // A per-lane operation is a large piece of code: it gets no second instance for one lane.
    if constexpr (!per_lane<Op>()) out.one_lane = &run_one<Op>;
    out.extra = uint16_t(extra);
    describe(&Op::apply, out);
    return true;
}

// Op<T> for the integer type that the instruction names. Bit types count as unsigned.
template <template <class> class Op>
[[gnu::always_inline]] inline bool bind_integer(Type type, Selected& out, unsigned extra = 0) {
    switch (type) {
    case Type::kU16:
    case Type::kB16:
        return bind<Op<uint16_t>>(out, extra);
    case Type::kU32:
    case Type::kB32:
        return bind<Op<uint32_t>>(out, extra);
    case Type::kU64:
    case Type::kB64:
        return bind<Op<uint64_t>>(out, extra);
    case Type::kS16:
        return bind<Op<int16_t>>(out, extra);
    case Type::kS32:
        return bind<Op<int32_t>>(out, extra);
    case Type::kS64:
        return bind<Op<int64_t>>(out, extra);
    default:
        return false;
    }
}
// 32 and 64 bits only.
template <template <class> class Op>
[[gnu::always_inline]] inline bool bind_wide_integer(Type type, Selected& out, unsigned extra = 0) {
    switch (type) {
    case Type::kU32:
    case Type::kB32:
        return bind<Op<uint32_t>>(out, extra);
    case Type::kU64:
    case Type::kB64:
        return bind<Op<uint64_t>>(out, extra);
    case Type::kS32:
        return bind<Op<int32_t>>(out, extra);
    case Type::kS64:
        return bind<Op<int64_t>>(out, extra);
    default:
        return false;
    }
}
// Op<T> with the unsigned T of the type's width, for operations that only see bits.
template <template <class> class Op>
[[gnu::always_inline]] inline bool bind_width(unsigned bytes, Selected& out, unsigned extra = 0) {
    switch (bytes) {
    case 2:
        return bind<Op<uint16_t>>(out, extra);
    case 4:
        return bind<Op<uint32_t>>(out, extra);
    case 8:
        return bind<Op<uint64_t>>(out, extra);
    default:
        return false;
    }
}
[[gnu::always_inline]] inline bool is_integer(Type type) {
    return type >= Type::kB8 && type <= Type::kS64 && type != Type::kB128;
}

}  // namespace LEVEL_NS

// select_arithmetic with the handlers of one level, for which can_run() must hold.
std::optional<Selected> select_arithmetic_for(ProcessorLevel level,
                                              const ptx::Instruction& instruction,
                                              const ptx::Function& function);

}  // namespace machine
