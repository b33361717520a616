# SPDX-License-Identifier: MIT
"""Lesson 12: Mandelbrot's set in Numba, as a CuPy RawKernel and as an ElementwiseKernel."""

import cupy as cp
import numpy as np
from numba import cuda

SIDE, ROUNDS = 48, 40
axis = np.linspace(-2, 1, SIDE)
plane = (axis[None, :] + 1j * np.linspace(-1.5, 1.5, SIDE)[:, None]).ravel()

z = np.zeros_like(plane)
want = np.zeros(plane.size, np.int32)
for _ in range(ROUNDS):
    inside = z.real**2 + z.imag**2 <= 4
    want += inside
    z[inside] = z[inside] ** 2 + plane[inside]


@cuda.jit
def count(plane, counts):
    i = cuda.grid(1)
    if i >= counts.size:
        return
    z, n = 0j, 0
    while n < ROUNDS and z.real * z.real + z.imag * z.imag <= 4:
        z = z * z + plane[i]
        n += 1
    counts[i] = n


BODY = """
    double x = 0, y = 0;
    int n = 0;
    while (n < 40 && x * x + y * y <= 4) {
        double t = x * x - y * y + re;
        y = 2 * x * y + im;
        x = t;
        ++n;
    }
"""
raw = cp.RawKernel(
    'extern "C" __global__ void count(const double* real, const double* imag, int* out, int size) {'
    "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= size) return;"
    "double re = real[i], im = imag[i];" + BODY + "out[i] = n; }",
    "count",
)
elementwise = cp.ElementwiseKernel(
    "float64 re, float64 im", "int32 out", BODY + "out = n", "count_e"
)

counts = cuda.device_array(plane.size, np.int32)
count[-(-plane.size // 128), 128](cuda.to_device(plane), counts)
real, imag = cp.asarray(plane.real), cp.asarray(plane.imag)
out = cp.empty(plane.size, cp.int32)
raw((-(-plane.size // 128),), (128,), (real, imag, out, plane.size))
for name, got in (("Numba", counts.copy_to_host()), ("RawKernel", out.get()),
                  ("ElementwiseKernel", elementwise(real, imag).get())):  # fmt: skip
    # A point on the edge may differ by rounding.
    assert (got != want).sum() <= 4, f"{name}: {(got != want).sum()} points differ"
print("all values equal NumPy's")
