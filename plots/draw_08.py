# SPDX-License-Identifier: MIT
"""The picture of lesson 08: a column and a row make a table, with steps of 0."""

from __future__ import annotations

from matplotlib.figure import Figure
from style import BLOCKS, FAINT, arrow, canvas, cell, label


def lesson_08_elementwise_functors() -> Figure:
    """Left: a 3 x 1 matrix minus a 1 x 4 matrix. Right: which number each output element reads."""
    figure, axes = canvas(8.2, 3.9, 20.5)
    column, row = [10, 20, 30], [1, 2, 3, 4]
    left, top = 4.4, 6.2
    label(axes, 0.2, top + 1.9, "b: 1 x 4\nrow_step 0\ncolumn_step 1")
    for c, value in enumerate(row):
        cell(axes, left + c, top + 1.4, str(value), BLOCKS[1])
        arrow(axes, (left + c + 0.5, top + 1.4), (left + c + 0.5, top + 1.04))
    label(axes, 0.2, top - 2.9, "a: 3 x 1\nrow_step 1\ncolumn_step 0")
    for r, value in enumerate(column):
        y = top - r
        cell(axes, left - 1.4, y, str(value), BLOCKS[0])
        arrow(axes, (left - 0.4, y + 0.5), (left - 0.04, y + 0.5))
        for c, other in enumerate(row):
            marked = (r, c) == (1, 2)
            cell(axes, left + c, y, str(value - other), BLOCKS[2] if marked else "#FFFFFF")
    label(axes, left, top - 2.75, "out = a − b: 3 x 4", size=9.5)

    right = 10.2
    label(axes, right, top + 2.2, "thread 6 of the grid:  i = 6", size=10.5)
    lines = [
        ("row = 6 / 4 = 1", "column = 6 % 4 = 2"),
        ("a.data[1 * 1 + 2 * 0]", "= a.data[1] = 20"),
        ("b.data[1 * 0 + 2 * 1]", "= b.data[2] = 3"),
        ("out[6] = op(20, 3)", "= 17"),
    ]
    colours = ["#FFFFFF", BLOCKS[0], BLOCKS[1], BLOCKS[2]]
    for k, (first, second) in enumerate(lines):
        y = top + 0.55 - 1.35 * k
        cell(axes, right, y, "", colours[k], width=0.45)
        label(axes, right + 0.8, y + 0.5, first, family="monospace", size=9.5)
        label(axes, right + 5.6, y + 0.5, second, family="monospace", size=9.5)
    label(
        axes,
        0.2,
        0.6,
        "A step of 0 stays where it is: the column is read again for every column of out, "
        "the row for every row.\nNothing is copied.",
        color=FAINT,
        size=9.5,
    )
    return figure


FIGURES = {"08_elementwise_functors": lesson_08_elementwise_functors}
