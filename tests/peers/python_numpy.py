# SPDX-License-Identifier: MIT
"""NumPy on one core of the host."""

from __future__ import annotations

import numpy as np
from python_dimuon import numpy_arrays
from python_peers import Bench, close, escape_times, picture_check, pixels, quadratic, root


def run(bench: Bench) -> None:
    """A quarter of a million equations, and a small picture: it is slow enough."""
    height, width = (1000, 1500) if not bench.tiny else (40, 60)
    real, imaginary = pixels(height, width)
    bench(
        "Mandelbrot set in double", "NumPy", height * width, 4,
        lambda: escape_times(real, imaginary, np), picture_check(height, width),
    )  # fmt: skip
    n = bench.size(1 << 22)
    a, b, c = quadratic(n)
    want = root(a[:1000], b[:1000], c[:1000], np)
    bench(
        "roots of quadratic equations", "NumPy", n, 32,
        lambda: root(a, b, c, np), lambda got: close(got, want, 1e-12),
    )  # fmt: skip
    numpy_arrays(bench)
