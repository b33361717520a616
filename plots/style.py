# SPDX-License-Identifier: MIT
"""The shared drawing style of the lessons' pictures, and the shapes that they are made of.

The figures hold no measured data, only the lesson's idea with real indices.
"""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle

# Okabe and Ito's palette, distinguishable with any kind of colour vision; each block also has its
# own position and label, so nothing hangs on colour alone.
BLOCKS = ["#56B4E9", "#E69F00", "#009E73", "#CC79A7"]
WRONG = "#D55E00"
INK = "#1A1A1A"
FAINT = "#6B6B6B"
PAPER = "#FFFFFF"
EMPTY = "#EDEDED"

STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 10,
    "svg.fonttype": "none",  # text stays text: small files, searchable
    "svg.hashsalt": "workbook",  # the same file on every run
    "hatch.linewidth": 0.6,
}


def canvas(width: float, height: float, units: float) -> tuple[Figure, Axes]:
    """A solid white sheet (readable on dark pages too), `units` wide, y pointing up."""
    figure, axes = plt.subplots(figsize=(width, height), facecolor=PAPER)
    axes.set_xlim(0, units)
    axes.set_ylim(0, units * height / width)
    axes.set_aspect("equal")
    axes.axis("off")
    figure.subplots_adjust(0, 0, 1, 1)
    return figure, axes


def cell(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    colour: str = EMPTY,
    hatch: str | None = None,
    width: float = 1.0,
) -> None:
    """One element or thread: a box with its lower left corner at (x, y), one unit high."""
    axes.add_patch(
        Rectangle((x, y), width, 1, facecolor=colour, edgecolor=INK, linewidth=0.9, hatch=hatch)
    )
    backing = {"facecolor": colour, "edgecolor": "none", "pad": 1.5} if hatch and text else None
    axes.text(x + width / 2, y + 0.47, text, ha="center", va="center", color=INK, bbox=backing)


def arrow(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str = INK
) -> None:
    """A thin arrow from start to end."""
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=9,
            linewidth=1.0,
            color=colour,
            shrinkA=1,
            shrinkB=1,
        )
    )


def label(axes: Axes, x: float, y: float, text: str, **style: object) -> None:
    """Text that starts at (x, y), vertically centred unless told otherwise."""
    axes.text(x, y, text, **{"va": "center", "color": INK, **style})
