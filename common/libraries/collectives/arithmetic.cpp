// SPDX-License-Identifier: MIT
#include "collectives/arithmetic.h"

#include <cstdint>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <type_traits>

namespace collectives {
namespace {

// Numbers of 16 bits are computed with as float and rounded after each step, as on a card.
struct Half {
    using Value = float;
    static float load(__half x) { return __half2float(x); }
    static __half store(float x) { return __float2half(x); }
    using Stored = __half;
};
struct Bfloat16 {
    using Value = float;
    static float load(__nv_bfloat16 x) { return __bfloat162float(x); }
    static __nv_bfloat16 store(float x) { return __float2bfloat16(x); }
    using Stored = __nv_bfloat16;
};
template <class T>
struct Plain {
    using Value = T;
    static T load(T x) { return x; }
    static T store(T x) { return x; }
    using Stored = T;
};

template <class V>
V add(V a, V b) {
    if constexpr (std::is_integral_v<V>)
        return V(std::make_unsigned_t<V>(a) + std::make_unsigned_t<V>(b));
    else
        return a + b;
}
template <class V>
V multiply(V a, V b) {
    if constexpr (std::is_integral_v<V>)  // wraps; 64 bits, since short factors would become int
        return V(uint64_t(a) * uint64_t(b));
    else
        return a * b;
}
// With a NaN the result is NaN, as NCCL's.
template <class V>
V larger(V a, V b) {
    if constexpr (!std::is_integral_v<V>)
        if (a != a || b != b) return a + b;
    return a < b ? b : a;
}
template <class V>
V smaller(V a, V b) {
    if constexpr (!std::is_integral_v<V>)
        if (a != a || b != b) return a + b;
    return b < a ? b : a;
}

template <class E>
void reduce_all(const std::vector<Reduction>& reductions, const std::vector<const std::byte*>& from,
                std::byte* out, size_t count) {
    using Value = typename E::Value;
    using Stored = typename E::Stored;
    const ncclRedOp_t op = reductions.front().op;
    const size_t ranks = from.size();
    const bool integers = std::is_integral_v<Value>;
    std::vector<Value> scalars(ranks, Value(1));
    for (size_t r = 0; r < ranks; ++r) {
        if (reductions[r].scalar) {
            Stored scalar;
            std::memcpy(&scalar, reductions[r].scalar, sizeof scalar);
            scalars[r] = E::load(scalar);
        } else if (op == ncclAvg && !integers) {
            scalars[r] = E::load(E::store(Value(1) / Value(ranks)));
        }
    }
    const bool scaled = op >= ncclNumOps || (op == ncclAvg && !integers);
    const auto value = [&](size_t r, size_t i) {
        Stored stored;
        std::memcpy(&stored, from[r] + i * sizeof stored, sizeof stored);
        const Value x = E::load(stored);
        return scaled ? E::load(E::store(multiply(x, scalars[r]))) : x;
    };
    for (size_t i = 0; i < count; ++i) {
        Value sum = value(0, i);
        for (size_t r = 1; r < ranks; ++r) {
            const Value x = value(r, i);
            sum = E::load(E::store(op == ncclProd  ? multiply(sum, x)
                                   : op == ncclMax ? larger(sum, x)
                                   : op == ncclMin ? smaller(sum, x)
                                                   : add(sum, x)));
        }
        if constexpr (std::is_integral_v<Value>)
            if (op == ncclAvg) sum = Value(sum / Value(ranks));
        const Stored stored = E::store(sum);
        std::memcpy(out + i * sizeof stored, &stored, sizeof stored);
    }
}

}  // namespace

size_t bytes_of(ncclDataType_t type) {
    switch (type) {
    case ncclInt8:
    case ncclUint8:
        return 1;
    case ncclFloat16:
    case ncclBfloat16:
        return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
        return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
        return 8;
    default:
        return 0;
    }
}

const char* name_of(ncclDataType_t type) {
    static const char* const names[] = {"ncclInt8",
                                        "ncclUint8",
                                        "ncclInt32",
                                        "ncclUint32",
                                        "ncclInt64",
                                        "ncclUint64",
                                        "ncclFloat16",
                                        "ncclFloat32",
                                        "ncclFloat64",
                                        "ncclBfloat16",
                                        "ncclFloat8e4m3",
                                        "ncclFloat8e5m2"};
    return type >= 0 && type < ncclNumTypes ? names[type] : "no type";
}

const char* name_of(ncclRedOp_t op) {
    static const char* const names[] = {"ncclSum", "ncclProd", "ncclMax", "ncclMin", "ncclAvg"};
    return op >= 0 && op < ncclNumOps ? names[op] : "an operator of ncclRedOpCreatePreMulSum";
}

void reduce(ncclDataType_t type, const std::vector<Reduction>& reductions,
            const std::vector<const std::byte*>& from, std::byte* out, size_t count) {
    switch (type) {
    case ncclInt8:
        return reduce_all<Plain<int8_t>>(reductions, from, out, count);
    case ncclUint8:
        return reduce_all<Plain<uint8_t>>(reductions, from, out, count);
    case ncclInt32:
        return reduce_all<Plain<int32_t>>(reductions, from, out, count);
    case ncclUint32:
        return reduce_all<Plain<uint32_t>>(reductions, from, out, count);
    case ncclInt64:
        return reduce_all<Plain<int64_t>>(reductions, from, out, count);
    case ncclUint64:
        return reduce_all<Plain<uint64_t>>(reductions, from, out, count);
    case ncclFloat16:
        return reduce_all<Half>(reductions, from, out, count);
    case ncclBfloat16:
        return reduce_all<Bfloat16>(reductions, from, out, count);
    case ncclFloat32:
        return reduce_all<Plain<float>>(reductions, from, out, count);
    case ncclFloat64:
        return reduce_all<Plain<double>>(reductions, from, out, count);
    default:
        return;
    }
}

}  // namespace collectives
