# SPDX-License-Identifier: MIT
"""Seeded bugs in PyCUDA's modules, with the marks of numba_bugs.py."""

import numpy as np
import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule(r"""
__global__ void shift(const float* in, float* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i + 1];  // expect: out-of-bounds-global
}
__global__ void reverse(float* x) {
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = tile[63 - threadIdx.x];  // expect: race-shared
}
__global__ void half_filled(float* x) {
    __shared__ float tile[64];
    if (threadIdx.x < 32) tile[threadIdx.x] = 1;
    __syncthreads();
    x[threadIdx.x] = tile[63 - threadIdx.x];  // expect: uninitialized-shared
}
__global__ void add(int* total) {
    *total += 1;  // expect: race-global
}
""")
a = gpuarray.to_gpu(np.arange(100, dtype=np.float32))
b = gpuarray.empty_like(a)
module.get_function("shift")(a, b, np.int32(100), block=(128, 1, 1))  # launch: out-of-bounds-global
module.get_function("reverse")(a, block=(64, 1, 1))  # launch: race-shared
module.get_function("half_filled")(b, block=(64, 1, 1))  # launch: uninitialized-shared
module.get_function("add")(gpuarray.zeros(1, np.int32), block=(64, 1, 1))  # launch: race-global
