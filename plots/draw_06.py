# SPDX-License-Identifier: MIT
"""The pictures of lesson 06: what an event measures, and the roofline."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from style import BLOCKS, EMPTY, FAINT, INK, PAPER, WRONG, arrow, canvas, label


def lesson_06_timing_and_bandwidth() -> Figure:
    """Events in the stream enclose the kernel; a clock round the launch does not."""
    figure, axes = canvas(8.6, 4.0, 23)
    cpu, gpu, left = 6.6, 3.7, 3.0

    def box(x: float, y: float, width: float, text: str, colour: str) -> None:
        axes.add_patch(Rectangle((x, y), width, 1.1, facecolor=colour, edgecolor=INK, lw=0.9))
        label(axes, x + width / 2, y + 0.52, text, ha="center", size=9)

    label(axes, 0.2, cpu + 0.55, "CPU (host)")
    label(axes, 0.2, gpu + 0.55, "GPU, stream")
    box(left, cpu, 2.2, "record start", BLOCKS[1])
    box(left + 2.3, cpu, 2.2, "launch", BLOCKS[0])
    box(left + 4.6, cpu, 2.2, "record stop", BLOCKS[1])
    box(left + 6.9, cpu, 9.6, "cudaEventSynchronize(stop)  waits", EMPTY)
    box(left + 16.6, cpu, 2.9, "elapsed time", BLOCKS[1])
    box(left + 2.4, gpu, 0.7, "", BLOCKS[1])
    box(left + 3.1, gpu, 12.2, "kernel", BLOCKS[2])
    box(left + 15.3, gpu, 0.7, "", BLOCKS[1])
    arrow(axes, (left + 1.4, cpu), (left + 2.6, gpu + 1.1), FAINT)
    arrow(axes, (left + 3.6, cpu), (left + 5.0, gpu + 1.1), FAINT)
    arrow(axes, (left + 6.4, cpu), (left + 15.5, gpu + 1.1), FAINT)
    arrow(axes, (left + 15.9, gpu + 1.1), (left + 16.4, cpu), FAINT)

    def span(x0: float, x1: float, y: float, text: str, colour: str) -> None:
        axes.annotate("", (x1, y), (x0, y), arrowprops={"arrowstyle": "<->", "color": colour})
        label(axes, (x0 + x1) / 2, y - 0.6, text, ha="center", color=colour, size=9.5)

    span(left + 2.75, left + 15.65, gpu - 0.5, "what the events measure: the kernel", INK)
    axes.annotate(
        "",
        (left + 4.5, cpu + 1.6),
        (left + 2.3, cpu + 1.6),
        arrowprops={"arrowstyle": "<->", "color": WRONG},
    )
    label(
        axes,
        left + 4.8,
        cpu + 1.9,
        "a clock round the launch: the time to put it into the queue",
        color=WRONG,
        size=9.5,
    )
    arrow(axes, (left, 1.4), (left + 19.5, 1.4), FAINT)
    label(axes, left + 9.7, 0.75, "time", color=FAINT, ha="center")
    return figure


def lesson_06_roofline() -> Figure:
    """The roofline of a card with 484 GB/s and 354 Gflop/s in double, both from its data sheet."""
    figure, axes = plt.subplots(figsize=(6.4, 3.7), facecolor=PAPER)
    bandwidth, flops = 484.0, 354.0
    intensity = np.logspace(-2, 2, 200)
    roof = np.minimum(bandwidth * intensity, flops)
    axes.loglog(intensity, roof, color=INK, lw=2)
    axes.fill_between(
        intensity, roof, 1e4, facecolor=EMPTY, edgecolor=FAINT, hatch="///", linewidth=0
    )
    ridge = flops / bandwidth
    axes.axvline(ridge, color=FAINT, lw=0.8, ls=":")
    backing = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.5}
    line = {"arrowstyle": "-", "color": FAINT}
    for rate, text, at, colour, marker in (
        (744, "x += 1, 744 GB/s:\nimpossible", (0.012, 600), WRONG, "X"),
        (400, "x += 1, 400 GB/s:\nplausible", (0.11, 5), BLOCKS[2], "o"),
    ):
        point = (1 / 16, rate / 16)
        axes.plot(*point, marker, color=colour, ms=9, markeredgecolor=INK)
        axes.annotate(text, point, at, color=INK, size=9, arrowprops=line, bbox=backing)
    axes.text(0.68, 50, "moving takes longer", rotation=34, size=9, ha="right", va="center")
    axes.text(8, 230, "computing takes longer", size=9, ha="center")
    axes.text(6, 1500, "no kernel gets here", size=9, ha="center", bbox=backing)
    axes.text(ridge * 1.1, 1.3, f"{ridge:.2f} operations for each byte", color=FAINT, size=9)
    axes.set_xlabel("operations for each byte that moves")
    axes.set_ylabel("10⁹ operations in a second")
    axes.set_xlim(1e-2, 1e2)
    axes.set_ylim(1, 1e4)
    figure.tight_layout()
    return figure


FIGURES = {
    "06_timing_and_bandwidth": lesson_06_timing_and_bandwidth,
    "06_roofline": lesson_06_roofline,
}
