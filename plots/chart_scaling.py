# SPDX-License-Identifier: MIT
"""Charts of several cards: how far lesson 37's rod scales, by its size."""

from __future__ import annotations

from matplotlib.figure import Figure
from measured import NoData, bench, chart, machine, sign
from style import BLOCKS, FAINT, INK, WRONG

ONE, TWO = "100 steps of a rod on one card", "100 steps of a rod on two cards"
VERSIONS = {
    "solution": ("inner cells beside the messages", BLOCKS[2], "o-"),
    "2_exchange_first": ("messages first, then all cells", BLOCKS[0], "s--"),
}


def times_of(workload: str, version: str) -> dict[int, float]:
    """Milliseconds by the number of cells."""
    rows = bench(workload=workload, version=version)
    found = {int(row["elements"]): float(row["median_ms"]) for row in rows}
    if len(found) < 6:
        raise NoData(f"plots/data/bench.csv has fewer than six sizes of {workload!r}")
    return found


def scaling() -> Figure:
    """Strong: the same rod on two cards. Weak: twice the rod on two cards."""
    figure, (strong, weak) = chart(11, 4.2, 2)
    for version, (label, colour, marker) in VERSIONS.items():
        one, two = times_of(ONE, version), times_of(TWO, version)
        style = {"color": colour, "label": label, "ms": 5}
        sizes = sorted(one.keys() & two.keys())
        strong.plot(sizes, [one[n] / two[n] for n in sizes], marker, **style)
        sizes = sorted(n for n in one if 2 * n in two)
        weak.plot(sizes, [one[n] / two[2 * n] for n in sizes], marker, **style)
    for axes, ideal, title, unit in (
        (strong, 2, "Strong scaling: the same rod", "cells of the rod"),
        (weak, 1, "Weak scaling: twice the rod", "cells of each card"),
    ):
        axes.axhline(ideal, color=WRONG, lw=1.2, ls="--")
        axes.set_xscale("log", base=2)
        axes.set_ylim(0, ideal * 1.12)
        axes.set_title(title, size=10, color=INK)
        axes.set_xlabel(f"{unit} (logarithmic)")
    strong.axhline(1, color=FAINT, lw=1, ls=":")
    strong.text(1 << 15, 1.02, "one card", size=8.5, color=FAINT, va="bottom")
    strong.set_ylabel("times as fast as one card")
    weak.set_ylabel("rate of each card, one alone = 1")
    strong.legend(fontsize=9, frameon=False, loc="upper left", bbox_to_anchor=(0, 0.9))
    figure.suptitle("A rod on two cards", size=12, color=INK)
    sign(figure, machine(bench(workload=TWO)[0]))
    return figure


FIGURES = {"37_scaling": scaling}
