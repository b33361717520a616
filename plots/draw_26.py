# SPDX-License-Identifier: MIT
"""The picture of lesson 26: votes give places in a warp, counts give places in the output."""

from __future__ import annotations

from itertools import accumulate

from matplotlib.figure import Figure
from style import BLOCKS, EMPTY, FAINT, PAPER, arrow, canvas, cell, label

LANES = 8  # drawn instead of 32
KEPT = [[0, 1, 1, 0, 1, 0, 0, 1], [1, 0, 0, 0, 0, 1, 0, 0], [0, 1, 0, 1, 1, 0, 1, 0]]
WORDS = "ABCDEFGHIJKLMNOPQRSTUVWX"


def lesson_26_compaction() -> Figure:
    """Three warps of eight lanes vote; their places and the carries lead into the output."""
    figure, axes = canvas(9.0, 3.9, 29.5)
    left, gap, width = 3.4, 0.6, 1.0
    top, votes_at, places_at, out_at = 10.2, 8.4, 6.6, 1.0
    rows = [
        (top, "elements"), (votes_at, "votes"), (places_at, "place in\nthe warp"),
        (out_at, "output"),
    ]  # fmt: skip
    for y, text in rows:
        label(axes, 0.2, y + 0.5, text)
    counts = [sum(votes) for votes in KEPT]
    carries = [0, *accumulate(counts)]
    for warp, votes in enumerate(KEPT):
        x0 = left + warp * (LANES * width + gap)
        text = f"warp {warp}: {counts[warp]} votes, {carries[warp]} before it"
        label(axes, x0, top + 1.6, text, color=FAINT, size=9)
        place = 0
        for lane, vote in enumerate(votes):
            x = x0 + lane * width
            name = WORDS[warp * LANES + lane]
            colour = BLOCKS[warp] if vote else EMPTY
            cell(axes, x, top, name, colour, None, width)
            cell(axes, x, votes_at, str(vote), colour, None, width)
            cell(
                axes,
                x,
                places_at,
                str(place) if vote else "",
                colour if vote else PAPER,
                None,
                width,
            )
            if vote:
                to = carries[warp] + place
                target = left + (to + 0.5) * width
                arrow(axes, (x + width / 2, places_at), (target, out_at + 1), BLOCKS[warp])
                cell(axes, left + to * width, out_at, name, BLOCKS[warp], None, width)
                label(
                    axes, target, out_at - 0.45, str(to), size=8, color=FAINT, ha="center"
                )  # fmt: skip
            place += vote
    label(
        axes, left + (carries[-1] + 0.6) * width, out_at + 0.5,
        f"k = {carries[-1]}: nothing is stored from here on", size=9, color=FAINT,
    )  # fmt: skip
    return figure


FIGURES = {"26_compaction": lesson_26_compaction}
