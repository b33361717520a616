# SPDX-License-Identifier: MIT
"""The picture of lesson 05."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from style import BLOCKS, FAINT, INK, WRONG, arrow, canvas, label


def lesson_05_host_device_memory() -> Figure:
    """Three steps with a round trip each, and with one upload and one download."""
    figure, axes = canvas(8.6, 4.6, 23)
    steps = 3

    def array(x: float, y: float, text: str, colour: str, width: float = 1.6) -> None:
        axes.add_patch(Rectangle((x, y), width, 0.9, facecolor=colour, edgecolor=INK, lw=0.9))
        label(axes, x + width / 2, y + 0.43, text, ha="center", size=9)

    def rows(top: float) -> tuple[float, float]:
        label(axes, 0.2, top + 0.45, "host")
        label(axes, 0.2, top - 2.15, "device")
        axes.plot([0.2, 22.4], [top - 0.85, top - 0.85], color=FAINT, lw=0.8, ls="--")
        return top, top - 2.6

    host, device = rows(9.9)
    x = 2.6
    array(x, host, "x0", BLOCKS[0])
    for step in range(steps):
        arrow(axes, (x + 0.8, host), (x + 0.8, device + 0.9), WRONG)
        array(x, device, f"x{step}", BLOCKS[1])
        arrow(axes, (x + 1.6, device + 0.45), (x + 4.0, device + 0.45))
        label(axes, x + 2.8, device + 0.85, f"step {step + 1}", ha="center", size=9)
        array(x + 4.0, device, f"x{step + 1}", BLOCKS[1])
        arrow(axes, (x + 4.8, device + 0.9), (x + 4.8, host), WRONG)
        width = 1.6 if step == steps - 1 else 3.8
        array(x + 4.0, host, f"x{step + 1}", BLOCKS[0], width)
        x += 6.2
    label(axes, 2.6, host + 1.5, "a round trip for each step: 6 copies", weight="bold")

    host, device = rows(4.2)
    x = 2.6
    array(x, host, "x0", BLOCKS[0])
    arrow(axes, (x + 0.8, host), (x + 0.8, device + 0.9), WRONG)
    for step in range(steps + 1):
        array(x, device, f"x{step}", BLOCKS[1])
        if step < steps:
            arrow(axes, (x + 1.6, device + 0.45), (x + 4.0, device + 0.45))
            label(axes, x + 2.8, device + 0.85, f"step {step + 1}", ha="center", size=9)
            x += 4.0
    arrow(axes, (x + 0.8, device + 0.9), (x + 0.8, host), WRONG)
    array(x, host, f"x{steps}", BLOCKS[0])
    label(axes, 2.6, host + 1.5, "the data stay on the device: 2 copies", weight="bold")
    label(axes, 2.6, 0.6, "dashed: the bus between the two memories", color=FAINT, size=9)
    return figure


FIGURES = {"05_host_device_memory": lesson_05_host_device_memory}
