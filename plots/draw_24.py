# SPDX-License-Identifier: MIT
"""The picture of lesson 24: one warp whose lanes wait, and one whose lanes take the next sample."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from style import BLOCKS, FAINT, INK, PAPER

SIDE, LEFT, BOTTOM = np.float32(3), np.float32(-2), np.float32(-1.5)
LANES, ROUNDS = 8, 12


def words(seed: int, n: int) -> np.ndarray:
    """The first n words of SplitMix, as in the lesson."""
    z = np.uint64(seed) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def points(seed: int, n: int) -> np.ndarray:
    """The first n samples of the box, as complex numbers."""
    upper = (words(seed, n) >> np.uint64(40)).astype(np.float64) / 2**24
    lower = ((words(seed, n) & np.uint64(0xFFFFFFFF)) >> np.uint64(8)).astype(np.float64) / 2**24
    return (LEFT + SIDE * upper) + 1j * (BOTTOM + SIDE * lower)


def trips_of(c: np.ndarray, most: int) -> np.ndarray:
    """Trips of hare and tortoise until each sample is decided; 0 for those of the shortcut."""
    x, y = c.real, c.imag
    q = (x - 0.25) ** 2 + y**2
    sure = (q * (q + x - 0.25) <= y**2 / 4) | ((x + 1) ** 2 + y**2 <= 1 / 16)
    trips = np.zeros(len(c), dtype=int)
    open_ = np.flatnonzero(~sure)
    hare, tortoise = np.zeros(len(open_), complex), np.zeros(len(open_), complex)
    for _ in range(most):
        trips[open_] += 1
        at = c[open_]
        hare = (hare * hare + at) ** 2 + at
        tortoise = tortoise * tortoise + at
        going = (abs(hare) <= 2) & (abs(hare - tortoise) > 1e-7)
        hare, tortoise, open_ = hare[going], tortoise[going], open_[going]
    return trips


def lanes_over_time(axes: Axes, trips: np.ndarray, waits: bool) -> float:
    """Draws every lane's samples as bars over time, and returns the share of busy lane time."""
    free = np.zeros(LANES)
    for row in trips:
        start = np.full(LANES, free.max()) if waits else free.copy()
        for lane in range(LANES):
            axes.barh(
                lane,
                row[lane],
                left=start[lane],
                height=0.75,
                color=BLOCKS[lane % 2],
                edgecolor=INK,
                linewidth=0.5,
            )
        free = start + row
    return float(trips.sum() / (LANES * free.max()))


def lesson_24_mandelbrot_area() -> Figure:
    """Eight lanes with twelve samples each, and how many trips 60,000 samples take."""
    many = trips_of(points(12345, 60000), 400)
    shown = np.minimum(np.maximum(many[: LANES * ROUNDS], 1), 60).reshape(ROUNDS, LANES)
    figure, (waits, flat, curve) = plt.subplots(
        1, 3, figsize=(9.6, 3.6), facecolor=PAPER, width_ratios=[1.25, 1.25, 1]
    )
    for axes, wait, title in (
        (waits, True, "all wait for the slowest"),
        (flat, False, "next sample when done"),
    ):
        busy = lanes_over_time(axes, shown, wait)
        axes.set_title(f"{title}: {100 * busy:.0f} % busy", size=10)
        axes.set_xlabel("trips")
        axes.set_ylabel("lane")
        axes.set_yticks(range(LANES))
        axes.invert_yaxis()
    limit = waits.get_xlim()[1]
    flat.set_xlim(0, limit)
    waits.set_xlim(0, limit)
    sizes = np.unique(np.geomspace(1, 400, 60).astype(int))
    curve.step(sizes, [(many >= size).mean() for size in sizes], color="#0072B2", linewidth=1.8)
    curve.set_xscale("log")
    curve.set_yscale("log")
    curve.set_ylim(2e-3, 1.2)
    curve.set_xlabel("trips t")
    curve.set_ylabel("share of samples")
    curve.set_title("samples that take t trips or more", size=10)
    curve.text(1.2, 2.6e-3, "at 400 we stop", color=FAINT, size=9)
    figure.subplots_adjust(0.05, 0.14, 0.99, 0.9, 0.26)
    return figure


FIGURES = {"24_mandelbrot_area": lesson_24_mandelbrot_area}
