# SPDX-License-Identifier: MIT
"""The picture of lesson 01."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from style import BLOCKS, FAINT, INK, arrow, canvas, cell, label


def lesson_01_indexing_1d() -> Figure:
    """Three blocks of four threads, twelve elements."""
    figure, axes = canvas(8.2, 3.5, 17)
    left = 2.6
    for block in range(3):
        x = left + block * 4.6
        colour = BLOCKS[block]
        label(axes, x + 2, 6.62, f"block {block}", ha="center", weight="bold")
        for thread in range(4):
            mine = block == 2 and thread == 1
            cell(axes, x + thread, 5.1, str(thread), colour)
            element = left + 0.6 + 4 * block + thread
            arrow(axes, (x + thread + 0.5, 5.05), (element + 0.5, 3.35), INK if mine else FAINT)
            cell(axes, element, 2.3, str(4 * block + thread), colour)
            if mine:
                for y, at in ((5.1, x + thread), (2.3, element)):
                    axes.add_patch(
                        Rectangle((at, y), 1, 1, fill=False, edgecolor=INK, linewidth=2.6)
                    )
    label(axes, 0.2, 5.6, "threadIdx.x")
    label(axes, 0.2, 2.8, "element  i")
    label(
        axes,
        8.5,
        1.15,
        "i  =  blockIdx.x × blockDim.x + threadIdx.x  =  2 × 4 + 1  =  9",
        ha="center",
        size=11.5,
    )
    label(axes, 8.5, 0.45, "gridDim.x = 3 blocks, blockDim.x = 4 threads", ha="center", color=FAINT)
    return figure


FIGURES = {"01_indexing_1d": lesson_01_indexing_1d}
