# SPDX-License-Identifier: MIT
"""What PyCUDA can do on a device, each result beside NumPy's."""

import numpy as np
import pycuda.autoinit  # noqa: F401
import pycuda.driver as driver
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel

random = np.random.default_rng(4)
x, y = random.random(500).astype(np.float32), random.random(500).astype(np.float32)

double = SourceModule(
    """
__global__ void twice(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}
"""
).get_function("twice")
memory = driver.mem_alloc(x.nbytes)
driver.memcpy_htod(memory, x)
double(memory, np.int32(500), block=(128, 1, 1), grid=(4, 1))
back = np.empty_like(x)
driver.memcpy_dtoh(back, memory)
assert np.array_equal(back, 2 * x), "SourceModule"
other = x.copy()
double(driver.InOut(other), np.int32(500), block=(128, 1, 1), grid=(4, 1))
assert np.array_equal(other, 2 * x), "InOut"

a, b = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
assert np.allclose((a * b + 1).get(), x * y + 1), "gpuarray"
assert np.allclose(gpuarray.sum(a).get(), x.sum()), "sum"
assert np.allclose(gpuarray.dot(a, b).get(), x.dot(y)), "dot"
out = gpuarray.empty_like(a)
ElementwiseKernel("float* x, float* y, float* z", "z[i] = x[i] * y[i] + 2", "fused")(a, b, out)
assert np.allclose(out.get(), x * y + 2), "ElementwiseKernel"
largest = ReductionKernel(np.float32, "0", "fmaxf(a, b)", "x[i]", "float* x")
assert largest(a).get() == x.max(), "ReductionKernel"
print("all values equal NumPy's")
