# SPDX-License-Identifier: MIT
"""The picture of lesson 00."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from style import BLOCKS, EMPTY, FAINT, INK, WRONG, arrow, canvas, label


def lesson_00_hello_device() -> Figure:
    """A launch returns at once: a refusal shows directly behind it, a fault only in the wait."""
    figure, axes = canvas(8.2, 3.4, 20.5)
    cpu, gpu, left = 5.6, 2.7, 2.6

    def box(x: float, y: float, width: float, text: str, colour: str) -> None:
        axes.add_patch(Rectangle((x, y), width, 1.1, facecolor=colour, edgecolor=INK, lw=0.9))
        label(axes, x + width / 2, y + 0.52, text, ha="center", size=9)

    label(axes, 0.2, cpu + 0.55, "CPU (host)")
    label(axes, 0.2, gpu + 0.55, "GPU (device)")
    box(left, cpu, 3.6, "launch  <<<1, 1>>>", BLOCKS[0])
    box(left + 3.9, cpu, 3.6, "cudaGetLastError()", BLOCKS[1])
    box(left + 7.8, cpu, 7.4, "cudaDeviceSynchronize()  waits", EMPTY)
    box(left + 15.5, cpu, 1.9, "go on", BLOCKS[0])
    box(left + 5.2, gpu, 9.4, "hello_kernel runs", BLOCKS[2])
    arrow(axes, (left + 3.4, cpu), (left + 5.2, gpu + 1.1))
    label(axes, left + 1.2, gpu + 2.0, "the launch\nreturns at once", color=FAINT, size=9)
    arrow(axes, (left + 14.6, gpu + 1.1), (left + 15.2, cpu))

    for x, text in (
        (left + 5.7, "refused launch?\nknown here"),
        (left + 15.3, "failed while it ran?\nknown here, not before"),
    ):
        axes.plot([x, x], [cpu + 1.1, cpu + 1.45], color=WRONG, lw=1.4)
        label(axes, x, cpu + 2.05, text, color=WRONG, ha="center", size=9.5)
    arrow(axes, (left, 1.5), (left + 17.4, 1.5), FAINT)
    label(axes, left + 8.7, 0.9, "time", color=FAINT, ha="center")
    return figure


FIGURES = {"00_hello_device": lesson_00_hello_device}
