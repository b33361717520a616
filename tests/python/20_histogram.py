# SPDX-License-Identifier: MIT
"""Lesson 20: a histogram by a row for each thread and by atomics."""

import cupy as cp
import numpy as np
from numba import cuda

random = np.random.default_rng(20)
values = random.integers(0, 10, 4000).astype(np.int32)
want = np.bincount(values, minlength=10)


@cuda.jit
def by_rows(values, rows):
    t = cuda.grid(1)
    for i in range(t, values.size, cuda.gridsize(1)):
        rows[t, values[i]] += 1


@cuda.jit
def by_atomics(values, bins):
    for i in range(cuda.grid(1), values.size, cuda.gridsize(1)):
        cuda.atomic.add(bins, values[i], 1)


d_values = cuda.to_device(values)
rows = cuda.to_device(np.zeros((256, 10), np.int32))
by_rows[2, 128](d_values, rows)
assert np.array_equal(rows.copy_to_host().sum(axis=0), want), "rows"
assert np.array_equal(cp.asarray(rows).sum(axis=0).get(), want), "rows, added by CuPy"
bins = cuda.to_device(np.zeros(10, np.int32))
by_atomics[2, 128](d_values, bins)
assert np.array_equal(bins.copy_to_host(), want), "atomics"
assert np.array_equal(cp.bincount(cp.asarray(values)).get(), want), "CuPy"
print("all values equal NumPy's")
