# SPDX-License-Identifier: MIT
"""The figure of a ladder: one panel for each counter that changes from rung to rung, or a time."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

from ..base.project import ROOT, Lesson
from ..facts import counters
from ..running.timing import Timed

_MOST_PANELS = 6


def _style() -> Any:
    """The style module of plots/, whose shapes and colours the lessons' pictures have."""
    folder = str(ROOT / "plots")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    import style

    return style


def _rate(work: Timed | None, ceiling: float) -> str:
    if work is None:
        return "–"
    share = work.share_of(ceiling)
    return work.rate() + ("" if share is None else f", {share:.0%}")


def _panels(rungs: list[Any], rows: list[Any]) -> list[tuple[str, list[float], list[str], list]]:
    """Title, bar lengths, texts and whether each is on target. Times first, then counters."""
    panels: list[tuple[str, list[float], list[str], list]] = []
    timed = [rung.timing for rung in rungs]
    if all(timed):
        ceiling = max(t.ceiling for t in timed)
        for name in dict.fromkeys(work.name for t in timed for work in t.workloads):
            works = [next((w for w in t.workloads if w.name == name), None) for t in timed]
            unit = next((w.unit for w in works if w), "")
            rates = [(w.made / w.median if unit else w.gigabytes_per_second)
                     if w and w.median else 0.0 for w in works]  # fmt: skip
            texts = [_rate(work, ceiling) for work in works]
            title = f"{unit} per second" if unit else "share of the copy bandwidth"
            panels.append((f"{name}: {title}", rates, texts, [None] * len(rates)))
    seen = set()
    for case, lines in rows:
        right = [
            next((r.values_right for r in rung.grade.counted if r.case.name == case.name), None)
            for rung in rungs
        ]
        for name, values in lines:
            if len({*values}) < 2 or (name, tuple(values)) in seen:
                continue
            seen.add((name, tuple(values)))
            bars = [float(value or 0) for value in values]
            texts = ["–" if value is None else f"{value:,}" for value in values]
            title = f"{counters.words(name)}\n" + textwrap.shorten(case.title, 52, placeholder=" …")
            panels.append((title, bars, texts, right))

    # Keeps the counters with the widest ratios, in the order of the lesson.
    def ratio(panel: tuple) -> float:
        positive = [value for value in panel[1] if value > 0]
        return max(panel[1]) / min(positive) if positive else 1.0

    kept = sorted(panels, key=ratio, reverse=True)[:_MOST_PANELS]
    return [panel for panel in panels if panel in kept]


def draw(
    lesson: Lesson, rungs: list[Any], rows: list[Any], folder: Path, name: str = ""
) -> list[Path]:
    """Writes demo_NN (or `name`) as .svg and .png into `folder`; no path without a panel."""
    style = _style()
    import matplotlib.pyplot as plt

    panels = _panels(rungs, rows)
    if not panels:
        return []
    columns = 1 if len(panels) == 1 else 2
    lines = -(-len(panels) // columns)
    names = [rung.name for rung in rungs]
    with plt.rc_context(style.STYLE):
        height = lines * (0.9 + 0.34 * len(names)) + 0.5
        figure, grid = plt.subplots(
            lines, columns, figsize=(5.2 * columns, height), facecolor=style.PAPER, squeeze=False
        )
        for axes in grid.flat[len(panels) :]:
            axes.axis("off")
        for axes, (title, bars, texts, right) in zip(grid.flat, panels, strict=False):
            places = list(range(len(names)))[::-1]
            positive = [bar for bar in bars if bar > 0]
            log = bool(positive) and max(positive) / min(positive) > 50
            shown = axes.barh(places, bars, color=style.BLOCKS[0], edgecolor=style.INK, height=0.62)
            for bar, good in zip(shown, right, strict=True):
                if good is False:
                    bar.set_facecolor(style.BLOCKS[1])
                    bar.set_hatch("////")
            if log:
                axes.set_xscale("log")
                axes.set_xlim(min(positive) / 3, max(positive) * 12)
            else:
                axes.set_xlim(0, max([*bars, 1]) * 1.3)
            for place, bar, text in zip(places, bars, texts, strict=True):
                axes.annotate(
                    text, (max(bar, axes.get_xlim()[0]), place), xytext=(4, 0),
                    textcoords="offset points", va="center", color=style.INK, size=9,
                )  # fmt: skip
            axes.set_yticks(places, names if axes.get_subplotspec().colspan.start == 0 else [])
            axes.set_title(title + ("  (log scale)" if log else ""), size=9.5, loc="left")
            axes.tick_params(axis="x", labelsize=8, colors=style.FAINT)
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)
        figure.suptitle(
            f"Lesson {lesson.number} · {lesson.title}"
            + ("    (hatched: misses the target of this case)" if rows else ""),
            x=0.01, ha="left", size=10.5,
        )  # fmt: skip
        figure.tight_layout(rect=(0, 0, 1, 0.98))
        folder.mkdir(parents=True, exist_ok=True)
        files = [folder / f"{name or f'demo_{lesson.number}'}.{kind}" for kind in ("svg", "png")]
        figure.savefig(files[0], metadata={"Date": None})
        figure.savefig(files[1], dpi=110)
        plt.close(figure)
    return files
