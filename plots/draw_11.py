# SPDX-License-Identifier: MIT
"""The picture of lesson 11: eight lanes of a warp load px, from structures and from columns."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from style import BLOCKS, EMPTY, FAINT, INK, PAPER, arrow, canvas, cell, label

WIDTH = 0.55  # of one float
LEFT = 2.6


def memory(axes: Axes, y: float, first: int, names: list[str], used: set[int]) -> None:
    """Floats side by side, each sector of eight in a thick frame; `used` ones are coloured."""
    for k, name in enumerate(names):
        x = LEFT + k * WIDTH
        inside = k in used
        axes.add_patch(
            Rectangle(
                (x, y), WIDTH, 1, facecolor=BLOCKS[0] if inside else EMPTY, edgecolor=FAINT, lw=0.5
            )
        )
        label(axes, x + WIDTH / 2, y + 0.47, name, ha="center", size=7)
    for sector in range(len(names) // 8):
        x = LEFT + 8 * sector * WIDTH
        axes.add_patch(Rectangle((x, y), 8 * WIDTH, 1, facecolor="none", edgecolor=INK, lw=1.6))
        label(
            axes,
            x + 4 * WIDTH,
            y - 0.35,
            f"sector {first + sector}",
            ha="center",
            size=8.5,
            color=FAINT,
        )


def lanes(axes: Axes, y: float, centres: list[float], targets: list[float], colour: str) -> None:
    """Lanes 0 to 7 and their arrows down to what each one loads."""
    for lane, (x, target) in enumerate(zip(centres, targets, strict=True)):
        cell(axes, x - 0.4, y, str(lane), colour, width=0.8)
        arrow(axes, (x, y), (target, y - 0.8))


def lesson_11_coalescing_soa() -> Figure:
    """Top: 8 lanes touch 4 sectors and use a quarter. Bottom: 8 lanes touch one and use it all."""
    figure, axes = canvas(8.2, 4.45, 20.5)
    top = 8.7
    names = [f"{field}{i}" for i in range(8) for field in ("px", "py", "pz", "e")]
    label(axes, 0.2, top + 1.9, "array of structures: particles[i].px", size=10.5)
    targets = [LEFT + (4 * lane + 0.5) * WIDTH for lane in range(8)]
    lanes(axes, top, targets, targets, BLOCKS[1])
    memory(axes, top - 1.85, 0, names, {4 * lane for lane in range(8)})
    label(axes, 0.2, top + 0.5, "lanes 0 to 7")
    label(axes, 0.2, top - 1.35, "memory")
    label(
        axes,
        LEFT,
        top - 2.85,
        "8 lanes: 4 sectors of 32 bytes travel, a quarter of each is used. "
        "The warp of 32 lanes: 16 sectors.",
        size=9,
    )

    low = 3.1
    label(axes, 0.2, low + 1.9, "structure of arrays: px[i]", size=10.5)
    centres = [LEFT + (lane + 0.5) * 1.15 for lane in range(8)]
    targets = [LEFT + (lane + 0.5) * WIDTH for lane in range(8)]
    lanes(axes, low, centres, targets, BLOCKS[1])
    memory(axes, low - 1.85, 0, [f"px{i}" for i in range(8)], set(range(8)))
    memory_right = LEFT + 8 * WIDTH + 0.3
    label(
        axes, memory_right, low - 1.35, "px8 ...        py0 py1 ...  elsewhere", size=9, color=FAINT
    )
    label(axes, 0.2, low + 0.5, "lanes 0 to 7")
    label(axes, 0.2, low - 1.35, "memory")
    label(
        axes,
        LEFT,
        low - 2.85,
        "8 lanes: 1 sector travels, all of it is used. The warp of 32 lanes: 4 sectors.",
        size=9,
        backgroundcolor=PAPER,
    )
    return figure


FIGURES = {"11_coalescing_soa": lesson_11_coalescing_soa}
