# SPDX-License-Identifier: MIT
"""The pictures of lesson 19: five shuffles in a warp, and how errors of a sum grow with n."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from style import BLOCKS, EMPTY, FAINT, INK, PAPER, WRONG, arrow, canvas, cell, label

LANES = 8  # drawn instead of 32
KIND = np.float32


def lesson_19_block_and_warp_reduction() -> Figure:
    """Eight lanes, three shuffles; then the values of four warps through shared memory."""
    figure, axes = canvas(8.2, 4.6, 20.5)
    values = [3, 1, 7, 0, 4, 1, 6, 3]
    left, width, top, drop = 0.5, 1.2, 9.0, 2.45
    step, y = LANES // 2, top
    for lane in range(LANES):
        label(axes, left + (lane + 0.5) * width, top + 1.45, str(lane), color=FAINT, ha="center")
    label(axes, left, top + 2.15, "lane", color=FAINT, size=9)
    while True:
        for lane, value in enumerate(values):
            used = lane < 2 * step
            cell(
                axes,
                left + lane * width,
                y,
                str(value) if used else "",
                BLOCKS[0] if lane < step else BLOCKS[1] if used else PAPER,
                None if used else "////",
                width,
            )
        if step == 0:
            break
        for lane in range(step):
            middle = left + (lane + 0.5) * width
            arrow(axes, (middle + step * width, y), (middle + 0.2, y - drop + 1), BLOCKS[1])
            arrow(axes, (middle, y), (middle, y - drop + 1))
        label(axes, left + LANES * width + 0.25, y - 0.75, f"step {step}", size=9, color=FAINT)
        values = [value + values[lane + step] for lane, value in enumerate(values[:step])]
        values += [0] * (LANES - step)
        y -= drop
        step //= 2
    cell(axes, left, y, str(values[0]), BLOCKS[0], None, width)

    right, wide = 13.2, 1.5
    label(axes, right, top + 2.15, "a block of four warps", size=9, color=FAINT)
    for warp, value in enumerate([25, 31, 18, 40]):
        x = right + warp * (wide + 0.25)
        cell(axes, x, top - 0.2, f"warp {warp}", EMPTY, None, wide)
        arrow(axes, (x + wide / 2, top - 0.2), (x + wide / 2, 6.6))
        cell(axes, x, 5.6, str(value), BLOCKS[2], None, wide)
        arrow(axes, (x + wide / 2, 4.35), (x + wide / 2, 3.4))
    label(axes, right, 7.5, "    lane 0 of each stores", size=9, backgroundcolor=PAPER)
    label(axes, right - 0.2, 6.1, "of_warp", size=9, color=FAINT, ha="right", family="monospace")
    span = 4 * wide + 3 * 0.25
    axes.plot([right, right + span], [4.6] * 2, color=WRONG, lw=3.0, solid_capstyle="butt")
    label(axes, right, 5.05, "__syncthreads()", size=9, color=WRONG)
    cell(axes, right, 2.4, "warp 0: four values, the rest identity", EMPTY, None, span)
    arrow(axes, (right + span / 2, 2.4), (right + span / 2, 1.55))
    cell(axes, right + span / 2 - wide / 2, 0.5, "114", BLOCKS[0], None, wide)
    return figure


def strided(x: np.ndarray, threads: int) -> np.ndarray:
    """What each of `threads` threads has summed in float with a grid-stride loop."""
    return np.cumsum(x.reshape(-1, threads), axis=0, dtype=KIND)[-1]


def tree(x: np.ndarray) -> float:
    """The sum by halving; a power of two of elements."""
    while x.size > 1:
        x = x[: x.size // 2] + x[x.size // 2 :]
    return float(x[0])


def compensated(x: np.ndarray, threads: int) -> float:
    """Kahan's float sum and its correction in each of `threads` threads, added up in double."""
    total = np.zeros(threads, KIND)
    missing = np.zeros(threads, KIND)
    for row in x.reshape(-1, threads):
        term = row - missing
        new = total + term
        missing = (new - total) - term
        total = new
    return float((total.astype(np.float64) - missing).sum())


def lesson_19_error_growth() -> Figure:
    """The largest relative error of a sum of n log-normal numbers over six seeds, five orders."""
    sizes = [1 << k for k in range(10, 23)]
    threads = 256
    orders = {
        "one thread, float": lambda x: float(np.cumsum(x, dtype=KIND)[-1]),
        "256 threads, float": lambda x: tree(strided(x, threads)),
        "tree, float": tree,
        "256 threads, compensated float": lambda x: compensated(x, threads),
        "256 threads, double (0 is drawn at the bottom)": lambda x: float(
            np.cumsum(x.reshape(-1, threads), axis=0, dtype=np.float64)[-1].sum()
        ),
    }
    errors = {name: np.zeros(len(sizes)) for name in orders}
    for seed in range(6):
        data = np.random.default_rng(seed).lognormal(size=sizes[-1]).astype(KIND)
        for k, n in enumerate(sizes):
            x = data[:n]
            exact = x.astype(np.longdouble).sum()
            for name, order in orders.items():
                error = float(abs(order(x) - exact) / exact)
                errors[name][k] = max(errors[name][k], error)
    figure, axes = plt.subplots(figsize=(8.2, 4.6), facecolor=PAPER)
    colours = [WRONG, BLOCKS[1], BLOCKS[0], BLOCKS[3], BLOCKS[2]]
    marks = ["o", "s", "^", "v", "D"]
    for (name, error), colour, mark in zip(errors.items(), colours, marks, strict=True):
        axes.plot(sizes, np.maximum(error, 2e-18), color=colour, marker=mark, lw=1.6, label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylim(1e-18, 1e-2)
    axes.set_xlabel("n positive numbers of different size (log-normal)")
    axes.set_ylabel("largest relative error of 6 sums")
    axes.grid(True, color=EMPTY)
    axes.axhline(2.0**-24, color=INK, lw=0.8, ls=":")
    axes.text(sizes[0], 2.0**-24 / 12, "2⁻²⁴: one rounding of a float", size=8.5, color=FAINT)
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 0.22), ncol=1, fontsize=8.5)
    figure.tight_layout()
    return figure


FIGURES = {
    "19_block_and_warp_reduction": lesson_19_block_and_warp_reduction,
    "19_error_growth": lesson_19_error_growth,
}
