# SPDX-License-Identifier: MIT
"""The picture of lesson 21: two blocks count in bins of their own, and merge them."""

from __future__ import annotations

from matplotlib.figure import Figure
from style import BLOCKS, EMPTY, FAINT, INK, arrow, canvas, cell, label

BINS = 5
KEYS = [[2, 0, 2, 3, 2, 1, 2, 4], [2, 2, 1, 2, 0, 3, 2, 2]]


def lesson_21_histogram_shared() -> Figure:
    """16 keys, two blocks, five bins: 16 atomics in shared memory, 10 in global memory."""
    figure, axes = canvas(8.2, 4.5, 20.5)
    left, gap = [3.6, 12.2], 1.45
    keys_at, own_at, counts_at = 9.3, 5.2, 0.9
    totals = [0] * BINS
    for block, keys in enumerate(KEYS):
        x0 = left[block]
        label(axes, x0, keys_at + 1.4, f"block {block}", color=FAINT, size=9)
        counts = [keys.count(b) for b in range(BINS)]
        for i, key in enumerate(keys):
            cell(axes, x0 + i * 0.95, keys_at, str(key), BLOCKS[block], None, 0.95)
            arrow(
                axes,
                (x0 + (i + 0.5) * 0.95, keys_at),
                (x0 + (key + 0.5) * gap, own_at + 1),
                FAINT,
            )
        for b, count in enumerate(counts):
            totals[b] += count
            cell(axes, x0 + b * gap, own_at, str(count), BLOCKS[block], None, gap)
            label(
                axes, x0 + (b + 0.5) * gap, own_at - 0.38, str(b), size=8, color=FAINT, ha="center"
            )
    start = left[0] + 3.6
    for block in range(2):
        for b in range(BINS):
            arrow(
                axes,
                (left[block] + (b + 0.5) * gap, own_at - 0.7),
                (start + (b + 0.5) * 1.9, counts_at + 1),
                BLOCKS[block],
            )
    for b, total in enumerate(totals):
        cell(axes, start + b * 1.9, counts_at, str(total), EMPTY, None, 1.9)
        label(
            axes, start + (b + 0.5) * 1.9, counts_at - 0.4, str(b), size=8, color=FAINT, ha="center"
        )
    label(axes, 0.2, keys_at + 0.5, "keys,\nglobal memory")
    label(axes, 0.2, own_at + 0.5, "private bins,\nshared memory")
    label(axes, 0.2, counts_at + 0.5, "d_counts,\nglobal memory")
    label(axes, 0.2, 7.6, "16 atomics\nin the block", size=9, color=INK)
    label(axes, 0.2, 3.3, "at most 2 · 5 atomics\nacross blocks", size=9, color=INK)
    return figure


FIGURES = {"21_histogram_shared": lesson_21_histogram_shared}
