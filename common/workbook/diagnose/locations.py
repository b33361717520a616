# SPDX-License-Identifier: MIT
"""Names the set of elements that are wrong: the last 24, every second one, a border, a block."""

from __future__ import annotations

import numpy as np

from .arrays import Compared

_ORDINALS = {2: "second", 3: "third", 4: "fourth"}


def every(period: int) -> str:
    """`every second`, `every 32nd`."""
    if period in _ORDINALS:
        return f"every {_ORDINALS[period]}"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(period % 10, "th")
    return f"every {period}{'th' if period % 100 in (11, 12, 13) else ending}"


def block_sizes(c: Compared) -> list[int]:
    """Group sizes that a mistake may follow: the launches' block sizes first, then a warp."""
    sizes = [launch.threads_per_block for launch in c.launches]
    return [s for s in dict.fromkeys([*sizes, 32]) if s > 1]


def group_name(c: Compared, size: int) -> str:
    """`block of 256`, `warp`, or `32 elements`."""
    if any(launch.threads_per_block == size for launch in c.launches):
        return f"block of {size}"
    return "warp" if size == 32 else f"group of {size}"


def _plural(count: int, word: str) -> str:
    return f"1 {word}" if count == 1 else f"{count} {word}s"


def runs(c: Compared) -> str:
    """A single run of wrong elements, or one at either end."""
    if len(c.ranges) != 1:
        return ""
    first, end = c.ranges[0]
    count = end - first
    if count == c.size:
        return ""
    if c.size >= 64 and count > 0.98 * c.size and not (first and end == c.size):
        return ""  # some at an end are right by chance: not where the cause lies
    if count == 1:
        place = {0: "the first element", c.size - 1: "the last element"}.get(first)
        if not place and c.size > 3 and c.size % 2 and first == c.size // 2:
            return f"the element in the middle, {first},"
        return place or f"element {first}"
    if first == 0:
        return f"the first {count} elements"
    if end == c.size:
        # Where threads take several elements each, the elements of a block are not its threads.
        one_each = all(launch.threads >= c.size for launch in c.launches)
        for size in block_sizes(c):
            rest = c.size % size
            if rest and count == rest and c.size > size and one_each:
                return f"the last {count} elements, the part of the last {group_name(c, size)}"
            if first == size and c.size > size:
                return f"everything after the first {group_name(c, size)}"
        return f"the last {count} elements"
    for size in block_sizes(c):
        if first % size == 0 and count == size:
            return f"{group_name(c, size)} number {first // size}".replace("group", "the group")
    return f"elements {first} to {end - 1}"


def periodic(c: Compared, mask: np.ndarray) -> str:
    """A pattern that repeats: `every second element`, `the first element of each block of 256`."""
    n = len(mask)
    candidates = [2, 3, 4, 8, 16, *block_sizes(c)]
    if c.columns:
        candidates = [p for p in candidates if p != c.columns]
    for period in dict.fromkeys(candidates):
        if n < 3 * period:
            continue
        shape = mask[: n // period * period].reshape(-1, period)
        column = shape.all(axis=0)
        if column.all() or not column.any() or (shape.any(axis=0) != column).any():
            continue
        at = np.flatnonzero(column)
        named = group_name(c, period)
        is_group = period in block_sizes(c)
        if len(at) == 1:
            if not is_group:
                return f"{every(period)} element, beginning with {at[0]},"
            edge = {0: "first", period - 1: "last"}.get(int(at[0]))
            return f"the {edge or f'{at[0]}th'} element of each {named}"
        good = np.flatnonzero(~column)
        if len(good) == 1:
            if is_group:
                edge = {0: "first", period - 1: "last"}.get(int(good[0]))
                return f"all but the {edge or f'{good[0]}th'} element of each {named}"
            return f"all but {every(period)} element"
        if is_group and len(at) == at[-1] - at[0] + 1:
            if at[0] == 0:
                return f"the first {len(at)} elements of each {named}"
            if at[-1] == period - 1:
                return f"the last {len(at)} elements of each {named}"
    return ""


def in_matrix(c: Compared, mask: np.ndarray) -> str:
    """Whole rows, whole columns, a border, a triangle or the diagonal of a matrix."""
    if not c.columns or not c.whole or c.size % c.columns:
        return ""
    m = mask.reshape(-1, c.columns)
    rows, columns = m.shape
    if rows < 2 or columns < 2:
        return ""
    # Only lines that are wholly wrong, and nothing else.
    for axis, one, count in ((1, "row", rows), (0, "column", columns)):
        lines = m.all(axis=axis)
        if not lines.any() or lines.all() or (m.any(axis=axis) != lines).any():
            continue
        at = np.flatnonzero(lines)
        if len(at) == 1:
            name = {0: "first", count - 1: "last"}.get(int(at[0]))
            return f"the {name} {one}" if name else f"{one} {at[0]}"
        if at[-1] - at[0] + 1 == len(at):
            if at[-1] == count - 1:
                return f"the last {len(at)} {one}s"
            if at[0] == 0:
                return f"the first {len(at)} {one}s"
            return f"{one}s {at[0]} to {at[-1]}"
        for period in (2, 4, 8, 16, 32):
            if (
                count >= 2 * period
                and len(set(at % period)) == 1
                and len(at) == len(range(at[0], count, period))
            ):
                return f"{every(period)} {one}"
        return f"{len(at)} whole {one}s"
    r, k = np.indices(m.shape)
    border = (r == 0) | (k == 0) | (r == rows - 1) | (k == columns - 1)
    tail_rows, tail_columns = np.flatnonzero(m.any(axis=1)), np.flatnonzero(m.any(axis=0))
    corner = (r >= tail_rows[0]) & (k >= tail_columns[0])
    for shape, words in (
        (border, "the border"),
        (~border, "everything but the border"),
        (r == k, "the diagonal"),
        (r != k, "everything off the diagonal"),
        (k > r, "the part right of the diagonal"),
        (k < r, "the part left of the diagonal"),
        (corner & (tail_rows[0] > 0), f"the part from row {tail_rows[0]} and column "
         f"{tail_columns[0]} on"),
    ):  # fmt: skip
        if shape.any() and (m == shape).all() and not shape.all():
            return words
    right_rows, right_columns = (np.flatnonzero((~m).any(axis=axis)) for axis in (1, 0))
    if len(right_rows) and len(right_columns):
        height, width = int(right_rows[-1]) + 1, int(right_columns[-1]) + 1
        if height < rows and width < columns and (m == ((r >= height) | (k >= width))).all():
            return f"everything outside of the first {height} rows and {width} columns"
    square = min(rows, columns)
    edge = (r >= square) | (k >= square)
    if rows != columns and edge.any() and (m == edge).all():
        return "the part outside of the square at the top left"
    last = (r == tail_rows[0]) if len(tail_rows) == 1 else None
    if last is not None:
        return f"part of row {tail_rows[0]}"
    if len(tail_columns) == 1:
        return f"part of column {tail_columns[0]}"
    return ""


def by_value(c: Compared, mask: np.ndarray) -> str:
    """Elements whose wanted value is negative, zero, or not finite."""
    if mask.sum() < 3 or (~mask).sum() < 3:
        return ""
    want = c.want
    tests = [(want < 0, "negative"), (want == 0, "zero"), (want > 0, "positive")]
    if c.is_float:
        tests += [(np.isnan(want), "NaN"), (np.isinf(want), "infinite")]
    for test, word in tests:
        if (test == mask).all():
            return f"every element whose wanted value is {word}"
    return ""


def by_writer(c: Compared, mask: np.ndarray) -> str:
    """All wrong elements, and no right one, were written by one block, warp or thread."""
    if len(c.writers) < c.kept or not c.whole or mask.sum() < 2 or (~mask).sum() < 2:
        return ""
    owners = [c.writers.get(i) for i in range(c.size)]
    if any(w is None or w.by != "kernel" for w in owners):
        return ""
    for what, key in (
        ("block", lambda w: (w.launch, w.block)),
        ("thread", lambda w: (w.launch, w.block, w.thread)),
    ):
        wrong = {key(w) for w, bad in zip(owners, mask, strict=True) if bad}
        right = {key(w) for w, bad in zip(owners, mask, strict=True) if not bad}
        if wrong & right:
            continue
        if len(wrong) == 1 and len(right) > 1:
            one = next(iter(wrong))
            return f"what {what} {_triple(one[-1])} wrote"
        if len(right) == 1 and len(wrong) > 1:
            one = next(iter(right))
            return f"everything but what {what} {_triple(one[-1])} wrote"
    return ""


def _triple(index: tuple[int, int, int]) -> str:
    return "(" + ",".join(map(str, index)) + ")"


def place(c: Compared) -> str:
    """The wrong elements in words, '' where they are all or follow no pattern."""
    if c.wrong >= c.size:
        return ""
    mask = c.bad
    single = runs(c)
    if single and not (c.columns and c.wrong > 1):
        return single
    if matrix := in_matrix(c, mask):
        return matrix
    if single:
        return single
    if c.kept < 4 or mask.all():
        return ""
    return periodic(c, mask) or by_writer(c, mask) or by_value(c, mask)
