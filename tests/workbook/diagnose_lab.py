# SPDX-License-Identifier: MIT
"""Comparisons of arrays as a failed check notes them, for the tests of the diagnosis."""

from __future__ import annotations

import numpy as np

from workbook.diagnose import summary
from workbook.diagnose.arrays import Compared, Launch

FILLING = np.frombuffer(b"\x00\x00\x00\xe0" + b"\xff" * 4, "<f8")[0]  # float's 0xFFFFFFFF, widened


def made(got: np.ndarray, want: np.ndarray, columns: int = 0, block: int = 256, **more) -> Compared:
    """A comparison as details.h would note it, on a grid of enough blocks of `block` threads."""
    bad = ~((got == want) | (np.isnan(got.astype(float)) & np.isnan(want.astype(float))))
    edges = np.flatnonzero(np.diff(np.concatenate([[0], bad.astype(int), [0]])))
    ranges = list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
    blocks = more.pop("blocks", -(-len(want) // block))
    launches = more.pop("launches", [Launch("kernel", (blocks, 1, 1), (block, 1, 1), 1)])
    return Compared(
        "element", len(want), columns, int(bad.sum()), ranges, got, want, bad, 4, launches, **more
    )


def told(got: np.ndarray, want: np.ndarray, **more) -> str:
    with np.errstate(all="ignore"):
        return summary.of(made(got, want, **more)).text


def floats(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.uniform(-1, 1, n).astype(np.float32).astype(np.float64)


def blank(got: np.ndarray, where: object) -> np.ndarray:
    got = got.copy()
    got[where] = FILLING
    return got


def grouped(values: np.ndarray, size: int, pick: int) -> np.ndarray:
    """Every element of a group holds that of its number `pick`."""
    i = np.arange(len(values))
    return values[np.minimum(i - i % size + pick, len(values) - 1)]
