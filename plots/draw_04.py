# SPDX-License-Identifier: MIT
"""The picture of lesson 04."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from style import BLOCKS, EMPTY, FAINT, INK, PAPER, WRONG, arrow, canvas, cell, label


def lesson_04_indexing_2d() -> Figure:
    """A matrix of 3 x 5 with pitch 7 under four blocks of 4 x 2 threads, and its memory."""
    figure, axes = canvas(8.6, 4.9, 23)
    height, width, pitch = 3, 5, 7
    left, top = 2.6, 9.3
    for row in range(4):
        for column in range(8):
            inside = row < height and column < width
            colour = BLOCKS[(row // 2) * 2 + column // 4]
            cell(
                axes,
                left + column,
                top - row,
                str(row * pitch + column) if inside else "",
                colour if inside else PAPER,
                None if inside else "////",
            )
    for block in range(4):
        x, y = left + 4 * (block % 2), top - 1 - 2 * (block // 2)
        axes.add_patch(Rectangle((x, y), 4, 2, fill=False, edgecolor=INK, lw=2.2))
    for column in range(8):
        label(axes, left + column + 0.5, top + 1.4, str(column), ha="center", color=FAINT, size=9)
    for row in range(4):
        label(axes, left - 0.5, top - row + 0.5, str(row), ha="center", color=FAINT, size=9)
    label(axes, left + 4, top + 2.1, "column  (x)", ha="center")
    label(axes, 0.2, top - 1.0, "row\n(y)", ha="left")
    right = left + 8.8
    label(axes, right, top + 0.4, "4 blocks of 4 × 2 threads,\na matrix of 3 rows and 5 columns")
    label(
        axes,
        right,
        top - 1.5,
        "hatched: threads without an element.\nThe guard must stop "
        "those to the right\nand those below: two comparisons.",
        color=WRONG,
    )

    strip, size = 2.5, 0.95
    x0 = 2.6
    for offset in range(height * pitch):
        row, column = divmod(offset, pitch)
        colour = BLOCKS[(row // 2) * 2 + column // 4]
        if column < width:
            cell(axes, x0 + offset * size, strip, str(offset), colour, None, size)
        elif column == width:
            cell(axes, x0 + offset * size, strip, "", EMPTY, None, 2 * size)
    for row in range(height):
        x = x0 + row * pitch * size
        axes.plot([x, x], [strip - 0.15, strip + 1.3], color=INK, lw=2.2)
        label(axes, x + 0.1, strip + 1.6, f"row {row}", size=9)
        label(axes, x + 6 * size, strip + 0.5, "padding", ha="center", color=FAINT, size=8)
    label(axes, 0.2, strip + 0.5, "memory")
    arrow(axes, (x0, strip - 0.45), (x0 + pitch * size, strip - 0.45))
    label(axes, x0 + pitch * size / 2, strip - 0.95, "pitch = 7", ha="center", size=9.5)
    label(
        axes,
        x0 + 7.6 * size,
        strip - 0.95,
        "row 2, column 3:  2 × 7 + 3 = 17",
        size=10.5,
    )
    return figure


FIGURES = {"04_indexing_2d": lesson_04_indexing_2d}
