# SPDX-License-Identifier: MIT
"""Lesson 22: one seed and a subsequence for each thread: states of Numba and of curand_kernel.h. A
different seed gives other numbers, the same seed the same, and no two threads share a sequence.
"""

import cupy as cp
import numpy as np
from numba import cuda
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

THREADS, DRAWS = 256, 40


@cuda.jit
def draw(states, out):
    t = cuda.grid(1)
    if t < out.shape[0]:
        for k in range(out.shape[1]):
            out[t, k] = xoroshiro128p_uniform_float32(states, t)


def by_numba(seed):
    out = cuda.device_array((THREADS, DRAWS), np.float32)
    draw[2, 128](create_xoroshiro128p_states(THREADS, seed=seed), out)
    return out.copy_to_host()


raw = cp.RawKernel(
    r"""
#include <curand_kernel.h>
extern "C" __global__ void draw(unsigned long long seed, float* out, int threads, int draws) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= threads) return;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, t, 0, &state);  // one seed, a subsequence for each thread
    for (int k = 0; k < draws; ++k) out[t * draws + k] = curand_uniform(&state);
}
""",
    "draw",
)


def by_curand(seed):
    out = cp.empty((THREADS, DRAWS), cp.float32)
    raw((2,), (128,), (np.uint64(seed), out, THREADS, DRAWS))
    return out.get()


for make in (by_numba, by_curand):
    first, other = make(42), make(43)
    assert np.array_equal(first, make(42)), "the same seed"
    assert not np.array_equal(first, other), "another seed"
    assert len(np.unique(first, axis=0)) == THREADS, "threads with the same numbers"
    assert first.min() >= 0 and first.max() <= 1
    assert abs(first.mean() - 0.5) < 4 * (1 / 12 / first.size) ** 0.5, "the mean"
    # Numbers of neighbouring threads are not correlated.
    for a, b in ((first[:-1], first[1:]), (first[:, :-1], first[:, 1:])):
        assert abs(np.corrcoef(a.ravel(), b.ravel())[0, 1]) < 4 / a.size**0.5, "correlated"
print("all values equal NumPy's")
