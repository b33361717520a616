# SPDX-License-Identifier: MIT
"""The pictures of lesson 28: sums of segments over two tiles, and a sparse matrix in CSR form."""

from __future__ import annotations

from matplotlib.figure import Figure
from style import BLOCKS, EMPTY, FAINT, PAPER, arrow, canvas, cell, label

TILE = 8  # lanes, and rows of a tile, drawn instead of 32 and 1024
KEYS = [0, 0, 0, 1, 4, 4, 4, 4, 4, 4, 5, 6, 6, 6, 6, 9]
VALUES = [3, 1, 2, 5, 1, 1, 4, 2, 2, 3, 7, 1, 2, 1, 1, 6]


def lesson_28_group_by_and_spmv() -> Figure:
    """Two tiles of eight rows: sums up to each row, what a tile leaves open, the output."""
    figure, axes = canvas(9.0, 4.1, 25.0)
    left, gap, width, out_at = 3.9, 2.0, 1.1, 1.0
    rows = [(8.4, "key"), (6.9, "value"), (5.2, "sum up to\nthe row"), (out_at, "output")]
    for y, text in rows:
        label(axes, 0.2, y + 0.5, text)
    groups = [i for i in range(len(KEYS)) if i == 0 or KEYS[i] != KEYS[i - 1]]
    totals: list[int] = []
    sums: list[int] = []
    out_left = left + 2.2
    for i, key in enumerate(KEYS):
        tile, lane = divmod(i, TILE)
        x = left + tile * (TILE * width + gap) + lane * width
        if lane == 0:
            label(axes, x, 10.7, f"tile {tile}", color=FAINT, size=9)
        label(axes, x + width / 2, 9.75, str(i), color=FAINT, size=8, ha="center")
        group = sum(head <= i for head in groups) - 1
        colour = BLOCKS[group % len(BLOCKS)]
        head, last = i in groups, i + 1 in groups or i + 1 == len(KEYS)
        sums.append(VALUES[i] + (0 if head or lane == 0 else sums[-1]))
        cell(axes, x, 8.4, str(key), colour, None, width)
        cell(axes, x, 6.9, str(VALUES[i]), PAPER, None, width)
        ends = last or lane == TILE - 1
        cell(axes, x, 5.2, str(sums[-1]), colour if ends else EMPTY, None, width)
        if head:
            totals.append(0)
        if ends:
            totals[-1] += sums[-1]
        target = out_left + (group + 0.5) * 2.4
        if last:
            arrow(axes, (x + width / 2, 5.2), (target, out_at + 2), colour)
        elif lane == TILE - 1:
            label(
                axes, x + width + 0.1, 5.7, f"open: {sums[-1]}", color=FAINT, size=8, va="center"
            )  # fmt: skip
            arrow(axes, (x + width + 0.6, 5.3), (target - 0.3, out_at + 2), colour)
    for g, head in enumerate(groups):
        x = out_left + g * 2.4
        colour = BLOCKS[g % len(BLOCKS)]
        cell(axes, x, out_at + 1, str(KEYS[head]), colour, None, 2.4)
        text = "8 + 5 = 13" if KEYS[head] == 4 else str(totals[g])
        cell(axes, x, out_at, text, PAPER, None, 2.4)
        label(axes, x + 1.2, out_at - 0.45, f"group {g}", size=8, color=FAINT, ha="center")
    return figure


MATRIX = [[1, 0, 2, 0], [0, 0, 0, 0], [0, 3, 0, 4], [5, 0, 0, 0]]
X = ["2", "0.5", "1", "3"]
Y = ["4", "0", "13.5", "10"]


def lesson_28_csr() -> Figure:
    """A matrix of four rows, one of them empty, as three arrays; x and y beside it."""
    figure, axes = canvas(8.6, 3.0, 26.0)
    top, left = 6.6, 1.6
    for r, row in enumerate(MATRIX):
        label(axes, 0.2, top - r + 0.5, f"row {r}", color=FAINT, size=8)
        for c, value in enumerate(row):
            text, colour = (str(value), BLOCKS[r]) if value else ("", EMPTY)
            cell(axes, left + c, top - r, text, colour)
        cell(axes, left + 5.2, top - r, X[r])
        cell(axes, left + 7.4, top - r, Y[r], BLOCKS[r], None, 1.6)
        label(axes, left + 4.45, top - r + 0.5, "·", size=12) if r == 1 else None
        label(axes, left + 6.6, top - r + 0.5, "=", size=12) if r == 1 else None
    label(axes, left + 5.5, top + 1.5, "x", color=FAINT, size=9)
    label(axes, left + 8.0, top + 1.5, "y", color=FAINT, size=9)
    x0, width = 15.4, 1.6
    entries = [(r, c, v) for r, row in enumerate(MATRIX) for c, v in enumerate(row) if v]
    begins = [sum(r < row for r, _, _ in entries) for row in range(len(MATRIX) + 1)]
    colours = [*BLOCKS, EMPTY]
    arrays = [
        ("row_begin", top + 0.2, [(str(b), colours[r]) for r, b in enumerate(begins)]),
        ("column", top - 3.0, [(str(c), BLOCKS[r]) for r, c, _ in entries]),
        ("value", top - 4.6, [(str(v), BLOCKS[r]) for r, _, v in entries]),
    ]  # fmt: skip
    for name, y, cells in arrays:
        label(axes, x0 - 0.3, y + 0.5, name, ha="right")
        for k, (text, colour) in enumerate(cells):
            cell(axes, x0 + k * width, y, text, colour, None, width)
    for k in range(len(entries)):
        label(axes, x0 + (k + 0.5) * width, top - 1.6, str(k), color=FAINT, size=8, ha="center")
    for r, begin in enumerate(begins):
        start = (x0 + (r + 0.5) * width, top + 0.2)
        end = (x0 + (begin + 0.12) * width, top - 1.95)
        arrow(axes, start, end, BLOCKS[r] if r < 4 else FAINT)
    label(
        axes, x0 - 2.6, top - 5.6, "row 1 is empty: it begins and ends at entry 2",
        size=9, color=FAINT,
    )  # fmt: skip
    return figure


FIGURES = {"28_group_by_and_spmv": lesson_28_group_by_and_spmv, "28_csr": lesson_28_csr}
