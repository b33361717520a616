# SPDX-License-Identifier: MIT
"""The picture of lesson 15: a tile with a halo on both sides, at the left end of the array."""

from __future__ import annotations

from matplotlib.figure import Figure
from style import BLOCKS, EMPTY, FAINT, INK, WRONG, arrow, canvas, cell, label


def lesson_15_stencil_constant_memory() -> Figure:
    """Block 1 of blocks of 4 with radius 2 over ten elements, and the slots of its tile."""
    figure, axes = canvas(8.2, 4.3, 20.5)
    left, width, radius, threads, n = 3.6, 1.1, 2, 4, 10
    memory, tile, out, weights = 8.2, 4.9, 0.5, 2.75

    def x(index: float) -> float:
        return left + (index + 3) * width

    for j in range(-2, n + 2):
        if 0 <= j < n:
            inside = threads <= j < 2 * threads
            halo = not inside and threads - radius <= j < 2 * threads + radius
            colour = BLOCKS[0] if inside else BLOCKS[1] if halo else EMPTY
            cell(axes, x(j), memory, str(j), colour, ".." if halo else None, width)
        else:
            axes.text(x(j + 0.5), memory + 0.47, "?", ha="center", va="center", color=WRONG)
    for slot in range(threads + 2 * radius):
        j = threads - radius + slot
        halo = slot < radius or slot >= radius + threads
        arrow(axes, (x(j + 0.5), memory), (x(j + 0.5), tile + 1))
        colour = BLOCKS[1] if halo else BLOCKS[0]
        cell(axes, x(j), tile, str(j), colour, ".." if halo else None, width)
        label(axes, x(j + 0.5), tile - 0.35, str(slot), size=8, color=FAINT, ha="center")
    # Thread 1 of the block: output 5 from the elements 3 to 7.
    centre = threads + 1
    for k in range(-radius, radius + 1):
        axes.plot(
            [x(centre + k + 0.5), x(centre + 0.5)],
            [tile - 0.75, out + 1],
            color=INK,
            lw=1.0,
            zorder=0,
        )
        place = 0.62
        axes.text(
            x(centre + 0.5 + k * place),
            weights,
            f"w{k + radius}",
            ha="center",
            va="center",
            size=9,
            color=INK,
            bbox={"boxstyle": "round,pad=0.22", "facecolor": BLOCKS[2], "edgecolor": INK},
        )
    cell(axes, x(centre), out, str(centre), BLOCKS[0], None, width)
    label(axes, 0.2, memory + 0.5, "global memory\n10 elements")
    label(axes, 0.2, tile + 0.5, "tile of block 1\n4 + 2 · 2 slots")
    label(axes, 0.2, weights, "constant memory\n2 · 2 + 1 weights")
    label(axes, 0.2, out + 0.5, "out[5], by thread 1")
    axes.annotate(
        "",
        (x(threads), memory + 1.55),
        (x(2 * threads), memory + 1.55),
        arrowprops={"arrowstyle": "<->", "color": INK, "lw": 1.0},
    )
    label(axes, x(6), memory + 1.95, "the block's own 4", size=9, ha="center")
    label(axes, x(2) - 0.2, memory + 1.5, "halo 2", size=9, ha="left", color=FAINT)
    label(axes, x(8) + 0.4, memory + 1.5, "halo 2", size=9, ha="left", color=FAINT)
    label(
        axes,
        x(8) + 0.2,
        weights + 0.1,
        "? is outside:\nthe border rule decides,\nnobody may read there",
        size=9,
        color=WRONG,
    )
    return figure


FIGURES = {"15_stencil_constant_memory": lesson_15_stencil_constant_memory}
