# SPDX-License-Identifier: MIT
"""Arrays that PyCUDA shares with CuPy and Numba, by the CUDA Array Interface."""

import cupy as cp
import numpy as np
import pycuda.autoprimaryctx  # noqa: F401  (CuPy and Numba use the primary context)
from numba import cuda
from pycuda import gpuarray


@cuda.jit
def add_one(values):
    i, j = cuda.grid(2)
    if i < values.shape[0] and j < values.shape[1]:
        values[i, j] += 1


def address(array):
    return array.__cuda_array_interface__["data"][0]


want = np.arange(48.0).reshape(6, 8)
array = gpuarray.to_gpu(want)

seen = cp.asarray(array)
assert address(seen) == int(array.gpudata) and seen.shape == (6, 8)
seen[1:3] *= 2
cp.cuda.Device().synchronize()
want[1:3] *= 2
assert np.array_equal(array.get(), want), "PyCUDA to CuPy"

seen = cuda.as_cuda_array(array)
assert address(seen) == int(array.gpudata)
add_one[(1, 1), (8, 8)](seen)
cuda.synchronize()
want += 1
assert np.array_equal(array.get(), want), "PyCUDA to Numba"

rows = cp.asarray(array[2:4])
assert address(rows) == int(array.gpudata) + 2 * 64, "a view of PyCUDA's array"
rows -= 1
cp.cuda.Device().synchronize()
want[2:4] -= 1
assert np.array_equal(array.get(), want), "a slice to CuPy"

for other in (cp.asarray(want), cuda.to_device(want)):
    shared = gpuarray.GPUArray(want.shape, want.dtype, base=other, gpudata=address(other))
    shared *= 3
    back = other.get() if isinstance(other, cp.ndarray) else other.copy_to_host()
    assert np.array_equal(back, want * 3), f"{type(other).__name__} to PyCUDA"
print("all values equal NumPy's")
