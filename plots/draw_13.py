# SPDX-License-Identifier: MIT
"""The picture of lesson 13: offsets and content, a thread for each list, a warp for a long one."""

from __future__ import annotations

from matplotlib.figure import Figure
from style import BLOCKS, FAINT, PAPER, arrow, canvas, cell, label


def lesson_13_ragged_arrays() -> Figure:
    """Top: three lists, one of them empty, as offsets and content. Bottom: a list of 100 floats."""
    figure, axes = canvas(8.2, 5.0, 20.5)
    left, width = 4.6, 1.5
    offsets, content = [0, 3, 3, 5], ["1.1", "2.2", "3.3", "4.4", "5.5"]
    y_lists, y_offsets, y_content, y_sums = 11.2, 9.4, 7.1, 5.3
    label(axes, 0.2, y_lists + 0.3, "three lists")
    label(axes, left, y_lists + 0.3, "[1.1, 2.2, 3.3]     [ ]     [4.4, 5.5]", size=10.5)
    label(axes, 0.2, y_offsets + 0.5, "offsets")
    for k, offset in enumerate(offsets):
        x = left + k * width
        cell(axes, x, y_offsets, str(offset), PAPER, width=width)
        label(axes, x + width / 2, y_offsets + 1.22, f"[{k}]", ha="center", color=FAINT, size=8)
        arrow(
            axes,
            (x + width / 2, y_offsets),
            (left + offset * width + 0.16 * (k - 1.5) * (offset == 3), y_content + 1.02),
            FAINT,
        )
    label(axes, 0.2, y_content + 0.5, "content")
    owner = [0, 0, 0, 2, 2]
    for i, value in enumerate(content):
        cell(axes, left + i * width, y_content, value, BLOCKS[owner[i]], width=width)
        label(
            axes,
            left + (i + 0.5) * width,
            y_content - 0.3,
            str(i),
            ha="center",
            color=FAINT,
            size=8,
        )
    label(axes, 0.2, y_sums + 0.3, "sums")
    for k, (total, colour) in enumerate((("6.6", 0), ("0", 1), ("9.9", 2))):
        cell(axes, left + k * width, y_sums - 0.2, total, BLOCKS[colour], width=width)
    x = left + 5 * width + 0.5
    label(axes, x, y_content + 2.2, "thread k:  from offsets[k]", size=9.5)
    label(axes, x, y_content + 1.45, "up to, not including, offsets[k + 1]", size=9.5)
    label(axes, x, y_content + 0.5, "list 1:  from 3 up to 3: nothing to add", size=9.5)
    label(axes, x, y_sums + 0.3, "one store for each list", size=9.5, color=FAINT)

    y = 2.1
    label(
        axes, 0.2, y + 1.6, "one warp for one long list: 100 elements from offsets[k] on", size=10
    )
    wide = 1.55
    shown = ["0", "1", "2", "…", "31", "32", "33", "…", "63", "64", "…", "99"]
    lanes = ["0", "1", "2", "…", "31", "0", "1", "…", "31", "0", "…", "3"]
    for i, (element, lane) in enumerate(zip(shown, lanes, strict=True)):
        x = 2.0 + i * wide * 0.97
        colour = BLOCKS[[0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3][i]]
        cell(axes, x, y - 0.5, element, colour, width=wide * 0.97)
        label(axes, x + wide / 2, y - 0.95, lane, ha="center", color=FAINT, size=9)
    label(axes, 0.2, y, "element")
    label(axes, 0.2, y - 0.98, "lane", color=FAINT)
    label(
        axes,
        2.0,
        y - 1.65,
        "first trip: elements 0 to 31, second: 32 to 63, ... ; "
        "then the 32 sums of the lanes are added",
        size=9.5,
        color=FAINT,
    )
    return figure


FIGURES = {"13_ragged_arrays": lesson_13_ragged_arrays}
