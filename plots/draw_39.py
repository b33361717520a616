# SPDX-License-Identifier: MIT
"""The picture of lesson 39: a view of a matrix, and how two protocols describe it."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from style import BLOCKS, EMPTY, FAINT, INK, PAPER, arrow, canvas, cell, label

COLUMNS, ROWS = 6, 4
FIRST, SHAPE, STRIDES = 7, (2, 3), (12, 2)  # the view a[1:4:2, 1:6:2], in elements
BYTES = 4


def matrix(axes: Axes, left: float, top: float) -> None:
    """The elements by their place in memory; those of the view are coloured."""
    inside = {
        FIRST + i * STRIDES[0] + j * STRIDES[1] for i in range(SHAPE[0]) for j in range(SHAPE[1])
    }
    for at in range(ROWS * COLUMNS):
        row, column = divmod(at, COLUMNS)
        colour = BLOCKS[0] if at in inside else EMPTY
        cell(axes, left + column, top - row, str(at), colour)


def fields(axes: Axes, left: float, top: float, title: str, rows: list[tuple[str, str]]) -> None:
    """A structure with its fields, one a line."""
    height = 0.95 * len(rows) + 0.5
    axes.add_patch(
        Rectangle((left, top - height), 9.2, height, facecolor=PAPER, edgecolor=INK, lw=0.9)
    )
    label(axes, left, top + 0.65, title, size=10, va="center", weight="bold")
    for k, (name, value) in enumerate(rows):
        y = top - 0.72 - 0.95 * k
        label(axes, left + 0.35, y, name, size=9, family="monospace", va="center", color=FAINT)
        label(axes, left + 4.3, y, value, size=9, family="monospace", va="center")


def lesson_39_python_interop() -> Figure:
    """Left: the view in its memory. Right: its fields, in elements and in bytes."""
    figure, axes = canvas(9.6, 3.4, 29.0)
    left, top = 0.6, 6.9
    matrix(axes, left, top)
    label(
        axes,
        left,
        top + 1.7,
        "the view a[1:4:2, 1:6:2]",
        size=9.5,
        va="center",
    )
    arrow(axes, (left + 1.75, top - 0.5), (left + 3.25, top - 0.5), INK)
    arrow(axes, (left + 1.5, top - 0.75), (left + 1.5, top - 2.25), INK)
    notes = (
        "the first: element 7, byte 28",
        "to the right: 2 elements, 8 bytes",
        "down: 12 elements, 48 bytes",
    )
    for k, text in enumerate(notes):
        label(axes, left, top - 4.1 - 0.95 * k, text, size=9.5, va="center")
    data = "0x7f40'0000"
    fields(
        axes, 9.2, 8.1, "DLPack", [
            ("data", data), ("byte_offset", "28"), ("ndim", "2"), ("shape", "2, 3"),
            ("strides", "12, 2"), ("dtype", "2, 32, 1"), ("device", "2, 0"),
        ],
    )  # fmt: skip
    fields(
        axes, 19.2, 8.1, "CUDA Array Interface", [
            ("data", f"{data[:-4]}001c, False"), ("shape", "(2, 3)"), ("strides", "(48, 8)"),
            ("typestr", '"<f4"'), ("stream", "1"), ("version", "3"),
        ],
    )  # fmt: skip
    label(axes, 9.2, 0.55, "strides in elements, an offset", size=9.5, color=FAINT, va="center")
    label(axes, 19.2, 0.55, "strides in bytes, no offset", size=9.5, color=FAINT, va="center")
    return figure


FIGURES = {"39_python_interop": lesson_39_python_interop}
