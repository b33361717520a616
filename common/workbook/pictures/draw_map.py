# SPDX-License-Identifier: MIT
"""Maps over an array or matrix: which elements are wrong, and which thread wrote each."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle

from ..diagnose.arrays import Compared, Writer
from .theme import Theme

__all__ = ["Compared", "Writer", "errors", "owners", "sample"]

_MOST_CELLS = 64 * 64


def _layout(c: Compared) -> tuple[int, int, int]:
    """Columns, rows, and elements in a cell."""
    if c.columns and c.size % c.columns == 0 and c.size <= _MOST_CELLS:
        return c.columns, c.size // c.columns, 1
    columns = 32 if c.kept <= 32 * 32 else 64
    step = max(1, -(-c.kept // _MOST_CELLS))
    return columns, -(-c.kept // (columns * step)), step


def _frame(axes: Axes, c: Compared, columns: int, rows: int, step: int, theme: Theme) -> None:
    axes.set_xlim(-0.2, columns + 0.2)
    axes.set_ylim(rows + 0.2, -0.2)
    axes.set_aspect("equal" if rows * 3 > columns else "auto")
    marks = range(0, columns, max(1, columns // 8))
    axes.set_xticks([m + 0.5 for m in marks], [str(m * step) for m in marks], size=8)
    marks = range(0, rows, max(1, rows // 12))
    if c.columns:
        axes.set_yticks([m + 0.5 for m in marks], [str(m) for m in marks], size=8)
        axes.set_xlabel("column")
        axes.set_ylabel("row")
    else:
        axes.set_yticks([m + 0.5 for m in marks], [str(m * columns * step) for m in marks], size=8)
        axes.set_ylabel("element")
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def errors(c: Compared, theme: Theme, said: str = "") -> Figure | None:
    """Every element: right, wrong, or never written."""
    if not c.kept:
        return None
    columns, rows, step = _layout(c)
    untouched = c.untouched()
    made, axes = plt.subplots(figsize=(7.6, min(9.0, 2.1 + 7.0 * rows / columns)))
    kinds = set()
    for cell in range(-(-c.kept // step)):
        part = slice(cell * step, (cell + 1) * step)
        bad, never = c.bad[part].any(), untouched[part].any()
        kind = "never" if never else "wrong" if bad else "right"
        kinds.add(kind)
        colour = {"right": theme.empty, "wrong": theme.wrong, "never": theme.partly}[kind]
        axes.add_patch(
            Rectangle(
                (cell % columns, cell // columns), 1, 1, facecolor=colour,
                edgecolor=theme.paper, lw=0.4,
                hatch={"wrong": "xx", "never": "///"}.get(kind) if columns <= 32 else None,
            )
        )  # fmt: skip
    _frame(axes, c, columns, rows, step, theme)
    names = {"right": "right", "wrong": "wrong", "never": "wrong, and no thread wrote it"}
    hatches = {"wrong": "xx", "never": "///"}
    colours = {"right": theme.empty, "wrong": theme.wrong, "never": theme.partly}
    axes.legend(
        handles=[Patch(facecolor=colours[k], hatch=hatches.get(k), label=names[k],
                       edgecolor=theme.ink) for k in names if k in kinds],
        loc="upper left", bbox_to_anchor=(0, -0.02), ncols=3, frameon=False, fontsize=9,
    )  # fmt: skip
    title = f"{c.wrong} of {c.size} elements are wrong"
    if step > 1:
        title += f" (each cell stands for {step})"
    axes.set_title(title + (f"\n{said}" if said else ""), loc="left", size=10.5, pad=28, wrap=True)
    made.tight_layout()
    return made


def owners(c: Compared, theme: Theme) -> Figure | None:
    """Which thread wrote each element, coloured by block; None where that is not known of all."""
    if not c.whole or len(c.writers) < c.size or c.size > 1024:
        return None
    if not any(w.by == "kernel" for w in c.writers.values()):
        return None
    columns, rows, _ = _layout(c)
    blocks = sorted({w.block for w in c.writers.values() if w.by == "kernel"})
    number = {block: at for at, block in enumerate(blocks)}
    made, axes = plt.subplots(figsize=(8.4, min(9.5, 2.2 + 7.6 * rows / columns)))
    flat = all(w.thread[1] == w.thread[2] == 0 for w in c.writers.values())
    for index in range(c.size):
        writer = c.writers[index]
        x, y = index % columns, index // columns
        bad = bool(c.bad[index])
        kernel = writer.by == "kernel"
        colour = theme.blocks[number[writer.block] % len(theme.blocks)] if kernel else theme.paper
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor=theme.paper, lw=0.5,
                                 hatch=None if kernel else "..."))  # fmt: skip
        if bad:
            axes.add_patch(Rectangle((x + 0.06, y + 0.06), 0.88, 0.88, fill=False,
                                     edgecolor=theme.wrong, lw=1.6))  # fmt: skip
        if kernel and columns <= 40:
            text = str(writer.thread[0]) if flat else f"{writer.thread[0]},{writer.thread[1]}"
            axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", color="#1A1A1A",
                      size=min(7.0, 190.0 / columns / (1.0 if flat else 1.7)))  # fmt: skip
    _frame(axes, c, columns, rows, 1, theme)
    shown = blocks[: len(theme.blocks)]
    handles = [
        Patch(
            facecolor=theme.blocks[at % len(theme.blocks)], label="block " + ",".join(map(str, b))
        )
        for at, b in enumerate(shown)
    ]
    if len(blocks) > len(shown):
        handles[-1].set_label(handles[-1].get_label() + " ...")
    if any(w.by != "kernel" for w in c.writers.values()):
        handles.append(Patch(facecolor=theme.paper, hatch="...", edgecolor=theme.ink,
                             label="no thread"))  # fmt: skip
    if c.bad.any():
        handles.append(Patch(facecolor=theme.paper, edgecolor=theme.wrong, lw=1.6, label="wrong"))
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, -0.02), ncols=4,
                frameon=False, fontsize=9)  # fmt: skip
    what = "threadIdx.x" if flat else "threadIdx.x, threadIdx.y"
    axes.set_title(f"Who wrote each element: {what}, coloured by block", loc="left", size=10.5,
                   pad=28)  # fmt: skip
    made.tight_layout()
    return made


def sample(size: int, wrong: np.ndarray, columns: int = 0) -> Compared:
    """A comparison for drawings that stand for no run (plots/)."""
    got = wrong.astype(float)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], wrong.astype(int), [0]])))
    ranges = list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
    return Compared("element", size, columns, int(wrong.sum()), ranges, got, got * 0, wrong)
