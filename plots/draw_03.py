# SPDX-License-Identifier: MIT
"""The picture of lesson 03."""

from __future__ import annotations

from matplotlib.figure import Figure
from style import BLOCKS, EMPTY, FAINT, INK, arrow, canvas, cell, label


def lesson_03_grid_stride() -> Figure:
    """Two blocks of four threads walk over 19 elements in three trips of eight."""
    figure, axes = canvas(8.6, 3.9, 23)
    left, elements = 3.4, 3.1
    for element in range(24):
        x = left + (element % 24) * 0.8
        trip, thread = divmod(element, 8)
        block = thread // 4
        inside = element < 19
        cell(
            axes,
            x,
            elements,
            str(element) if inside else "",
            BLOCKS[block] if inside else EMPTY,
            None if inside else "////",
            0.8,
        )
        cell(axes, x, 6.4, str(thread % 4), BLOCKS[block], None, 0.8)
        if inside:
            arrow(axes, (x + 0.4, 6.4), (x + 0.4, elements + 1), INK if thread == 2 else FAINT)
        if thread == 0:
            label(axes, x + 3.2, 8.6, f"trip {trip}", ha="center", weight="bold")
            for which in range(2):
                label(axes, x + 1.6 + 3.2 * which, 7.8, f"block {which}", ha="center", size=8.5)
    for trip in range(2):
        start, end = left + (8 * trip + 2.5) * 0.8, left + (8 * trip + 10.5) * 0.8
        axes.annotate(
            "",
            (end, elements - 0.1),
            (start, elements - 0.1),
            arrowprops={"arrowstyle": "-|>", "connectionstyle": "arc3,rad=0.25", "color": INK},
        )
        label(axes, (start + end) / 2, elements - 1.55, "+ 8", ha="center")
    label(axes, 0.2, 6.9, "threadIdx.x")
    label(axes, 0.2, elements + 0.5, "element  i")
    label(
        axes,
        left + 21.5 * 0.8,
        elements - 0.6,
        "i < 19 is false:\nthe loop ends",
        va="top",
        ha="center",
        color=FAINT,
        size=9,
    )
    label(
        axes,
        left + 8 * 0.8,
        0.5,
        "thread 2 of block 0:  elements 2, 10, 18     stride = gridDim.x × blockDim.x = 2 × 4 = 8",
        ha="center",
        size=9.5,
    )
    return figure


FIGURES = {"03_grid_stride": lesson_03_grid_stride}
