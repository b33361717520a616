# SPDX-License-Identifier: MIT
"""The picture of lesson 10: two particles in the detector, and how accurate two formulas are."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from style import BLOCKS, FAINT, INK, PAPER, WRONG, arrow


def worst_errors(openings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The largest relative error of 4000 pairs for each opening, computed in float32."""
    rng = np.random.default_rng(10)
    textbook, halved = [], []
    for opening in openings:
        turn = rng.uniform(0, 2 * np.pi, 4000)
        eta1, phi1 = rng.uniform(-2, 2, (2, 4000)).astype(np.float32)
        eta2 = (eta1 + opening * np.cos(turn)).astype(np.float32)
        phi2 = (phi1 + opening * np.sin(turn)).astype(np.float32)
        deta, dphi = eta1 - eta2, phi1 - phi2
        exact_deta = eta1.astype(np.float64) - eta2
        exact_dphi = phi1.astype(np.float64) - phi2
        true = 2 * np.hypot(np.sinh(exact_deta / 2), np.sin(exact_dphi / 2))
        plain = np.sqrt(np.float32(2) * (np.cosh(deta) - np.cos(dphi)))
        half = np.float32(0.5)
        good = np.float32(2) * np.sqrt(np.sinh(half * deta) ** 2 + np.sin(half * dphi) ** 2)
        textbook.append(np.abs(plain / true - 1).max())
        halved.append(np.abs(good / true - 1).max())
    return np.array(textbook), np.array(halved)


def detector(axes: Axes) -> None:
    """A cross section: the beam comes out of the page, two muons leave the middle."""
    axes.set_xlim(-1.5, 1.5)
    axes.set_ylim(-1.45, 1.55)
    axes.set_aspect("equal")
    axes.axis("off")
    for radius in (0.35, 1.0):
        axes.add_patch(plt.Circle((0, 0), radius, fill=False, color=FAINT, lw=0.8))
    for angle, colour, name in ((0.5, BLOCKS[0], "muon 1"), (2.1, BLOCKS[1], "muon 2")):
        tip = (1.25 * np.cos(angle), 1.25 * np.sin(angle))
        arrow(axes, (0, 0), tip, colour)
        axes.text(tip[0] + 0.12, tip[1] + 0.1, name, ha="center", color=INK, size=9.5)
    sweep = np.linspace(0.5, 2.1, 40)
    axes.plot(0.55 * np.cos(sweep), 0.55 * np.sin(sweep), color=INK, lw=1)
    axes.text(-0.12, 0.66, "φ1 − φ2", color=INK, size=9.5)
    axes.text(0, -0.62, "η: along the beam,\nout of the page", ha="center", color=FAINT, size=9)
    axes.text(0, -1.4, "pt: the length of an arrow", ha="center", color=FAINT, size=9)


def lesson_10_device_functions_z_mass() -> Figure:
    """Left: what pt, eta and phi are. Right: worst relative error against the opening angle."""
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(8.2, 3.9), facecolor=PAPER, width_ratios=[1, 1.75]
    )
    detector(left)
    openings = np.logspace(0, -4.5, 46)
    textbook, halved = worst_errors(openings)
    right.loglog(openings, textbook, color=WRONG, lw=1.8, marker="o", ms=3)
    right.loglog(openings, halved, color=BLOCKS[0], lw=1.8, marker="s", ms=3)
    right.axhline(1e-6, color=FAINT, lw=0.8, ls=":")
    right.text(1.5e-3, 1.3e-6, "asked for: 1e-6", color=FAINT, size=9)
    right.text(0.035, 2.2e-4, "cosh − cos", color=WRONG, size=10.5, ha="right")
    right.text(0.02, 2.6e-7, "sinh² + sin² of the halves", color=INK, size=10.5, ha="left")
    right.text(1.1e-4, 0.12, "mass 0:\nno digit left", color=WRONG, size=9, ha="center")
    right.set_xlim(1.3, 2.2e-5)
    right.set_ylim(3e-8, 5)
    right.set_xlabel("opening angle of the two particles")
    right.set_ylabel("worst relative error of the mass, float")
    right.spines[["top", "right"]].set_visible(False)
    figure.subplots_adjust(0.01, 0.14, 0.985, 0.97, wspace=0.22)
    return figure


FIGURES = {"10_device_functions_z_mass": lesson_10_device_functions_z_mass}
