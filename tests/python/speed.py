# SPDX-License-Identifier: MIT
"""Times three kernels; with NUMBA_ENABLE_CUDASIM=1 in Numba's simulator, otherwise on the device.

    emulate python speed.py 1048576
    NUMBA_ENABLE_CUDASIM=1 python speed.py 4096

Prints nanoseconds for an element of each, without the compilation. PYTHON.md has the table.
"""

import sys
import time

import numpy as np
from numba import cuda, float32


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def tile_sum(x, sums):
    tile = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = x[i] if i < x.size else 0
    half = 64
    while half > 0:
        cuda.syncthreads()
        if t < half:
            tile[t] += tile[t + half]
        half //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = tile[0]


@cuda.jit
def mandelbrot(width, counts):
    i = cuda.grid(1)
    if i < counts.size:
        c = complex(-2 + 3 * (i % width) / width, -1.5 + 3 * (i // width) / width)
        z = 0j
        n = 0
        while n < 50 and z.real * z.real + z.imag * z.imag <= 4:
            z = z * z + c
            n += 1
        counts[i] = n


def seconds(run):
    run()  # compiles
    start = time.perf_counter()
    run()
    cuda.synchronize()
    return time.perf_counter() - start


size = int(sys.argv[1])
width = int(size**0.5)
blocks = -(-size // 128)
x = cuda.to_device(np.ones(size, np.float32))
y = cuda.to_device(np.ones(size, np.float32))
sums = cuda.to_device(np.zeros(blocks, np.float32))
counts = cuda.to_device(np.zeros(width * width, np.int32))
for name, run in {
    "saxpy": lambda: saxpy[blocks, 128](float32(2), x, y),
    "tile reduction": lambda: tile_sum[blocks, 128](x, sums),
    "Mandelbrot": lambda: mandelbrot[blocks, 128](width, counts),
}.items():
    print(f"{name}: {seconds(run) / size * 1e9:.0f} ns for an element")
