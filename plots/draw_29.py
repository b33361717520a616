# SPDX-License-Identifier: MIT
"""The picture of lesson 29: tiles that move along k, and the outer product in registers."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from style import BLOCKS, EMPTY, FAINT, INK, arrow, canvas, cell, label

SIDE, TILE = 8, 4  # matrices of 8 x 8 in tiles of 4 x 4, drawn instead of 32 x 32
X, Y = 2, 1  # the thread that is followed, of block (1, 0)


def matrix(
    axes: Axes, left: float, top: float, name: str, colours: dict[tuple[int, int], str],
    numbers: str = "",
) -> None:  # fmt: skip
    """Eight rows of eight elements from (left, top) down, some of them coloured."""
    for row in range(SIDE):
        for col in range(SIDE):
            cell(axes, left + col, top - row - 1, "", colours.get((row, col), EMPTY))
    for i in range(SIDE):
        if "r" in numbers:
            label(axes, left - 0.3, top - i - 0.5, str(i), size=8, color=FAINT, ha="right")
        if "c" in numbers:
            label(axes, left + i + 0.5, top + 0.45, str(i), size=8, color=FAINT, ha="center")
    label(axes, left + SIDE / 2, top + 1.35, name, size=11, ha="center")


def tile(row: int, col: int, colour: str) -> dict[tuple[int, int], str]:
    """All elements of the tile in this row and column of tiles."""
    return {
        (row * TILE + r, col * TILE + c): colour for r in range(TILE) for c in range(TILE)
    }  # fmt: skip


def frame(axes: Axes, left: float, top: float, row: int, col: int, wide: int, high: int) -> None:
    """A thick line round `wide` x `high` elements."""
    x, y = left + col, top - row
    axes.plot(
        [x, x + wide, x + wide, x, x], [y, y, y - high, y - high, y], color=INK, lw=2.2, zorder=5
    )


def tiles(axes: Axes, left: float) -> None:
    """Left: block (1, 0) in its second round, and what thread (2, 1) reads of both tiles."""
    a_at, b_at, c_at = (left, 9.0), (left + 10.6, 20.3), (left + 10.6, 9.0)
    matrix(axes, *a_at, "A", tile(0, 0, BLOCKS[0]) | tile(0, 1, BLOCKS[1]), "rc")
    matrix(axes, *b_at, "B", tile(0, 1, BLOCKS[0]) | tile(1, 1, BLOCKS[1]), "rc")
    matrix(axes, *c_at, "C", tile(0, 1, BLOCKS[2]), "")
    frame(axes, *a_at, Y, TILE, TILE, 1)
    frame(axes, *b_at, TILE, TILE + X, 1, TILE)
    frame(axes, *c_at, Y, TILE + X, 1, 1)
    label(axes, left - 0.4, 18.4, "block (1, 0) makes the green tile of C", size=9)
    label(
        axes, left - 0.4, 16.8, "round 0: the blue tiles\nround 1: the orange tiles", size=9,
        color=FAINT,
    )  # fmt: skip
    label(
        axes, left - 0.4, 14.2, f"thread ({X}, {Y}): row {Y} of one tile,\n"
        f"column {TILE + X} of the other,\nfour products for C[{Y}][{TILE + X}]", size=9,
    )  # fmt: skip


def registers(axes: Axes, left: float) -> None:
    """Right: 2 x 2 elements for each thread; for one p, two floats of A and two of B."""
    top = 9.0
    mine = {(Y + i * TILE, X + j * TILE): BLOCKS[2] for i in range(2) for j in range(2)}
    matrix(axes, left + 4.2, top, "", mine, "")
    for i in range(2):
        y = top - (Y + i * TILE) - 1
        cell(axes, left + 0.8, y, f"a{i}", BLOCKS[1], None, 1.5)
        label(axes, left + 0.6, y + 0.5, f"A[{Y + i * TILE}][p]", size=8, color=FAINT, ha="right")
        arrow(axes, (left + 2.4, y + 0.5), (left + 4.1, y + 0.5), FAINT)
    for j in range(2):
        x = left + 4.2 + X + j * TILE
        cell(axes, x - 0.25, top + 2.3, f"b{j}", BLOCKS[1], None, 1.5)
        label(
            axes, x + 0.5, top + 3.9, f"B[p][{X + j * TILE}]", size=8, color=FAINT, ha="center"
        )  # fmt: skip
        arrow(axes, (x + 0.5, top + 2.2), (x + 0.5, top + 0.1), FAINT)
        for i in range(2):
            y = top - (Y + i * TILE) - 1
            axes.text(x + 0.5, y + 0.47, f"a{i}b{j}", size=6.5, ha="center", va="center", color=INK)
    label(
        axes, left - 1.2, 17.5, f"registers: thread ({X}, {Y}) makes 2 x 2 elements of C,\n"
        "4 apart. For each p it takes 4 floats\nand makes 4 products of them", size=9,
    )  # fmt: skip


def lesson_29_matmul_tiled() -> Figure:
    """Tiles of A and B that meet in one tile of C, and what one thread keeps in registers."""
    figure, axes = canvas(9.6, 6.3, 35.0)
    tiles(axes, 1.0)
    registers(axes, 22.3)
    return figure


FIGURES = {"29_matmul_tiled": lesson_29_matmul_tiled}
