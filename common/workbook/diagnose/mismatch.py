# SPDX-License-Identifier: MIT
"""The wrong elements that a check lists in its text, as common/harness/lesson_test.h writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ELEMENT = re.compile(
    r"^\s*(.+?) (\d+)( \(row \d+, column \d+\))?: got (\S+), want (\S+)\s*$", re.MULTILINE
)
_MORE = re.compile(r"^\s*and (\d+) more of (\d+) wrong", re.MULTILINE)


@dataclass(frozen=True)
class Mismatch:
    """The wrong elements that a check listed, how many there were, and the array's size or 0."""

    what: str
    index: list[int]
    got: list[str]
    want: list[str]
    wrong: int
    size: int
    place: str = ""  # of the first, in a matrix: ` (row 3, column 0)`


def parse_mismatch(texts: list[str]) -> Mismatch | None:
    """Reads the form that common/harness/lesson_test.h writes: the first such text."""
    for text in texts:
        found = _ELEMENT.findall(text)
        if not found:
            continue
        more = _MORE.search(text)
        return Mismatch(
            found[0][0],
            [int(f[1]) for f in found],
            [f[3] for f in found],
            [f[4] for f in found],
            len(found) + (int(more.group(1)) if more else 0),
            int(more.group(2)) if more else 0,
            found[0][2],
        )
    return None


def most_telling(texts: list[str]) -> Mismatch | None:
    """Of several mismatches (a case may try many sizes) the one that shows the most elements."""
    found = [m for text in texts if (m := parse_mismatch([text]))]
    return max(found, key=lambda m: (len(m.index), m.size), default=None)
