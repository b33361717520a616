# SPDX-License-Identifier: MIT
"""The picture of lesson 32: one piece of work, and the same in four chunks and three streams."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from style import BLOCKS, EMPTY, FAINT, INK, arrow, canvas, label

CHUNKS, STREAMS = 4, 3
STEPS = (("copy to the device", BLOCKS[0]), ("kernel", BLOCKS[2]), ("copy to the host", BLOCKS[1]))
UNIT, HIGH = 2.0, 1.1  # of one step of one chunk; of a row


def bar(axes: Axes, x: float, y: float, length: float, colour: str, text: str) -> None:
    """A step from time x on, in the row at y."""
    axes.add_patch(Rectangle((x, y), length, HIGH, facecolor=colour, edgecolor=INK, linewidth=0.9))
    axes.text(x + length / 2, y + HIGH / 2 - 0.02, text, size=9, ha="center", va="center",
              color=INK)  # fmt: skip


def row(axes: Axes, left: float, y: float, name: str, until: float) -> None:
    """A stream's name and its empty row."""
    label(axes, left - 0.4, y + HIGH / 2, name, size=9, ha="right")
    axes.add_patch(Rectangle((left, y), until, HIGH, facecolor=EMPTY, edgecolor="none", zorder=0))


def scale(axes: Axes, left: float, y: float, until: int) -> None:
    """Times 0, 1, 2, ... below the rows."""
    for time in range(until + 1):
        x = left + time * UNIT
        axes.plot([x, x], [y, y - 0.2], color=FAINT, lw=0.9)
        label(axes, x, y - 0.65, str(time), size=8, color=FAINT, ha="center")


def lesson_32_streams_overlap() -> Figure:
    """Above: one piece. Below: a chunk's steps in one stream, chunks in three."""
    figure, axes = canvas(9.0, 4.5, 32.0)
    left, whole = 4.6, 3 * CHUNKS * UNIT
    top = 12.6
    label(axes, left, top + 1.9, "all data in one piece: two of three engines are idle", size=10)
    row(axes, left, top, "stream 0", whole)
    for step, (name, colour) in enumerate(STEPS):
        length = CHUNKS * UNIT
        bar(axes, left + step * length, top, length, colour, name)
    scale(axes, left, top, 3 * CHUNKS)

    text = "four chunks in three streams: from time 2 to 4 all three engines are busy"
    label(axes, left, 9.3, text, size=10)
    at = [7.4, 5.9, 4.4]
    for stream in range(STREAMS):
        row(axes, left, at[stream], f"stream {stream}", whole)
    for chunk in range(CHUNKS):
        for step, (_, colour) in enumerate(STEPS):
            bar(axes, left + (chunk + step) * UNIT, at[chunk % STREAMS], UNIT, colour,
                f"{chunk}")  # fmt: skip
    scale(axes, left, at[-1], 3 * CHUNKS)
    end = left + (CHUNKS + 2) * UNIT
    arrow(axes, (end + 2.2, at[0] + HIGH / 2), (end + 0.1, at[0] + HIGH / 2), FAINT)
    label(axes, end + 2.4, at[0] + HIGH / 2, "chunk 3 is back at 6, not at 12", size=9)
    label(axes, left, 2.2, "A number in a bar is the chunk. Chunk 3 is in stream 0 again: it is "
          "uploaded when chunk 0 is back.", size=9, color=FAINT)  # fmt: skip
    for step, (name, colour) in enumerate(STEPS):
        x = left + step * 6.8
        axes.add_patch(Rectangle((x, 0.7), 0.9, 0.7, facecolor=colour, edgecolor=INK, lw=0.9))
        label(axes, x + 1.2, 1.05, name, size=9)
    return figure


FIGURES = {"32_streams_overlap": lesson_32_streams_overlap}
