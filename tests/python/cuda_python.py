# SPDX-License-Identifier: MIT
"""cuda.core and cuda.bindings, and arrays that CuPy and Numba share with them."""

import cupy as cp
import numpy as np
from cuda.bindings import driver, runtime
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from numba import cuda

device = Device()
device.set_current()
stream = device.create_stream()
SOURCE = """
extern "C" __global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {
    for (size_t i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x)
        out[i] = a * x[i] + y[i];
}
"""
program = Program(SOURCE, code_type="c++", options=ProgramOptions(arch=f"sm_{device.arch}"))
x = cp.arange(1000, dtype=cp.float32)
y, out = cp.ones_like(x), cp.empty_like(x)
device.sync()
for kind in ("cubin", "ptx"):
    kernel = program.compile(kind).get_kernel("saxpy")
    arguments = (np.float32(2), x.data.ptr, y.data.ptr, out.data.ptr, np.uint64(1000))
    launch(stream, LaunchConfig(grid=4, block=256), kernel, *arguments)
    stream.sync()
    assert np.array_equal(cp.asnumpy(out), np.arange(1000) * 2 + 1), kind

assert driver.cuDeviceGetCount() == (driver.CUresult.CUDA_SUCCESS, 1)
assert runtime.cudaGetDeviceCount() == (runtime.cudaError_t.cudaSuccess, 1)
error, pointer = runtime.cudaMalloc(400)
assert error == runtime.cudaError_t.cudaSuccess
assert runtime.cudaMemset(pointer, 0, 400) == (runtime.cudaError_t.cudaSuccess,)
assert runtime.cudaFree(pointer) == (runtime.cudaError_t.cudaSuccess,)


@cuda.jit
def double(values):
    i = cuda.grid(1)
    if i < values.size:
        values[i] *= 2


double[4, 256](out)  # by the CUDA Array Interface
cuda.synchronize()
assert float(cp.from_dlpack(out).sum()) == 2 * float((np.arange(1000) * 2 + 1).sum())
print("all values equal NumPy's")
