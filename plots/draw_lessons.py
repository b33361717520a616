# SPDX-License-Identifier: MIT
"""The shared drawing style, and the pictures of lessons 01, 02, 14 and 22; draw.py draws them all.

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


def lesson_01_indexing_1d() -> Figure:
    """Three blocks of four threads, twelve elements."""
    figure, axes = canvas(8.2, 3.5, 17)
    left = 2.6
    for block in range(3):
        x = left + block * 4.6
        colour = BLOCKS[block]
        label(axes, x + 2, 6.62, f"block {block}", ha="center", weight="bold")
        for thread in range(4):
            mine = block == 2 and thread == 1
            cell(axes, x + thread, 5.1, str(thread), colour)
            element = left + 0.6 + 4 * block + thread
            arrow(axes, (x + thread + 0.5, 5.05), (element + 0.5, 3.35), INK if mine else FAINT)
            cell(axes, element, 2.3, str(4 * block + thread), colour)
            if mine:
                for y, at in ((5.1, x + thread), (2.3, element)):
                    axes.add_patch(
                        Rectangle((at, y), 1, 1, fill=False, edgecolor=INK, linewidth=2.6)
                    )
    label(axes, 0.2, 5.6, "threadIdx.x")
    label(axes, 0.2, 2.8, "element  i")
    label(
        axes,
        8.5,
        1.15,
        "i  =  blockIdx.x × blockDim.x + threadIdx.x  =  2 × 4 + 1  =  9",
        ha="center",
        size=11.5,
    )
    label(axes, 8.5, 0.45, "gridDim.x = 3 blocks, blockDim.x = 4 threads", ha="center", color=FAINT)
    return figure


def lesson_02_boundary_checks() -> Figure:
    """1000 elements on four blocks of 256 threads: the last 24 threads have no element."""
    figure, axes = canvas(8.2, 4.3, 20.5)
    scale, left, top = 16 / 1024, 3.1, 8.7
    for block in range(4):
        start = left + block * 256 * scale
        axes.add_patch(
            Rectangle((start, top), 256 * scale, 1, facecolor=BLOCKS[block], edgecolor=INK, lw=0.9)
        )
        label(axes, start + 128 * scale, top + 0.47, f"block {block}", ha="center")
    idle = left + 1000 * scale
    axes.add_patch(
        Rectangle(
            (idle, top), 24 * scale, 1, facecolor=PAPER, edgecolor=WRONG, hatch="////", lw=0.9
        )
    )
    axes.add_patch(
        Rectangle((left, top - 1.35), 1000 * scale, 1, facecolor=EMPTY, edgecolor=INK, lw=0.9)
    )
    label(axes, left + 500 * scale, top - 0.88, "elements 0 to 999", ha="center")
    label(axes, 0.2, top + 0.5, "1024 threads")
    label(axes, 0.2, top - 0.85, "n = 1000")

    # The end of the array, one box per thread and per element.
    shown = range(996, 1004)
    x0, y_threads, y_elements = 4.6, 4.1, 1.7
    width = 1.55
    for box in shown:
        x = x0 + (box - shown[0]) * width
        inside = box < 1000
        cell(
            axes,
            x,
            y_threads,
            str(box - 768),
            BLOCKS[3] if inside else PAPER,
            None if inside else "////",
            width,
        )
        cell(
            axes,
            x,
            y_elements,
            str(box) if inside else "",
            EMPTY if inside else PAPER,
            None if inside else "xxxx",
            width,
        )
        middle = x + width / 2
        if inside:
            arrow(axes, (middle, y_threads), (middle, y_elements + 1))
        else:
            axes.plot([middle, middle], [y_threads, y_threads - 0.45], color=WRONG, lw=1.2)
            axes.plot([middle - 0.3, middle + 0.3], [y_threads - 0.5] * 2, color=WRONG, lw=2.2)
    for edge in (0, len(shown)):
        x = x0 + edge * width
        axes.plot(
            [x, idle + (12 * scale if edge else -10 * scale)],
            [y_threads + 1.05, top - 1.45],
            color=FAINT,
            lw=0.7,
            ls=":",
        )
    label(axes, 0.2, y_threads + 0.5, "threadIdx.x\nin block 3")
    label(axes, 0.2, y_elements + 0.5, "element  i")
    label(
        axes,
        x0 + 6 * width,
        y_threads - 0.95,
        "i < n is false: stop here",
        color=WRONG,
        ha="center",
        size=9.5,
        backgroundcolor=PAPER,
    )
    label(axes, x0 + 6 * width, 1.1, "somebody else's memory", ha="center", color=FAINT, size=9.5)
    label(
        axes,
        10.25,
        0.4,
        "ceil_div(1000, 256) = 4 blocks, 4 × 256 − 1000 = 24 idle threads",
        ha="center",
        color=FAINT,
    )
    return figure


def lesson_14_shared_memory_barriers() -> Figure:
    """The last part of 13 elements in blocks of 8: five elements, eight threads at the barrier."""
    figure, axes = canvas(8.2, 4.2, 20.5)
    left, width, threads, first, count = 5.0, 1.35, 8, 8, 5
    rows = {"load": 9.0, "tile": 6.5, "store": 0.7}
    barrier = 4.8

    def middle(index: int) -> float:
        return left + (index + 0.5) * width

    for t in range(threads):
        x = left + t * width
        has_element = t < count
        if has_element:
            cell(axes, x, rows["load"], str(first + t), BLOCKS[0], None, width)
            arrow(axes, (middle(t), rows["load"]), (middle(t), rows["tile"] + 1))
            cell(axes, x, rows["tile"], f"{first + t}", BLOCKS[0], None, width)
            axes.plot([middle(t)] * 2, [barrier, rows["tile"]], color=INK, lw=1.0)
            arrow(axes, (middle(t), barrier - 0.3), (middle(count - 1 - t), rows["store"] + 1))
            cell(axes, x, rows["store"], str(first + count - 1 - t), BLOCKS[0], None, width)
        else:
            cell(axes, x, rows["tile"], "", PAPER, "////", width)
            axes.plot([middle(t)] * 2, [barrier, rows["tile"]], color=FAINT, lw=1.0, ls=":")
    # The barrier: one line that all eight threads touch.
    axes.plot(
        [left, left + threads * width], [barrier] * 2, color=WRONG, lw=3.2, solid_capstyle="butt"
    )
    for t in range(threads):
        axes.text(
            middle(t),
            barrier,
            str(t),
            ha="center",
            va="center",
            color=INK,
            size=9,
            bbox={"boxstyle": "circle,pad=0.22", "facecolor": PAPER, "edgecolor": WRONG},
        )
    label(axes, 0.2, rows["load"] + 0.5, "global memory\nelements 8 to 12")
    label(axes, 0.2, rows["tile"] + 0.5, "shared memory\ntile[0] to tile[7]")
    label(axes, 0.2, barrier, "__syncthreads()\nthreads 0 to 7")
    label(axes, 0.2, rows["store"] + 0.5, "global memory\nelements 8 to 12")
    right = left + threads * width + 0.35
    label(axes, right, rows["load"] + 0.5, "if (t < count)\nload", size=9, color=FAINT)
    label(axes, right, rows["tile"] + 0.5, "slots 5 to 7\nhold nothing", size=9, color=FAINT)
    label(axes, right, barrier, "all 8 wait,\nno if", size=9, color=WRONG)
    label(axes, right, rows["store"] + 0.5, "if (t < count)\nstore mirrored", size=9, color=FAINT)
    return figure


def philox_word(seed: int, stream: int, position: int) -> int:
    """One word of Philox4x32-10, addressed as lesson 22 does."""
    low = 0xFFFFFFFF
    index = position // 4
    x, y, z, w = index & low, index >> 32, stream & low, stream >> 32
    key_x, key_y = seed & low, seed >> 32
    for _ in range(10):
        first, second = 0xD2511F53 * x, 0xCD9E8D57 * z
        x, y, z, w = second >> 32 ^ y ^ key_x, second & low, first >> 32 ^ w ^ key_y, first & low
        key_x, key_y = (key_x + 0x9E3779B9) & low, (key_y + 0xBB67AE85) & low
    return (x, y, z, w)[position % 4]


def lesson_22_rng_seeding() -> Figure:
    """Draw 5 of 400 streams against the same draw of the next stream: two ways to seed."""
    streams, position, seed = 400, 5, 2024

    def congruential(thread: int) -> float:
        state = thread
        for _ in range(position + 1):
            state = (1103515245 * state + 12345) % 2**31
        return state / 2**31

    rows = {
        "classic rule, seed = thread number": [congruential(s) for s in range(streams + 1)],
        "Philox, one seed, stream = thread number": [
            philox_word(seed, s, position) / 2**32 for s in range(streams + 1)
        ],
    }
    figure, panels = plt.subplots(1, 2, figsize=(8.2, 4.3), facecolor=PAPER, sharey=True)
    for axes, (title, draws), colour in zip(panels, rows.items(), (WRONG, "#0072B2"), strict=True):
        axes.scatter(draws[:-1], draws[1:], s=9, color=colour, linewidths=0)
        axes.set_title(title, size=10.5, color=INK)
        axes.set_xlabel(f"draw {position} of stream s")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.set_aspect("equal")
    panels[0].set_ylabel(f"draw {position} of stream s + 1")
    figure.subplots_adjust(0.08, 0.12, 0.98, 0.92, 0.1)
    return figure
