# SPDX-License-Identifier: MIT
"""The picture of lesson 34: six steps by six launches and by one graph, on the model timeline.

The times are those of common/emulator/TIMELINE.md, one unit of the sheet for each microsecond.
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from style import BLOCKS, FAINT, INK, arrow, canvas, cell, label

LAUNCH, GRAPH, ARRIVAL, KERNEL = 3.3, 1.2, 4.0, 1.05  # microseconds
STEPS = 6
LEFT = 3.6  # where time 0 is


def rows(axes: Axes, y: float, title: str) -> None:
    """The names of the two rows that begin at y, and the title above them."""
    label(axes, 0.4, y + 3.55, title, size=10)
    label(axes, LEFT - 0.4, y + 2.0, "host", size=9, color=FAINT, ha="right")
    label(axes, LEFT - 0.4, y + 0.5, "device", size=9, color=FAINT, ha="right")


def kernel(axes: Axes, y: float, begin: float, number: int) -> None:
    """One step on the device; even ones read d_heat, odd ones d_scratch."""
    cell(axes, LEFT + begin, y, str(number), BLOCKS[number % 2], None, KERNEL)


def plain(axes: Axes, y: float) -> None:
    """A launch for each step: the device waits for the next one."""
    rows(axes, y, f"{STEPS} launches")
    for step in range(STEPS):
        done = (step + 1) * LAUNCH
        cell(axes, LEFT + step * LAUNCH, y + 1.5, f"launch {step}", BLOCKS[2], None, LAUNCH)
        kernel(axes, y, done + ARRIVAL, step)
        if step in (0, STEPS - 1):
            arrow(axes, (LEFT + done, y + 1.5), (LEFT + done + ARRIVAL, y + 0.55), FAINT)
    end = STEPS * LAUNCH + ARRIVAL + KERNEL
    label(axes, LEFT + end + 0.3, y + 0.5, f"{end:.1f} µs", size=9)


def graph(axes: Axes, y: float) -> None:
    """One launch of a graph: each step begins when the one before ends."""
    rows(axes, y, f"a graph of {STEPS} steps, launched once")
    cell(axes, LEFT, y + 1.5, "", BLOCKS[2], None, GRAPH)
    label(axes, LEFT + GRAPH + 0.3, y + 2.0, "cudaGraphLaunch; then the host is free", size=9)
    begin = GRAPH + ARRIVAL
    for step in range(STEPS):
        kernel(axes, y, begin + step * KERNEL, step)
    arrow(axes, (LEFT + GRAPH, y + 1.5), (LEFT + begin, y + 0.55), FAINT)
    end = begin + STEPS * KERNEL
    label(axes, LEFT + end + 0.3, y + 0.5, f"{end:.1f} µs", size=9)


def scale(axes: Axes, y: float) -> None:
    """Microseconds below both."""
    axes.plot([LEFT, LEFT + 25], [y, y], color=INK, lw=0.8)
    for time in range(0, 26, 5):
        axes.plot([LEFT + time, LEFT + time], [y, y - 0.2], color=INK, lw=0.8)
        label(axes, LEFT + time, y - 0.65, f"{time} µs", size=8, color=FAINT, ha="center")


def lesson_34_cuda_graphs() -> Figure:
    """The same six steps as six launches and as one graph."""
    figure, axes = canvas(9.4, 3.55, 31.2)
    plain(axes, 7.4)
    graph(axes, 2.0)
    scale(axes, 1.3)
    return figure


FIGURES = {"34_cuda_graphs": lesson_34_cuda_graphs}
