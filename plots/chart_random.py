# SPDX-License-Identifier: MIT
"""The chart of pi from random points: what an error bar promises, and streams that break it."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from measured import chart, sign, table
from style import BLOCKS, FAINT, INK


def pi() -> Figure:
    """100 estimates for each number of points, with the true standard error around pi."""
    rows = table("pi.csv")
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    figure, all_axes = chart(11, 4.4, len(kinds))
    for axes, kind, colour in zip(all_axes, kinds, (BLOCKS[0], BLOCKS[1]), strict=True):
        mine = [row for row in rows if row["kind"] == kind]
        points = np.array(sorted({int(row["points"]) for row in mine}))
        share = np.pi / 4
        error = 4 * np.sqrt(share * (1 - share) / points)
        axes.fill_between(points, np.pi - error, np.pi + error, color="#E4E4E4")
        axes.plot(points, np.pi - error, color=FAINT, lw=0.8)
        axes.plot(points, np.pi + error, color=FAINT, lw=0.8)
        axes.axhline(np.pi, color=INK, lw=0.8)
        inside = total = 0
        for k, n in enumerate(points):
            got = np.array([4 * int(r["inside"]) / n for r in mine if int(r["points"]) == n])
            shift = np.linspace(0.82, 1.22, got.size)
            axes.plot(n * shift, got, ".", color=colour, ms=3)
            inside += np.count_nonzero(np.abs(got - np.pi) <= error[k])
            total += got.size
        axes.set_xscale("log")
        axes.set_ylim(np.pi - 0.5, np.pi + 0.5)
        axes.set_title(f"{kind}: {inside / total:.0%} within one standard error", size=10)
        axes.set_xlabel("points of each estimate (logarithmic)")
        axes.set_ylabel("estimate of pi")
    figure.suptitle("An error bar holds for independent streams: two of three lie inside", size=12)
    sign(figure, "100 estimates for each number of points; grey: 4 sqrt(p (1 - p) / n), p = pi / 4")
    return figure


FIGURES = {"23_pi": pi}
