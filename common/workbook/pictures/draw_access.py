# SPDX-License-Identifier: MIT
"""Lanes against addresses with sectors coloured by use; banks of shared memory with conflicts."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from .theme import Theme
from .trace import BANKS, SECTOR, Access, Launch

_MOST_PANELS = 4


def telling(launch: Launch, space: str) -> list[Access]:
    """For each line, array and kind the most telling access: out of bounds, else the costliest."""
    best: dict[tuple, tuple[tuple, Access]] = {}
    for access in launch.accesses:
        if access.space != space:
            continue
        cost = access.wavefronts() if space == "shared" else len(access.sectors())
        rank = (len(access.bad), len(access.lanes) > 16, cost, len(access.lanes))
        key = (access.line, access.array, access.kind)
        if key not in best or rank > best[key][0]:
            best[key] = (rank, access)
    chosen = sorted(best.values(), key=lambda one: one[0], reverse=True)[:_MOST_PANELS]
    return sorted((access for _, access in chosen), key=lambda a: a.at)


def _runs(numbers: list[int]) -> list[list[int]]:
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n - runs[-1][-1] <= 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return runs


def sector_words(access: Access) -> str:
    """How many sectors an access moves, and whether fewer would do."""
    sectors = access.sectors()
    asked = sum(len(used) for used in sectors.values())
    count, best = len(sectors), -(-asked // SECTOR)
    words = f"{count} sector{'s' * (count != 1)} for {asked} bytes"
    if count <= best + 1:
        return f"{words}: as few as can be"
    # Of lanes that go by one step another layout can make neighbours; scattered ones are data.
    good = [
        o for lane, o in zip(access.lanes, access.offsets, strict=True) if lane not in access.bad
    ]
    steps = {b - a for a, b in zip(good, good[1:], strict=False)}
    if len(steps) > 1:
        return f"{words}: the addresses are scattered"
    return f"{words}, where {best} would do"


def by_word(access: Access) -> dict[int, int]:
    """How many lanes are at each address."""
    good = [
        o for lane, o in zip(access.lanes, access.offsets, strict=True) if lane not in access.bad
    ]
    return {offset: good.count(offset) for offset in dict.fromkeys(good)}


def atomic_words(access: Access) -> str:
    """How many lanes' atomics meet on one word: they are done one after the other."""
    lanes = by_word(access)
    most = max(lanes.values(), default=0)
    if most <= 1:
        return f"{len(lanes)} atomic{'s' * (len(lanes) != 1)}, each on a word of its own"
    if len(lanes) == 1:
        return f"{most} atomics on one word, done one after the other"
    whole = f"{sum(lanes.values())} atomics on {len(lanes)} words"
    return f"{whole}: up to {most} on one, done one after the other"


def _legend(made: Figure, space: str, theme: Theme) -> None:
    """What the colours mean, below the panels."""
    edge = {"edgecolor": theme.ink, "lw": 0.6}
    if space == "global":
        entries = [
            Patch(facecolor=theme.good, label="sector used in full", **edge),
            Patch(facecolor=theme.partly, hatch="///", label="bytes used of a sector", **edge),
            Patch(facecolor=theme.empty, label="moved and not used", **edge),
            Patch(facecolor=theme.blocks[0], label="lane that takes part", **edge),
            Patch(facecolor=theme.wrong, hatch="xx", label="out of bounds", **edge),
        ]
    else:
        entries = [
            Patch(facecolor=theme.good, label="word of a bank that serves one word", **edge),
            Patch(
                facecolor=theme.wrong, hatch="///", label="words that wait for each other", **edge
            ),
            Patch(facecolor=theme.paper, label="number: lane (5+: it and others)", **edge),
        ]
    made.legend(handles=entries, loc="lower left", bbox_to_anchor=(0.02, 0.0), ncols=3,
                frameon=False, fontsize=8.5)  # fmt: skip


def _sector_panel(axes: Axes, launch: Launch, access: Access, theme: Theme) -> None:
    sectors = access.sectors()
    array = launch.arrays.get(access.array)
    element = array.element_bytes if array else access.bytes
    outside = {
        offset // SECTOR
        for lane, offset in zip(access.lanes, access.offsets, strict=True)
        if lane in access.bad
    }
    shown = sorted({*sectors, *outside})
    gap = 0.35
    place: dict[int, float] = {}
    x = 0.0
    for number, run in enumerate(_runs(shown)):
        x += gap if number else 0
        for sector in run:
            place[sector] = x
            x += 1
    width = max(x, 1e-9)
    scale = 32 / width
    for sector in shown:
        left = place[sector] * scale
        paper = theme.empty if sector in sectors else theme.paper
        axes.add_patch(Rectangle((left, 0), scale, 1, facecolor=paper, lw=0))
        used = sorted(sectors.get(sector, ()))
        full = len(used) == SECTOR
        colour, hatch = (theme.good, None) if full else (theme.partly, "///")
        for run in _runs(used):
            box = (left + scale * run[0] / SECTOR, 0)
            axes.add_patch(
                Rectangle(box, scale * len(run) / SECTOR, 1, facecolor=colour, lw=0, hatch=hatch)
            )
        edge = {"edgecolor": theme.ink, "lw": 0.9} if used else {
            "edgecolor": theme.wrong, "lw": 1.2, "hatch": "xxx"
        }  # fmt: skip
        axes.add_patch(Rectangle((left, 0), scale, 1, facecolor="none", **edge))
    many = len(shown) > 10
    for number, sector in enumerate(shown):
        if many and number % max(1, len(shown) // 8) and number != len(shown) - 1:
            continue
        axes.text(place[sector] * scale, -0.25, str(sector * SECTOR // max(1, element)),
                  ha="left", va="top", size=8, color=theme.faint)  # fmt: skip
    for lane, offset in zip(access.lanes, access.offsets, strict=True):
        bad = lane in access.bad
        inside = offset % SECTOR + access.bytes / 2
        x = (place[offset // SECTOR] + inside / SECTOR) * scale
        axes.plot([lane + 0.5, x], [3, 1], color=theme.wrong if bad else theme.faint,
                  lw=1.3 if bad else 0.8)  # fmt: skip
    for lane in range(32):
        active = lane in access.lanes
        bad = lane in access.bad
        axes.add_patch(Rectangle((lane, 3), 1, 0.9,
                                 facecolor=theme.wrong if bad else theme.blocks[0] if active
                                 else theme.paper, edgecolor=theme.ink, lw=0.6,
                                 hatch="xx" if bad else None))  # fmt: skip
        if lane % 4 == 0 or lane == 31:
            box = {"facecolor": theme.wrong, "edgecolor": "none", "pad": 0.8} if bad else None
            axes.text(lane + 0.5, 3.45, str(lane), ha="center", va="center", size=7, bbox=box,
                      color="#1A1A1A" if active else theme.faint)  # fmt: skip
    words = atomic_words(access) if access.kind == "atomic" else sector_words(access)
    if access.bad:
        words += f"; {len(access.bad)} lanes outside of the array"
    for offset, lanes in by_word(access).items():
        if access.kind == "atomic" and lanes > 1:  # they queue at that word
            x = (place[offset // SECTOR] + (offset % SECTOR + access.bytes / 2) / SECTOR) * scale
            axes.text(x, 0.5, f"{lanes} wait", ha="center", va="center", size=8.5, weight="bold",
                      color="#1A1A1A", bbox={"facecolor": theme.wrong, "edgecolor": theme.ink,
                                             "pad": 2.0})  # fmt: skip
    name = launch.name_of(access)
    axes.set_title(
        f"line {access.line.number}: {access.kind} of {name} · block {access.block}, "
        f"warp {access.warp}\n{words}", loc="left", size=9.5,
    )  # fmt: skip
    axes.text(-0.6, 3.45, "lane", ha="right", va="center", size=8.5)
    axes.text(-0.6, 0.5, f"{name}\n32-byte\nsectors", ha="right", va="center", size=8.5)
    axes.text(-0.6, -0.25, "element", ha="right", va="top", size=8, color=theme.faint)
    axes.set_xlim(-5, 32.5)
    axes.set_ylim(-1.1, 4.2)
    axes.axis("off")


def _bank_panel(axes: Axes, launch: Launch, access: Access, theme: Theme) -> None:
    banks = access.words_by_bank()
    tallest = max((len(words) for words in banks.values()), default=1)
    rows = min(tallest, 8)
    for bank in range(BANKS):
        words = banks.get(bank, {})
        axes.add_patch(Rectangle((bank, -0.9), 1, 0.7, facecolor=theme.empty, edgecolor=theme.ink,
                                 lw=0.5))  # fmt: skip
        if bank % 4 == 0 or bank == 31:
            axes.text(bank + 0.5, -0.55, str(bank), ha="center", va="center", size=7)
        for row, (_, lanes) in enumerate(sorted(words.items())):
            if row >= rows:
                break
            conflict = len(words) > 1
            axes.add_patch(Rectangle((bank, row), 1, 0.92,
                                     facecolor=theme.wrong if conflict else theme.good,
                                     edgecolor=theme.ink, lw=0.6,
                                     hatch="///" if conflict else None))  # fmt: skip
            text = str(lanes[0]) if len(lanes) == 1 else f"{lanes[0]}+"
            axes.text(bank + 0.5, row + 0.46, text, ha="center", va="center", size=6.5,
                      color="#1A1A1A", bbox=None if not conflict else
                      {"facecolor": theme.wrong, "edgecolor": "none", "pad": 0.6})  # fmt: skip
    words = f"{tallest} pass{'es' * (tallest != 1)} over the banks"
    words += ": no conflict" if tallest == 1 else ": one for each row below"
    if tallest > rows:
        words += f" ({rows} of {tallest} rows shown)"
    axes.set_title(
        f"line {access.line.number}: {access.kind} of {launch.name_of(access)} · block "
        f"{access.block}, warp {access.warp}\n{words}", loc="left", size=9.5,
    )  # fmt: skip
    axes.text(-0.6, -0.55, "bank", ha="right", va="center", size=8.5)
    axes.text(-0.6, rows / 2, "lanes that\nneed a word\nof the bank", ha="right", va="center",
              size=8.5)  # fmt: skip
    axes.set_xlim(-5, 32.5)
    axes.set_ylim(-1.1, rows + 0.2)
    axes.axis("off")


def figure(launch: Launch, space: str, theme: Theme) -> Figure | None:
    """One panel for each telling access to global or shared memory; None without any."""
    chosen = telling(launch, space)
    if not chosen:
        return None
    panel = _sector_panel if space == "global" else _bank_panel
    heights = [
        2.3 if space == "global" else 1.3 + 0.25 * min(8, max(1, access.wavefronts()))
        for access in chosen
    ]
    made, grid = plt.subplots(
        len(chosen), 1, figsize=(8.2, sum(heights) + 1.2), squeeze=False,
        gridspec_kw={"height_ratios": heights},
    )  # fmt: skip
    for axes, access in zip(grid.flat, chosen, strict=True):
        panel(axes, launch, access, theme)
    what = "global memory, by sectors" if space == "global" else "shared memory, by banks"
    made.suptitle(f"{launch.title()}: {what}", x=0.02, ha="left", size=11, weight="bold")
    below = 0.55 / (sum(heights) + 1.2)
    made.tight_layout(rect=(0, below, 1, 0.985))
    _legend(made, space, theme)
    return made
