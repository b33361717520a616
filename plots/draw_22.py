# SPDX-License-Identifier: MIT
"""The picture of lesson 22."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from style import INK, PAPER, WRONG


def philox_word(seed: int, stream: int, position: int) -> int:
    """One word of Philox4x32-10, addressed as lesson 22 does."""
    low = 0xFFFFFFFF
    index = position // 4
    x, y, z, w = index & low, index >> 32, stream & low, stream >> 32
    key_x, key_y = seed & low, seed >> 32
    for _ in range(10):
        first, second = 0xD2511F53 * x, 0xCD9E8D57 * z
        x, y, z, w = second >> 32 ^ y ^ key_x, second & low, first >> 32 ^ w ^ key_y, first & low
        key_x, key_y = (key_x + 0x9E3779B9) & low, (key_y + 0xBB67AE85) & low
    return (x, y, z, w)[position % 4]


def lesson_22_rng_seeding() -> Figure:
    """Draw 5 of 400 streams against the same draw of the next stream: two ways to seed."""
    streams, position, seed = 400, 5, 2024

    def congruential(thread: int) -> float:
        state = thread
        for _ in range(position + 1):
            state = (1103515245 * state + 12345) % 2**31
        return state / 2**31

    rows = {
        "classic rule, seed = thread number": [congruential(s) for s in range(streams + 1)],
        "Philox, one seed, stream = thread number": [
            philox_word(seed, s, position) / 2**32 for s in range(streams + 1)
        ],
    }
    figure, panels = plt.subplots(1, 2, figsize=(8.2, 4.3), facecolor=PAPER, sharey=True)
    for axes, (title, draws), colour in zip(panels, rows.items(), (WRONG, "#0072B2"), strict=True):
        axes.scatter(draws[:-1], draws[1:], s=9, color=colour, linewidths=0)
        axes.set_title(title, size=10.5, color=INK)
        axes.set_xlabel(f"draw {position} of stream s")
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.set_aspect("equal")
    panels[0].set_ylabel(f"draw {position} of stream s + 1")
    figure.subplots_adjust(0.08, 0.12, 0.98, 0.92, 0.1)
    return figure


FIGURES = {"22_rng_seeding": lesson_22_rng_seeding}
