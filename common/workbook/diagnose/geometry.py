# SPDX-License-Identifier: MIT
"""Which wrong index formula explains where the threads of a launch went.

The evidence are visits: a thread of a block, both numbered, that touched an element. A formula is
named only where all visits follow it and the right one does not explain them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..facts.findings import Finding
from .arrays import Compared


@dataclass(frozen=True)
class Visit:
    block: int
    thread: int
    index: int


@dataclass(frozen=True)
class Shape:
    """A launch along x alone: `blocks` blocks of `threads` threads."""

    blocks: int
    threads: int


def _along_x(grid: Any, block: Any) -> Shape | None:
    if not grid or not block or len(grid) != 3 or len(block) != 3:
        return None
    if list(grid[1:]) != [1, 1] or list(block[1:]) != [1, 1]:
        return None
    return Shape(int(grid[0]), int(block[0]))


_FORMULAS: tuple[tuple[str, Callable[[int, int, Shape], int]], ...] = (
    ("the index multiplies the block's number by gridDim, the number of blocks, where blockDim "
     "belongs: {0} * {2} + {1} instead of {0} * {3} + {1}",
     lambda b, t, s: b * s.blocks + t),
    ("block and thread are swapped in the index: {1} * {3} + {0} instead of {0} * {3} + {1}",
     lambda b, t, s: t * s.threads + b),
    ("the index adds the block's number and the thread's, and nothing multiplies: {0} + {1} "
     "instead of {0} * {3} + {1}",
     lambda b, t, s: b + t),
)  # fmt: skip


def _right(visit: Visit, shape: Shape) -> bool:
    """Whether a loop over the whole grid, or the first element of each thread, explains it."""
    ahead = visit.index - (visit.block * shape.threads + visit.thread)
    return ahead >= 0 and ahead % (shape.threads * shape.blocks) == 0


def _result(visit: Visit) -> bool:
    """Whether one thread of the block stores, or reads, the block's own result."""
    return visit.thread == 0 and visit.index == visit.block


def formula(visits: Sequence[Visit], shape: Shape, least: int = 2) -> str:
    """The wrong formula that `least` visits or more of blocks after the first follow, all of them,
    and that gives another index than the right one; or ''.
    """
    telling = [v for v in visits if v.block > 0 and not _right(v, shape) and not _result(v)]
    if shape.blocks < 2 or shape.threads < 2 or len(telling) < least:
        return ""
    for words, index in _FORMULAS:
        if all(index(v.block, v.thread, shape) == v.index for v in visits):
            one = telling[0]
            return words.format(one.block, one.thread, shape.blocks, shape.threads)
    return ""


def step(visits: Sequence[Visit], shape: Shape) -> str:
    """The wrong step of a loop over the grid that all visits follow, and not the right one; or ''.

    A visit lies whole steps after the thread's first element, which the block's number is in.
    """
    whole = shape.blocks * shape.threads
    ahead = [v.index - (v.block * shape.threads + v.thread) for v in visits]
    if shape.blocks < 2 or any(a < 0 for a in ahead) or all(a % whole == 0 for a in ahead):
        return ""
    if all((v.index - v.thread) % whole == 0 for v in visits):
        return ""  # the block's number is missing: another mistake
    for size, words in (
        (shape.threads, f"the step of the loop is blockDim.x, {shape.threads}, the threads of one "
                        "block"),
        (shape.blocks, f"the step of the loop is gridDim.x, {shape.blocks}, the number of blocks"),
    ):  # fmt: skip
        if 1 < size < whole and all(a % size == 0 for a in ahead):
            return f"{words}: blocks meet on the same elements. The grid has {whole} threads"
    return ""


def of_race(finding: Finding) -> str:
    """Two threads of different blocks that met on one element."""
    facts, other = finding.facts, finding.data.get("other") or {}
    shape = _along_x(facts.get("grid"), facts.get("block_size"))
    index = facts.get("index")
    parties = [(one.get("block"), one.get("thread")) for one in (finding.data, other)]
    if not shape or not isinstance(index, int) or not all(b and t for b, t in parties):
        return ""
    visits = [Visit(b[0], t[0], index) for b, t in parties]
    if visits[0].block == visits[1].block:
        return ""
    return formula(visits, shape, least=1) or step(visits, shape)


def is_own(finding: Finding) -> bool:
    """Whether the first thread that left the array went to the element of its own number."""
    shape = _along_x(finding.facts.get("grid"), finding.facts.get("block_size"))
    block, thread = finding.data.get("block"), finding.data.get("thread")
    if not shape or not block or not thread:
        return False
    return block[0] * shape.threads + thread[0] == finding.facts.get("index")


def may_be_own(finding: Finding) -> bool:
    """Whether the thread that left the array went to its own element, to one next to it, or to
    that of its mirror image; or by the steps of a loop over the grid.
    """
    facts = finding.facts
    shape = _along_x(facts.get("grid"), facts.get("block_size"))
    block, thread, index = finding.data.get("block"), finding.data.get("thread"), facts.get("index")
    if not block or not thread or not isinstance(index, int):
        return True  # nothing is known
    if not shape:
        return False
    mine = block[0] * shape.threads + thread[0]
    return mine in (0, index - 1) or (index >= mine and (index - mine) % shape.threads == 0)


def of_bounds(finding: Finding) -> str:
    """The first thread that left the array, and how far the last one went."""
    facts = finding.facts
    shape = _along_x(facts.get("grid"), facts.get("block_size"))
    block, thread = finding.data.get("block"), finding.data.get("thread")
    index, last = facts.get("index"), facts.get("last_index")
    if not shape or not block or not thread or not isinstance(index, int) or last is None:
        return ""
    visits = [Visit(block[0], thread[0], index)]
    if index != last:
        visits.append(Visit(shape.blocks - 1, shape.threads - 1, int(last)))
    return formula(visits, shape) if len(visits) == 2 else ""


def of_results(finding: Finding) -> bool:
    """Whether the thread that left the array was to store its block's result."""
    facts, block = finding.facts, finding.data.get("block")
    shape = _along_x(facts.get("grid"), facts.get("block_size"))
    index, thread = facts.get("index"), finding.data.get("thread")
    if not shape or shape.threads < 2 or not block or not thread or facts.get("access") != "write":
        return False
    if not isinstance(index, int):
        return False
    return block[0] > 0 and _result(Visit(block[0], thread[0], index))


def of_writers(c: Compared) -> str:
    """Who wrote the elements of an array, all in one launch."""
    launch = c.launch
    shape = _along_x(launch.grid, launch.block) if launch else None
    if not launch or not shape:
        return ""
    mine = {i: w for i, w in c.writers.items() if w.by == "kernel" and w.launch == launch.serial}
    visits = [Visit(w.block[0], w.thread[0], i) for i, w in sorted(mine.items())]
    return formula(visits, shape, least=4)
