// SPDX-License-Identifier: MIT
// cuRAND's host library with the generator Philox, on the work of lesson 22.
#include <curand.h>

#include "curand_uniform.h"

namespace {

using Uniform = CurandUniform<CURAND_RNG_PSEUDO_PHILOX4_32_10>;
WORKLOAD(Uniform, "uniform floats", 1 << 28, 100000);

}  // namespace
