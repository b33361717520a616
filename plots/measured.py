# SPDX-License-Identifier: MIT
"""Reading plots/data, and the look of charts that show measured numbers."""

from __future__ import annotations

import csv
import functools
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from style import FAINT, INK, PAPER

DATA = Path(__file__).resolve().parent / "data"
Row = dict[str, str]


class NoData(Exception):
    """A figure's numbers have not been measured yet; the text says where they would come from."""


@functools.cache
def _table(name: str, folder: Path) -> tuple[Row, ...]:
    try:
        with (folder / name).open(newline="", encoding="utf-8") as file:
            return tuple(csv.DictReader(line for line in file if not line.startswith("#")))
    except OSError as error:
        raise NoData(f"plots/data/{name} is missing") from error


def table(name: str, **wanted: str) -> list[Row]:
    """The rows of a table whose columns have these values; raises NoData where there is none."""
    rows = [row for row in _table(name, DATA) if all(row[k] == v for k, v in wanted.items())]
    if not rows:
        raise NoData(f"plots/data/{name} has no row with {wanted}")
    return rows


def head(name: str) -> str:
    """The comment that a table begins with: on what it was measured."""
    with (DATA / name).open(encoding="utf-8") as file:
        return file.readline().lstrip("# ").rstrip()


def bench(**wanted: str) -> list[Row]:
    """Rows of `make bench` whose results were right."""
    return table("bench.csv", right="yes", **wanted)


def one(rows: list[Row], **wanted: str) -> Row | None:
    """The first of `rows` with these values."""
    return next((row for row in rows if all(row[k] == v for k, v in wanted.items())), None)


def chart(width: float = 8.2, height: float = 4.2, columns: int = 1) -> tuple[Figure, list[Axes]]:
    """White paper, no upper and right edge, a faint grid behind the data."""
    figure, made = plt.subplots(
        1, columns, figsize=(width, height), facecolor=PAPER, layout="constrained", squeeze=False
    )
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.08)
    for axes in made[0]:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#DDDDDD", lw=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(colors=INK)
    return figure, list(made[0])


def sign(figure: Figure, text: str) -> None:
    """Below the figure: on what it was measured."""
    figure.supxlabel(text, size=8, color=FAINT, x=0.99, ha="right")


def machine(row: Row) -> str:
    """Card, driver, toolkit, day and commit of a row of `make bench`."""
    return (
        f"{row['gpu']}, driver {row['driver']}, CUDA {row['toolkit']}, "
        f"{row['date']}, commit {row['commit']}"
    )


def rate(row: Row) -> float:
    return float(row["gb_per_s"])


def rung_name(version: str) -> str:
    """`2_four_floats_each` as words."""
    number, _, words = version.partition("_")
    return words.replace("_", " ") if number.isdigit() and words else version
