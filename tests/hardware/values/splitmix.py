# SPDX-License-Identifier: MIT
"""A small seeded generator: the same kernels for ever, whatever Python's own `random` does.

The algorithm is SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")
_MASK = (1 << 64) - 1


def hash_of(text: str) -> int:
    """FNV-1a of the text's bytes, 64 bits: a kernel's seed from its name."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & _MASK
    return value


class SplitMix:
    """Uniform numbers from a 64-bit seed."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def bits(self) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, limit: int) -> int:
        """0 <= n < limit."""
        return self.bits() % limit

    def between(self, low: int, high: int) -> int:
        """low <= n <= high."""
        return low + self.below(high - low + 1)

    def chance(self, percent: int) -> bool:
        return self.below(100) < percent

    def choice(self, items: Sequence[Item]) -> Item:
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        out = list(items)
        for i in range(len(out) - 1, 0, -1):
            j = self.below(i + 1)
            out[i], out[j] = out[j], out[i]
        return out
