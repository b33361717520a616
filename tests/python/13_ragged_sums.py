# SPDX-License-Identifier: MIT
"""Lesson 13: sums of rows of different lengths: a thread for each row, an atomic for each item."""

import numpy as np
from numba import cuda

random = np.random.default_rng(13)
lengths = random.integers(0, 9, 300)
offsets = np.concatenate([[0], np.cumsum(lengths)])
items = random.random(offsets[-1])
want = np.array([items[a:b].sum() for a, b in zip(offsets, offsets[1:], strict=False)])


@cuda.jit
def sum_rows(items, offsets, sums):
    row = cuda.grid(1)
    if row < sums.size:
        total = 0.0
        for i in range(offsets[row], offsets[row + 1]):
            total += items[i]
        sums[row] = total


@cuda.jit
def add_items(items, rows, sums):
    i = cuda.grid(1)
    if i < items.size:
        cuda.atomic.add(sums, rows[i], items[i])


d_items = cuda.to_device(items)
sums = cuda.device_array(300)
sum_rows[3, 128](d_items, cuda.to_device(offsets), sums)
assert np.allclose(sums.copy_to_host(), want), "a thread for each row"
sums = cuda.to_device(np.zeros(300))
add_items[-(-items.size // 128), 128](
    d_items, cuda.to_device(np.repeat(np.arange(300), lengths)), sums
)
assert np.allclose(sums.copy_to_host(), want), "an atomic for each item"
print("all values equal NumPy's")
