# SPDX-License-Identifier: MIT
"""Lesson 24: the area of Mandelbrot's set from random points, drawn and tested on the device. NumPy
tests the same points, so that the counts are equal.
"""

import numpy as np
from numba import cuda
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float64

THREADS, POINTS, ROUNDS = 128, 8, 60


@cuda.jit(device=True)
def is_inside(re, im):
    x, y = re, im
    for _ in range(ROUNDS):
        if x * x + y * y > 4:
            return False
        x, y = x * x - y * y + re, 2 * x * y + im
    return x * x + y * y <= 4


@cuda.jit
def count(states, points, counts):
    t = cuda.grid(1)
    mine = 0
    for k in range(points.shape[1]):
        re = 3 * xoroshiro128p_uniform_float64(states, t) - 2
        im = 3 * xoroshiro128p_uniform_float64(states, t) - 1.5
        points[t, k, 0] = re
        points[t, k, 1] = im
        mine += is_inside(re, im)
    counts[t] = mine


points = cuda.device_array((THREADS, POINTS, 2))
counts = cuda.device_array(THREADS, np.int64)
count[2, THREADS // 2](create_xoroshiro128p_states(THREADS, seed=24), points, counts)
c = points.copy_to_host() @ np.array([1, 1j])
z, inside = c.copy(), np.ones(c.shape, bool)
with np.errstate(over="ignore", invalid="ignore"):
    for _ in range(ROUNDS):
        inside &= abs(z) <= 2
        z = np.where(inside, z * z + c, z)
inside &= abs(z) <= 2
want = inside.sum(axis=1)
# A point on the edge may be rounded to the other side.
assert abs(counts.copy_to_host() - want).sum() <= 2, "counts"
n, hits = c.size, int(counts.copy_to_host().sum())
area, error = 9 * hits / n, 9 * (hits / n * (1 - hits / n) / n) ** 0.5
# 1.5066 is the area; after few rounds the edge is still counted.
assert abs(area - 1.5066) < 4 * error + 0.1, area
print("all values equal NumPy's")
