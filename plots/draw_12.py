# SPDX-License-Identifier: MIT
"""The picture of lesson 12: escape times of 200 x 300 pixels, and the trips of one warp."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from style import BLOCKS, FAINT, INK, PAPER, WRONG

STEPS = 20


def escape_times(height: int, width: int) -> np.ndarray:
    """The lesson's definition: the number of the first step after which |z|^2 > 4, else 20."""
    c = np.linspace(-1.5, 0, width) + 1j * np.linspace(-1, 0, height)[:, None]
    z, pixels = c.copy(), np.full(c.shape, STEPS)
    for k in range(STEPS):
        z = z * z + c
        out = (np.abs(z) ** 2 > 4) & (pixels == STEPS)
        pixels[out] = k
        z[out] = 0
        c = np.where(out, 0, c)
    return pixels


def lesson_12_divergence_mandelbrot() -> Figure:
    """Left: the picture and one warp in it. Right: what each lane of that warp does and waits."""
    pixels = escape_times(200, 300)
    assert pixels.sum() == 644684
    row, first = 104, 160
    trips = np.minimum(pixels[row, first : first + 32] + 1, STEPS)
    slowest, wanted = trips.max(), trips.sum()
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(8.2, 3.7), facecolor=PAPER, width_ratios=[1.12, 1]
    )
    left.imshow(pixels, cmap="cividis", interpolation="nearest")
    left.add_patch(Rectangle((first, row - 3), 32, 6, fill=False, edgecolor=WRONG, lw=1.6))
    left.annotate(
        f"one warp: row {row},\ncolumns {first} to {first + 31}",
        (first + 16, row - 3),
        (8, 38),
        color="white",
        size=9.5,
        arrowprops={"arrowstyle": "-|>", "color": "white", "lw": 0.9},
    )
    left.set_xlabel("column: real part −1.5 … 0")
    left.set_ylabel("row: imaginary part −1 … 0")
    lanes = np.arange(32)
    right.bar(lanes, trips, width=0.9, color=BLOCKS[0], edgecolor=INK, lw=0.4)
    right.bar(
        lanes,
        slowest - trips,
        width=0.9,
        bottom=trips,
        color=PAPER,
        edgecolor=FAINT,
        hatch="////",
        lw=0.4,
    )
    right.set_xlabel("lane")
    right.set_ylabel("trips round the loop")
    right.set_xticks([0, 8, 16, 24, 31])
    right.set_yticks([0, 5, 10, 15, 20])
    right.set_ylim(0, 25.5)
    right.spines[["top", "right"]].set_visible(False)
    right.text(
        -0.5,
        23,
        f"blue: {wanted} trips wanted    hatched: lanes wait\n"
        f"paid: 32 × {slowest} = {32 * slowest}    efficiency {wanted / (32 * slowest):.2f}",
        color=INK,
        size=9.5,
        va="center",
    )
    figure.subplots_adjust(0.075, 0.15, 0.985, 0.97, wspace=0.2)
    return figure


FIGURES = {"12_divergence_mandelbrot": lesson_12_divergence_mandelbrot}
