# SPDX-License-Identifier: MIT
"""The picture of lesson 07."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from style import BLOCKS, EMPTY, FAINT, INK, arrow, canvas, cell, label


def lesson_07_cpu_baseline() -> Figure:
    """20 elements: added into eight sums by one thread, and cut into parts for three threads."""
    figure, axes = canvas(8.6, 5.4, 23)
    left, n, lanes = 2.4, 20, 8

    label(axes, left, 13.7, "One thread, eight sums: the lanes of a vector", weight="bold")
    top, sums = 12.0, 9.4
    for i in range(n):
        mine = i % lanes == 2
        cell(axes, left + i, top, str(i), BLOCKS[1] if mine else EMPTY)
    for lane in range(lanes):
        cell(axes, left + 6 + lane, sums, str(lane), BLOCKS[1] if lane == 2 else EMPTY)
    for i in range(2, n, lanes):
        arrow(axes, (left + i + 0.5, top), (left + 8.5, sums + 1))
    for group in range(2):
        x = left + 8 * group
        axes.add_patch(Rectangle((x, top), 8, 1, fill=False, edgecolor=INK, lw=2.2))
    label(axes, left + 18, top - 0.5, "the rest", ha="center", color=FAINT, size=9)
    label(axes, 0.2, top + 0.5, "element")
    label(axes, 0.2, sums + 0.5, "sum")
    label(axes, left + 14.4, sums + 0.5, "sum 2 has the elements 2, 10, 18", size=9.5)

    label(axes, left, 7.5, "Three threads: one part and one sum for each", weight="bold")
    top, sums = 5.8, 2.9
    start = 0
    for thread, length in enumerate((7, 7, 6)):
        for i in range(start, start + length):
            cell(axes, left + i, top, str(i), BLOCKS[thread])
        middle = left + start + length / 2
        label(axes, middle + 0.7, top - 0.95, f"thread {thread}", size=9.5)
        arrow(axes, (middle, top), (middle, sums + 1), INK)
        cell(axes, middle - 1.1, sums, "its sum", BLOCKS[thread], None, 2.2)
        arrow(axes, (middle, sums), (left + 10 + 0.6 * (thread - 1), 1.4), FAINT)
        start += length
    axes.add_patch(Rectangle((left + 8.2, 0.4), 3.6, 1, facecolor=EMPTY, edgecolor=INK, lw=0.9))
    label(axes, left + 10, 0.87, "added at the end", ha="center", size=9.5)
    label(axes, 0.2, top + 0.5, "element")
    return figure


FIGURES = {"07_cpu_baseline": lesson_07_cpu_baseline}
