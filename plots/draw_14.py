# SPDX-License-Identifier: MIT
"""The picture of lesson 14."""

from __future__ import annotations

from matplotlib.figure import Figure
from style import BLOCKS, FAINT, INK, PAPER, WRONG, arrow, canvas, cell, label


def lesson_14_shared_memory_barriers() -> Figure:
    """The last part of 13 elements in blocks of 8: five elements, eight threads at the barrier."""
    figure, axes = canvas(8.2, 4.2, 20.5)
    left, width, threads, first, count = 5.0, 1.35, 8, 8, 5
    rows = {"load": 9.0, "tile": 6.5, "store": 0.7}
    barrier = 4.8

    def middle(index: int) -> float:
        return left + (index + 0.5) * width

    for t in range(threads):
        x = left + t * width
        has_element = t < count
        if has_element:
            cell(axes, x, rows["load"], str(first + t), BLOCKS[0], None, width)
            arrow(axes, (middle(t), rows["load"]), (middle(t), rows["tile"] + 1))
            cell(axes, x, rows["tile"], f"{first + t}", BLOCKS[0], None, width)
            axes.plot([middle(t)] * 2, [barrier, rows["tile"]], color=INK, lw=1.0)
            arrow(axes, (middle(t), barrier - 0.3), (middle(count - 1 - t), rows["store"] + 1))
            cell(axes, x, rows["store"], str(first + count - 1 - t), BLOCKS[0], None, width)
        else:
            cell(axes, x, rows["tile"], "", PAPER, "////", width)
            axes.plot([middle(t)] * 2, [barrier, rows["tile"]], color=FAINT, lw=1.0, ls=":")
    # The barrier: one line that all eight threads touch.
    axes.plot(
        [left, left + threads * width], [barrier] * 2, color=WRONG, lw=3.2, solid_capstyle="butt"
    )
    for t in range(threads):
        axes.text(
            middle(t),
            barrier,
            str(t),
            ha="center",
            va="center",
            color=INK,
            size=9,
            bbox={"boxstyle": "circle,pad=0.22", "facecolor": PAPER, "edgecolor": WRONG},
        )
    label(axes, 0.2, rows["load"] + 0.5, "global memory\nelements 8 to 12")
    label(axes, 0.2, rows["tile"] + 0.5, "shared memory\ntile[0] to tile[7]")
    label(axes, 0.2, barrier, "__syncthreads()\nthreads 0 to 7")
    label(axes, 0.2, rows["store"] + 0.5, "global memory\nelements 8 to 12")
    right = left + threads * width + 0.35
    label(axes, right, rows["load"] + 0.5, "if (t < count)\nload", size=9, color=FAINT)
    label(axes, right, rows["tile"] + 0.5, "slots 5 to 7\nhold nothing", size=9, color=FAINT)
    label(axes, right, barrier, "all 8 wait,\nno if", size=9, color=WRONG)
    label(axes, right, rows["store"] + 0.5, "if (t < count)\nstore mirrored", size=9, color=FAINT)
    return figure


FIGURES = {"14_shared_memory_barriers": lesson_14_shared_memory_barriers}
