# SPDX-License-Identifier: MIT
"""Writes plots/data/pi.csv: estimates of pi from random points, with streams that differ in seed.

Philox4x32-10 as in lesson 22, on the host: 100 independent streams, and the same 100 streams where
all of them use one seed and start at places that lie close together. Needs NumPy alone:

    sh common/workbook/run python plots/measure_pi.py
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import numpy as np

STREAMS = 100
SIZES = tuple(4**k for k in range(3, 10))  # points of each stream
NEAR = 16  # points between the starts of two streams that overlap
MASK = np.uint64(0xFFFFFFFF)


def philox(counter: list[np.ndarray], key: tuple[int, int]) -> list[np.ndarray]:
    """Four words from each counter of four words (Salmon et al., 2011)."""
    x, y, z, w = (np.asarray(word, dtype=np.uint64) for word in counter)
    k0, k1 = key
    for _ in range(10):
        first, second = np.uint64(0xD2511F53) * x, np.uint64(0xCD9E8D57) * z
        x, y, z, w = (
            (second >> np.uint64(32)) ^ y ^ np.uint64(k0),
            second & MASK,
            (first >> np.uint64(32)) ^ w ^ np.uint64(k1),
            first & MASK,
        )
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return [x, y, z, w]


def hits(stream: int, start: int, points: int) -> np.ndarray:
    """For each of the points from `start` on of a stream: whether it lies in the quarter circle."""
    blocks = np.arange(start // 2, (start + points + 1) // 2, dtype=np.uint64)
    nothing = np.zeros_like(blocks)
    words = philox([blocks, nothing, nothing + np.uint64(stream), nothing], (2026, 0))
    unit = [(word >> np.uint64(8)).astype(np.float64) * 2.0**-24 for word in words]
    x, y = np.stack([unit[0], unit[2]], 1).ravel(), np.stack([unit[1], unit[3]], 1).ravel()
    first = start % 2
    return (x * x + y * y < 1)[first : first + points]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "data" / "pi.csv")
    chosen = parser.parse_args()
    rows = []
    for kind in ("a stream each", "one stream, starts 16 points apart"):
        for s in range(STREAMS):
            if kind == "a stream each":
                inside = hits(s, 0, SIZES[-1])
            else:
                inside = hits(0, NEAR * s, SIZES[-1])
            counts = np.cumsum(inside)
            rows += [(kind, s, n, int(counts[n - 1])) for n in SIZES]
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    with chosen.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("kind", "stream", "points", "inside"))
        writer.writerows(rows)
    print(f"{chosen.out}: {len(rows)} rows")


if __name__ == "__main__":
    main()
