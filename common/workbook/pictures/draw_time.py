# SPDX-License-Identifier: MIT
"""A block's warps by time with their barriers, and the two accesses of a race."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from .theme import Theme
from .trace import Access, Launch

_MOST_WARPS, _MOST_EVENTS = 12, 160
_MARKS = {"load": ("o", "loads"), "store": ("s", "stores"), "atomic": ("D", "atomics")}


def racing(launch: Launch, finding: dict[str, Any]) -> tuple[Access, Access] | None:
    """The two accesses of a race: different threads on one byte, on the finding's two lines.

    Two of different warps where there are any: that is what no lockstep can hide.
    """
    within: tuple[Access, Access] | None = None
    other = finding.get("other") or {}
    here, there = finding.get("line"), other.get("line") or finding.get("line")
    space = "shared" if finding.get("code") == "race-shared" else "global"
    writes: dict[tuple, Access] = {}
    reads: dict[tuple, Access] = {}
    for access in launch.accesses:
        if access.space != space or access.line.number not in (here, there):
            continue
        owner = access.block if space == "shared" else -1
        for lane, offset in zip(access.lanes, access.offsets, strict=True):
            key = (owner, access.array, offset)
            for earlier in (writes.get(key), reads.get(key) if access.kind != "load" else None):
                if earlier is None:
                    continue
                same_warp = (earlier.block, earlier.warp) == (access.block, access.warp)
                lines = {earlier.line.number, access.line.number}
                if lines == {here, there} and (not same_warp or earlier.at != access.at):
                    lanes = [
                        a
                        for a, o in zip(earlier.lanes, earlier.offsets, strict=True)
                        if o == offset
                    ]
                    if not same_warp:
                        return earlier, access
                    if lanes != [lane] and within is None:
                        within = earlier, access
            (reads if access.kind == "load" else writes)[key] = access
    return within


def figure(launch: Launch, finding: dict[str, Any] | None, theme: Theme) -> Figure | None:
    """One lane for each warp, time to the right; the blocks of the race, else the first one."""
    pair = racing(launch, finding) if finding else None
    blocks = sorted({a.block for a in pair}) if pair else [0]
    rows = sorted({(a.block, a.warp) for a in launch.accesses if a.block in blocks})
    if pair:
        keep = {(a.block, a.warp) for a in pair}
        rows = [r for r in rows if r in keep] + [r for r in rows if r not in keep]
        rows = sorted(rows[:_MOST_WARPS])
    rows = rows[:_MOST_WARPS]
    if not rows:
        return None
    accesses = [a for a in launch.accesses if (a.block, a.warp) in set(rows)]
    barriers = [b for b in launch.barriers if b.block in blocks]
    moments = sorted({e.at for e in [*accesses, *barriers]})
    if pair:  # the window round the race
        first = max(0, moments.index(pair[0].at) - _MOST_EVENTS // 4)
        last = min(len(moments), max(moments.index(pair[1].at) + 20, first + _MOST_EVENTS))
        moments = moments[first:last]
    else:
        moments = moments[:_MOST_EVENTS]
    x_of = {at: x for x, at in enumerate(moments)}
    made, axes = plt.subplots(figsize=(8.6, 1.9 + 0.36 * len(rows)))
    y_of = {row: len(rows) - 1 - y for y, row in enumerate(rows)}
    for row in rows:
        axes.axhline(y_of[row], color=theme.empty, lw=7, zorder=0, solid_capstyle="butt")
    seen = set()
    for access in accesses:
        if access.at not in x_of:
            continue
        mark, label = _MARKS[access.kind]
        shared = access.space == "shared"
        label = f"{label}, {access.space}"
        axes.plot(
            x_of[access.at], y_of[(access.block, access.warp)], mark, ms=5,
            color=theme.blocks[0] if shared else theme.partly, mec=theme.ink, mew=0.5,
            label=label if label not in seen else None,
        )  # fmt: skip
        seen.add(label)
    for barrier in barriers:
        if barrier.at not in x_of:
            continue
        ys = [y_of[(barrier.block, warp)] for warp, _, _ in barrier.arrivals
              if (barrier.block, warp) in y_of]  # fmt: skip
        if ys:
            axes.plot([x_of[barrier.at]] * 2, [min(ys) - 0.4, max(ys) + 0.4], color=theme.good,
                      lw=3, label="barrier" if "barrier" not in seen else None)  # fmt: skip
            seen.add("barrier")
    if pair:
        points = [(x_of[a.at], y_of[(a.block, a.warp)]) for a in pair if a.at in x_of]
        for (x, y), access, up in zip(points, pair, (0.62, -0.62), strict=False):
            axes.plot(x, y, "*", ms=15, color=theme.wrong, mec=theme.ink, mew=0.6, zorder=5)
            axes.annotate(
                f"line {access.line.number}: {access.kind}", (x, y), (x + 1.5, y + up),
                color=theme.wrong, weight="bold", size=9, zorder=6,
            )  # fmt: skip
        if len(points) == 2:
            axes.plot(*zip(*points, strict=True), color=theme.wrong, lw=1.4, ls="--", zorder=4)
    lines = sorted({a.line.number for a in accesses if a.at in x_of})
    axes.set_yticks(
        [y_of[row] for row in rows], [f"block {b}, warp {w}" for b, w in rows], size=8.5
    )
    axes.set_xticks([])
    axes.set_xlabel("order in which the emulator ran it  →   (a card may order warps in any way)")
    axes.set_xlim(-1, max(len(moments), 12))
    axes.set_ylim(-0.9, len(rows) - 0.1)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.14 - 0.25 / len(rows)), ncols=4,
                frameon=False, fontsize=8.5)  # fmt: skip
    words = (
        "the two starred accesses touch the same element, and nothing orders them"
        if pair
        else (f"lines {lines[0]} to {lines[-1]}" if lines else "")
    )
    axes.set_title(f"{launch.title()}: warps by time\n{words}", loc="left", size=10.5)
    made.tight_layout()
    return made
