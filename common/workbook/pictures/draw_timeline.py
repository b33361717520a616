# SPDX-License-Identifier: MIT
"""The model timeline of an answer: rows for the host and each device's streams, bars for work."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from .theme import Theme

_MOST_ROWS, _MOST_BARS = 14, 400
_HOST = (-1, -1)
_DARK = ("#009E73", "#0072B2")  # bars on which white letters are read better


def _looks(theme: Theme) -> dict[str, tuple[str, str, str]]:
    """Kind -> colour, hatch and words."""
    return {
        "up": (theme.blocks[0], "", "copy to the device"),
        "kernel": (theme.good, "", "kernel"),
        "down": (theme.blocks[1], "", "copy to the host"),
        "on_device": (theme.blocks[3], "", "copy on the device"),
        "fill": (theme.blocks[4], "", "fill"),
        "wait": (theme.empty, "////", "the host waits"),
    }


_Row = tuple[int, int]  # a device and one of its streams


def _row(one: dict[str, Any]) -> _Row:
    return one.get("device", 0), one["stream"]


def _rows(intervals: list[dict[str, Any]]) -> list[_Row]:
    """By device, streams in the order in which they get work; the default stream comes first."""
    found = list(dict.fromkeys(_row(one) for one in intervals if one["kind"] != "wait"))
    return sorted(found, key=lambda row: (row[0], row[1] != 0))


def _names(rows: list[_Row]) -> list[str]:
    """`stream 3`; with several devices `device 1, stream 3`."""
    several = len({device for device, _ in rows}) > 1
    return [
        (f"device {device}, " if several else "")
        + ("default stream" if stream == 0 else f"stream {stream}")
        for device, stream in rows
    ]


def _unit(longest: int) -> tuple[float, str]:
    return (1e3, "µs") if longest < 10_000_000 else (1e6, "ms")


def figure(intervals: list[dict[str, Any]], returned: int, title: str, theme: Theme) -> Figure:
    """Time to the right. A number in a bar is the line of the call; red frames: not pinned."""
    intervals = intervals[:_MOST_BARS]
    streams = _rows(intervals)
    left_out = max(0, len(streams) - _MOST_ROWS)
    streams = streams[:_MOST_ROWS]
    y_of = {_HOST: len(streams)} | {s: len(streams) - 1 - i for i, s in enumerate(streams)}
    longest = max([1, returned, *(one["end"] for one in intervals)])
    scale, unit = _unit(longest)
    looks = _looks(theme)
    made, axes = plt.subplots(figsize=(8.6, 1.9 + 0.42 * (len(streams) + 1)))
    for y in y_of.values():
        axes.axhline(y, color=theme.empty, lw=1, zorder=0)
    seen: dict[str, Patch] = {}
    for one in intervals:
        row = _HOST if one["kind"] == "wait" else _row(one)
        if row not in y_of or one["kind"] not in looks:
            continue
        colour, hatch, words = looks[one["kind"]]
        if one.get("pageable"):
            edge, width = theme.wrong, 2.2
            seen["pageable"] = Patch(fc=theme.paper, ec=edge, lw=width, label="memory not pinned")
        else:
            edge, width = theme.ink, 0.6
        begin, length = one["begin"] / scale, (one["end"] - one["begin"]) / scale
        axes.barh(y_of[row], length, 0.62, begin, color=colour, ec=edge, lw=width, hatch=hatch)
        seen.setdefault(
            one["kind"], Patch(fc=colour, ec=theme.ink, lw=0.6, hatch=hatch, label=words)
        )
        if one.get("line") and length * scale > longest / 36:
            waits = one["kind"] == "wait"
            ink = "#FFFFFF" if colour in _DARK else theme.ink if waits else "#1A1A1A"
            backing = {"facecolor": colour, "edgecolor": "none", "pad": 1.2} if waits else None
            axes.text(
                begin + length / 2, y_of[row] - 0.02, str(one["line"]), size=7.5, ha="center",
                va="center", color=ink, bbox=backing, zorder=6,
            )  # fmt: skip
    top = len(streams) + 0.45
    axes.plot([returned / scale] * 2, [-0.45, top], color=theme.wrong, lw=1.6, ls="--", zorder=5)
    axes.text(
        returned / scale, top + 0.05, "the call returns ", color=theme.wrong, size=8.5, ha="right",
        va="bottom",
    )  # fmt: skip
    names = _names(streams)
    axes.set_yticks([y_of[_HOST], *(y_of[s] for s in streams)], ["host", *names], size=8.5)
    axes.set_xlim(0, longest / scale * 1.02)
    axes.set_ylim(-0.7, top + 0.35)
    axes.set_xlabel(f"{unit} by the model of the emulated device, not measured on a card")
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    order = [*looks, "pageable"]
    handles = [seen[kind] for kind in order if kind in seen]
    axes.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(0, -0.16 - 0.5 / (len(streams) + 1)),
        ncols=5, frameon=False, fontsize=8.5,
    )  # fmt: skip
    more = f", {left_out} more streams are not drawn" if left_out else ""
    axes.set_title(
        f"{title}\nthe number in a bar is the line of the call{more}", loc="left", size=10.5
    )
    made.tight_layout()
    return made
