# SPDX-License-Identifier: MIT
"""The pictures of lesson 40: five events on their way to the bins, and the spectrum of a million.

The spectrum is what the solution wrote (plots/measure_spectrum.py).
"""

from __future__ import annotations

from itertools import accumulate

from matplotlib.figure import Figure
from measured import chart, table
from style import BLOCKS, EMPTY, FAINT, INK, WRONG, arrow, canvas, cell, label

COUNTS = [2, 0, 3, 1, 2]
CHARGES = ["+", "−", "+", "−", "−", "+", "−", "+"]
MASSES = [91.2, None, 3.1, None, 9.5]
EVENTS = [BLOCKS[0], EMPTY, BLOCKS[2], BLOCKS[3], BLOCKS[1]]
PEAKS = [("J/ψ", 26, 37), ("Υ", 88, 101), ("Z", 811, 1012)]  # kWindows


def lesson_40_capstone_dimuon() -> Figure:
    """Counts, offsets, muons, masses, places, kept masses, bins: one row for each array."""
    figure, axes = canvas(8.6, 5.2, 21.5)
    left, wide = 4.0, 1.9
    offsets = [0, *accumulate(COUNTS)]
    flags = [int(mass is not None) for mass in MASSES]
    places = [0, *accumulate(flags)]

    def row(y: float, name: str, stage: str, words: list[str], colours: list[str]) -> None:
        label(axes, 0.2, y + 0.5, name)
        label(axes, 21.3, y + 0.5, stage, size=9, color=FAINT, ha="right")
        for i, (word, colour) in enumerate(zip(words, colours, strict=True)):
            cell(axes, left + i * wide, y, word, colour, None, wide)

    of_event = [EVENTS[e] if n else EMPTY for e, n in enumerate(COUNTS)]
    row(11.4, "counts", "input", [str(n) for n in COUNTS], of_event)
    row(9.6, "offsets", "scan", [str(n) for n in offsets], [*of_event, EMPTY])
    y = 7.8
    label(axes, 0.2, y + 0.5, "muons")
    label(axes, 21.3, y + 0.5, "input", size=9, color=FAINT, ha="right")
    for k, charge in enumerate(CHARGES):
        event = max(e for e in range(len(COUNTS)) if offsets[e] <= k and COUNTS[e])
        cell(axes, left + k * 1.425, y, charge, EVENTS[event], None, 1.425)
    for e, n in enumerate(COUNTS):
        if n:
            arrow(axes, (left + (e + 0.5) * wide, 9.6), (left + offsets[e] * 1.425 + 0.4, y + 1))
    colours = [EVENTS[e] if flags[e] else EMPTY for e in range(len(COUNTS))]
    row(6.0, "mass, valid", "pair masses", [f"{m}, 1" if m else "0" for m in MASSES], colours)
    row(4.2, "places", "scan of valid", [str(p) for p in places], [*colours, EMPTY])
    kept = [e for e, flag in enumerate(flags) if flag]
    row(2.4, "kept", "compaction", [str(MASSES[e]) for e in kept], [colours[e] for e in kept])
    for place, e in enumerate(kept):
        arrow(axes, (left + (e + 0.5) * wide, 4.2), (left + (place + 0.5) * wide, 3.4))
    label(axes, 0.2, 1.1, "1200 bins")
    label(axes, 21.3, 1.1, "histogram", size=9, color=FAINT, ha="right")
    for place, e in enumerate(kept):
        x = left + 0.3 + 8.8 * MASSES[e] / 100
        axes.plot([x, x], [0.65, 1.45], color=colours[e], lw=3)
        arrow(axes, (left + (place + 0.5) * wide, 2.4), (x, 1.5), FAINT)
    axes.plot([left, left + 5 * wide], [0.6, 0.6], color=INK, lw=1)
    label(axes, left + 5 * wide + 0.1, 3.85, "3: how many are kept.", size=9, color=FAINT)
    label(axes, left + 5 * wide + 0.1, 3.3, "The host never reads it", size=9, color=FAINT)
    return figure


def lesson_40_spectrum() -> Figure:
    """The counts of the solution, both axes logarithmic, with the windows and their peaks."""
    rows = table("spectrum.csv")
    mass = [float(row["GeV"]) for row in rows]
    events = [max(int(row["events"]), 1) for row in rows]
    figure, (axes,) = chart(8.2, 4.2)
    edges = [0.1 * b for b in range(1, len(mass) + 1)]
    axes.stairs(events[1:], edges, color=BLOCKS[0], lw=1.3, fill=True, alpha=0.35)
    axes.stairs(events[1:], edges, color=INK, lw=0.7)
    for name, first, last in PEAKS:
        axes.axvspan(first / 10, last / 10, color=BLOCKS[1], alpha=0.18, lw=0)
        top = max(range(first, last), key=lambda b: events[b])
        axes.text(mass[top], events[top] * 1.25, name, ha="center", color=WRONG, size=12)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(1, 120)
    axes.set_ylim(10, 1e5)
    axes.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
    axes.set_xlabel("mass of the pair in GeV")
    axes.set_ylabel("events in 0.1 GeV")
    axes.set_title("A million made-up events", color=INK, size=11)
    return figure


FIGURES = {
    "40_capstone_dimuon": lesson_40_capstone_dimuon,
    "40_spectrum": lesson_40_spectrum,
}
