# SPDX-License-Identifier: MIT
"""Charts about the emulated device: its counters against Nsight Compute's, and what it costs."""

from __future__ import annotations

from collections import Counter

import numpy as np
from matplotlib.figure import Figure
from measured import NoData, bench, chart, machine, sign, table
from style import BLOCKS, FAINT, INK

FAMILIES = {
    "requests to global memory": ("g_ld_req", "g_st_req"),
    "sectors of global memory": ("g_ld_sec", "g_st_sec"),
    "passes over shared memory": ("s_ld_wave", "s_st_wave"),
    "bank conflicts": ("s_ld_conf", "s_st_conf"),
}


def counters() -> Figure:
    """Each count of the emulated device over the card's; large marks stand for many."""
    rows = table("counters.csv")
    figure, (axes,) = chart(8.2, 5.6)
    equal = sum(row["card"] == row["emulator"] for row in rows)
    most = max(int(row["card"]) for row in rows)
    line = np.array([0, most * 1.5])
    axes.plot(line, line, color=FAINT, lw=1)
    for (name, short), colour, marker in zip(FAMILIES.items(), BLOCKS, "os^D", strict=True):
        points = Counter(
            (int(row["card"]), int(row["emulator"])) for row in rows if row["counter"] in short
        )
        x, y = np.array(list(points)).T
        size = 12 + 30 * np.log10(np.array(list(points.values())))
        axes.scatter(x, y, s=size, marker=marker, facecolor=colour, edgecolor=INK, lw=0.4,
                     alpha=0.75, label=f"{name}, {sum(points.values()):,} counts")  # fmt: skip
    for axis in (axes.set_xscale, axes.set_yscale):
        axis("symlog", linthresh=1)
    axes.set_xlim(-0.1, most * 2)
    axes.set_ylim(-0.1, most * 2)
    axes.set_xlabel(f"Nsight Compute on one {rows[0]['gpu']} (logarithmic above 1)")
    axes.set_ylabel("the emulated device (logarithmic above 1)")
    axes.legend(fontsize=8.5, frameon=False, loc="upper left")
    figure.suptitle(f"{equal:,} of {len(rows):,} counts are equal", size=12)
    sign(figure, "single accesses of a warp and the launches of six lessons")
    return figure


def cost() -> Figure:
    """Nanoseconds for each element: the emulated device, one core, and the card where measured."""
    rows = table("cost.csv")
    try:
        card = {
            (row["lesson"], row["workload"]): 1e6 * float(row["median_ms"]) / float(row["elements"])
            for row in bench(version="solution")
        }
        signed = f"; {machine(bench()[0])}"
    except NoData:
        card, signed = {}, ""
    figure, (axes,) = chart(9.6, 1.6 + 0.21 * len(rows))
    places = np.arange(len(rows))
    series = [
        ("emulated device, all checks", [float(r["emulator_ns"]) for r in rows], "o", BLOCKS[0]),
        ("without checks", [float(r["emulator_unchecked_ns"]) for r in rows], "s", BLOCKS[2]),
        ("one core, C++", [float(r["one_core_ns"]) for r in rows], "D", BLOCKS[1]),
        ("the card", [card.get((r["lesson"], r["workload"]), 0.0) for r in rows], "^", BLOCKS[3]),
    ]
    for name, values, marker, colour in series:
        shown = [value if value > 0 else np.nan for value in values]
        if not np.all(np.isnan(shown)):
            axes.plot(shown, places, marker, color=colour, ms=5.5, mec=INK, mew=0.4, label=name)
    axes.set_yticks(places, [f"{row['lesson']} {row['workload']}" for row in rows], size=8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xscale("log")
    axes.set_xlabel("nanoseconds for each element (logarithmic)")
    axes.legend(fontsize=8.5, frameon=False, loc="lower center", ncols=4, bbox_to_anchor=(0.4, 1.0))
    sign(figure, f"{rows[0]['cpu']}, {rows[0]['date']}, commit {rows[0]['commit']}{signed}")
    return figure


FIGURES = {"emulator_counters": counters, "emulator_cost": cost}
