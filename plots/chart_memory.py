# SPDX-License-Identifier: MIT
"""Charts of memory: bandwidth against size, the roofline, strides and bank conflicts."""

from __future__ import annotations

import re

import numpy as np
from matplotlib.figure import Figure
from measured import NoData, Row, bench, chart, machine, rate, rung_name, sign, table
from style import BLOCKS, FAINT, INK, WRONG


def _by_size(workload: str) -> tuple[list[float], list[float], list[Row]]:
    rows = [row for row in bench(workload=workload) if row["kind"] == "figure"]
    rows = sorted(rows, key=lambda row: int(row["elements"]))
    if len(rows) < 4:
        raise NoData(f"plots/data/bench.csv has fewer than four sizes of {workload!r}")
    return [float(r["elements"]) for r in rows], [float(r["median_ms"]) for r in rows], rows


def bandwidth_size() -> Figure:
    """What an addition takes against its size: on the card, with the transfers, on the CPU."""
    lines = {
        "on the card, data stay there": ("adds two vectors on the card", BLOCKS[2], "o-"),
        "with transfers, pinned memory": (
            "adds two vectors, transfers from pinned memory", BLOCKS[0], "s-",
        ),
        "with transfers, ordinary memory": (
            "adds two vectors, transfers from ordinary memory", BLOCKS[3], "^-",
        ),
        "CPU, one core": ("adds two vectors, one core", BLOCKS[1], "D--"),
        "CPU, all cores": ("adds two vectors, all cores", WRONG, "v--"),
    }  # fmt: skip
    figure, (times, rates) = chart(11, 4.6, 2)
    for label, (workload, colour, marker) in lines.items():
        sizes, ms, rows = _by_size(workload)
        style = {"color": colour, "label": label, "ms": 4.5}
        times.plot(sizes, [1e3 * t for t in ms], marker, **style)
        rates.plot(sizes, [rate(row) for row in rows], marker, **style)
    copy = float(rows[0]["copy_gb_per_s"])
    rates.axhline(copy, color=FAINT, lw=1, ls=":")
    rates.text(sizes[0], copy * 1.1, f"copy inside the card, {copy:,.0f} GB/s", size=8, color=FAINT)
    for axes in (times, rates):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_xlabel("numbers in each vector (logarithmic)")
    times.set_ylabel("microseconds (logarithmic)")
    rates.set_ylabel("useful GB/s (logarithmic)")
    rates.set_ylim(top=copy * 2.5)
    times.legend(fontsize=8, frameon=False)
    figure.suptitle("An addition against its size", size=12)
    sign(figure, machine(rows[0]))
    return figure


# Work, version and where its name stands beside the point.
POINTS = [
    ("adds two vectors", None), ("roots of quadratic equations", None),
    ("weighs 17 neighbours", None), ("weighs 129 neighbours", None), ("sums all elements", None),
]  # fmt: skip


def roofline() -> Figure:
    """Measured roofs, and the best version of each work whose operations were counted."""
    copy = float(bench()[0]["copy_gb_per_s"])
    roofs = {}
    for kind in ("float", "double"):
        rows = bench(workload=f"multiplies and adds in {kind}")
        roofs[kind] = float(rows[0]["operations"]) / float(rows[0]["median_ms"]) * 1e-9  # TFLOP/s
    figure, (axes,) = chart(8.2, 4.8)
    intensity = np.logspace(-2, 2.5, 200)
    for (kind, peak), colour in zip(roofs.items(), (BLOCKS[0], BLOCKS[1]), strict=True):
        axes.plot(intensity, np.minimum(intensity * copy * 1e-3, peak), color=colour, lw=2)
        axes.text(
            300, peak * 1.08, f"{kind}: {peak:.1f} TFLOP/s", color=INK, size=9, ha="right"
        )  # fmt: skip
    axes.text(0.012, 0.013 * copy * 1e-3 * 1.5, f"memory: {copy:,.0f} GB/s", color=INK, size=9,
              rotation=33)  # fmt: skip
    for number, (work, _) in enumerate(POINTS):
        ours = [row for row in bench(workload=work) if row["kind"] in ("rung", "solution")]
        if not ours:
            continue
        best = max(ours, key=rate)
        x = float(best["operations"]) / float(best["bytes"])
        y = float(best["operations"]) / float(best["median_ms"]) * 1e-9
        axes.plot(x, y, "o", color=BLOCKS[2], ms=7, mec=INK, mew=0.7)
        axes.annotate(
            f"{best['lesson']} {work}", (x, y), size=8.5, color=INK,
            xytext=(8, -14 if number % 2 else 6), textcoords="offset points",
        )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(0.01, 320)
    axes.set_xlabel("operations for each byte that must move (logarithmic)")
    axes.set_ylabel("10^12 operations a second (logarithmic)")
    figure.suptitle("The roofs of the card, both measured, and what the lessons reach", size=12)
    sign(figure, machine(bench()[0]))
    return figure


def _strides(what: str, counter: str) -> dict[int, tuple[int, int]]:
    """Stride -> (card, emulator) of one kind of access."""
    found = {}
    for row in table("counters.csv", what=what, counter=counter):
        if match := re.fullmatch(r"stride=(\d+)", row["pattern"]):
            found[int(match.group(1))] = (int(row["card"]), int(row["emulator"]))
    return dict(sorted(found.items()))


def strides() -> Figure:
    """Sectors of a warp's load by stride; where measured, the rate beside it."""
    try:
        timed = [
            (int(match.group(1)), row)
            for row in bench(version="this workbook")
            if (match := re.fullmatch(r"reads every (\d+)\. float", row["workload"]))
        ]
    except NoData:
        timed = []
    figure, axes = chart(11 if timed else 8.2, 4.2, 2 if timed else 1)
    for width, colour, marker in ((4, BLOCKS[0], "o"), (8, BLOCKS[1], "s"), (16, BLOCKS[3], "^")):
        counted = _strides(f"ld.global {width}", "g_ld_sec")
        counted = {stride: both for stride, both in counted.items() if 0 < stride <= 32}
        axes[0].plot(
            list(counted), [card for card, _ in counted.values()], marker, color=colour, ms=6,
            label=f"{width} bytes for each lane, Nsight Compute",
        )  # fmt: skip
        axes[0].plot(list(counted), [ours for _, ours in counted.values()], color=colour, lw=1)
    axes[0].plot([], [], color=INK, lw=1, label="lines: the emulated device")
    axes[0].set_xlabel("stride: elements from lane to lane")
    axes[0].set_ylabel("sectors of 32 bytes for one load of a warp")
    axes[0].set_ylim(0, 70)
    axes[0].legend(fontsize=8, frameon=False)
    gpu = table("counters.csv")[0]["gpu"]
    if timed:
        timed.sort()
        axes[1].plot(*zip(*((s, rate(r)) for s, r in timed), strict=True), "o-", color=BLOCKS[2])
        axes[1].set_xlabel("stride: floats from lane to lane")
        axes[1].set_ylabel("useful GB/s, read and written")
        axes[1].set_ylim(bottom=0)
    figure.suptitle("The wider the stride, the more sectors for the same 32 numbers", size=12)
    sign(figure, machine(timed[0][1]) if timed else f"counted on one {gpu} and on the emulator")
    return figure


def padding() -> Figure:
    """Passes for a column of a tile against the width of its rows; where measured, the rate."""
    try:
        timed = [
            (int(match.group(1)), row)
            for row in bench(version="this workbook")
            if (match := re.fullmatch(r"columns of a tile, rows of (\d+) floats", row["workload"]))
        ]
    except NoData:
        timed = []
    counted = _strides("ld.shared 4", "s_ld_wave")
    counted = {width: both for width, both in counted.items() if 32 <= width <= 64}
    if not counted:
        raise NoData("plots/data/counters.csv has no shared loads with strides")
    figure, axes = chart(11 if timed else 8.2, 4.2, 2 if timed else 1)
    colours = [WRONG if card > 1 else BLOCKS[2] for card, _ in counted.values()]
    axes[0].bar(list(counted), [card for card, _ in counted.values()], color=colours, width=0.8,
                label="Nsight Compute")  # fmt: skip
    axes[0].plot(
        list(counted), [ours for _, ours in counted.values()], "o", color=INK, ms=3.5,
        label="the emulated device",
    )  # fmt: skip
    axes[0].set_yscale("log", base=2)
    axes[0].set_yticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
    axes[0].set_ylim(0.7, 45)
    axes[0].set_xticks(range(32, 65, 4))
    axes[0].set_xlabel("floats from row to row of the tile")
    axes[0].set_ylabel("passes to read one column (logarithmic)")
    axes[0].legend(fontsize=8, frameon=False, loc="upper center")
    gpu = table("counters.csv")[0]["gpu"]
    if timed:
        timed.sort()
        names = [str(width) for width, _ in timed]
        axes[1].bar(names, [rate(row) * 1e-3 for _, row in timed], color=BLOCKS[0], width=0.7)
        axes[1].set_xlabel("floats from row to row of the tile")
        axes[1].set_ylabel("TB/s from shared memory")
    figure.suptitle("An odd width needs one pass, 32 and 64 need thirty-two", size=12)
    sign(figure, machine(timed[0][1]) if timed else f"counted on one {gpu} and on the emulator")
    return figure


def bins_and_skew() -> Figure:
    """Histograms against the number of bins, and against the share of equal keys."""
    figure, (left, right) = chart(11, 4.4, 2)
    rows = [row for row in bench() if row["kind"] in ("rung", "solution", "peer")]
    patterns = {left: r"(\d+) bins", right: r"256 bins, (\d+) of 64 keys equal"}
    versions = ["1_global_atomics", "solution", "4_big_blocks_wide_loads", "CUB"]
    found = 0
    for axes, pattern in patterns.items():
        for version, colour, marker in zip(versions, [*BLOCKS[:3], INK], "o^sD", strict=True):
            points = {}
            for row in rows:
                match = re.fullmatch(pattern, row["workload"])
                if row["version"] == version and match:
                    points[int(match.group(1))] = rate(row)
            found += len(points) > 2
            if points:
                xs = sorted(points)
                axes.plot(xs, [points[x] for x in xs], f"{marker}-", color=colour, ms=5,
                          label=rung_name(version))  # fmt: skip
        axes.set_ylim(bottom=0)
        axes.set_ylabel("GB/s of keys")
    if found < 4:
        raise NoData("plots/data/bench.csv has no sweep of bins and skew")
    left.set_xscale("log", base=2)
    left.set_xlabel("bins, keys spread evenly (logarithmic)")
    right.set_xlabel("keys of 64 that are equal, 256 bins")
    left.legend(fontsize=8, frameon=False)
    figure.suptitle("Histograms against the number of bins, and against equal keys", size=12)
    sign(figure, machine(rows[0]))
    return figure


FIGURES = {
    "06_bandwidth_size": bandwidth_size,
    "06_roofline_measured": roofline,
    "11_strides": strides,
    "16_padding": padding,
    "21_bins_and_skew": bins_and_skew,
}
