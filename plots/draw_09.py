# SPDX-License-Identifier: MIT
"""The picture of lesson 09: what nine kernels read and write, and what one does."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from style import BLOCKS, FAINT, INK, canvas, cell, label

# Operation, arrays read, array written.
STEPS = [
    ("−b", "b", "t1"),
    ("b · b", "b b", "t2"),
    ("4 · a", "a", "t3"),
    ("t3 · c", "t3 c", "t4"),
    ("t2 − t4", "t2 t4", "t5"),
    ("√ t5", "t5", "t6"),
    ("t1 + t6", "t1 t6", "t7"),
    ("2 · a", "a", "t8"),
    ("t7 / t8", "t7 t8", "root"),
]


def boxes(axes: Axes, x: float, y: float, names: list[str], colour: str) -> None:
    """Arrays side by side."""
    for k, name in enumerate(names):
        cell(axes, x + 1.25 * k, y, name, colour, width=1.2)


def lesson_09_kernel_fusion() -> Figure:
    """Left: 13 reads and 9 writes in nine launches. Right: 3 reads and 1 write in one."""
    figure, axes = canvas(8.2, 5.0, 20.5)
    top = 10.2
    reads = 0
    for x, text in ((0.3, "launch"), (1.9, "read"), (4.9, "compute"), (7.6, "write")):
        label(axes, x, top + 1.45, text, color=FAINT, size=9.5)
    for k, (what, source, target) in enumerate(STEPS):
        y = top - 1.13 * k
        names = source.split()
        if what == "b · b":  # one load serves both factors
            names = ["b"]
        reads += len(names)
        label(axes, 0.6, y + 0.5, str(k + 1))
        boxes(axes, 1.9, y, names, BLOCKS[0])
        label(axes, 4.9, y + 0.5, what)
        boxes(axes, 7.6, y, [target], BLOCKS[1])
    label(axes, 1.9, 0.45, f"{reads} reads + {len(STEPS)} writes = {reads + len(STEPS)} transfers")

    axes.plot([9.9, 9.9], [0.2, 12.0], color=FAINT, lw=0.7, ls=":")
    x, y = 10.6, top - 1.13
    label(axes, x, top + 1.45, "one launch", color=FAINT, size=9.5)
    boxes(axes, x, y, ["a", "b", "c"], BLOCKS[0])
    label(axes, x + 4.2, y + 0.5, "read once")
    formula = ["t2 = b · b", "t4 = 4 · a · c", "t6 = √(t2 − t4)", "root = (t6 − b) / (2 · a)"]
    axes.add_patch(Rectangle((x, y - 5.0), 6.4, 4.5, facecolor="#FFFFFF", edgecolor=INK, lw=0.9))
    for k, line in enumerate(formula):
        label(axes, x + 0.4, y - 1.1 - 1.05 * k, line, size=10.5)
    label(axes, x + 6.7, y - 2.75, "in registers:\nno memory\nat all", color=FAINT, size=9.5)
    boxes(axes, x, y - 6.5, ["root"], BLOCKS[1])
    label(axes, x + 1.6, y - 6.0, "written once")
    label(axes, x, 0.45, "3 reads + 1 write = 4 transfers: 5.5 times fewer")
    return figure


FIGURES = {"09_kernel_fusion": lesson_09_kernel_fusion}
