# SPDX-License-Identifier: MIT
"""Colours of the pictures, light and dark. Okabe and Ito's palette, for any kind of colour vision;
every difference also has a hatch, a shape or a word of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.figure import Figure


@dataclass(frozen=True)
class Theme:
    """Paper and ink, and what stands for good, partly used, wrong and empty."""

    name: str
    paper: str
    ink: str
    faint: str
    empty: str
    good: str = "#009E73"
    partly: str = "#E69F00"
    wrong: str = "#D55E00"
    blocks: tuple[str, ...] = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#0072B2")


LIGHT = Theme("light", "#FFFFFF", "#1A1A1A", "#6B6B6B", "#EDEDED")
DARK = Theme("dark", "#15181C", "#ECECEC", "#A0A0A0", "#343A41", good="#2BC29A", wrong="#FF7A33")


@contextmanager
def drawing(theme: Theme) -> Iterator[None]:
    """Inside, new figures have the theme's colours and reproducible SVG."""
    style = {
        "font.family": "DejaVu Sans", "font.size": 10, "svg.fonttype": "none",
        "svg.hashsalt": "workbook", "hatch.linewidth": 0.7,
        "figure.facecolor": theme.paper, "axes.facecolor": theme.paper,
        "savefig.facecolor": theme.paper, "text.color": theme.ink, "axes.labelcolor": theme.ink,
        "axes.edgecolor": theme.faint, "xtick.color": theme.faint, "ytick.color": theme.faint,
        "hatch.color": theme.ink,
    }  # fmt: skip
    with plt.rc_context(style):
        yield


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """name.svg and name.png in `folder`; closes the figure."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}.svg", folder / f"{name}.png"]
    figure.savefig(files[0], metadata={"Date": None})
    figure.savefig(files[1], dpi=110)
    plt.close(figure)
    return files
