// SPDX-License-Identifier: MIT
// atom and red: lanes are processed one after the other in lane order, so every run gives the same
// result. PTX ISA "Parallel Synchronization and Communication Instructions: atom, red".
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "machine/units/atomics.h"

#include "machine/lanes/numeric.h"
#include "machine/state/launch_state.h"

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
// atomicInc wraps to 0 after b; atomicDec wraps to b below 1 or above b.
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

struct Wide {
    uint64_t low, high;
    bool operator==(const Wide&) const = default;
};

// One of the operations above for each of several elements: atom.v2.f32 and others.
template <class One, class E>
struct Each {
    template <class T>
    static T apply(T old, T b, T) {
        E x[sizeof(T) / sizeof(E)], y[sizeof(T) / sizeof(E)];
        std::memcpy(x, &old, sizeof old);
        std::memcpy(y, &b, sizeof b);
        for (size_t k = 0; k < sizeof(T) / sizeof(E); ++k) x[k] = One::one(x[k], y[k]);
        T out;
        std::memcpy(&out, x, sizeof out);
        return out;
    }
};
struct FloatAdd {
    static float one(float a, float b) { return a + b; }
};
// min and max of 16-bit floats, by their bits, which have the order of the numbers; numbers take
// precedence over NaN.
template <bool max, uint16_t infinity>
struct HalfExtreme {
    static uint16_t one(uint16_t a, uint16_t b) {
        const bool a_nan = (a & 0x7fff) > infinity, b_nan = (b & 0x7fff) > infinity;
        if (a_nan) return b_nan ? kCanonicalNan16 : b;
        if (b_nan) return a;
        const auto key = [](uint16_t x) { return x & 0x8000 ? -1 - int(x & 0x7fff) : int(x); };
        return (key(a) < key(b)) != max ? a : b;
    }
};

// An operation on a value at an address, with the results of an H200 (tests/hardware). f32
// additions flush subnormals to zero in global memory, but not in shared memory; a NaN result is
// canonical. f64 additions in global memory keep a NaN unchanged, even a signalling one. Addresses
// of shared memory have 32 bits here, those of global memory more.
template <class F, class T>
T apply_at(uint64_t address, T old, T b, T c) {
    const bool global = address >> 32 != 0;
    if constexpr (std::is_same_v<F, Add> && std::is_same_v<T, double>) {
        if (global && std::isnan(b)) return b;
        if (global && std::isnan(old)) return old;
        const double sum = old + b;
        return std::isnan(sum) ? nan_of(old, b) : sum;
    }
    if constexpr (std::is_same_v<F, Add> && std::is_same_v<T, float>) {
        const auto flushed = [&](float x) {
            return global && std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
        };
        const float sum = flushed(flushed(old) + flushed(b));
        return std::isnan(sum) ? std::bit_cast<float>(0x7fffffff) : sum;
    }
    return F::template apply<T>(old, b, c);
}

// The same for memory that other processes access at the same time: an atomic operation of the
// processor. Returns the old value. There is none of 16 bytes on every processor.
template <class F, class T>
T apply_among_processes(std::byte* p, uint64_t address, T b, T c, T& value) {
    T old;
    std::memcpy(&old, p, sizeof old);
    if constexpr (sizeof(T) <= 8) {
        using Bits = std::conditional_t<sizeof(T) == 2,
                                        uint16_t,
                                        std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
        if (uint64_t(uintptr_t(p)) % sizeof(T) == 0) {
            auto* const word = reinterpret_cast<Bits*>(p);
            Bits seen = __atomic_load_n(word, __ATOMIC_RELAXED);
            do {
                old = std::bit_cast<T>(seen);
                value = apply_at<F, T>(address, old, b, c);
            } while (!__atomic_compare_exchange_n(word,
                                                  &seen,
                                                  std::bit_cast<Bits>(value),
                                                  false,
                                                  __ATOMIC_SEQ_CST,
                                                  __ATOMIC_RELAXED));
            return old;
        }
    }
    value = apply_at<F, T>(address, old, b, c);
    std::memcpy(p, &value, sizeof value);
    return old;
}

template <class F, class T>
void move_atomic(LaunchState& ex, const MemoryOp& op, uint32_t mask, uint64_t bias,
                 const uint64_t* address, uint64_t, bool) {
    const T* b = ex.row<T>(op.operands[0]);
    const T* c = op.operands[1] == kNoRow ? b : ex.row<T>(op.operands[1]);
    static_assert(std::is_trivially_copyable_v<T>);
    T* d = op.dst == kNoRow ? nullptr : ex.row<T>(op.dst);
    bool changed = false;
    const auto one = [&](uint32_t i) {
        std::byte* p = reinterpret_cast<std::byte*>(bias + address[i]);
        T old;
        std::memcpy(&old, p, sizeof old);
        const T value = apply_at<F, T>(address[i], old, b[i], c[i]);
        std::memcpy(p, &value, sizeof value);
        changed |= std::memcmp(&old, &value, sizeof old) != 0;
        return old;
    };
    if (ex.memory.shares()) [[unlikely]] {
        for_lanes(mask, [&](uint32_t i) {
            T value;
            const T old = apply_among_processes<F, T>(
                reinterpret_cast<std::byte*>(bias + address[i]), address[i], b[i], c[i], value);
            changed |= std::memcmp(&old, &value, sizeof old) != 0;
            if (d) d[i] = old;
        });
    } else if (mask == kAllLanes && !d) {
        for (uint32_t i = 0; i < kWarpSize; ++i) one(i);
    } else if (mask == kAllLanes) {
        for (uint32_t i = 0; i < kWarpSize; ++i) d[i] = one(i);
    } else {
        for_lanes(mask, [&](uint32_t i) {
            const T old = one(i);
            if (d) d[i] = old;
        });
    }
    // A failing compare-and-swap counts as polling; anything that changed memory is progress.
    if (changed) {
        ++ex.changes;
        ex.waits = 0;
    } else {
        ++ex.waits;
        ++ex.far_polls;
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
    if (type == Type::kB128)
        return in.has(Mod::k_cas)    ? move_atomic<CompareSwap, Wide>
               : in.has(Mod::k_exch) ? move_atomic<Exchange, Wide>
                                     : nullptr;
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

// PTX ISA "atom" and "red", vector forms: all elements of a lane form one number of 4, 8 or 16
// bytes.
Mover vector_atomic_mover(const ptx::Instruction& in) {
    const unsigned bytes = ptx::byte_size(in.type()) * in.vector;
    const auto sized = [&]<class F>(F*) -> Mover {
        return bytes == 4    ? move_atomic<F, uint32_t>
               : bytes == 8  ? move_atomic<F, uint64_t>
               : bytes == 16 ? move_atomic<F, Wide>
                             : nullptr;
    };
    const bool add = in.has(Mod::k_add), min = in.has(Mod::k_min), max = in.has(Mod::k_max);
    switch (in.type()) {
    case Type::kF32:
        return add && in.vector <= 4 ? sized((Each<FloatAdd, float>*)nullptr) : nullptr;
    case Type::kF16:
    case Type::kF16x2:
        return add   ? sized((Each<HalfAdd, uint16_t>*)nullptr)
               : min ? sized((Each<HalfExtreme<false, 0x7c00>, uint16_t>*)nullptr)
               : max ? sized((Each<HalfExtreme<true, 0x7c00>, uint16_t>*)nullptr)
                     : nullptr;
    case Type::kBf16:
    case Type::kBf16x2:
        return add   ? sized((Each<BfloatAdd, uint16_t>*)nullptr)
               : min ? sized((Each<HalfExtreme<false, 0x7f80>, uint16_t>*)nullptr)
               : max ? sized((Each<HalfExtreme<true, 0x7f80>, uint16_t>*)nullptr)
                     : nullptr;
    default:
        return nullptr;
    }
}

}  // namespace machine
