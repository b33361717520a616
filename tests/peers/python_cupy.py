# SPDX-License-Identifier: MIT
"""CuPy: array operations, fused elementwise kernels, and a raw kernel."""

from __future__ import annotations

import cupy as cp
import numpy as np
from python_dimuon import cupy_arrays
from python_peers import (
    FLUSH_BYTES,
    LOOK,
    Bench,
    close,
    escape_times,
    event_clock,
    picture_check,
    pixels,
    quadratic,
    random_floats,
    repeated,
    root,
    small_ints,
)  # fmt: skip

RAW_PICTURE = r"""
extern "C" __global__ void picture(const double* real, const double* imaginary, int* out,
                                   int height, int width) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= width || row >= height) return;
    double cr = real[column], ci = imaginary[row], zr = cr, zi = ci;
    int steps = 0;
    for (; steps < 20; ++steps) {
        double next = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = next;
        if (zr * zr + zi * zi > 4) break;
    }
    out[row * width + column] = steps;
}"""
MASS = (
    "float32 pt1, float32 eta1, float32 phi1, float32 pt2, float32 eta2, float32 phi2",
    "float32 mass",
    "mass = sqrtf(2 * pt1 * pt2 * (coshf(eta1 - eta2) - cosf(phi1 - phi2)))",
    "pair_mass",
)


def run(bench: Bench) -> None:
    other = cp.empty(FLUSH_BYTES, dtype=cp.uint8)
    bench.clock = event_clock(lambda: other.fill(0), cp.cuda.Event, cp.cuda.get_elapsed_time)
    vectors(bench)
    running_sums(bench)
    sorts(bench)
    roots(bench)
    masses(bench)
    histograms(bench)
    pictures(bench)
    cupy_arrays(bench, cp)


def vectors(bench: Bench) -> None:
    n = bench.size(1 << 28)
    a, b = random_floats(n, 1), random_floats(n, 2)
    d_a, d_b = repeated(a, n, cp), repeated(b, n, cp)
    out = cp.empty_like(d_a)
    bench(
        "adds two vectors", "CuPy", n, 12, lambda: cp.add(d_a, d_b, out=out),
        lambda got: close(got[:LOOK].get(), (a + b)[:LOOK], 0),
    )  # fmt: skip
    exact = float(a.astype(np.float64).sum()) * n / a.size
    bench(
        "sums all elements", "CuPy", n, 4, lambda: d_a.sum(),
        lambda got: "" if abs(float(got) - exact) < 1e-4 * n else f"the sum is {float(got)}",
    )  # fmt: skip
    side = int(n**0.5)
    square = d_a[: side * side].reshape(side, side)
    bench(
        "transposes through a tile", "CuPy", side * side, 8,
        lambda: cp.ascontiguousarray(square.T),
        lambda got: close(got[0, :LOOK].get(), square[:LOOK, 0].get(), 0),
    )  # fmt: skip
    generator = cp.random.default_rng(1)
    bench(
        "uniform floats", "CuPy", n, 4, lambda: generator.random(n, dtype=cp.float32),
        lambda got: "" if abs(float(got.mean()) - 0.5) < 0.01 else "the mean is wrong",
    )  # fmt: skip


def running_sums(bench: Bench) -> None:
    n = bench.size(1 << 28)
    few = small_ints(n)
    ints, out = repeated(few, n, cp), cp.empty(n, dtype=cp.int32)
    bench(
        "running sums", "CuPy", n, 8, lambda: cp.cumsum(ints, dtype=cp.int32, out=out),
        lambda got: close(got[:LOOK].get(), np.cumsum(few)[:LOOK], 0),
    )  # fmt: skip


def sorts(bench: Bench) -> None:
    n = bench.size(1 << 27)
    keys = 2 * cp.random.default_rng(1).random(n, dtype=cp.float32) - 1
    total = float(keys.sum(dtype=cp.float64))

    def check(got):
        same = abs(float(got.sum(dtype=cp.float64)) - total) < 1e-6 * n
        return "" if same and bool((got[:-1] <= got[1:]).all()) else "not in order"

    bench("sorts floats", "CuPy", n, 8, lambda: cp.sort(keys), check)


def roots(bench: Bench) -> None:
    n = bench.size(1 << 27)
    few = quadratic(min(n, 4_000_037))
    a, b, c = (repeated(values, n, cp) for values in few)
    want = root(*(values[:LOOK] for values in few), np)

    def check(got):
        return close(got[: want.size].get(), want, 1e-12)

    name = "roots of quadratic equations"
    bench(name, "CuPy, array operations", n, 32, lambda: root(a, b, c, cp), check)
    kernel = cp.ElementwiseKernel(
        "float64 a, float64 b, float64 c", "float64 root",
        "root = (-b + sqrt(b * b - 4 * a * c)) / (2 * a)", "root_kernel",
    )  # fmt: skip
    out = cp.empty_like(a)
    bench(name, "CuPy elementwise", n, 32, lambda: kernel(a, b, c, out), check)


def masses(bench: Bench) -> None:
    n = bench.size(1 << 26)
    ranges = [(5, 60), (-2.4, 2.4), (-3.14, 3.14)] * 2
    few = [random_floats(n, k + 1, *bounds) for k, bounds in enumerate(ranges)]
    particles = [repeated(values, n, cp) for values in few]
    wide = [values[:LOOK].astype(np.float64) for values in few]
    pt1, eta1, phi1, pt2, eta2, phi2 = wide
    want = np.sqrt(2 * pt1 * pt2 * (np.cosh(eta1 - eta2) - np.cos(phi1 - phi2)))
    far = (eta1 - eta2) ** 2 + (phi1 - phi2) ** 2 > 0.5  # where this formula keeps its digits

    def check(got):
        return close(got[: want.size].get()[far], want[far], 1e-4)

    def arrays():
        pt1, eta1, phi1, pt2, eta2, phi2 = particles
        return cp.sqrt(2 * pt1 * pt2 * (cp.cosh(eta1 - eta2) - cp.cos(phi1 - phi2)))

    name = "invariant masses of pairs"
    bench(name, "CuPy, array operations", n, 28, arrays, check)
    kernel, out = cp.ElementwiseKernel(*MASS), cp.empty(n, cp.float32)
    bench(name, "CuPy elementwise", n, 28, lambda: kernel(*particles, out), check)


def histograms(bench: Bench) -> None:
    n = bench.size(1 << 28)
    few = random_floats(n, 1, 0, 1)
    values = repeated(few, n, cp)
    for bins in (64, 256, 4096):

        def check(got, bins=bins):
            spread = np.bincount((few * bins).astype(int), minlength=bins) * (n / few.size)
            return "" if np.all(abs(got[0].get() - spread) < 0.01 * n / bins + 100) else "wrong"

        bench(
            f"{bins} bins of floats", "CuPy", n, 4,
            lambda bins=bins: cp.histogram(values, bins=bins, range=(0, 1)), check,
        )  # fmt: skip


def pictures(bench: Bench) -> None:
    height, width = (4000, 6000) if not bench.tiny else (40, 60)
    real, imaginary = (cp.asarray(values) for values in pixels(height, width))
    check = picture_check(height, width)
    name = "Mandelbrot set in double"
    bench(
        name, "CuPy, array operations", height * width, 4,
        lambda: escape_times(real, imaginary, cp), lambda got: check(got.get()),
    )  # fmt: skip
    kernel = cp.RawKernel(RAW_PICTURE, "picture")
    out = cp.empty((height, width), cp.int32)
    grid = (-(-width // 32), -(-height // 8))

    def raw():
        kernel(grid, (32, 8), (real, imaginary, out, np.int32(height), np.int32(width)))
        return out

    bench(name, "CuPy RawKernel", height * width, 4, raw, lambda got: check(got.get()))
