# SPDX-License-Identifier: MIT
"""The picture of lesson 33: a block's way through the cache, and from one stream to another."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from style import BLOCKS, EMPTY, FAINT, INK, WRONG, arrow, canvas, label

# What the host does, and then the state of the two blocks: in use, cached, or not there.
STEPS = (
    ("a = allocate(S)", "u."),
    ("b = allocate(S)", "uu"),
    ("deallocate(a)", "cu"),
    ("deallocate(b)", "cc"),
    ("c = allocate(S)", "uc"),
    ("deallocate(c)", "cc"),
    ("free_all_blocks()", ".."),
)
COLUMN, HIGH = 4.3, 1.0
LEFT = 4.2


def box(axes: Axes, x: float, y: float, width: float, text: str, colour: str,
        hatch: str | None = None) -> None:  # fmt: skip
    """A block, a kernel or a call."""
    axes.add_patch(Rectangle((x, y), width, HIGH, facecolor=colour, edgecolor=INK, linewidth=0.9,
                             hatch=hatch))  # fmt: skip
    backing = {"facecolor": colour, "edgecolor": "none", "pad": 1.2} if hatch else None
    axes.text(x + width / 2, y + HIGH / 2 - 0.03, text, size=9, ha="center", va="center",
              color=INK, bbox=backing)  # fmt: skip


def cache(axes: Axes, y: float) -> None:
    """Each step of the host in a column: its call, the two blocks, and the two numbers."""
    for row, name in enumerate(("block 0", "block 1")):
        label(axes, LEFT - 0.5, y - 1.3 * row + HIGH / 2, name, size=9, color=FAINT, ha="right")
    for row, name in enumerate(("used()", "total()")):
        label(axes, LEFT - 0.5, y - 2.1 - 0.9 * row, name, size=9, color=FAINT, ha="right")
    for step, (call, blocks) in enumerate(STEPS):
        x = LEFT + step * COLUMN
        label(axes, x + (COLUMN - 0.3) / 2, y + 1.75, call, size=9, ha="center")
        for row, state in enumerate(blocks):
            if state != ".":
                used = state == "u"
                box(axes, x, y - 1.3 * row, COLUMN - 0.3, "in use" if used else "cached",
                    BLOCKS[0] if used else EMPTY, None if used else "///")  # fmt: skip
        used, total = blocks.count("u"), 2 - blocks.count(".")
        for row, number in enumerate((used, total)):
            text = "0" if number == 0 else "S" if number == 1 else f"{number} S"
            label(axes, x + (COLUMN - 0.3) / 2, y - 2.1 - 0.9 * row, text, size=9, ha="center")


def streams(axes: Axes, y: float) -> None:
    """A kernel still uses the block in stream 1 when the host hands it out for stream 2."""
    width = len(STEPS) * COLUMN - 0.3
    for row, name in enumerate(("host", "stream 1", "stream 2")):
        at = y - 1.5 * row
        label(axes, LEFT - 0.5, at + HIGH / 2, name, size=9, color=FAINT, ha="right")
        axes.add_patch(Rectangle((LEFT, at), width, HIGH, facecolor=EMPTY, edgecolor="none",
                                 zorder=0))  # fmt: skip
    box(axes, LEFT, y, 3.0, "launch", BLOCKS[2])
    box(axes, LEFT + 3.2, y, 5.2, "deallocate(a, 1)", BLOCKS[2])
    box(axes, LEFT + 8.6, y, 5.2, "allocate(S, 2)", BLOCKS[2])
    box(axes, LEFT + 14.0, y, 3.0, "launch", BLOCKS[2])
    end = LEFT + 20.5
    box(axes, LEFT + 4.0, y - 1.5, end - LEFT - 4.0, "kernel uses the block", BLOCKS[0])
    box(axes, end + 0.9, y - 3.0, 6.2, "next kernel uses it", BLOCKS[1])
    axes.plot([end, end], [y - 1.7, y - 0.3], color=INK, lw=1.6)
    label(axes, end + 0.3, y - 1.0, "event", size=9)
    arrow(axes, (end, y - 1.5), (end + 0.9, y - 2.3), INK)
    label(axes, LEFT + 16.9, y - 2.5, "without the wait it begins here", size=9, color=WRONG,
          ha="right")  # fmt: skip
    axes.plot([LEFT + 17.2, LEFT + 17.2], [y - 3.0, y - 2.0], color=WRONG, lw=1.6)


def lesson_33_memory_pools() -> Figure:
    """Above: what the allocator has at each step. Below: reuse in another stream."""
    figure, axes = canvas(9.6, 3.5, 34.4)
    cache(axes, 10.0)
    label(axes, LEFT, 5.5, "a cached block goes to another stream: that stream waits, and the host "
          "does not", size=10)  # fmt: skip
    streams(axes, 3.6)
    return figure


FIGURES = {"33_memory_pools": lesson_33_memory_pools}
