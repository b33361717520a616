# SPDX-License-Identifier: MIT
"""Lessons 18 and 19: sums and extremes by a tree in shared memory, by shuffles, by Numba's reduce,
by CuPy's functions and by a ReductionKernel.
"""

import cupy as cp
import numpy as np
from numba import cuda, float64

THREADS = 128
random = np.random.default_rng(18)


@cuda.jit
def block_sums(x, sums):
    tile = cuda.shared.array(THREADS, float64)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t] = x[i] if i < x.size else 0.0
    half = THREADS // 2
    while half:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = tile[0]


@cuda.jit
def warp_sums(x, total):
    i = cuda.grid(1)
    value = x[i] if i < x.size else 0.0
    step = 16
    while step:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    if cuda.laneid == 0:
        cuda.atomic.add(total, 0, value)


@cuda.reduce
def larger(a, b):
    return a if a > b else b


norm = cp.ReductionKernel("float64 x", "float64 y", "x * x", "a + b", "y = sqrt(a)", "0", "norm_of")
for n in (1, 31, 32, 33, 127, 128, 129, 1000, 5000):
    x = random.random(n)
    d_x, c_x, blocks = cuda.to_device(x), cp.asarray(x), -(-n // THREADS)
    sums = cuda.device_array(blocks)
    block_sums[blocks, THREADS](d_x, sums)
    assert np.allclose(sums.copy_to_host().sum(), x.sum(), rtol=1e-12), ("tree", n)
    total = cuda.to_device(np.zeros(1))
    warp_sums[blocks, THREADS](d_x, total)
    assert np.allclose(total.copy_to_host(), x.sum(), rtol=1e-12), ("shuffles", n)
    assert larger(d_x, init=-np.inf) == x.max(), ("reduce", n)
    assert np.allclose(c_x.sum().get(), x.sum(), rtol=1e-12), ("CuPy", n)
    assert int(c_x.argmax()) == x.argmax(), ("argmax", n)
    assert np.allclose(norm(c_x).get(), np.linalg.norm(x), rtol=1e-12), ("ReductionKernel", n)
print("all values equal NumPy's")
