# SPDX-License-Identifier: MIT
"""Lesson 05: zero_out, which clears what is below a threshold in place: on an array that stays on
the device, on one that Numba copies, and in CuPy, as whole-array code and as a RawKernel.
"""

import cupy as cp
import numpy as np
from numba import cuda

random = np.random.default_rng(5)
values = random.normal(size=1003).astype(np.float32)
want = np.where(values < 0.5, np.float32(0), values)


@cuda.jit
def zero_out(x, threshold):
    i = cuda.grid(1)
    if i < x.size and x[i] < threshold:
        x[i] = 0


on_device = cuda.to_device(values)
zero_out[8, 128](on_device, np.float32(0.5))
assert np.array_equal(on_device.copy_to_host(), want), "on the device"
copied = cuda.pinned_array_like(values)
copied[:] = values
zero_out[8, 128](copied, np.float32(0.5))
cuda.synchronize()
assert np.array_equal(copied, want), "copied by Numba"
x = cp.asarray(values)
x[x < 0.5] = 0
assert np.array_equal(x.get(), want), "CuPy's mask"
raw = cp.RawKernel(
    r"""
extern "C" __global__ void zero_out(float* x, float threshold, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] < threshold) x[i] = 0;
}
""",
    "zero_out",
)
x = cp.asarray(values)
raw((8,), (128,), (x, np.float32(0.5), values.size))
assert np.array_equal(x.get(), want), "RawKernel"
print("all values equal NumPy's")
