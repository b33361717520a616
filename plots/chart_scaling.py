# SPDX-License-Identifier: MIT
"""Charts of several cards, lessons 36 and 37: measured, and as the model timeline predicts."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from measured import NoData, Row, chart, head, rung_name, sign, table
from style import BLOCKS, FAINT, INK, WRONG

MEASURED, MODEL = "scaling.csv", "scaling_model.csv"
LOCAL, BY_NCCL = "local all-reduces: bus bandwidth", "all-reduces by NCCL: bus bandwidth"
SUMS, STEPS = "sums squares on all devices", "ten steps of a regression on all devices"
ROD, ROD_CELLS = "100 steps of a rod", 1 << 28
# The all-reduces of lesson 36: how they are named, and drawn.
REDUCES = {
    (LOCAL, "2_to_one_and_back"): ("to rank 0 and back", BLOCKS[1], "s"),
    (LOCAL, "3_rank_by_rank"): ("copies, queued rank by rank", BLOCKS[3], "^"),
    (LOCAL, "solution"): ("copies, in rounds: the solution", BLOCKS[2], "o"),
    (LOCAL, "4_direct_access"): ("direct access", BLOCKS[0], "D"),
    (BY_NCCL, "solution"): ("NCCL, called by the solution", INK, "x"),
    (BY_NCCL, "NCCL"): ("NCCL, called as in nccl-tests", FAINT, "+"),
}
WITH_CUDA = "solution, device pointers"  # by an MPI that is CUDA-aware
RODS = {
    "solution": ("inner cells beside the messages", BLOCKS[2], "o"),
    WITH_CUDA: ("the same, device pointers for MPI", BLOCKS[3], "D"),
    "2_exchange_first": ("messages first, then all cells", BLOCKS[0], "s"),
}


def measured(**wanted: str) -> list[Row]:
    return table(MEASURED, right="yes", **wanted)


def version_of(row: Row) -> str:
    """The rung; of the solution also whether it gave MPI pointers to device memory."""
    aware = row["version"] == "solution" and row["library"].endswith("with CUDA")
    return WITH_CUDA if aware else row["version"]


def counts(lesson: str) -> list[int]:
    """The numbers of cards that were measured."""
    return sorted({int(row["cards"]) for row in measured(lesson=lesson)})


def times(rows: list[Row], version: str, cards: int) -> dict[int, float]:
    """Milliseconds by size."""
    return {
        int(row["elements"]): float(row["median_ms"])
        for row in rows
        if version_of(row) == version and int(row["cards"]) == cards
    }


def rates(rows: list[Row], version: str, cards: int) -> tuple[list[float], list[float]]:
    """Bytes of the arrays, and bus bandwidths."""
    found = sorted(
        (8.0 * int(row["elements"]), float(row["gb_per_s"]))
        for row in rows
        if row["version"] == version and int(row["cards"]) == cards
    )
    return [size for size, _ in found], [rate for _, rate in found]


def name_sizes(axes: Axes) -> None:
    """1 KiB, 64 KiB, 4 MiB ... below a logarithmic axis of bytes."""
    axes.set_xscale("log", base=2)
    places = [2**10, 2**15, 2**20, 2**25, 2**30]
    axes.set_xticks(places, ["1 KiB", "32 KiB", "1 MiB", "32 MiB", "1 GiB"], size=9)
    axes.minorticks_off()
    axes.set_xlabel("bytes of each card's array (logarithmic)")


def bandwidth() -> Figure:
    """Bus bandwidths by size, a panel for each number of cards, and the rates beside NCCL's."""
    several = [count for count in counts("36") if count > 1]
    if not several:
        raise NoData(f"plots/data/{MEASURED} has no all-reduce on several cards")
    figure, panels = chart(4.6 * (len(several) + 1), 4.8, len(several) + 1)
    for axes, cards in zip(panels, several, strict=False):
        for (work, version), (label, colour, marker) in REDUCES.items():
            sizes, found = rates(measured(workload=work), version, cards)
            axes.plot(sizes, found, marker + "-", color=colour, ms=5, lw=1.3, label=label)
            if version != "NCCL":
                sizes, found = rates(table(MODEL, workload=work), version, cards)
                axes.plot(sizes, found, color=colour, lw=1, ls=":")
        axes.plot([], [], color=INK, lw=1, ls=":", label="model timeline, in the same colours")
        axes.set_yscale("log")
        axes.set_ylim(0.01, 900)
        axes.set_ylabel("bus bandwidth, GB/s (logarithmic)")
        axes.set_title(f"All-reduces on {cards} cards", size=10, color=INK)
        name_sizes(axes)
    figure.legend(*panels[0].get_legend_handles_labels(), fontsize=8.5, frameon=False, ncols=4,
                  loc="outside upper center")  # fmt: skip
    beside = panels[-1]
    for cards, style in zip(several, ("-", "--", ":"), strict=False):
        library = [rates(measured(workload=BY_NCCL), one, cards)[1] for one in ("solution", "NCCL")]
        best = [max(pair) for pair in zip(*library, strict=True)]
        for version in ("solution", "4_direct_access"):
            label, colour, marker = REDUCES[LOCAL, version]
            sizes, found = rates(measured(workload=LOCAL), version, cards)
            ratio = [ours / theirs for ours, theirs in zip(found, best, strict=True)]
            beside.plot(sizes, ratio, marker + style, color=colour, ms=5, lw=1.3,
                        label=f"{label}, {cards} cards")  # fmt: skip
    beside.axhline(1, color=INK, lw=1)
    beside.set_ylim(0, 1.9)
    beside.set_ylabel("rate, the faster call of NCCL = 1")
    beside.set_title("Beside NCCL", size=10, color=INK)
    beside.legend(fontsize=8.5, frameon=False, loc="upper left")
    name_sizes(beside)
    sign(figure, f"{head(MEASURED)}; {head(MODEL)}")
    return figure


def devices() -> Figure:
    """How many times as fast several cards do lesson 36's two works, and what the model says."""
    figure, panels = chart(10.4, 4.2, 2)
    predicted = sorted({int(row["cards"]) for row in table(MODEL, lesson="36")})
    for axes, work in zip(panels, (SUMS, STEPS), strict=True):
        rows, model = measured(workload=work), table(MODEL, workload=work)
        for version, label, colour, marker in (
            ("solution", "all get their work, then the host waits", BLOCKS[2], "o"),
            ("1_one_device_after_the_other", "the host waits for each", BLOCKS[0], "s"),
        ):
            for part, numbers, style, note in (
                (rows, counts("36"), "-", "measured"), (model, predicted, ":", "model"),
            ):  # fmt: skip
                found = [next(iter(times(part, version, n).values())) for n in numbers]
                axes.plot(numbers, [found[0] / one for one in found], marker + style, color=colour,
                          ms=6, mfc=colour if style == "-" else "white",
                          label=f"{label}: {note}")  # fmt: skip
        axes.plot(predicted, predicted, color=WRONG, lw=1, ls="--", label="as many times as cards")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set_xticks(predicted, [str(n) for n in predicted])
        axes.set_yticks(predicted, [str(n) for n in predicted])
        axes.set_xlabel("cards (logarithmic)")
        axes.set_ylabel("times as fast as one card (logarithmic)")
        axes.set_title(f"{work}, {int(rows[0]['elements']) / 1e6:,.0f} million", size=10, color=INK)
    panels[0].legend(fontsize=8.5, frameon=False, loc="upper left")
    figure.suptitle("Work split between cards", size=12, color=INK)
    sign(figure, f"{head(MEASURED)}; {head(MODEL)}")
    return figure


def rods() -> Figure:
    """Strong: the same rod on all cards. Weak: for each card a rod of that size."""
    rows, model = measured(workload=ROD), table(MODEL, workload=ROD)
    cards = counts("37")[-1]
    if cards == 1:
        raise NoData(f"plots/data/{MEASURED} has no rod on several cards")
    figure, (strong, weak) = chart(11, 4.2, 2)
    for version, (label, colour, marker) in RODS.items():
        one, all_cards = times(rows, version, 1), times(rows, version, cards)
        if not one:
            continue
        style = {"color": colour, "label": label, "ms": 5}
        sizes = sorted(one.keys() & all_cards.keys())
        strong.plot(sizes, [one[n] / all_cards[n] for n in sizes], marker + "-", **style)
        sizes = sorted(n for n in one if cards * n in all_cards)
        weak.plot(sizes, [one[n] / all_cards[cards * n] for n in sizes], marker + "-", **style)
    sizes = sorted(one)
    predicted = [modelled(model, 1, n) / modelled(model, cards, n) for n in sizes]
    strong.plot(sizes, predicted, color=BLOCKS[2], lw=1.2, ls=":", label="model timeline")
    for axes, ideal, title, unit in (
        (strong, cards, "Strong scaling: the same rod", "cells of the rod"),
        (weak, 1, "Weak scaling: a rod for each card", "cells of each card"),
    ):
        axes.axhline(ideal, color=WRONG, lw=1.2, ls="--")
        axes.set_xscale("log", base=2)
        axes.set_ylim(0, ideal * (1.12 if axes is strong else 1.5))
        axes.set_title(title, size=10, color=INK)
        axes.set_xlabel(f"{unit} (logarithmic)")
    strong.axhline(1, color=FAINT, lw=1, ls=":")
    strong.text(sizes[-1], 0.95, "one card", size=8.5, color=FAINT, va="top", ha="right")
    strong.set_ylabel("times as fast as one card")
    weak.set_ylabel("rate of each card, one alone = 1")
    strong.legend(fontsize=8.5, frameon=False, loc="upper left", bbox_to_anchor=(0, 0.88))
    figure.suptitle(f"A rod on {cards} cards", size=12, color=INK)
    sign(figure, f"{head(MEASURED)}; {head(MODEL)}")
    return figure


def modelled(model: list[Row], cards: int, cells: int) -> float:
    """The model's milliseconds for a rod. Beyond its longest rods a rank's time is a straight line
    of its cells, the same on one device as on each of several."""
    known = times(model, "solution", cards)
    if cells in known:
        return known[cells]
    one = times(model, "solution", 1)
    shorter, longest = sorted(one)[-2:]
    slope = (one[longest] - one[shorter]) / (longest - shorter)
    return max(one[longest] + slope * (cells / cards - longest), min(one.values()))


def efficiencies() -> Figure:
    """Of every rung of lesson 37 with 2^28 cells: the share of the ideal, by number of cards."""
    rows, model = measured(workload=ROD), table(MODEL, workload=ROD)
    several = [count for count in counts("37") if count > 1]
    if not several:
        raise NoData(f"plots/data/{MEASURED} has no rod on several cards")
    versions = sorted({version_of(row) for row in rows}, key=lambda v: (not v[0].isdigit(), v))
    figure, (strong, weak) = chart(11, 1.9 + 0.42 * len(versions), 2)
    for cards, colour, marker in zip(several, BLOCKS[2::-1], "osD", strict=False):
        for axes, scale in ((strong, 1), (weak, cards)):
            found = []
            for version in versions:
                alone, together = (times(rows, version, n) for n in (1, cards))
                ideal = alone[ROD_CELLS] * scale / cards
                found.append(ideal / together[min(ROD_CELLS * scale, (1 << 31) - 1)])
            axes.plot(found, range(len(versions)), marker, color=colour, ms=7, mec=INK, mew=0.5,
                      label=f"{cards} cards")  # fmt: skip
        predicted = modelled(model, 1, ROD_CELLS) / cards / modelled(model, cards, ROD_CELLS)
        strong.axvline(predicted, color=colour, lw=1.2, ls=":", label=f"model, {cards} devices")
        weak.axvline(1, color=colour, lw=1.2, ls=":", label="model")
    for axes, title in (
        (strong, "Strong scaling: 2^28 cells in all"), (weak, "Weak scaling: 2^28 cells a card"),
    ):  # fmt: skip
        axes.set_yticks(range(len(versions)), [rung_name(version) for version in versions], size=9)
        axes.set_ylim(len(versions) - 0.5, -0.6)
        axes.set_xlim(0.75, 1.02)
        axes.set_xlabel("share of the ideal rate")
        axes.set_title(title, size=10, color=INK)
    strong.legend(fontsize=8.5, frameon=False, loc="upper left")
    figure.suptitle("The rungs of lesson 37", size=12, color=INK)
    sign(figure, f"{head(MEASURED)}; {head(MODEL)}")
    return figure


FIGURES = {
    "36_bandwidth": bandwidth,
    "36_scaling": devices,
    "37_scaling": rods,
    "37_cards": efficiencies,
}
