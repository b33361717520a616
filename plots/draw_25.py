# SPDX-License-Identifier: MIT
"""The pictures of lesson 25: a warp scans in steps, tiles get carries, and a tile looks back."""

from __future__ import annotations

from itertools import accumulate

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from style import BLOCKS, EMPTY, FAINT, INK, PAPER, WRONG, arrow, canvas, cell, label

VALUES = [3, 1, 7, 0, 4, 1, 6, 3]  # drawn instead of 32 lanes


def steps(axes: Axes, left: float, top: float) -> None:
    """Eight lanes, three steps, each twice as long as the one before."""
    width, drop = 1.05, 2.25
    label(axes, left, top + 2.1, "a warp: steps 1, 2, 4", color=FAINT, size=9)
    values, y, step = VALUES, top, 1
    for lane in range(len(values)):
        label(axes, left + (lane + 0.5) * width, top + 1.35, str(lane), color=FAINT, ha="center")
    while True:
        for lane, value in enumerate(values):
            ready = lane < step  # has all that lies before it
            cell(
                axes, left + lane * width, y, str(value), BLOCKS[2] if ready else BLOCKS[0],
                None, width,
            )  # fmt: skip
        if step >= len(values):
            return
        for lane in range(step, len(values)):
            start = left + (lane - step + 0.5) * width
            arrow(axes, (start, y), (left + (lane + 0.4) * width, y - drop + 1), BLOCKS[1])
        label(axes, left + len(values) * width + 0.2, y - 0.65, f"step {step}", size=9, color=FAINT)
        values = [v + (values[i - step] if i >= step else 0) for i, v in enumerate(values)]
        y, step = y - drop, 2 * step


def tiles(axes: Axes, left: float, top: float) -> None:
    """Four tiles of four elements: totals, their exclusive scan, and the tiles with carries."""
    numbers = [[3, 1, 7, 0], [4, 1, 6, 3], [2, 2, 0, 5], [1, 0, 0, 8]]
    width, gap = 0.8, 0.45
    totals = [sum(tile) for tile in numbers]
    carries = [0, *accumulate(totals)][:-1]
    label(axes, left, top + 2.1, "three launches", color=FAINT, size=9)
    span = 4 * width
    for k, tile in enumerate(numbers):
        x = left + k * (span + gap)
        middle = x + span / 2
        label(axes, middle, top + 1.35, f"tile {k}", color=FAINT, ha="center")
        for i, value in enumerate(tile):
            cell(axes, x + i * width, top, str(value), BLOCKS[k], None, width)
        arrow(axes, (middle, top), (middle, top - 1.25))
        cell(axes, middle - 0.6, top - 2.25, str(totals[k]), BLOCKS[k], None, 1.2)
        arrow(axes, (middle, top - 2.25), (middle, top - 3.5))
        cell(axes, middle - 0.6, top - 4.5, str(carries[k]), EMPTY, None, 1.2)
        arrow(axes, (middle, top - 4.5), (middle, top - 5.75))
        for i, value in enumerate(accumulate(tile, initial=carries[k])):
            if i:
                cell(axes, x + (i - 1) * width, top - 6.75, str(value), BLOCKS[k], None, width)
    words = [
        "1: a total\n    for each tile",
        "2: their\n    exclusive scan",
        "3: tiles with\n    their carries",
    ]
    for k, text in enumerate(words):
        label(axes, left + 4 * span + 3 * gap + 0.4, top - 1.75 - 2.25 * k, text, size=9)


def lesson_25_scan() -> Figure:
    """How a warp scans, and how tiles become one scan."""
    figure, axes = canvas(9.6, 3.6, 30.6)
    steps(axes, 0.4, 8.0)
    tiles(axes, 11.4, 8.0)
    return figure


def lesson_25_look_back() -> Figure:
    """Tile 6 adds totals until it meets a prefix, while others are still at work."""
    figure, axes = canvas(8.6, 2.0, 25.5)
    published = [
        ("prefix", 11), ("prefix", 25), ("prefix", 34), ("total", 9), ("total", 12), ("total", 4),
        ("total", 7), ("nothing", 0),
    ]  # fmt: skip
    colour = {"prefix": BLOCKS[2], "total": BLOCKS[1], "nothing": PAPER}
    width, y, left = 2.75, 3.3, 2.6
    label(axes, 0.3, y + 0.5, "states")
    for tile, (what, value) in enumerate(published):
        x = left + tile * (width + 0.08)
        label(axes, x + width / 2, y + 1.6, f"tile {tile}", color=FAINT, ha="center")
        text = f"{what} {value}" if value else what
        cell(axes, x, y, text, colour[what], "////" if what == "nothing" else None, width)
    at = [left + (tile + 0.5) * (width + 0.08) for tile in range(len(published))]
    carry = 0
    for tile in (5, 4, 3, 2):
        arrow(axes, (at[tile + 1] - (0.0 if tile == 5 else 0.25), 2.3), (at[tile] + 0.25, 2.3), INK)
        carry += published[tile][1]
        label(axes, at[tile], 2.85, f"+ {published[tile][1]}", ha="center", size=9)
        label(axes, at[tile], 1.65, str(carry), ha="center", color=WRONG if tile == 2 else INK)
    label(axes, at[6], 2.3, "looks back", size=9, backgroundcolor=PAPER)
    label(
        axes, left, 0.6,
        f"a prefix holds all before it: stop. The carry of tile 6 is {carry}, its prefix "
        f"{carry} + 7 = {carry + 7}.",
        size=9,
    )  # fmt: skip
    return figure


FIGURES = {"25_scan": lesson_25_scan, "25_look_back": lesson_25_look_back}
