# SPDX-License-Identifier: MIT
"""What a pattern in wrong values is, and how much agreement rules chance out.

Each agreement counts as many bits as the wanted values differ from each other, and together they
must be worth BITS.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Compared

BITS = 24.0


@dataclass(frozen=True)
class Pattern:
    """`text` for the student; `whole`: it says where, too, so no place is put in front."""

    text: str
    whole: bool = False


def close(c: Compared, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Equal up to rounding, NaN equal to NaN."""
    if not c.is_float:
        return a == b
    with np.errstate(all="ignore"):
        relative = 2e-6 if c.element_bytes <= 4 else 1e-12
        near = np.abs(a - b) <= relative * np.maximum(np.abs(a), np.abs(b))
        near &= np.isfinite(a) & np.isfinite(b)
    return near | (a == b) | (np.isnan(a) & np.isnan(b))


def bits_of_agreement(c: Compared) -> float:
    """How many bits one chance agreement of a value with another wanted value is worth."""
    want = c.want[np.isfinite(c.want)] if c.is_float else c.want
    if len(want) < 2:
        return 0.0
    _, counts = np.unique(want, return_counts=True)
    n = len(want)
    chance = float((counts * (counts - 1.0)).sum()) / (n * (n - 1.0))
    if c.is_float and not np.all(want == np.round(want)):
        floor = 2e-6
    else:
        floor = 1.0 / (float(want.max()) - float(want.min()) + 1.0)
    return -float(np.log2(min(1.0, max(chance, floor, 1e-9))))
