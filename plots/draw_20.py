# SPDX-License-Identifier: MIT
"""The pictures of lesson 20: rows against one common set of bins, and the spectrum in two axes."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from style import BLOCKS, EMPTY, FAINT, PAPER, WRONG, arrow, canvas, cell, label

MASSES = [91, -1, 3, 9, 88, 3, 60, 119]
BINS, WIDTH, ROWS = 6, 20, 4


def bin_of(mass: int) -> int | None:
    """The bin on the axis of the picture, or None outside."""
    return mass // WIDTH if 0 <= mass < BINS * WIDTH else None


def lesson_20_histogram_rows_vs_atomics() -> Figure:
    """Eight masses in six bins: four threads with a row each, or all threads in one set of bins."""
    figure, axes = canvas(8.2, 4.1, 20.5)
    top, left, right = 8.0, 2.1, 11.9
    rows = np.zeros((ROWS, BINS), dtype=int)
    for i, mass in enumerate(MASSES):
        hatch = "////" if bin_of(mass) is None else None
        cell(axes, left + i, top, str(mass), BLOCKS[i % ROWS], hatch)
        cell(axes, right + i, top, str(mass), EMPTY, hatch)
        if bin_of(mass) is not None:
            rows[i % ROWS, bin_of(mass)] += 1
    label(axes, 0.1, top + 0.5, "masses")
    label(axes, left, top + 1.5, "a row for each thread, no atomics", size=10)
    label(axes, right, top + 1.5, "one set of bins, atomics", size=10)

    first = 6.2  # the lower edge of row 0
    for r in range(ROWS):
        label(axes, 0.1, first - r + 0.5, f"row {r}", size=9)
        for k in range(BINS):
            count = rows[r, k]
            cell(axes, left + 1 + k, first - r, str(count), BLOCKS[r] if count else PAPER)
    sums = 1.4
    label(axes, 0.1, sums + 0.5, "counts")
    for k in range(BINS):
        arrow(axes, (left + 1.5 + k, first - ROWS + 1), (left + 1.5 + k, sums + 1), FAINT)
        cell(axes, left + 1 + k, sums, str(rows[:, k].sum()), EMPTY)
    label(axes, left + 6.95, 2.9, "column\nsum", size=9, color=FAINT)
    for k in range(BINS):
        for x in (left + 1 + k, right + 1 + k):
            label(axes, x, sums - 0.35, str(k * WIDTH), size=8, color=FAINT, ha="center")
    for x in (left + 7, right + 7):
        label(axes, x, sums - 0.35, "120", size=8, color=FAINT, ha="center")

    crowd = {k: sum(bin_of(m) == k for m in MASSES) for k in range(BINS)}
    seen = dict.fromkeys(range(BINS), 0)
    for i, mass in enumerate(MASSES):
        k = bin_of(mass)
        if k is None:
            axes.plot([right + i + 0.5] * 2, [top, top - 0.55], color=WRONG, lw=1.2)
            axes.plot([right + i + 0.2, right + i + 0.8], [top - 0.6] * 2, color=WRONG, lw=2.2)
            continue
        seen[k] += 1
        target = right + 1 + k + seen[k] / (crowd[k] + 1)
        arrow(axes, (right + i + 0.5, top), (target, sums + 1))
    for k in range(BINS):
        cell(axes, right + 1 + k, sums, str(rows[:, k].sum()), EMPTY)
    label(axes, right - 1.35, 2.9, "three threads,\none counter", size=9, color=WRONG)
    label(axes, 10.25, 0.3, "-1 is outside [0, 120): here it is dropped", color=FAINT, ha="center")
    return figure


def lesson_20_spectrum() -> Figure:
    """A million made-up masses, as the lesson's test makes them, in 120 and in 1200 bins."""
    random, n = np.random.default_rng(20), 1_000_000
    kind = random.random(n)
    at = np.array([0.782, 1.019, 3.097, 9.46, 91.19])
    width = np.array([0.02, 0.02, 0.05, 0.1, 2.5])
    peak = np.clip(((kind - 0.7) / 0.06).astype(int), 0, 4)
    resonance = at[peak] + width[peak] * random.normal(size=n)
    mass = np.where(kind < 0.7, random.exponential(25.0, n), resonance)
    mass = mass[kind >= 0.33]  # the others have no pair: marker -1
    figure, axes = plt.subplots(figsize=(8.2, 3.6), facecolor=PAPER, layout="constrained")
    for bins, colour in ((120, "#0072B2"), (1200, WRONG)):
        counts, edges = np.histogram(mass, bins=bins, range=(0, 120))
        axes.stairs(counts, edges, color=colour, lw=1.0, baseline=None, label=f"{bins} bins")
    axes.set(xlim=(0.1, 120), xscale="log", yscale="log", xlabel="mass in GeV", ylabel="count")
    axes.set_xticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    axes.legend(frameon=False)
    return figure


FIGURES = {
    "20_histogram_rows_vs_atomics": lesson_20_histogram_rows_vs_atomics,
    "20_spectrum": lesson_20_spectrum,
}
