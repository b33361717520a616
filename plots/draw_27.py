# SPDX-License-Identifier: MIT
"""The pictures of lesson 27: passes over two digits, and where the elements of tiles go."""

from __future__ import annotations

from itertools import accumulate

from matplotlib.figure import Figure
from style import BLOCKS, FAINT, arrow, canvas, cell, label

KEYS = ["21", "03", "12", "01", "20", "03", "11", "32"]  # two digits of 0 to 3
VALUES = "abcdefgh"


def lesson_27_radix_sort() -> Figure:
    """Eight keys with their values, sorted by the low digit and then by the high one."""
    figure, axes = canvas(8.4, 3.3, 26.0)
    left, width, drop = 5.6, 2.1, 3.4
    rows = [list(zip(KEYS, VALUES, strict=True))]
    for place in (1, 0):
        rows.append(sorted(rows[-1], key=lambda pair: pair[0][place]))
    words = ["input", "after the pass over\nthe low digit", "after the pass over\nthe high digit"]
    top = 8.2
    for r, row in enumerate(rows):
        y = top - r * drop
        label(axes, 0.2, y + 0.5, words[r])
        place = 1 if r < 2 else 0  # the digit that colours: of the pass to come, then of the last
        for i, (key, value) in enumerate(row):
            x = left + i * width
            colour = BLOCKS[int(key[place])]
            cell(axes, x, y, f"{key} {value}", colour, None, width)
            if r == 0:
                label(axes, x + width / 2, y + 1.4, str(i), color=FAINT, size=8, ha="center")
            if r > 0:
                before = rows[r - 1].index((key, value))
                by = BLOCKS[int(key[1 if r == 1 else 0])]
                start = (left + (before + 0.5) * width, y + drop)
                arrow(axes, start, (x + width / 2, y + 1), by)
    label(
        axes, left, top - 2 * drop - 0.8,
        "colours: the digit of the pass, 0 to 3.  03 b stays before 03 f in both passes",
        size=9, color=FAINT,
    )  # fmt: skip
    return figure


TILES = [[2, 0, 1, 2], [0, 2, 1, 0], [1, 1, 2, 0]]  # digits of four elements each
DIGITS = 3


def lesson_27_places() -> Figure:
    """Three tiles of four elements: their counts, the starts, and the places in the output."""
    figure, axes = canvas(9.0, 3.7, 29.6)
    counts = [[tile.count(d) for tile in TILES] for d in range(DIGITS)]
    starts = [0, *accumulate(sum(row) for row in counts)]
    before = [[0, *accumulate(row)] for row in counts]
    width, gap, top, left = 1.25, 0.7, 10.4, 3.3
    label(axes, 0.2, top + 0.5, "digits")
    label(axes, 0.2, 1.4, "output")
    tables = [
        (0.2, "counts", lambda d, t: counts[d][t]),
        (10.8, "in the tiles before", lambda d, t: before[d][t]),
    ]
    for x0, title, number in tables:
        label(axes, x0 + 3.1, 8.75, title, color=FAINT, size=9)
        for t in range(len(TILES)):
            label(
                axes, x0 + 3.1 + (t + 0.5) * 1.9, 7.95, f"tile {t}", color=FAINT, size=8,
                ha="center",
            )  # fmt: skip
        for d in range(DIGITS):
            label(axes, x0 + 2.9, 6.9 - d + 0.1, f"digit {d}", color=FAINT, size=8, ha="right")
            for t in range(len(TILES)):
                cell(axes, x0 + 3.1 + t * 1.9, 6.5 - d, str(number(d, t)), BLOCKS[d], None, 1.9)
    label(axes, 21.6, 8.75, "starts", color=FAINT, size=9)
    for d in range(DIGITS):
        cell(axes, 21.6, 6.5 - d, str(starts[d]), BLOCKS[d], None, 1.9)
    label(axes, 9.4, 6.0, "scan of\neach row", color=FAINT, size=8)
    arrow(axes, (9.35, 5.0), (11.5, 5.0))
    label(axes, 24.0, 6.0, "all elements with\nlower digits", color=FAINT, size=8)
    for t, tile in enumerate(TILES):
        x0 = left + t * (len(tile) * width + gap)
        label(axes, x0, top + 1.5, f"tile {t}", color=FAINT, size=9)
        for k, digit in enumerate(tile):
            cell(axes, x0 + k * width, top, str(digit), BLOCKS[digit], None, width)
    label(
        axes, 20.4, top + 0.5,
        f"digit 2 in tile 1: {starts[2]} + {before[2][1]},\nso its first element goes to place "
        f"{starts[2] + before[2][1]}",
        size=9,
    )  # fmt: skip
    order = [(d, t) for d in range(DIGITS) for t, tile in enumerate(TILES) for e in tile if e == d]
    for place, (d, t) in enumerate(order):
        x = left + place * 1.75
        cell(axes, x, 0.9, str(d), BLOCKS[d], None, 1.75)
        label(axes, x + 0.87, 0.45, str(place), color=FAINT, size=8, ha="center")
        label(axes, x + 0.87, 2.4, f"tile {t}", color=FAINT, size=7, ha="center")
    return figure


FIGURES = {"27_radix_sort": lesson_27_radix_sort, "27_places": lesson_27_places}
