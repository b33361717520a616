# SPDX-License-Identifier: MIT
"""Works out the edit that turns a solution into a given wrong answer, with the least context."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from .catalog import Hunk, positions

_CLOSE = 2  # unchanged lines between two changes that are shown rather than skipped
_MOST_CONTEXT = 12

_Code = tuple[str, int, int, int, int]  # of difflib: kind, and ranges of the two texts
_Part = tuple[int, int]  # a range of lines of the solution


def edit(base: Sequence[str], made: Sequence[str], marks: dict[str, int]) -> list[Hunk]:
    """The hunks from `base` to `made`; `marks` are lines of `made`, counted from 1."""
    codes = difflib.SequenceMatcher(None, base, made, autojunk=False).get_opcodes()
    parts = [(a, b) for kind, a, b, _, _ in codes if kind != "equal"]
    for number in marks.values():
        for kind, a, _, c, d in codes:
            if kind == "equal" and c < number <= d:
                parts.append((a + number - 1 - c, a + number - c))
    parts = [_unique(part, base) for part in _joined(parts, _CLOSE)]
    names = {number: name for name, number in marks.items()}
    return [Hunk(_lines(part, codes, base, made, names)) for part in _joined(parts, 0)]


def _joined(parts: list[_Part], apart: int) -> list[_Part]:
    found: list[_Part] = []
    for a, b in sorted(parts):
        if found and a - found[-1][1] <= apart:
            found[-1] = found[-1][0], max(found[-1][1], b)
        else:
            found.append((a, b))
    return found


def _unique(part: _Part, base: Sequence[str]) -> _Part:
    """The part with the context that makes it the only place of its kind."""
    best: tuple[int, _Part] | None = None
    for before in range(_MOST_CONTEXT + 1):
        for after in range(_MOST_CONTEXT + 1 - before):
            a, b = part[0] - before, part[1] + after
            if a < 0 or b > len(base) or not any(line.strip() for line in base[a:b]):
                continue
            if len(positions(base[a:b], base)) != 1:
                continue
            context = [*base[a : part[0]], *base[part[1] : b]]
            # Blank lines and the lesson's own comments are poor landmarks.
            cost = sum(1 + 2 * bool(re.match(r"\s*(//|$)", line)) for line in context)
            if best is None or cost < best[0]:
                best = cost, (a, b)
    return best[1] if best else (0, len(base))


def _lines(
    part: _Part,
    codes: Sequence[_Code],
    base: Sequence[str],
    made: Sequence[str],
    names: dict[int, str],
) -> list[tuple[str, str]]:
    """The lines of a hunk, with marks."""
    lines: list[tuple[str, str]] = []

    def new(at: int) -> str:
        mark = names.get(at + 1)
        return f"{made[at]}  // <- {mark}" if mark else made[at]

    for kind, a, b, c, d in codes:
        if kind == "equal":
            first, last = max(a, part[0]), min(b, part[1])
            lines += [(" ", new(c + at - a)) for at in range(first, last)]
        elif part[0] <= a and b <= part[1]:
            lines += [("-", text) for text in base[a:b]]
            lines += [("+", new(at)) for at in range(c, d)]
    return lines
