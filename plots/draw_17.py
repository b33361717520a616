# SPDX-License-Identifier: MIT
"""The picture of lesson 17: a lost update, and the same two threads with an atomic."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from style import BLOCKS, EMPTY, FAINT, INK, WRONG, arrow, canvas, cell, label


def thread_step(axes: Axes, x: float, y: float, text: str, colour: str, width: float = 2.6) -> None:
    """One step of a thread, a box with its left edge at x."""
    cell(axes, x, y, text, colour, None, width)


def lesson_17_races_and_atomics() -> Figure:
    """Left: both threads read 3, both store 4. Right: one after the other, 3, 4, 5."""
    figure, axes = canvas(8.2, 4.3, 20.5)
    top, step, width = 7.6, 1.75, 2.6
    a, memory, b = 0.4, 4.15, 6.2

    # Left: *count += 1 as load, add, store. Time runs downwards.
    label(axes, a, 10.2, "*count += 1", family="monospace", size=10)
    label(axes, a, top + 1.55, "thread A", size=9, color=FAINT)
    label(axes, memory - 0.15, top + 1.55, "memory", size=9, color=FAINT)
    label(axes, b, top + 1.55, "thread B", size=9, color=FAINT)
    left_rows = [
        ("load: 3", "3", ""),
        ("", "3", "load: 3"),
        ("3 + 1", "3", "3 + 1"),
        ("store: 4", "4", ""),
        ("", "4", "store: 4"),
    ]
    for row, (left, value, right) in enumerate(left_rows):
        y = top - row * step + 0.2
        cell(axes, memory, y, value, EMPTY)
        if left:
            thread_step(axes, a, y, left, BLOCKS[0], width)
        if right:
            thread_step(axes, b, y, right, BLOCKS[1], width)
        if left.startswith("load"):
            arrow(axes, (memory, y + 0.5), (a + width, y + 0.5))
        if left.startswith("store"):
            arrow(axes, (a + width, y + 0.5), (memory, y + 0.5))
        if right.startswith("load"):
            arrow(axes, (memory + 1, y + 0.5), (b, y + 0.5))
        if right.startswith("store"):
            arrow(axes, (b, y + 0.5), (memory + 1, y + 0.5))
    label(axes, 9.05, top - 4 * step + 0.7, "4, not 5", color=WRONG, size=10, weight="bold")

    # Right: one step each, which nothing can come between.
    a, memory, b, wide = 11.6, 15.7, 17.2, 3.1
    label(axes, a, 10.2, "atomicAdd(count, 1)", family="monospace", size=10)
    label(axes, a, top + 1.55, "thread A", size=9, color=FAINT)
    label(axes, memory - 0.15, top + 1.55, "memory", size=9, color=FAINT)
    label(axes, b, top + 1.55, "thread B", size=9, color=FAINT)
    for row, value in enumerate(["3", "4", "5"]):
        y = top - row * step + 0.2
        cell(axes, memory, y, value, EMPTY)
    y = top - step + 0.2
    thread_step(axes, a, y, "3, now 4", BLOCKS[0], wide)
    arrow(axes, (a + wide, y + 0.5), (memory, y + 0.5))
    thread_step(axes, b, y - step, "4, now 5", BLOCKS[1], wide)
    arrow(axes, (b, y - step + 0.5), (memory + 1, y - step + 0.5))
    label(axes, a, top - 3 * step + 0.7, "A gets 3 back, B gets 4:", size=9.5)
    label(axes, a, top - 3 * step - 0.1, "two different slots.", size=9.5)
    label(axes, a, top - 3 * step - 1.1, "Or B comes first. Nobody knows.", size=9.5, color=INK)
    axes.plot([10.6, 10.6], [0.6, 10.3], color=EMPTY, lw=1.5)
    return figure


FIGURES = {"17_races_and_atomics": lesson_17_races_and_atomics}
