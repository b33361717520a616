# SPDX-License-Identifier: MIT
"""The pictures of lesson 38: how dual numbers go through a formula, how accurate differences are,
and the path of gradient descent in Rosenbrock's valley."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from style import BLOCKS, EMPTY, FAINT, INK, PAPER, WRONG, arrow, cell, label


def number(axes: Axes, x: float, y: float, name: str, parts: list[str]) -> None:
    """A dual number: value, tangent by x, tangent by y, side by side, and its name above."""
    width = 1.9
    for k, (text, colour) in enumerate(zip(parts, (EMPTY, BLOCKS[0], BLOCKS[1]), strict=True)):
        cell(axes, x + k * width, y, text, colour, None, width)
    label(axes, x + 1.5 * width, y + 1.4, name, size=9.5, ha="center", va="center")


def through_a_formula(axes: Axes) -> None:
    """x = 2 and y = 3 on their way through x y + sin x."""
    axes.set_xlim(-0.3, 15.4)
    axes.set_ylim(0, 14.2)
    axes.set_aspect("equal")
    axes.axis("off")
    sine, cosine = np.sin(2.0), np.cos(2.0)
    number(axes, 0.2, 11.4, "x", ["2", "1", "0"])
    number(axes, 9.0, 11.4, "y", ["3", "0", "1"])
    number(axes, 9.0, 6.4, "x · y", ["6", "3", "2"])
    number(axes, 0.2, 6.4, "sin x", [f"{sine:.2f}", f"{cosine:.2f}", "0"])
    number(axes, 4.6, 1.6, "x y + sin x", [f"{6 + sine:.2f}", f"{3 + cosine:.2f}", "2"])
    arrow(axes, (2.6, 11.3), (2.6, 8.3), INK)
    arrow(axes, (4.2, 11.3), (10.6, 8.3), INK)
    arrow(axes, (11.9, 11.3), (11.9, 8.3), INK)
    arrow(axes, (2.9, 6.3), (6.2, 3.5), INK)
    arrow(axes, (11.7, 6.3), (8.7, 3.5), INK)
    names = ["value", "by x", "by y"]
    for k, text in enumerate(names):
        label(axes, 4.6 + (k + 0.5) * 1.9, 0.9, text, size=9, color=FAINT, ha="center")


def worst_errors(steps: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Largest errors of the derivative of x sin x in [1, 2] in float, as shares of its largest."""
    x = np.linspace(1, 2, 2001, dtype=np.float32)

    def f(at: np.ndarray) -> np.ndarray:
        return at * np.sin(at)

    wide = x.astype(np.float64)
    exact = np.sin(wide) + wide * np.cos(wide)
    largest = np.abs(exact).max()
    one_sided, central = [], []
    for step in steps:
        h = np.float32(step)
        right, left = x + h, x - h
        forward = (f(right) - f(x)) / (right - x)  # with the step that was really taken
        both = (f(right) - f(left)) / (right - left)
        one_sided.append(np.abs(forward - exact).max() / largest)
        central.append(np.abs(both - exact).max() / largest)
    dual = x * np.cos(x) + np.sin(x)
    return np.array(one_sided), np.array(central), float(np.abs(dual - exact).max() / largest)


def lesson_38_autodiff_dual() -> Figure:
    """Left: three dual numbers meet. Right: the error of differences for each step."""
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(8.8, 3.9), facecolor=PAPER, width_ratios=[1.15, 1]
    )
    through_a_formula(left)
    steps = np.logspace(-0.5, -6, 45)
    one_sided, central, dual = worst_errors(steps)
    right.loglog(steps, one_sided, color=BLOCKS[1], lw=1.8, marker="o", ms=3)
    right.loglog(steps, central, color=WRONG, lw=1.8, marker="s", ms=3)
    right.axhline(dual, color=BLOCKS[0], lw=2.2)
    right.text(1.3e-6, dual * 1.35, "dual numbers", color=INK, size=10, ha="right")
    right.text(0.12, 0.3, "one-sided", color=INK, size=10, ha="left")
    right.text(0.03, 5e-6, "central", color=WRONG, size=10, ha="right")
    right.set_xlim(0.5, 7e-7)
    right.set_ylim(2e-8, 3)
    right.set_xlabel("step h")
    right.set_ylabel("worst error of df/dx, float")
    right.spines[["top", "right"]].set_visible(False)
    figure.subplots_adjust(0.0, 0.14, 0.97, 0.97, wspace=0.2)
    return figure


def descent(x: float, y: float, steps: int, rate: float) -> np.ndarray:
    """The points of gradient descent in Rosenbrock's valley."""
    path = [(x, y)]
    for _ in range(steps):
        a, b = 1 - x, y - x * x
        x, y = x - rate * (-2 * a - 400 * x * b), y - rate * 200 * b
        path.append((x, y))
    return np.array(path)


def lesson_38_valley() -> Figure:
    """The path from (-0.5, 1.5), a wall of the valley: 1000 steps of 0.001."""
    figure, axes = plt.subplots(figsize=(7.4, 3.6), facecolor=PAPER)
    xs, ys = np.meshgrid(np.linspace(-1.5, 1.5, 400), np.linspace(-0.4, 1.7, 300))
    f = (1 - xs) ** 2 + 100 * (ys - xs * xs) ** 2
    levels = [0.05, 0.4, 2, 8, 32, 100, 200, 400]
    axes.contour(xs, ys, f, levels=levels, colors=FAINT, linewidths=0.6, alpha=0.8)
    path = descent(-0.5, 1.5, 1000, 0.001)
    axes.plot(path[:, 0], path[:, 1], color=BLOCKS[0], lw=2.2)
    hundreds = path[100::100]
    axes.plot(hundreds[:, 0], hundreds[:, 1], ls="", marker="o", color=BLOCKS[0], ms=5, mec=INK)
    axes.plot(*path[0], marker="s", color=BLOCKS[0], ms=7, mec=INK)
    axes.plot(1, 1, marker="*", color=WRONG, ms=13, mec=INK)
    backing = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.2}
    axes.text(1.08, 0.8, "lowest point", color=INK, size=9.5, bbox=backing)
    axes.text(-0.45, 1.52, "start", color=INK, size=9.5, bbox=backing)
    axes.text(-0.99, 1.27, "3 steps", color=INK, size=9.5, ha="right", bbox=backing)
    axes.text(-1.01, 0.84, "100 steps", color=INK, size=9.5, ha="right", bbox=backing)
    axes.text(path[-1][0] + 0.06, -0.07, "1000 steps", color=INK, size=9.5, bbox=backing)
    axes.set_xlabel("x")
    axes.set_ylabel("y")
    axes.spines[["top", "right"]].set_visible(False)
    figure.subplots_adjust(0.105, 0.14, 0.985, 0.97)
    return figure


FIGURES = {
    "38_autodiff_dual": lesson_38_autodiff_dual,
    "38_valley": lesson_38_valley,
}
