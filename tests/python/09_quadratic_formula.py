# SPDX-License-Identifier: MIT
"""Lesson 09: the quadratic formula as whole-array code, fused by cupy.fuse, as an
ElementwiseKernel, a RawKernel, Numba's vectorize and kernel, and in PyCUDA where it is installed.
"""

import importlib.util
import math

import cupy as cp
import numpy as np
from numba import cuda, vectorize

N = 1000
random = np.random.default_rng(9)
a, b, c = random.uniform(5, 10, N), random.uniform(10, 20, N), random.uniform(-0.1, 0.1, N)
A, B, C = map(cp.asarray, (a, b, c))
d_a, d_b, d_c = map(cuda.to_device, (a, b, c))
want = (-b + np.sqrt(b**2 - 4 * a * c)) / (2 * a)


def check(name, got):
    # The subtraction loses digits, and how many depends on the rounding of each form.
    assert np.allclose(got, want, rtol=0, atol=1e-14), f"{name}: {abs(got - want).max()}"


check("CuPy, a kernel for each operation", ((-B + cp.sqrt(B**2 - 4 * A * C)) / (2 * A)).get())


@cp.fuse
def fused(a, b, c):
    return (-b + cp.sqrt(b**2 - 4 * a * c)) / (2 * a)


check("cupy.fuse", fused(A, B, C).get())
elementwise = cp.ElementwiseKernel(
    "float64 a, float64 b, float64 c",
    "float64 x",
    "x = (-b + sqrt(b * b - 4 * a * c)) / (2 * a)",
    "quadratic",
)
check("ElementwiseKernel", elementwise(A, B, C).get())

SOURCE = r"""
extern "C" __global__ void quadratic(const double* a, const double* b, const double* c, double* x,
                                     int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = (-b[i] + sqrt(b[i] * b[i] - 4 * a[i] * c[i])) / (2 * a[i]);
}
"""
x = cp.empty(N)
cp.RawKernel(SOURCE, "quadratic")((-(-N // 128),), (128,), (A, B, C, x, N))
check("RawKernel", x.get())


@vectorize(["float64(float64, float64, float64)"], target="cuda")
def root(a, b, c):
    return (-b + math.sqrt(b**2 - 4 * a * c)) / (2 * a)


check("vectorize", root(d_a, d_b, d_c).copy_to_host())


@cuda.jit
def quadratic(a, b, c, x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = (-b[i] + math.sqrt(b[i] ** 2 - 4 * a[i] * c[i])) / (2 * a[i])


x = cuda.device_array(N)
quadratic[-(-N // 128), 128](d_a, d_b, d_c, x)
check("Numba", x.copy_to_host())
x = cp.empty(N)
quadratic[-(-N // 128), 128](A, B, C, x)
check("Numba, with CuPy's arrays", x.get())

if importlib.util.find_spec("pycuda"):
    import pycuda.autoprimaryctx  # noqa: F401
    from pycuda.compiler import SourceModule
    from pycuda.driver import In, Out

    x = np.empty(N)
    function = SourceModule(SOURCE, no_extern_c=True).get_function("quadratic")
    function(In(a), In(b), In(c), Out(x), np.int32(N), block=(128, 1, 1), grid=(-(-N // 128), 1))
    check("PyCUDA", x)
print("all values equal NumPy's")
