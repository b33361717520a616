# SPDX-License-Identifier: MIT
"""The pictures of lesson 37: two slices and their ghosts, a step on two streams, and the decay."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from style import BLOCKS, FAINT, INK, PAPER, WRONG, arrow, canvas, cell, label

RATE, CELLS = 0.25, 1000


def ranks(axes: Axes, y: float) -> None:
    """Ten cells of a rod in three slices, each with a ghost on both sides."""
    owned = [range(4), range(4, 7), range(7, 10)]
    x = 0.6
    starts = []
    for rank, cells in enumerate(owned):
        starts.append(x)
        width = len(cells) + 2
        label(axes, x + width / 2, y + 1.55, f"rank {rank}", size=10, ha="center")
        for place in range(width):
            index = cells[0] - 1 + place
            ghost = place in (0, width - 1)
            text = str(index) if 0 <= index < 10 else ""
            colour = PAPER if ghost else BLOCKS[rank]
            cell(axes, x + place, y, text, colour, "////" if ghost and text else None)
            label(axes, x + place + 0.5, y - 0.35, str(place), size=7.5, color=FAINT, ha="center")
        x += width + 1.6
    for rank in (0, 1):
        last = starts[rank] + len(owned[rank]) + 0.5
        first = starts[rank + 1] + 0.5
        arrow(axes, (last, y - 0.65), (first, y - 0.65))
        arrow(axes, (first + 1, y - 1.1), (last + 1, y - 1.1))
    label(axes, 0.6, y - 1.05, "fixed end:", size=8.5, color=FAINT)
    label(axes, 0.6, y - 1.6, "no ghost is read", size=8.5, color=FAINT)


def step(axes: Axes, y: float) -> None:
    """What the host and the two streams of one rank do in a step."""
    left = 3.2
    for row, name in enumerate(("border", "host", "inner")):
        label(axes, left - 0.4, y + 2.6 - 1.3 * row, name, size=9, color=FAINT, ha="right")
    cell(axes, left, y + 2.1, "edges to host", BLOCKS[1], None, 3.6)
    cell(axes, left + 3.6, y + 0.8, "exchange: MPI", BLOCKS[2], None, 5.4)
    cell(axes, left + 9.0, y + 2.1, "ghosts", BLOCKS[1], None, 2.4)
    cell(axes, left + 11.4, y + 2.1, "cells 1, n", BLOCKS[0], None, 3.2)
    cell(axes, left + 0.6, y - 0.5, "cells 2 to n - 1, which need no ghost", BLOCKS[0], None, 12.4)
    axes.plot([left + 14.8] * 2, [y - 0.7, y + 3.3], color=INK, lw=0.9, ls=(0, (4, 3)))
    label(axes, left + 15.0, y + 1.3, "both done:\nswap", size=9)


def lesson_37_mpi_halo_exchange() -> Figure:
    """A rod in three slices, and one step of a rank."""
    figure, axes = canvas(9.0, 3.9, 22.0)
    ranks(axes, 6.9)
    step(axes, 0.9)
    return figure


def wave_after(steps: int) -> list[float]:
    """How much of one wave on a ring of CELLS cells is left after each 50th step, computed."""
    heat = [math.sin(2 * math.pi * i / CELLS) for i in range(CELLS)]
    peak = CELLS // 4
    left = [heat[peak]]
    for number in range(1, steps + 1):
        heat = [
            heat[i] + RATE * (heat[i - 1] - 2 * heat[i] + heat[(i + 1) % CELLS])
            for i in range(CELLS)
        ]
        if number % 50 == 0:
            left.append(heat[peak])
    return left


def lesson_37_decay() -> Figure:
    """The decay of one wave: theory, the steps, and slices that do not exchange their edges."""
    steps = 1000
    times = list(range(0, steps + 1, 50))
    factor = 1 - 4 * RATE * math.sin(math.pi / CELLS) ** 2
    figure, axes = plt.subplots(figsize=(7.2, 3.4), facecolor=PAPER)
    theory = range(steps + 1)
    axes.plot(theory, [factor**n for n in theory], color=INK, lw=1.2, label="theory")
    axes.scatter(
        times, wave_after(steps), s=22, color=BLOCKS[0], edgecolors=INK, linewidths=0.5,
        label="computed", zorder=3,
    )  # fmt: skip
    axes.annotate(
        f"{factor**steps:.9f}", (steps, factor**steps), xytext=(-14, -4),
        textcoords="offset points", ha="right", color=WRONG,
    )  # fmt: skip
    axes.set_xlabel("steps")
    axes.set_ylabel("height of the wave")
    axes.legend(frameon=False)
    figure.subplots_adjust(0.12, 0.16, 0.98, 0.96)
    return figure


FIGURES = {
    "37_mpi_halo_exchange": lesson_37_mpi_halo_exchange,
    "37_decay": lesson_37_decay,
}
