# SPDX-License-Identifier: MIT
"""The picture of lesson 30: fragments of slabs that meet in a warp, and rows of one in banks."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from style import BLOCKS, EMPTY, FAINT, INK, canvas, label

FRAGMENT = 2.2  # the side of a fragment of 16 x 16, as drawn
GROUPS = 8  # of four banks: 16 bytes each


def box(axes: Axes, x: float, y: float, wide: float, high: float, text: str, colour: str) -> None:
    """A cell with its lower left corner at (x, y)."""
    axes.add_patch(Rectangle((x, y), wide, high, facecolor=colour, edgecolor=INK, linewidth=0.9))
    axes.text(x + wide / 2, y + 0.47 * high, text, size=9, ha="center", va="center", color=INK)


def fragments(
    axes: Axes, left: float, top: float, rows: int, cols: int, name: str,
    colours: dict[tuple[int, int], str], words: dict[tuple[int, int], str],
) -> None:  # fmt: skip
    """`rows` x `cols` fragments from (left, top) down."""
    for row in range(rows):
        for col in range(cols):
            box(
                axes, left + col * FRAGMENT, top - (row + 1) * FRAGMENT, FRAGMENT, FRAGMENT,
                words.get((row, col), ""), colours.get((row, col), EMPTY),
            )  # fmt: skip
    label(axes, left + cols * FRAGMENT / 2, top + 0.6, name, size=10, ha="center")


def frame(axes: Axes, x: float, y: float, wide: float, high: float) -> None:
    """A thick line round `wide` x `high` from (x, y) down."""
    axes.plot(
        [x, x + wide, x + wide, x, x], [y, y, y - high, y - high, y], color=INK, lw=2.2, zorder=5
    )


def slabs(axes: Axes, left: float) -> None:
    """Left: the fragments that warp 1 loads first, and the four products that it makes of them."""
    side = FRAGMENT
    a_at, b_at, c_at = (left, 10.4), (left + 5.6, 17.2), (left + 5.6, 10.4)
    fragments(
        axes, *a_at, 4, 2, "slab of A, 64 x 32", {(0, 0): BLOCKS[0], (1, 0): BLOCKS[0]},
        {(0, 0): "a0", (1, 0): "a1"},
    )  # fmt: skip
    fragments(
        axes, *b_at, 2, 4, "slab of B, 32 x 64", {(0, 2): BLOCKS[1], (0, 3): BLOCKS[1]},
        {(0, 2): "b0", (0, 3): "b1"},
    )  # fmt: skip
    mine = {(i, 2 + j): BLOCKS[2] for i in range(2) for j in range(2)}
    words = {(i, 2 + j): f"a{i}b{j}" for i in range(2) for j in range(2)}
    words |= {(2 * row, 2 * col): f"warp {2 * row + col}" for row, col in ((0, 0), (1, 0), (1, 1))}
    fragments(axes, *c_at, 4, 4, "64 x 64 elements of C", mine, words)
    for row in range(2):
        for col in range(2):
            x, y = c_at[0] + 2 * col * side, c_at[1] - 2 * row * side
            frame(axes, x, y, 2 * side, 2 * side)
    label(
        axes, left - 0.2, 16.2, "each cell: a fragment\nof 16 x 16\n\nwarp 1 loads four,\n"
        "and multiplies\nfour times", size=9,
    )  # fmt: skip


def banks(axes: Axes, left: float, top: float, halves: int, text: str) -> None:
    """The 16 bytes of eight rows of a fragment, in the groups of four banks where they lie."""
    for row in range(8):
        for group in range(GROUPS):
            here = row * halves // 8 % GROUPS == group
            box(
                axes, left + 1.3 * group, top - 0.8 * (row + 1), 1.3, 0.8,
                str(row) if here else "", BLOCKS[0] if here else EMPTY,
            )  # fmt: skip
        label(
            axes, left - 0.3, top - 0.8 * row - 0.4, f"row {row}", size=7, color=FAINT, ha="right"
        )
    for group in range(GROUPS):
        label(
            axes, left + 1.3 * group + 0.65, top + 0.4, f"{4 * group}-{4 * group + 3}", size=7,
            color=FAINT, ha="center",
        )  # fmt: skip
    label(axes, left + 0.65 * GROUPS, top + 1.3, text, size=9, ha="center")


def lesson_30_tensor_cores() -> Figure:
    """Fragments of two slabs, and why rows in shared memory are longer by 8 halves."""
    figure, axes = canvas(9.6, 5.6, 33.0)
    slabs(axes, 0.6)
    banks(axes, 19.8, 16.4, 32, "rows of 32 halves: four rows in the same banks")
    banks(axes, 19.8, 7.2, 40, "rows of 32 + 8 halves: each row in banks of its own")
    return figure


FIGURES = {"30_tensor_cores": lesson_30_tensor_cores}
