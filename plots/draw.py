# SPDX-License-Identifier: MIT
"""Draws the pictures of the lessons into plots/figures, as SVG and PNG: python3 plots/draw.py 02

draw_NN.py hold the lessons' ideas, chart_*.py what was measured. A chart whose data have not been
measured yet is left out and named: no figure is drawn from invented numbers.
"""

from __future__ import annotations

import argparse
import importlib
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
            figure.savefig(arguments.out / f"{name}.svg", metadata={"Date": None})
            figure.savefig(arguments.out / f"{name}.png", dpi=110)
            plt.close(figure)


if __name__ == "__main__":
    main()
