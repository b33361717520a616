# SPDX-License-Identifier: MIT
"""Draws the pictures of the lessons into plots/figures, as SVG: python3 plots/draw.py 02

draw_NN.py hold the lessons' ideas, chart_*.py what was measured. A chart whose data have not been
measured yet is left out and named: no figure is drawn from invented numbers.
"""

from __future__ import annotations

import argparse
import importlib
import io
import re
from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from measured import NoData
from style import STYLE


def figures() -> dict[str, Callable[[], Figure]]:
    """The drawing functions by file name: FIGURES of draw_NN.py and chart_*.py beside this file."""
    found: dict[str, Callable[[], Figure]] = {}
    here = Path(__file__).parent
    for path in sorted([*here.glob("draw_*.py"), *here.glob("chart_*.py")]):
        found.update(importlib.import_module(path.stem).FIGURES)
    return found


def with_short_paths(svg: str) -> str:
    """The same drawing with each path on one line: Matplotlib starts a line for each vertex."""
    paths = re.compile(r'(<path [^>]*?\bd=")([^"]*)"')
    return paths.sub(lambda found: found[1] + " ".join(found[2].split()) + '"', svg)


def svg_of(figure: Figure) -> str:
    """The text of the figure's file, the same on every run; call it inside rc_context(STYLE)."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    return with_short_paths(text.getvalue())


def main() -> None:
    """Draws the lessons named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lessons", nargs="*", help="numbers or names; default: all")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "figures")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    known = figures()
    chosen = [
        name
        for name in known
        if not arguments.lessons or any(name.startswith(word) for word in arguments.lessons)
    ]
    if not chosen:
        parser.error(f"no such lesson; there are {', '.join(known)}")
    for name in chosen:
        with plt.rc_context(STYLE):
            try:
                figure = known[name]()
            except NoData as missing:
                print(f"left out: {name}: {missing}")
                continue
            (arguments.out / f"{name}.svg").write_text(svg_of(figure), encoding="utf-8")
            plt.close(figure)


if __name__ == "__main__":
    main()
