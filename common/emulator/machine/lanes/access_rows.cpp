// SPDX-License-Identifier: MIT
// Moves data between memory and rows, for addresses that access.cpp has validated.
#include <cstring>

#include "machine/lanes/arith_core.h"
#include "machine/lanes/levels.h"
#include "machine/state/launch_state.h"

// Compiled once per processor level, like the arithmetic: see arith_core.h.
namespace machine::LEVEL_NS {

namespace {

template <class T>
T load_as(const std::byte* p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
}

template <class M, class R>
void move_load(LaunchState& ex, const MemoryOp& op, uint32_t mask, uint64_t bias,
               const uint64_t* address, uint64_t lane_stride, bool contiguous) {
    if (op.vector == 1) {
        R* d = ex.row<R>(op.rows[0]);
        if (contiguous) {
            const std::byte* p = reinterpret_cast<const std::byte*>(bias + address[0]);
            if constexpr (sizeof(M) == sizeof(R)) {
                std::memcpy(d, p, sizeof(M) * kWarpSize);
            } else {
                for (uint32_t i = 0; i < kWarpSize; ++i) d[i] = R(load_as<M>(p + i * sizeof(M)));
            }
            return;
        }
        if (mask == kAllLanes) {
            for (uint32_t i = 0; i < kWarpSize; ++i)
                d[i] = R(load_as<M>(
                    reinterpret_cast<const std::byte*>(bias + address[i] + i * lane_stride)));
            return;
        }
        for_lanes(mask, [&](uint32_t i) {
            d[i] = R(load_as<M>(
                reinterpret_cast<const std::byte*>(bias + address[i] + i * lane_stride)));
        });
        return;
    }
    for (uint32_t e = 0; e < op.vector; ++e) {
        R* d = ex.row<R>(op.rows[e]);
        for_lanes(mask, [&](uint32_t i) {
            d[i] = R(
                load_as<M>(reinterpret_cast<const std::byte*>(bias + address[i] + i * lane_stride) +
                           e * sizeof(M)));
        });
    }
}

template <class M, class R>
void move_store(LaunchState& ex, const MemoryOp& op, uint32_t mask, uint64_t bias,
                const uint64_t* address, uint64_t lane_stride, bool contiguous) {
    for (uint32_t e = 0; e < op.vector; ++e) {
        const R* s = ex.row<R>(op.rows[e]);
        if (contiguous && op.vector == 1) {
            std::byte* p = reinterpret_cast<std::byte*>(bias + address[0]);
            if constexpr (sizeof(M) == sizeof(R)) {
                std::memcpy(p, s, sizeof(M) * kWarpSize);
            } else {
                for (uint32_t i = 0; i < kWarpSize; ++i) {
                    const M value = M(s[i]);
                    std::memcpy(p + i * sizeof(M), &value, sizeof value);
                }
            }
            return;
        }
        for_lanes(mask, [&](uint32_t i) {
            const M value = M(s[i]);
            std::memcpy(reinterpret_cast<std::byte*>(bias + address[i] + i * lane_stride) +
                            e * sizeof(M),
                        &value,
                        sizeof value);
        });
    }
}

struct Wide {
    uint64_t low, high;
};

template <class M>
Mover load_into(unsigned row_bytes) {
    switch (row_bytes) {
    case 2:
        return sizeof(M) <= 2 ? move_load<M, uint16_t> : nullptr;
    case 4:
        return sizeof(M) <= 4 ? move_load<M, uint32_t> : nullptr;
    case 8:
        return move_load<M, uint64_t>;
    default:
        return nullptr;
    }
}

template <class M>
Mover store_from(unsigned row_bytes) {
    switch (row_bytes) {
    case 2:
        return sizeof(M) <= 2 ? move_store<M, uint16_t> : nullptr;
    case 4:
        return sizeof(M) <= 4 ? move_store<M, uint32_t> : nullptr;
    case 8:
        return move_store<M, uint64_t>;
    default:
        return nullptr;
    }
}

}  // namespace

Mover load_mover(unsigned element_bytes, unsigned row_bytes, bool sign_extend) {
    switch (element_bytes) {
    case 1:
        return sign_extend ? load_into<int8_t>(row_bytes) : load_into<uint8_t>(row_bytes);
    case 2:
        return sign_extend ? load_into<int16_t>(row_bytes) : load_into<uint16_t>(row_bytes);
    case 4:
        return sign_extend ? load_into<int32_t>(row_bytes) : load_into<uint32_t>(row_bytes);
    case 8:
        return load_into<uint64_t>(row_bytes);
    case 16:
        return row_bytes == 16 ? move_load<Wide, Wide> : nullptr;
    default:
        return nullptr;
    }
}

Mover store_mover(unsigned element_bytes, unsigned row_bytes) {
    switch (element_bytes) {
    case 1:
        return store_from<uint8_t>(row_bytes);
    case 2:
        return store_from<uint16_t>(row_bytes);
    case 4:
        return store_from<uint32_t>(row_bytes);
    case 8:
        return store_from<uint64_t>(row_bytes);
    case 16:
        return row_bytes == 16 ? move_store<Wide, Wide> : nullptr;
    default:
        return nullptr;
    }
}

}  // namespace machine::LEVEL_NS
