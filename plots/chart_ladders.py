# SPDX-License-Identifier: MIT
"""The ladders: what each rung of a lesson reaches on a card, beside the libraries."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from measured import NoData, Row, bench, chart, machine, rate, rung_name, sign
from style import BLOCKS, FAINT, INK, WRONG

# Figure, lesson, the works that it shows, and a heading.
LADDERS = {
    "02_ladder": ("02", ["adds two vectors"], "Adding two vectors"),
    "09_ladder": (
        "09", ["roots of quadratic equations"], "The same formula in nine launches or in one",
    ),
    "10_ladder": ("10", ["invariant masses of pairs"], "Invariant masses"),
    "11_ladder": (
        "11",
        ["transverse momenta from columns", "transverse momenta from columns, wide",
         "structures to columns"],
        "Neighbouring lanes, neighbouring addresses",
    ),
    "13_ladder": (
        "13", ["sums short lists, a thread each", "sums long lists, a warp each"], "Sums of lists",
    ),
    "15_ladder": ("15", ["weighs 17 neighbours", "weighs 129 neighbours"], "A stencil"),
    "16_ladder": (
        "16", ["transposes through a tile"], "Transposing 16384 x 16384 floats",
    ),
    "18_ladder": ("18", ["sums by a tree in each block"], "A tree in each block"),
    "19_ladder": ("19", ["sums all elements", "sums rows of 1000"], "Summing"),
    "20_ladder": (
        "20", ["64 bins of floats", "256 bins of floats", "4096 bins of floats"],
        "Histograms of floats",
    ),
    "21_ladder": ("21", ["64 bins", "256 bins", "4096 bins"], "Histograms of keys"),
    "22_ladder": ("22", ["uniform floats"], "Uniform random floats"),
    "23_ladder": ("23", ["counts the hits among random points"], "Monte Carlo"),
    "24_ladder": (
        "24", ["decides samples of the Mandelbrot set"], "The area of the Mandelbrot set",
    ),
    "25_ladder": (
        "25", ["running sums", "running sums in three launches"], "Running sums of ints",
    ),
    "26_ladder": (
        "26", ["keeps half of the floats", "keeps 5 of 100 floats"], "Keeping what passes",
    ),
    "27_ladder": (
        "27", ["sorts floats", "sorts floats with values", "sorts doubles"], "Sorting",
    ),
    "28_groups": (
        "28", ["sums groups of 10 rows", "sums groups of 10,000 rows"], "Sums of groups of rows",
    ),
    "28_ladder": (
        "28",
        ["multiplies short rows", "multiplies rows of 64 entries", "multiplies unequal rows"],
        "A sparse matrix times a vector",
    ),
    "29_ladder": (
        "29",
        ["multiplies matrices of 4096 x 4096", "multiplies matrices of 8192 x 8192"],
        "Products of matrices of floats",
    ),
    "30_ladder": (
        "30",
        ["multiplies halves, 4096 x 4096", "multiplies halves, 8192 x 8192"],
        "Products of matrices of halves",
    ),
    "32_ladder": (
        "32",
        ["makes samples linear, from pinned memory", "makes samples linear, through stages"],
        "Copying while computing",
    ),
    "38_ladder": (
        "38",
        ["gradients of Rosenbrock's function", "gradients of a long function"],
        "Gradients at points of the plane",
    ),
    "40_ladder": (
        "40", ["finds the peaks of dimuon events"], "From the muons of an event to the peaks",
    ),
}  # fmt: skip
# Works that move next to nothing, or everything several times: their rate is not in bytes. The
# column that is counted, how many of it make one on the axis, and the axis.
BILLIONS = ("elements", 1e9, "10^9 elements a second")
TRILLIONS = ("operations", 1e12, "10^12 operations a second")
COUNTED = {
    "23": BILLIONS, "24": BILLIONS, "27": BILLIONS, "28": BILLIONS, "32": BILLIONS,
    "40": BILLIONS,
    "29": TRILLIONS, "30": TRILLIONS,
}  # fmt: skip

KINDS = {"rung": BLOCKS[0], "solution": BLOCKS[2], "peer": "#C8C8C8"}


def bars(axes: Axes, rows: list[Row], lesson: str) -> None:
    """A horizontal bar for each version, in this order; spread as a whisker, rate as a number.

    Of a lesson in COUNTED that rate, in place of bytes beside the copy bandwidth.
    """
    copy = 0.0 if lesson in COUNTED else float(rows[0]["copy_gb_per_s"])
    names = [rung_name(row["version"]) for row in rows]
    what, scale, label = COUNTED.get(lesson, ("bytes", 1e9, "useful GB/s"))
    widths, least, most = (
        [float(row[what]) / float(row[time]) * 1e3 / scale for row in rows]
        for time in ("median_ms", "slowest_ms", "fastest_ms")
    )
    places = range(len(rows))
    axes.barh(places, widths, color=[KINDS[row["kind"]] for row in rows], height=0.7)
    axes.hlines(places, least, most, color=INK, lw=1.2)
    top = max(*widths, copy) * 1.22
    for at, width in enumerate(widths):
        text = f"{width:,.0f}" if width >= 10 else f"{width:.1f}"
        axes.text(
            max(width, most[at]) + top * 0.012, at, text, va="center", size=8.5, color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6}, zorder=3,
        )  # fmt: skip
    if copy:
        axes.axvline(copy, color=WRONG, lw=1.2, ls="--", zorder=1.5)
        axes.text(copy, -0.95, f"copy {copy:,.0f} ", color=WRONG, size=8.5, ha="right", va="center")
    axes.set_yticks(places, names, size=9)
    axes.set_ylim(len(rows) - 0.4, -1.4)
    axes.set_xlim(0, top)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(label)


def ladder(lesson: str, works: list[str], title: str) -> Figure:
    """One chart for each work, side by side."""
    parts = []
    for work in works:
        rows = [row for row in bench(workload=work) if row["kind"] != "figure"]
        ours = [row for row in rows if row["kind"] != "peer" and row["lesson"] == lesson]
        if not ours:
            raise NoData(f"plots/data/bench.csv has no row of lesson {lesson} for {work!r}")
        ours.sort(key=lambda row: (row["kind"] == "solution", row["version"]))
        largest = max(int(row["elements"]) for row in ours)
        peers = [r for r in rows if r["kind"] == "peer" and int(r["elements"]) * 4 >= largest]
        # Another lesson may time the same library at the same work: this lesson's time counts.
        peers.sort(key=lambda row: row["lesson"] == lesson)
        libraries = {row["version"]: row for row in peers}.values()
        parts.append(ours + sorted(libraries, key=rate))
    longest = max(len(part) for part in parts)
    width = 8.2 if len(works) == 1 else min(13.0, 5.2 * len(works))
    figure, axes = chart(width, 1.7 + 0.34 * longest, len(works))
    for one, part, work in zip(axes, parts, works, strict=True):
        bars(one, part, lesson)
        sized = "" if " x " in work else f", {int(part[0]['elements']) / 1e6:,.0f} million"
        one.set_title(work + sized, size=10, color=INK)
    figure.suptitle(title, size=12, color=INK)
    sign(figure, machine(parts[0][0]))
    return figure


def _drawing(name: str) -> Callable[[], Figure]:
    return lambda: ladder(*LADDERS[name])


def accelerators() -> Figure:
    """Lesson 12's picture on everything that was there: millions of pixels in a second."""
    rows = [row for row in bench() if row["workload"].startswith("Mandelbrot set in double")]
    chosen = []
    for row in rows:
        if row["kind"] == "rung":
            continue
        name = row["version"]
        if row["kind"] == "figure":
            name = f"C++, {row['workload'].rpartition(', ')[2]}"
        elif row["kind"] == "solution":
            name = "this workbook's solution"
        pixels = float(row["elements"]) / float(row["median_ms"]) * 1e-3  # millions a second
        chosen.append((pixels, name, row))
    if len(chosen) < 3:
        raise NoData("plots/data/bench.csv has fewer than three Mandelbrot sets")
    chosen.sort(key=lambda entry: entry[0])
    figure, (axes,) = chart(8.2, 1.4 + 0.36 * len(chosen))
    places = range(len(chosen))
    colours = [
        BLOCKS[2] if row["kind"] == "solution" else BLOCKS[1] if "CPU" in name or "C++" in name
        or name == "NumPy" else BLOCKS[0]
        for _, name, row in chosen
    ]  # fmt: skip
    axes.barh(places, [pixels for pixels, _, _ in chosen], color=colours, height=0.7)
    for at, (pixels, _, _) in enumerate(chosen):
        axes.text(pixels * 1.1, at, f"{pixels:,.0f}", va="center", size=9, color=INK)
    axes.set_yticks(places, [name for _, name, _ in chosen], size=9)
    axes.set_xscale("log")
    axes.set_xlim(min(p for p, _, _ in chosen) / 2, max(p for p, _, _ in chosen) * 5)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("millions of pixels a second, 20 steps in double (logarithmic)")
    axes.set_title("Orange: on the CPU. Blue: on the card, by libraries.", size=10, color=FAINT)
    sign(figure, machine(chosen[0][2]))
    return figure


FIGURES = {name: _drawing(name) for name in LADDERS} | {"12_accelerators": accelerators}
