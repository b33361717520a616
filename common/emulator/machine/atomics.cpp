// SPDX-License-Identifier: MIT
// atom and red: lanes act one after the other in lane order, so every run gives the same result.
// PTX ISA "Parallel Synchronization and Communication Instructions: atom, red".
#include <cmath>
#include <cstring>
#include <type_traits>

#include "machine/decoder.h"
#include "machine/executor.h"
#include "machine/numeric.h"

namespace machine {

using ptx::Mod;
using ptx::Type;

namespace {

struct Add {
    template <class T>
    static T apply(T old, T b, T) {
        if constexpr (std::is_integral_v<T>)
            return T(std::make_unsigned_t<T>(old) + std::make_unsigned_t<T>(b));
        else
            return old + b;
    }
};
struct Exchange {
    template <class T>
    static T apply(T, T b, T) {
        return b;
    }
};
struct CompareSwap {
    template <class T>
    static T apply(T old, T b, T c) {
        return old == b ? c : old;
    }
};
struct Minimum {
    template <class T>
    static T apply(T old, T b, T) {
        if constexpr (std::is_floating_point_v<T>)
            return std::fmin(old, b);
        else
            return b < old ? b : old;
    }
};
struct Maximum {
    template <class T>
    static T apply(T old, T b, T) {
        if constexpr (std::is_floating_point_v<T>)
            return std::fmax(old, b);
        else
            return b > old ? b : old;
    }
};
struct And {
    template <class T>
    static T apply(T old, T b, T) {
        return T(old & b);
    }
};
struct Or {
    template <class T>
    static T apply(T old, T b, T) {
        return T(old | b);
    }
};
struct Xor {
    template <class T>
    static T apply(T old, T b, T) {
        return T(old ^ b);
    }
};
// atomicInc wraps to 0 behind b; atomicDec wraps to b below 1 or above b.
struct Increment {
    template <class T>
    static T apply(T old, T b, T) {
        return old >= b ? T(0) : T(old + 1);
    }
};
struct Decrement {
    template <class T>
    static T apply(T old, T b, T) {
        return old == 0 || old > b ? b : T(old - 1);
    }
};

// A packed or scalar 16-bit float, added through float with one rounding per element.
struct HalfAdd {
    static uint16_t one(uint16_t a, uint16_t b) {
        return float_to_half(half_to_float(a) + half_to_float(b));
    }
    template <class T>
    static T apply(T old, T b, T) {
        T out = 0;
        for (unsigned k = 0; k < sizeof(T) / 2; ++k)
            out |= T(T(one(uint16_t(old >> (16 * k)), uint16_t(b >> (16 * k)))) << (16 * k));
        return out;
    }
};
struct BfloatAdd {
    static uint16_t one(uint16_t a, uint16_t b) {
        return float_to_bf16(bf16_to_float(a) + bf16_to_float(b));
    }
    template <class T>
    static T apply(T old, T b, T) {
        T out = 0;
        for (unsigned k = 0; k < sizeof(T) / 2; ++k)
            out |= T(T(one(uint16_t(old >> (16 * k)), uint16_t(b >> (16 * k)))) << (16 * k));
        return out;
    }
};

template <class F, class T>
void move_atomic(Executor& ex, const MemoryOp& op, uint32_t mask, uint64_t bias,
                 const uint64_t* address, uint64_t, bool) {
    const T* b = ex.row<T>(op.operands[0]);
    const T* c = op.operands[1] == kNoRow ? b : ex.row<T>(op.operands[1]);
    T* d = op.dst == kNoRow ? nullptr : ex.row<T>(op.dst);
    bool changed = false;
    const auto one = [&](uint32_t i) {
        std::byte* p = reinterpret_cast<std::byte*>(bias + address[i]);
        T old;
        std::memcpy(&old, p, sizeof old);
        const T value = F::template apply<T>(old, b[i], c[i]);
        std::memcpy(p, &value, sizeof value);
        changed |= std::memcmp(&old, &value, sizeof old) != 0;
        return old;
    };
    if (mask == kAllLanes && !d) {
        for (uint32_t i = 0; i < kWarpSize; ++i) one(i);
    } else if (mask == kAllLanes) {
        for (uint32_t i = 0; i < kWarpSize; ++i) d[i] = one(i);
    } else {
        for_lanes(mask, [&](uint32_t i) {
            const T old = one(i);
            if (d) d[i] = old;
        });
    }
    // Polling with a failing compare-and-swap is a wait; anything that moved memory is progress.
    if (changed) {
        ++ex.changes;
        ex.waits = 0;
    } else {
        ++ex.waits;
    }
}

template <class F>
Mover integers(Type type) {
    switch (type) {
    case Type::kB16:
    case Type::kU16:
        return move_atomic<F, uint16_t>;
    case Type::kB32:
    case Type::kU32:
        return move_atomic<F, uint32_t>;
    case Type::kS32:
        return move_atomic<F, int32_t>;
    case Type::kB64:
    case Type::kU64:
        return move_atomic<F, uint64_t>;
    case Type::kS64:
        return move_atomic<F, int64_t>;
    default:
        return nullptr;
    }
}

template <class F>
Mover numbers(Type type) {
    if (type == Type::kF32) return move_atomic<F, float>;
    if (type == Type::kF64) return move_atomic<F, double>;
    return integers<F>(type);
}

}  // namespace

Mover atomic_mover(const ptx::Instruction& in) {
    const Type type = in.type();
    if (in.has(Mod::k_cas)) return integers<CompareSwap>(type);
    if (in.has(Mod::k_exch)) return integers<Exchange>(type);
    if (in.has(Mod::k_add)) {
        if (type == Type::kF16) return move_atomic<HalfAdd, uint16_t>;
        if (type == Type::kF16x2) return move_atomic<HalfAdd, uint32_t>;
        if (type == Type::kBf16) return move_atomic<BfloatAdd, uint16_t>;
        if (type == Type::kBf16x2) return move_atomic<BfloatAdd, uint32_t>;
        return numbers<Add>(type);
    }
    if (in.has(Mod::k_min)) return numbers<Minimum>(type);
    if (in.has(Mod::k_max)) return numbers<Maximum>(type);
    if (in.has(Mod::k_and)) return integers<And>(type);
    if (in.has(Mod::k_or)) return integers<Or>(type);
    if (in.has(Mod::k_xor)) return integers<Xor>(type);
    if (in.has(Mod::k_inc)) return integers<Increment>(type);
    if (in.has(Mod::k_dec)) return integers<Decrement>(type);
    return nullptr;
}

}  // namespace machine
