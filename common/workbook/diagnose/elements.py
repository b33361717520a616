# SPDX-License-Identifier: MIT
"""Names whose value wrong elements hold: a neighbour's, a mirror image's, another block's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from . import locations
from .arrays import Compared
from .patterns import BITS, Pattern, bits_of_agreement, close


def _shift_words(by: int, c: Compared) -> str:
    if by == 1:
        return "its right neighbour's value: shifted by one"
    if by == -1:
        return "its left neighbour's value: shifted by one"
    if c.columns and abs(by) == c.columns:
        return f"the value from the row {'below' if by > 0 else 'above'}"
    side = "after" if by > 0 else "before"
    for size in locations.block_sizes(c):
        if abs(by) == size:
            return f"the value of the element one {locations.group_name(c, size)} {side} it"
    return f"the value of the element {abs(by)} places {side} it"


def _maps(c: Compared) -> Iterator[tuple[str, np.ndarray]]:
    """Words, and for each element the index of the element whose value it might hold (-1: none)."""
    n = c.kept
    i = np.arange(n)

    def inside(j: np.ndarray) -> np.ndarray:
        return np.where((j >= 0) & (j < n), j, -1)

    if c.whole:
        yield "the value of its mirror image: reversed", n - 1 - i
    if c.columns and c.whole and n % c.columns == 0:
        rows, columns = n // c.columns, c.columns
        r, k = i // columns, i % columns
        words = "the value at swapped row and column: transposed"
        yield words, inside(np.where((k < rows) & (r < columns), k * columns + r, -1))
        # Row and column swapped in the index: the flat array is that of the transposed matrix.
        yield words, (i % rows) * columns + i // rows
        yield "the value mirrored left to right", r * columns + (columns - 1 - k)
        yield "the value mirrored top to bottom", (rows - 1 - r) * columns + k
    sizes = [s for s in locations.block_sizes(c) if s < n]
    for size in sizes:
        name = locations.group_name(c, size)
        yield f"the value that belongs to the first {name}: the block's number is missing", i % size
        yield f"the value of the first element of its {name}", i - i % size
        yield f"the value of the last element of its {name}", inside(i - i % size + size - 1)
        yield (
            f"the value of its mirror image within its {name}",
            inside(i - i % size + size - 1 - i % size),
        )
        if n % size == 0:
            yield (
                f"the value at swapped numbers of thread and {name}",
                (i % size) * (n // size) + i // size,
            )
        blocks = -(-n // size)
        if blocks < 3:
            continue  # two that have changed places are a shift
        mirrored = (blocks - 1 - i // size) * size + i % size
        yield (
            f"the value at the same place in the mirrored {name}: reversed within, but not as a "
            "whole, or the other way round",
            inside(mirrored),
        )
    yield "the value of element 0", np.zeros(n, int)
    yield "the value of the last element", np.full(n, n - 1)
    # Both of a pair are wrong then.
    partner = inside(i ^ 1)
    yield "its partner's value: pairs are swapped", np.where(c.bad[partner], partner, -1)
    for k in (2, 3, 4):
        yield f"the value of element {k} i instead of i", inside(k * i)
        yield f"the value of element i / {k} instead of i", i // k
    shifts = [1, -1, 2, -2, *[s for size in sizes for s in (size, -size)]]
    if c.columns:
        shifts += [c.columns, -c.columns]
    shifts += _likely_shifts(c)
    for by in dict.fromkeys(shifts):
        if by and abs(by) < n:
            yield _shift_words(by, c), inside(i + by)
            if c.whole:
                yield _shift_words(by, c) + ", with a wrap at the end", (i + by) % n


def _likely_shifts(c: Compared) -> list[int]:
    """The distance at which most wrong values are found among the wanted ones."""
    at = np.flatnonzero(c.bad)[:2000]
    order = np.argsort(c.want, kind="stable")
    ranked = c.want[order]
    found = np.searchsorted(ranked, c.got[at])
    hit = found < len(ranked)
    hit[hit] = ranked[found[hit]] == c.got[at][hit]
    distances = order[found[hit]] - at[hit]
    if not len(distances):
        return []
    values, counts = np.unique(distances, return_counts=True)
    best = int(values[counts.argmax()])
    return [best] if counts.max() >= max(3, len(at) // 2) else []


def another_element(c: Compared, use: np.ndarray) -> Pattern | None:
    """Wrong elements hold, by one rule, the values of others."""
    bits = bits_of_agreement(c)
    at = np.flatnonzero(use)
    if not len(at) or bits * len(at) < BITS:
        return None
    best: tuple[float, str] | None = None
    for words, source in _maps(c):
        j = source[at]
        valid = j >= 0
        if valid.sum() < 0.5 * len(at) or (j[valid] == at[valid]).all():
            continue
        agree = close(c, c.got[at][valid], c.want[j[valid]])
        share = agree.sum() / valid.sum()
        if share < 0.9 or agree.sum() * bits < BITS:
            continue
        score = agree.sum() / len(at)
        if best is None or score > best[0] + 1e-9:
            best = (score, words)
    if best:
        return Pattern(f"each holds {best[1]}")
    return None


def _fill_their_range(values: np.ndarray) -> bool:
    """Whether equal steps reach most of the values, so that others meet them by chance."""
    distinct = np.unique(values[np.isfinite(values)])
    steps = np.diff(distinct)
    if not len(steps) or (steps != np.round(steps)).any():
        return False
    step = np.gcd.reduce(steps.astype(np.int64))
    return len(distinct) > 0.5 * float((distinct[-1] - distinct[0]) / step)


def permuted(c: Compared, use: np.ndarray) -> Pattern | None:
    """The right values, all of them, at other places."""
    if not c.whole or c.wrong < 3 or bits_of_agreement(c) * c.wrong < 2 * BITS:
        return None
    if np.array_equal(np.sort(c.got[c.bad]), np.sort(c.want[c.bad])):
        return Pattern("the right values at wrong places")
    inside = np.isin(c.got[use], c.want)
    if use.sum() >= 8 and inside.mean() > 0.95 and c.is_float and not _fill_their_range(c.want):
        return Pattern(
            "each holds the value of some other element: from a wrong place, or once more"
        )
    return None
