# SPDX-License-Identifier: MIT
"""Draws the pictures of the lessons into plots/figures, as SVG and PNG: python3 plots/draw.py 02"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import matplotlib.pyplot as plt
from draw_18 import lesson_18_tree_reduction
from draw_20 import lesson_20_histogram_rows_vs_atomics, lesson_20_spectrum
from draw_lessons import (
    STYLE,
    lesson_01_indexing_1d,
    lesson_02_boundary_checks,
    lesson_14_shared_memory_barriers,
    lesson_22_rng_seeding,
)
from matplotlib.figure import Figure

LESSONS: dict[str, Callable[[], Figure]] = {
    "01_indexing_1d": lesson_01_indexing_1d,
    "02_boundary_checks": lesson_02_boundary_checks,
    "14_shared_memory_barriers": lesson_14_shared_memory_barriers,
    "18_tree_reduction": lesson_18_tree_reduction,
    "20_histogram_rows_vs_atomics": lesson_20_histogram_rows_vs_atomics,
    "20_spectrum": lesson_20_spectrum,
    "22_rng_seeding": lesson_22_rng_seeding,
}


def main() -> None:
    """Draws the lessons named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lessons", nargs="*", help="numbers or names; default: all")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "figures")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    chosen = [
        name
        for name in LESSONS
        if not arguments.lessons or any(name.startswith(word) for word in arguments.lessons)
    ]
    if not chosen:
        parser.error(f"no such lesson; there are {', '.join(LESSONS)}")
    for name in chosen:
        with plt.rc_context(STYLE):
            figure = LESSONS[name]()
            figure.savefig(arguments.out / f"{name}.svg", metadata={"Date": None})
            figure.savefig(arguments.out / f"{name}.png", dpi=110)
            plt.close(figure)


if __name__ == "__main__":
    main()
