# SPDX-License-Identifier: MIT
"""The picture of lesson 02."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from style import BLOCKS, EMPTY, FAINT, INK, PAPER, WRONG, arrow, canvas, cell, label


def lesson_02_boundary_checks() -> Figure:
    """1000 elements on four blocks of 256 threads: the last 24 threads have no element."""
    figure, axes = canvas(8.2, 4.3, 20.5)
    scale, left, top = 16 / 1024, 3.1, 8.7
    for block in range(4):
        start = left + block * 256 * scale
        axes.add_patch(
            Rectangle((start, top), 256 * scale, 1, facecolor=BLOCKS[block], edgecolor=INK, lw=0.9)
        )
        label(axes, start + 128 * scale, top + 0.47, f"block {block}", ha="center")
    idle = left + 1000 * scale
    axes.add_patch(
        Rectangle(
            (idle, top), 24 * scale, 1, facecolor=PAPER, edgecolor=WRONG, hatch="////", lw=0.9
        )
    )
    axes.add_patch(
        Rectangle((left, top - 1.35), 1000 * scale, 1, facecolor=EMPTY, edgecolor=INK, lw=0.9)
    )
    label(axes, left + 500 * scale, top - 0.88, "elements 0 to 999", ha="center")
    label(axes, 0.2, top + 0.5, "1024 threads")
    label(axes, 0.2, top - 0.85, "n = 1000")

    # The end of the array, one box per thread and per element.
    shown = range(996, 1004)
    x0, y_threads, y_elements = 4.6, 4.1, 1.7
    width = 1.55
    for box in shown:
        x = x0 + (box - shown[0]) * width
        inside = box < 1000
        cell(
            axes,
            x,
            y_threads,
            str(box - 768),
            BLOCKS[3] if inside else PAPER,
            None if inside else "////",
            width,
        )
        cell(
            axes,
            x,
            y_elements,
            str(box) if inside else "",
            EMPTY if inside else PAPER,
            None if inside else "xxxx",
            width,
        )
        middle = x + width / 2
        if inside:
            arrow(axes, (middle, y_threads), (middle, y_elements + 1))
        else:
            axes.plot([middle, middle], [y_threads, y_threads - 0.45], color=WRONG, lw=1.2)
            axes.plot([middle - 0.3, middle + 0.3], [y_threads - 0.5] * 2, color=WRONG, lw=2.2)
    for edge in (0, len(shown)):
        x = x0 + edge * width
        axes.plot(
            [x, idle + (12 * scale if edge else -10 * scale)],
            [y_threads + 1.05, top - 1.45],
            color=FAINT,
            lw=0.7,
            ls=":",
        )
    label(axes, 0.2, y_threads + 0.5, "threadIdx.x\nin block 3")
    label(axes, 0.2, y_elements + 0.5, "element  i")
    label(
        axes,
        x0 + 6 * width,
        y_threads - 0.95,
        "i < n is false: stop here",
        color=WRONG,
        ha="center",
        size=9.5,
        backgroundcolor=PAPER,
    )
    label(axes, x0 + 6 * width, 1.1, "somebody else's memory", ha="center", color=FAINT, size=9.5)
    label(
        axes,
        10.25,
        0.4,
        "ceil_div(1000, 256) = 4 blocks, 4 × 256 − 1000 = 24 idle threads",
        ha="center",
        color=FAINT,
    )
    return figure


FIGURES = {"02_boundary_checks": lesson_02_boundary_checks}
