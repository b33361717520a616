# SPDX-License-Identifier: MIT
"""The picture of lesson 35: from a text to a launch, and what the cache saves."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from style import BLOCKS, EMPTY, FAINT, INK, arrow, canvas, label


def box(axes: Axes, x: float, y: float, width: float, lines: list[str], colour: str) -> None:
    """Lines of text in a box with its lower left corner at (x, y); the first is the title."""
    height = 0.62 * len(lines) + 0.4
    axes.add_patch(Rectangle((x, y), width, height, facecolor=colour, edgecolor=INK, linewidth=0.9))
    for k, line in enumerate(lines):
        style = {"size": 9.5} if k == 0 else {"size": 8.2, "family": "DejaVu Sans Mono"}
        label(axes, x + 0.25, y + height - 0.52 - 0.62 * k, line, **style)


def lesson_35_jit_nvrtc() -> Figure:
    """A call of an ElementwiseKernel: found in the cache, or compiled."""
    figure, axes = canvas(9.4, 4.0, 31.2)
    box(
        axes, 0.5, 9.9, 9.6,
        ["a call", '"T a, T b"   "a * b"', "a: double*   b: 3.0"], BLOCKS[0],
    )  # fmt: skip
    box(
        axes, 12.0, 9.4, 8.4,
        ["the key", "source, with types", "architecture 7.5", "options"], EMPTY,
    )  # fmt: skip
    box(axes, 22.9, 9.9, 7.9, ["launch", "addresses of", "all arguments"], BLOCKS[2])
    arrow(axes, (10.1, 11.1), (12.0, 11.1))
    arrow(axes, (20.4, 11.1), (22.9, 11.1))
    label(axes, 20.55, 11.75, "known", size=9, color=FAINT)
    label(axes, 16.5, 8.75, "new: once for each key", size=9, color=FAINT)
    arrow(axes, (16.2, 9.4), (16.2, 7.6), INK)
    axes.plot([5.0, 16.2], [7.6, 7.6], color=INK, lw=1.0)
    arrow(axes, (5.0, 7.6), (5.0, 6.6))
    box(
        axes, 0.5, 3.1, 13.6,
        [
            "product.cu, a text in memory",
            "product(double* _out,",
            "        const double* _in0, double b, ...)",
            "  const double a = _in0[_i];",
            "  _out[_i] = a * b;",
        ],
        EMPTY,
    )  # fmt: skip
    box(axes, 16.3, 3.7, 6.4, ["PTX", ".target sm_75", ".entry product", ".loc 1 5"], EMPTY)
    box(axes, 25.2, 4.3, 5.6, ["in the device", "CUmodule", "CUfunction"], BLOCKS[2])
    arrow(axes, (14.1, 5.0), (16.3, 5.0))
    arrow(axes, (22.7, 5.0), (25.2, 5.0))
    arrow(axes, (28.0, 6.56), (28.0, 9.9))
    label(axes, 14.2, 2.5, "NVRTC: tens of milliseconds,", size=9, color=FAINT)
    label(axes, 14.2, 1.75, "and more with headers", size=9, color=FAINT)
    label(axes, 24.1, 2.5, "driver: loads,", size=9, color=FAINT)
    label(axes, 24.1, 1.75, "compiles PTX for a card", size=9, color=FAINT)
    label(axes, 22.9, 12.65, "a few microseconds", size=9, color=FAINT)
    return figure


FIGURES = {"35_jit_nvrtc": lesson_35_jit_nvrtc}
