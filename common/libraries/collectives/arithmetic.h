// SPDX-License-Identifier: MIT
// NCCL's reductions, element by element. Ranks are added in their order, so a result is the same
// each time.
#pragma once

#include <cstddef>
#include <vector>

#include "nccl.h"

namespace collectives {

// 0: not a type that the stand-in computes with.
size_t bytes_of(ncclDataType_t type);
const char* name_of(ncclDataType_t type);
const char* name_of(ncclRedOp_t op);

// A reduction as one rank asks for it. PreMulSum: the sum of values that each rank has multiplied
// by a scalar of its own, which points to one element in memory of this process.
struct Reduction {
    ncclRedOp_t op = ncclSum;
    const void* scalar = nullptr;
};

// out[i] = the reduction over all ranks of from[rank][i].
void reduce(ncclDataType_t type, const std::vector<Reduction>& reductions,
            const std::vector<const std::byte*>& from, std::byte* out, size_t count);

}  // namespace collectives
