# SPDX-License-Identifier: MIT
"""The picture of lesson 16: one column of a tile in the banks, without and with padding."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from style import BLOCKS, EMPTY, FAINT, INK, PAPER, WRONG, canvas, cell, label

BANKS = 8  # drawn instead of 32
COLUMN = 2


def memory(axes: Axes, left: float, top: float, width: int) -> None:
    """Shared memory, a row for each round over the banks; column COLUMN of a tile of BANKS rows."""
    for word in range(BANKS * width):
        row, col = divmod(word, width)
        line, bank = divmod(word, BANKS)
        x, y = left + bank, top - line
        if col == COLUMN:
            cell(axes, x, y, str(row), BLOCKS[0])
        elif col == BANKS:
            cell(axes, x, y, "", PAPER, "////")
        else:
            cell(axes, x, y, "", EMPTY)
    for bank in range(BANKS):
        label(axes, left + bank + 0.5, top + 1.35, str(bank), size=9, color=FAINT, ha="center")


def lesson_16_transpose_bank_conflicts() -> Figure:
    """Left: rows 8 floats wide, all eight lanes in bank 2. Right: 9 wide, each in its own bank."""
    figure, axes = canvas(8.2, 5.0, 20.5)
    top, first, second = 9.0, 0.9, 11.3
    memory(axes, first, top, BANKS)
    memory(axes, second, top, BANKS + 1)
    for left, title in ((first, "float tile[8][8]"), (second, "float tile[8][8 + 1]")):
        label(axes, left, top + 2.75, title, family="monospace", size=10)
        label(axes, left, top + 2.0, "bank", size=9, color=FAINT)
    axes.plot([first + 2.5] * 2, [top - 7.2, top - 7.75], color=WRONG, lw=1.6)
    label(
        axes,
        first,
        top - 8.3,
        "lanes 0 to 7 read tile[lane][2]: all meet in bank 2,\n8 passes",
        size=9.5,
        color=WRONG,
        va="center",
    )
    label(
        axes,
        second,
        top - 8.75,
        "lanes 0 to 7 are in 8 different banks: 1 pass",
        size=9.5,
        color=INK,
    )
    axes.annotate(
        "padding",
        (second + 0.5, top - 1 + 0.2),
        (second - 1.9, top - 2.6),
        size=9,
        color=FAINT,
        arrowprops={"arrowstyle": "-", "color": FAINT, "lw": 0.9},
    )
    return figure


FIGURES = {"16_transpose_bank_conflicts": lesson_16_transpose_bank_conflicts}
