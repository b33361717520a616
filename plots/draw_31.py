# SPDX-License-Identifier: MIT
"""The picture of lesson 31: rows that are taken for columns, and the product that follows."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from style import BLOCKS, FAINT, INK, arrow, canvas, cell, label

A = [["a", "b", "c"], ["d", "e", "f"]]  # 2 x 3


def matrix(
    axes: Axes, left: float, top: float, rows: list[list[str]], colours: list[list[str]], name: str
) -> None:
    """A matrix from (left, top) down, its name above."""
    for r, row in enumerate(rows):
        for c, text in enumerate(row):
            cell(axes, left + c, top - r - 1, text, colours[r][c])
    label(axes, left + len(rows[0]) / 2, top + 0.55, name, size=10, ha="center")


def turned(rows: list[list[str]]) -> list[list[str]]:
    """Rows and columns exchanged."""
    return [list(column) for column in zip(*rows, strict=True)]


def lesson_31_libraries() -> Figure:
    """The same six floats by rows and by columns; below, C = A B and C^T = B^T A^T."""
    figure, axes = canvas(8.6, 4.6, 31.0)
    by_row = [[BLOCKS[r]] * 3 for r in range(2)]
    top = 14.2
    matrix(axes, 1.0, top, A, by_row, "A, by rows")
    label(axes, 2.5, top - 2.7, "2 rows of 3", size=9, color=FAINT, ha="center")
    for i, text in enumerate("abcdef"):
        cell(axes, 9.5 + i, top - 1.5, text, BLOCKS[i // 3])
        label(axes, 10.0 + i, top - 2.0, str(i), size=8, color=FAINT, ha="center")
    label(axes, 12.5, top + 0.05, "memory, pitch 3", size=10, ha="center")
    arrow(axes, (4.3, top - 1.0), (9.2, top - 1.0), FAINT)
    arrow(axes, (15.8, top - 1.0), (20.6, top - 1.0), FAINT)
    matrix(axes, 21.0, top + 0.4, turned(A), turned(by_row), "what cuBLAS sees")
    label(
        axes, 22.0, top - 3.3, "columns of 3: A$^T$", size=9, color=FAINT, ha="center"
    )  # fmt: skip

    low = 8.2
    label(axes, 0.2, low + 0.6, "wanted, by rows", size=9, color=FAINT)
    parts = [("C", 2, 4, BLOCKS[2]), ("A", 2, 3, BLOCKS[0]), ("B", 3, 4, BLOCKS[1])]
    x = 1.0
    for k, (name, rows, columns, colour) in enumerate(parts):
        block(axes, x, low - 1.2, name, rows, columns, colour)
        x += columns + 2.0
        if k < 2:
            label(axes, x - 1.3, low - 2.7, "=" if k == 0 else "·", size=13, ha="center")
    label(axes, 17.2, low + 0.6, "asked for, as cuBLAS sees it", size=9, color=FAINT)
    seen = [("C$^T$", 4, 2, BLOCKS[2]), ("B$^T$", 4, 3, BLOCKS[1]), ("A$^T$", 3, 2, BLOCKS[0])]
    x = 18.0
    for k, (name, rows, columns, colour) in enumerate(seen):
        block(axes, x, low - 1.2, name, rows, columns, colour)
        x += columns + 2.0
        if k < 2:
            label(axes, x - 1.3, low - 2.7, "=" if k == 0 else "·", size=13, ha="center")
    label(
        axes, 1.0, 1.2,
        "m = 2, n = 4, k = 3. cuBLAS is told: n x m, B first with pitch n, then A with pitch k.",
        size=9, color=FAINT,
    )  # fmt: skip
    return figure


def block(
    axes: Axes, left: float, top: float, name: str, rows: int, columns: int, colour: str
) -> None:
    """A matrix without its elements: its name in the middle, its sizes above and on the left."""
    x = [left, left + columns, left + columns, left, left]
    y = [top, top, top - rows, top - rows, top]
    axes.fill(x, y, color=colour)
    axes.plot(x, y, color=INK, lw=1.2)
    label(axes, left + columns / 2, top - rows / 2, name, size=12, ha="center", va="center")
    label(axes, left + columns / 2, top + 0.35, str(columns), size=8, color=FAINT, ha="center")
    label(axes, left - 0.2, top - rows / 2, str(rows), size=8, color=FAINT, ha="right", va="center")


FIGURES = {"31_libraries": lesson_31_libraries}
