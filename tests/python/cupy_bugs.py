# SPDX-License-Identifier: MIT
"""Seeded bugs in CUDA code that stands in a script, with the marks of numba_bugs.py."""

import cupy as cp

shift = cp.RawKernel(
    r"""
extern "C" __global__ void shift(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i + 1];  // expect: out-of-bounds-global
}
""",
    "shift",
)
reverse = cp.RawModule(
    code=r"""
extern "C" __global__ void reverse(float* x) {
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = tile[63 - threadIdx.x];  // expect: race-shared
}
"""
).get_function("reverse")
half_filled = cp.RawKernel(
    r"""
extern "C" __global__ void half_filled(float* x) {
    __shared__ float tile[64];
    if (threadIdx.x < 32) tile[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] = tile[63 - threadIdx.x];  // expect: uninitialized-shared
}
""",
    "half_filled",
    backend="nvcc",
)

a = cp.arange(100, dtype=cp.float32)
shift((1,), (128,), (a, cp.zeros_like(a), 100))  # launch: out-of-bounds-global
reverse((1,), (64,), (a,))  # launch: race-shared
half_filled((1,), (64,), (cp.zeros(64, cp.float32),))  # launch: uninitialized-shared
cp.cuda.get_current_stream().synchronize()
