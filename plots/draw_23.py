# SPDX-License-Identifier: MIT
"""The picture of lesson 23: points in the square, and an estimate whose error bar shrinks."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from style import FAINT, INK, PAPER, WRONG

RADIUS = 1 << 15
INSIDE = "#0072B2"


def points(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """x and y of the samples 0 to n - 1, with the Philox4x32-10 of the lesson; n is even by 4."""
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    x = np.arange(n // 4, dtype=np.uint64)
    y, z, w = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    key_x, key_y = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * x, np.uint64(0xCD9E8D57) * z
        x, y, z, w = (
            (second >> half) ^ y ^ np.uint64(key_x),
            second & low,
            (first >> half) ^ w ^ np.uint64(key_y),
            first & low,
        )
        key_x, key_y = (key_x + 0x9E3779B9) & 0xFFFFFFFF, (key_y + 0xBB67AE85) & 0xFFFFFFFF
    words = np.stack([x, y, z, w], axis=1).reshape(-1)
    halves = [(words & np.uint64(0xFFFF)), (words >> np.uint64(16))]
    return tuple(part.astype(np.uint16).astype(np.int16).astype(np.int64) for part in halves)


def lesson_23_monte_carlo_pi() -> Figure:
    """The first 1000 points of seed 12345, and pi with its sigma from 2^6 to 2^20 samples."""
    x, y = points(12345, 1 << 20)
    hit = x * x + y * y < RADIUS * RADIUS
    figure, (square, curve) = plt.subplots(
        1, 2, figsize=(8.6, 4.1), facecolor=PAPER, width_ratios=[1, 1.25]
    )
    shown = 1000
    for mask, colour, marker in ((hit[:shown], INSIDE, "o"), (~hit[:shown], WRONG, "x")):
        square.scatter(
            x[:shown][mask], y[:shown][mask], s=7, color=colour, marker=marker, linewidths=0.7
        )
    square.add_patch(Circle((0, 0), RADIUS, fill=False, edgecolor=INK, linewidth=1.2))
    square.set_xlim(-RADIUS, RADIUS)
    square.set_ylim(-RADIUS, RADIUS)
    square.set_aspect("equal")
    square.set_xticks([-RADIUS, 0, RADIUS], ["-32768", "0", "32768"])
    square.set_yticks([-RADIUS, 0, RADIUS], ["-32768", "0", "32768"])
    inside = int(hit[:shown].sum())
    square.set_title(
        f"{inside} of {shown} hit: 4 · {inside / shown:.3f} = {4 * inside / shown:.3f}", size=10.5
    )

    sizes = [1 << k for k in range(6, 21, 2)]
    estimates = [4 * float(hit[:n].mean()) for n in sizes]
    sigmas = [(p * (4 - p) / n) ** 0.5 for p, n in zip(estimates, sizes, strict=True)]
    curve.axhline(np.pi, color=INK, linewidth=1.0)
    curve.text(1.4e6, np.pi + 0.012, "pi", color=INK, ha="right")
    many = np.geomspace(40, 1.6e6, 200)
    true_sigma = np.sqrt(np.pi * (4 - np.pi) / many)
    curve.fill_between(many, np.pi - true_sigma, np.pi + true_sigma, color="#E3E3E3", linewidth=0)
    curve.errorbar(
        sizes, estimates, sigmas, fmt="o", markersize=4, color=INSIDE, capsize=3, linewidth=1.2
    )
    curve.set_xscale("log", base=2)
    curve.set_xlim(40, 1.6e6)
    curve.set_ylim(2.85, 3.45)
    curve.set_xlabel("samples n")
    curve.set_ylabel("estimate ± sigma")
    curve.set_title("4 times the samples, half the error bar", size=10.5)
    curve.text(110, 2.88, "grey: pi ± sigma, sigma = 1.64 / sqrt(n)", color=FAINT, size=9)
    figure.subplots_adjust(0.08, 0.12, 0.985, 0.92, 0.24)
    return figure


FIGURES = {"23_monte_carlo_pi": lesson_23_monte_carlo_pi}
