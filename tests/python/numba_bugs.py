# SPDX-License-Identifier: MIT
"""Seeded bugs in Numba kernels. `expect: CODE` marks the line that a finding must name, and
`launch: CODE` the line that launched the kernel.
"""

import numpy as np
from numba import cuda, float32


@cuda.jit
def add_one(values, out):
    i = cuda.grid(1)
    out[i] = values[i] + 1  # expect: out-of-bounds-global


@cuda.jit
def block_sum(values, out):
    tile = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    tile[t] = values[cuda.grid(1)]
    half = 64
    while half > 0:
        if t < half:
            tile[t] += tile[t + half]  # expect: race-shared
        half //= 2
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


@cuda.jit
def half_filled(out):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < 32:
        tile[t] = 1
    cuda.syncthreads()
    out[t] = tile[63 - t] * 2  # expect: uninitialized-shared


@cuda.jit
def add_all(values, total):
    total[0] += values[cuda.grid(1)]  # expect: race-global


@cuda.jit
def early_barrier(out):
    t = cuda.threadIdx.x
    if t < 16:
        cuda.syncthreads()  # expect: barrier-divergence
    out[t] = t


values = cuda.to_device(np.arange(1000, dtype=np.float32))
out = cuda.device_array(1000, np.float32)
add_one[4, 256](values, out)  # launch: out-of-bounds-global
block_sum[7, 128](values, out)  # launch: race-shared
half_filled[1, 64](out)  # launch: uninitialized-shared
add_all[2, 64](values, cuda.to_device(np.zeros(1, np.float32)))  # launch: race-global
early_barrier[1, 32](out)  # launch: barrier-divergence
cuda.synchronize()
