# SPDX-License-Identifier: MIT
"""The picture of lesson 36: four devices one after the other and together, and an all-reduce."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from style import BLOCKS, EMPTY, FAINT, INK, WRONG, arrow, canvas, cell, label

RANKS = 4
HIGH, UNIT = 0.95, 1.3  # of a row; of one unit of time
WORK, READ, REDUCE = 4, 1, 1  # units of time
SLICES = ["#56B4E9", "#E69F00", "#009E73", "#CC79A7"]


def bar(axes: Axes, x: float, y: float, length: float, colour: str, text: str) -> None:
    """Work from x on, in the row at y."""
    axes.add_patch(Rectangle((x, y), length, HIGH, facecolor=colour, edgecolor=INK, linewidth=0.9))
    axes.text(x + length / 2, y + HIGH / 2 - 0.02, text, size=8.5, ha="center", va="center",
              color=INK)  # fmt: skip


def rows(axes: Axes, left: float, top: float, length: float, title: str) -> list[float]:
    """The rows of the devices below `top`, and the title above them."""
    label(axes, left, top + 0.55, title, size=10)
    found = []
    for rank in range(RANKS):
        y = top - (rank + 1) * 1.15
        label(axes, left - 0.35, y + HIGH / 2, f"device {rank}", size=9, ha="right", color=FAINT)
        axes.add_patch(Rectangle((left, y), length, HIGH, facecolor=EMPTY, edgecolor="none",
                                 zorder=0))  # fmt: skip
        found.append(y)
    return found


def one_by_one(axes: Axes, left: float, top: float) -> None:
    """Each result is read before the next device gets its work."""
    whole = RANKS * (WORK + READ) * UNIT
    at = rows(axes, left, top, whole, "read each result in the loop: one device works at a time")
    for rank, y in enumerate(at):
        begin = left + rank * (WORK + READ) * UNIT
        bar(axes, begin, y, WORK * UNIT, BLOCKS[2], f"slice {rank}")
        bar(axes, begin + WORK * UNIT, y, READ * UNIT, BLOCKS[1], "read")
        if rank:
            arrow(axes, (begin - 0.1, at[rank - 1]), (begin + 0.15, y + HIGH), WRONG)


def together(axes: Axes, left: float, top: float) -> None:
    """All slices at once, one all-reduce, one result read."""
    whole = RANKS * (WORK + READ) * UNIT
    at = rows(axes, left, top, whole, "launch all, then combine, then wait: all devices work")
    for rank, y in enumerate(at):
        begin = left + rank * 0.2
        bar(axes, begin, y, WORK * UNIT, BLOCKS[2], f"slice {rank}")
    begin = left + WORK * UNIT + RANKS * 0.2
    axes.add_patch(Rectangle((begin, at[-1] - 0.1), REDUCE * UNIT, at[0] - at[-1] + HIGH + 0.2,
                             facecolor=BLOCKS[3], edgecolor=INK, linewidth=0.9))  # fmt: skip
    axes.text(begin + REDUCE * UNIT / 2, (at[0] + at[-1] + HIGH) / 2, "all-reduce", size=8.5,
              ha="center", va="center", color=INK, rotation=90)  # fmt: skip
    bar(axes, begin + REDUCE * UNIT, at[0], READ * UNIT, BLOCKS[1], "read")


def array(axes: Axes, x: float, y: float, texts: list[str], colours: list[str]) -> None:
    """A rank's array in four slices."""
    for at, (text, colour) in enumerate(zip(texts, colours, strict=True)):
        cell(axes, x + 1.35 * at, y, text, colour, None, 1.35)


def all_reduce(axes: Axes, left: float, top: float) -> None:
    """The arrays before, after each rank has summed its slice, and at the end."""
    label(axes, left, top + 0.55, "all-reduce by slices: each rank sums one, and copies the others",
          size=10)  # fmt: skip
    letters = "abcd"
    for step, name in enumerate(("before", "each rank sums its slice", "all slices copied")):
        x = left + step * 8.6
        label(axes, x, top - 0.35, name, size=9, color=FAINT)
        for rank in range(RANKS):
            y = top - 1.75 - rank * 1.2
            plain = [f"{letters[rank]}{s}" for s in range(RANKS)]
            sums = [f"Σ{s}" for s in range(RANKS)]
            if step == 0:
                array(axes, x, y, plain, [EMPTY] * RANKS)
                label(axes, x - 0.35, y + 0.5, f"rank {rank}", size=9, ha="right", color=FAINT)
            elif step == 1:
                texts = [sums[s] if s == rank else plain[s] for s in range(RANKS)]
                array(axes, x, y, texts,
                      [SLICES[s] if s == rank else EMPTY for s in range(RANKS)])  # fmt: skip
            else:
                array(axes, x, y, sums, SLICES)
        if step:
            middle = top - 1.75 - 1.3
            arrow(axes, (x - 2.7, middle), (x - 0.4, middle), INK)
    label(axes, left, top - 6.6, "a rank receives 3 slices, then 3 more: 2 (ranks - 1) / ranks of "
          "an array, for any number of ranks", size=9, color=FAINT)  # fmt: skip


def lesson_36_multi_gpu_nccl() -> Figure:
    """The two ways to use four devices, and how they agree on a sum."""
    figure, axes = canvas(9.0, 6.9, 32.0)
    left = 3.4
    one_by_one(axes, left, 23.3)
    together(axes, left, 16.7)
    label(axes, left, 11.35, "time →", size=9, color=FAINT)
    all_reduce(axes, left, 8.5)
    return figure


FIGURES = {"36_multi_gpu_nccl": lesson_36_multi_gpu_nccl}
