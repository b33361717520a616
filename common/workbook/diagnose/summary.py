# SPDX-License-Identifier: MIT
"""Describes one failed comparison in a sentence: elements, values and writers."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from . import locations, values
from .arrays import Compared, Launch

_LARGE = 1 << 15  # of several arrays the largest below this one is looked at first


@dataclass(frozen=True)
class Summary:
    """A pattern in words, and how much it explains: 0 nothing, 1 a place, 2 a cause."""

    text: str = ""
    weight: int = 0


def _all_untouched(c: Compared) -> bool:
    """Whether no thread wrote any wrong element, as far as is known."""
    filled = c.filled()
    known = [w for i, w in c.writers.items() if i < c.kept and c.bad[i]]
    by_kernels = any(w.on_device for w in known)
    if known and not by_kernels:
        return True
    return bool(filled[c.bad].all()) and not by_kernels


def _was(c: Compared) -> str:
    """What an element holds that no thread wrote."""
    # Among data of all kinds some equal the filling by chance.
    return "its filling" if c.filled()[c.bad].mean() > 0.5 else "what it held before"


def _none_by_a_kernel(c: Compared) -> bool:
    """Whether it is known of many elements, right ones too, that no kernel wrote them."""
    by_kernels = any(w.on_device for w in c.writers.values())
    if len(c.writers) < 4 or by_kernels:
        return False
    return any(not c.bad[i] for i in c.writers if i < c.kept) or c.wrong > 0.9 * c.size


def _from_some_element_on(c: Compared, launch: Launch) -> str:
    """Nothing was written from the end of the grid, of a block or of a warp on."""
    first, rest = c.ranges[0][0], c.size - c.ranges[0][0]
    to_the_end = len(c.ranges) == 1 and c.ranges[0][1] == c.size
    written = max((i for i, w in c.writers.items() if w.by == "kernel"), default=-1)
    threads = launch.threads_per_block

    def ends_at(count: int) -> bool:
        """A wrong element may be right by chance: the last written one says where it ends."""
        if to_the_end and first == count:
            return True
        return written >= 0 and written < count <= first and count - written <= 32

    if ends_at(launch.threads):
        many = "s" * (threads != 1)
        grid = f"{launch.blocks} block{'s' * (launch.blocks != 1)} of {threads} thread{many}"
        if launch.threads == 1:
            return (
                f"the last {c.size - 1} elements were never written: the grid has one thread, and "
                f"it wrote one element of {c.size}"
            )
        return (
            f"the last {c.size - launch.threads} elements were never written: the grid has "
            f"{launch.threads} threads ({grid}), one for each of the first {launch.threads} "
            f"elements, and there are {c.size}"
        )
    for bits in (15, 16):
        if launch.threads > 2**bits and threads != 2**bits and ends_at(2**bits):
            return (
                f"nothing was written from element {2**bits} on, which is 2^{bits}: an index of 16 "
                "bits ends there"
            )
    if launch.blocks > 1 and ends_at(threads):
        return (
            f"nothing was written from element {threads} on: only as many elements as one block "
            "has threads. Is the block's number missing from the index, or does one block work?"
        )
    one_each = launch.blocks == -(-c.size // threads)
    if to_the_end and first % threads == 0 and 1 < rest < threads and one_each:
        return (
            f"the last {rest} elements were never written: they are the part of the last block "
            "that is not full"
        )
    if ends_at(32) and not (c.columns and launch.grid[1] * launch.block[1] > 1):
        return "only the first warp wrote: nothing was written from element 32 on"
    return ""


# Elements at the end of an array that may be right although no one wrote them.
_BY_CHANCE = 4


def _bytes_for_elements(c: Compared) -> str:
    """A copy or a fill of as many bytes as there are elements ends after a part of them."""
    part = {2: "half", 4: "quarter", 8: "eighth"}.get(c.element_bytes)
    if not part or c.size < 32 or any(w.on_device for w in c.writers.values()):
        return ""
    first = c.ranges[0][0]
    rest_is_zero = c.whole and bool((c.got[first:] == 0).all())
    # The ends of an array may be right by chance, as those that a step leaves alone.
    end = c.ranges[0][1]
    to_the_end = len(c.ranges) == 1 and c.size - end <= min(_BY_CHANCE, (end - first) // 16)
    if not to_the_end and not rest_is_zero:
        return ""
    for object_bytes, name in ((8, "a pointer"), (24, "a std::vector")):
        if first * c.element_bytes == object_bytes:
            return (
                f"only the first {first} of {c.size} elements are right: {object_bytes} bytes, as "
                f"many as sizeof gives for {name}"
            )
    if first != c.size // c.element_bytes or not to_the_end:
        return ""
    if any(c.size // c.element_bytes in (n.threads, n.threads_per_block) for n in c.launches):
        return ""
    return (
        f"only the first {part} of the elements is right: a size in bytes, where the number of "
        "elements was given?"
    )


def _beyond(c: Compared) -> str:
    """Of the elements whose values were not stored, the first wrong ones have no writer."""
    known = [w for i, w in c.writers.items() if any(a <= i < b for a, b in c.ranges)]
    if not known or any(w.on_device for w in known) or not c.launch:
        return ""
    return _from_some_element_on(c, c.launch)


def _one_block_each_round(c: Compared, launch: Launch) -> str:
    """In a grid-stride loop, all blocks wrote the same elements: those of one block."""
    stride, threads = launch.threads, launch.threads_per_block
    if launch.blocks < 2 or c.kept <= stride:
        return ""
    i = np.arange(c.kept)
    if np.array_equal(c.bad, i % stride >= threads):
        return (
            f"of every {stride} elements, as many as the grid has threads, only the first "
            f"{threads} were written, as many as a block has: the block's number is missing from "
            "the index"
        )
    return ""


def _blocks_swapped(launch: Launch, rows: int, columns: int) -> str:
    """What is exchanged in a grid that is right but for its two axes; or ''."""
    needed = -(-columns // launch.block[0]), -(-rows // launch.block[1])
    if launch.grid[:2] == needed:
        return ""
    if launch.grid[:2] == needed[::-1]:
        return "the grid has as many blocks along x as it needs along y, and vice versa"
    if launch.grid[:2] == (-(-rows // launch.block[0]), -(-columns // launch.block[1])):
        return "the grid has blocks for the rows along x, and for the columns along y"
    return ""


def _part_of_each_tile(c: Compared) -> str:
    """Of every so many rows of a matrix, which a block covers, only the first ones were written."""
    launch = c.launch
    if not launch or not c.columns or not c.whole or c.size % c.columns or launch.block[1] < 2:
        return ""
    wrong = c.bad.reshape(-1, c.columns)
    rows = len(wrong)
    if not (wrong.all(axis=1) == wrong.any(axis=1)).all():
        return ""
    high = launch.block[1]
    for tile in (2 * high, 4 * high, 8 * high):
        if rows >= 2 * tile and np.array_equal(wrong[:, 0], np.arange(rows) % tile >= high):
            return (
                f"of every {tile} rows only the first {high} were written, as many as a block has "
                "threads along y: does each thread store one element of several?"
            )
    return ""


def _along(c: Compared, launch: Launch) -> str:
    """Whole rows or columns of a matrix lie outside of the grid, which is too small on an axis."""
    if not c.columns or c.size % c.columns:
        return ""
    extent = [launch.grid[axis] * launch.block[axis] for axis in (0, 1)]
    rows = c.size // c.columns
    first, end = c.ranges[0]
    below = len(c.ranges) == 1 and end == c.size and first % c.columns == 0 and first > 0
    right = c.whole and not below and 0 < first < c.columns
    if right:
        i = np.arange(c.kept)
        right = np.array_equal(c.bad, i % c.columns >= first)
    if not below and not right:
        return ""
    one, many, count, reached, axis = ("row", "rows", rows, first // c.columns, 1) if below else (
        "column", "columns", c.columns, first, 0)  # fmt: skip
    beyond = f"the last {count - reached} {many} were never written"
    if reached == extent[axis] and (swapped := _blocks_swapped(launch, rows, c.columns)):
        return f"{beyond}: {swapped}"
    if reached == extent[axis]:
        threads = f"{reached} thread{'s' * (reached != 1)}"
        each = f"one for each of the first {reached} {many}" if reached != 1 else f"for one {one}"
        return f"{beyond}: the grid has {threads} along {'xy'[axis]}, {each}, and there are {count}"
    if reached == extent[1 - axis] and extent[axis] >= count:
        return (
            f"{beyond}: the others are as many as the grid has threads along {'yx'[axis]}: x and y "
            "are swapped"
        )
    return ""


def _untouched(c: Compared) -> Summary:
    """No thread wrote the wrong elements: which are they, and why might that be."""
    launch = c.launch
    if c.wrong == c.size:
        if c.writers and not c.launches:
            return Summary("nothing was written: no kernel was launched", 2)
        return Summary(f"nothing was written: the output still holds {_was(c)}", 2)
    if _none_by_a_kernel(c):
        return Summary(f"no thread wrote any element: the output still holds {_was(c)}", 2)
    if launch and (text := _along(c, launch) or _part_of_each_tile(c)):
        return Summary(text, 2)
    if launch and (text := _from_some_element_on(c, launch) or _one_block_each_round(c, launch)):
        return Summary(text, 2)
    if len(c.ranges) == 1 and c.ranges[0] == (1, c.size):
        return Summary("only element 0 was written: one thread, or one index for all", 2)
    place = locations.place(c)
    if place:
        verb = "was" if _is_singular(place) else "were"
        return Summary(f"{place} {verb} never written" + _one_block(place, launch), 2)
    if c.wrong == 1:
        return Summary(f"{c.what} {c.ranges[0][0]} was never written", 2)
    return Summary(f"{c.wrong} of {c.size} elements were never written", 2)


def _one_block(place: str, launch: Launch | None) -> str:
    """Of a matrix just as many rows and columns were written as a block has."""
    size = re.search(r"outside of the first (\d+) rows and (\d+) columns", place)
    if not size or not launch or launch.blocks < 2:
        return ""
    if {int(size.group(1)), int(size.group(2))} != set(launch.block[:2]):
        return ""
    return ": as many as one block has: is the block's number missing from the index?"


def _is_singular(place: str) -> bool:
    return place.startswith(("the first element", "the last element", "element ", "every ", "block",
                             "warp", "row ", "column ", "the border", "what ", "the diagonal",
                             "everything", "the first row", "the last row", "the first column",
                             "the last column", "part ", "the part ", "the element in")) or (
        place.startswith("the ") and " element of each " in place
    )  # fmt: skip


def of(c: Compared) -> Summary:
    """The summary of one comparison; an empty one where nothing is clear."""
    if not c.kept or not c.wrong:
        return Summary()
    if not c.bad.any():  # all wrong ones lie beyond what was written down
        return Summary(_beyond(c), 2) if _beyond(c) else Summary()
    if text := _bytes_for_elements(c):
        return Summary(text, 2)
    if _all_untouched(c):
        return _untouched(c)
    untouched = c.untouched()
    written = c.bad & ~untouched
    if untouched.sum() > written.sum() and untouched.sum() >= 4:
        rest = int(written.sum())
        return Summary(
            f"{int(untouched.sum())} elements were never written, and {rest} hold wrong values", 2
        )
    pattern = values.of_values(c, written)
    place = locations.place(c)
    if pattern and place and re.match(r"\d+ too ", pattern.text):
        return Summary(
            f"only {place} {'is' if _is_singular(place) else 'are'} wrong, {pattern.text}", 1
        )
    if pattern:
        text = pattern.text
        if place and not pattern.whole and not _right_at_the_start(c, place):
            return Summary(f"{place.rstrip(',')}: {_inside(text, place)}", 2)
        return Summary(text, 2)
    if place:
        if most := re.match(r"everything but (what .*)|all but (.*)", place):
            return Summary(f"only {most.group(1) or most.group(2)} is right", 2)
        if right := _right_at_the_start(c, place):
            return Summary(f"only {right} right", 1)
        verb = "is" if _is_singular(place) else "are"
        comma = "," if ", the part of" in place else ""
        return Summary(f"only {place}{comma} {verb} wrong" + _edges(place), 1)
    return Summary()


def _right_at_the_start(c: Compared, place: str) -> str:
    """`the first element is`, where nearly all are wrong that come after it; or ''."""
    last = re.fullmatch(r"the last (\d+) (element|row|column)s", place)
    if not last or 4 * c.wrong <= 3 * c.size:
        return ""
    lines = {"row": c.size // max(c.columns, 1), "column": c.columns}
    count, what = lines.get(last.group(2), c.size) - int(last.group(1)), last.group(2)
    return f"the first {what} is" if count == 1 else f"the first {count} {what}s are"


def _inside(text: str, place: str) -> str:
    """After the place of one element, `each holds` needs no `each`."""
    alone = place.startswith(("the first element", "the last element", "element "))
    return text.removeprefix("each ") if alone and " of each " not in place else text


def _edges(place: str) -> str:
    if "of each" in place and ("first" in place or "last" in place):
        return ": at the edge of a block or warp the neighbour belongs to another one"
    return ""


def most_telling(found: list[Compared]) -> tuple[int, Summary] | None:
    """Of several comparisons (a case may try many sizes) the one that explains most."""
    order = sorted(range(len(found)), key=lambda i: (found[i].kept > _LARGE, -found[i].kept))
    best: tuple[int, Summary] | None = None
    for index in order[:8]:
        with np.errstate(all="ignore"):
            candidate = of(found[index])
        if best is None or candidate.weight > best[1].weight:
            best = (index, candidate)
        if best[1].weight == 2:
            break
    return best


def owner(c: Compared, index: int) -> tuple[str, str]:
    """The writer of an element, in words, and its place (`line 7`, or `sums.cu:7` in code that was
    compiled at run time); '' where it is not known.
    """
    writer = c.writers.get(index)
    if writer is None:
        return "", ""
    if writer.by == "kernel":
        thread, block = (
            "(" + ",".join(map(str, triple)) + ")" for triple in (writer.thread, writer.block)
        )
        place = f"{writer.file}:{writer.line}" if writer.file else f"line {writer.line}"
        return f"thread {thread} of block {block} wrote it", place if writer.line else ""
    if writer.by == "library":
        return "a function of a library wrote it", ""
    if writer.by == "host":
        return "no thread wrote it: it holds what it held before", ""
    return "nothing wrote it", ""
