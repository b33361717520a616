# SPDX-License-Identifier: MIT
"""The picture of lesson 18: a tree over eight numbers, and one level over seven."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from style import BLOCKS, EMPTY, FAINT, INK, PAPER, WRONG, arrow, canvas, cell, label


def level(axes: Axes, left: float, y: float, values: list[int], drop: float) -> list[int]:
    """One row of numbers and the arrows of one level to the row `drop` below; the sums."""
    half = (len(values) + 1) // 2
    for i, value in enumerate(values):
        lower = i < half
        cell(axes, left + i, y, str(value), BLOCKS[0] if lower else BLOCKS[1])
    if len(values) == 1:
        return values
    sums = values[:half]
    for i in range(len(values) - half):
        sums[i] += values[half + i]
        arrow(axes, (left + i + 0.5, y), (left + i + 0.5, y - drop + 1))
        arrow(axes, (left + half + i + 0.5, y), (left + i + 0.62, y - drop + 1), BLOCKS[1])
    return sums


def lesson_18_tree_reduction() -> Figure:
    """Left: 3 1 7 0 4 1 6 3 in three levels. Right: of seven numbers one has no partner."""
    figure, axes = canvas(8.2, 4.0, 20.5)
    drop, top, left = 2.45, 7.9, 2.6
    values = [3, 1, 7, 0, 4, 1, 6, 3]
    y = top
    while True:
        label(axes, 0.1, y + 0.5, f"{len(values)} left" if len(values) < 8 else "n = 8")
        for i in range(len(values), 8):  # what the upper half held: of no use any more
            cell(axes, left + i, y, "", PAPER, "////")
        following = level(axes, left, y, values, drop)
        if len(values) == 1:
            break
        values, y = following, y - drop
    label(axes, left, top + 1.45, "lower half", color=INK, size=9)
    label(axes, left + 4, top + 1.45, "upper half, added to it", color=INK, size=9)
    label(axes, left + 1.3, y + 0.5, " the sum", size=9.5, backgroundcolor=PAPER)

    right = 12.9
    seven = [3, 1, 7, 0, 4, 1, 6]
    sums = level(axes, right, top, seven, drop)
    label(axes, right, top + 1.45, "n = 7: half is 4, 3 additions", size=9)
    for i, value in enumerate(sums):
        cell(axes, right + i, top - drop, str(value), BLOCKS[0])
    for i in range(4, 7):
        cell(axes, right + i, top - drop, "", PAPER, "////")
    axes.plot([right + 3.5] * 2, [top, top - drop + 1], color=WRONG, lw=1.6, ls=":")
    cell(axes, right + 3, top, "0", EMPTY)
    cell(axes, right + 3, top - drop, "0", EMPTY)
    label(
        axes,
        right + 0.1,
        top - drop - 1.2,
        "the middle one has no partner:\nit stays as it is",
        color=WRONG,
        size=9.5,
    )
    label(
        axes,
        right + 0.1,
        top - drop - 3.3,
        "with half = 3 the last one,\n6, would be lost",
        color=FAINT,
        size=9.5,
    )
    return figure


FIGURES = {"18_tree_reduction": lesson_18_tree_reduction}
