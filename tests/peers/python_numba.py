# SPDX-License-Identifier: MIT
"""Numba on the CPU, and as CUDA kernels in Python."""

from __future__ import annotations

import math

import numpy as np

if not hasattr(np, "row_stack"):  # gone from NumPy 2.5, and Numba's CUDA still asks for it
    np.row_stack = np.vstack
import numba
from numba import cuda
from python_peers import (
    FLUSH_BYTES,
    LOOK,
    STEPS,
    Bench,
    close,
    event_clock,
    picture_check,
    pixels,
    quadratic,
    random_floats,
    root,
)  # fmt: skip


def escape_time(c_r, c_i):
    z_r, z_i = c_r, c_i
    for step in range(STEPS):
        z_r, z_i = z_r * z_r - z_i * z_i + c_r, 2 * z_r * z_i + c_i
        if z_r * z_r + z_i * z_i > 4:
            return step
    return STEPS


on_cpu = numba.njit(escape_time)
on_card = cuda.jit(device=True)(escape_time)


@numba.njit(parallel=True)
def picture_on_cpu(real, imaginary, out):
    for row in numba.prange(imaginary.size):
        for column in range(real.size):
            out[row, column] = on_cpu(real[column], imaginary[row])
    return out


@cuda.jit
def picture_kernel(real, imaginary, out):
    column, row = cuda.grid(2)
    if row < out.shape[0] and column < out.shape[1]:
        out[row, column] = on_card(real[column], imaginary[row])


@cuda.jit
def add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


@cuda.jit
def root_kernel(a, b, c, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = (-b[i] + math.sqrt(b[i] * b[i] - 4.0 * a[i] * c[i])) / (2.0 * a[i])


@cuda.jit
def zero_kernel(out):
    out[cuda.grid(1)] = 0


def repeated(values, n):
    return cuda.to_device(np.resize(values, n))


def run(bench: Bench) -> None:
    height, width = (4000, 6000) if not bench.tiny else (40, 60)
    real, imaginary = pixels(height, width)
    out = np.empty((height, width), dtype=np.int32)
    bench(
        "Mandelbrot set in double", "Numba on the CPU, all cores", height * width, 4,
        lambda: picture_on_cpu(real, imaginary, out), picture_check(height, width),
    )  # fmt: skip

    other = cuda.device_array(FLUSH_BYTES // 4, dtype=np.int32)
    bench.clock = event_clock(
        lambda: zero_kernel[other.size // 256, 256](other), cuda.event, cuda.event_elapsed_time
    )
    d_real, d_imaginary, d_out = (
        cuda.to_device(real),
        cuda.to_device(imaginary),
        cuda.to_device(out),
    )
    blocks = (-(-width // 32), -(-height // 8))

    def picture():
        picture_kernel[blocks, (32, 8)](d_real, d_imaginary, d_out)
        return d_out

    check = picture_check(height, width)
    bench(
        "Mandelbrot set in double", "Numba CUDA", height * width, 4, picture,
        lambda got: check(got.copy_to_host()),
    )  # fmt: skip

    n = bench.size(1 << 28)
    a, b = random_floats(n, 1), random_floats(n, 2)
    d_a, d_b, d_sum = repeated(a, n), repeated(b, n), cuda.device_array(n, np.float32)

    def add():
        add_kernel[-(-n // 256), 256](d_a, d_b, d_sum)
        return d_sum

    bench(
        "adds two vectors", "Numba CUDA", n, 12, add,
        lambda got: close(got[:LOOK].copy_to_host(), (a + b)[:LOOK], 0),
    )  # fmt: skip

    n = bench.size(1 << 27)
    few = quadratic(min(n, 4_000_037))
    d_few = [repeated(values, n) for values in few]
    d_root = cuda.device_array(n, np.float64)

    def roots():
        root_kernel[-(-n // 256), 256](*d_few, d_root)
        return d_root

    want = root(*(values[:LOOK] for values in few), np)
    bench(
        "roots of quadratic equations", "Numba CUDA", n, 32, roots,
        lambda got: close(got[: want.size].copy_to_host(), want, 1e-12),
    )  # fmt: skip
