# SPDX-License-Identifier: MIT
"""Edits that turn one text into another: applied, and worked out with the least context.

An edit is a list of hunks, from the top of the base to its end. The lines that a hunk removes and
its context must occur exactly once in the base, one after the other; otherwise the edit is stale.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..base.project import WorkbookError

SKIP = "@@"  # between two hunks
_MARK = re.compile(r"\s*// <- ([a-z]\w*)$")
_CLOSE = 2  # unchanged lines between two changes that are shown rather than skipped
_MOST_CONTEXT = 12

_Code = tuple[str, int, int, int, int]  # of difflib: kind, and ranges of the two texts
_Part = tuple[int, int]  # a range of lines of the base


class BadAnswer(WorkbookError):
    """A list of answers breaks its format, or an edit does not fit its base (any more)."""


class Stale(Exception):
    """A hunk that has no place in the base, or more than one."""

    def __init__(self, hunk: Hunk, why: str) -> None:
        super().__init__(why)
        self.line = hunk.number


@dataclass
class Hunk:
    """Lines of an edit between two skips, each `-`, `+` or a space and its text; marks are in."""

    lines: list[tuple[str, str]] = field(default_factory=list)
    number: int = 0  # of the first line, in the file of the edit

    @property
    def old(self) -> list[str]:
        return [_unmarked(text)[0] for sign, text in self.lines if sign != "+"]


def apply(hunks: Sequence[Hunk], base: Sequence[str], called: str) -> list[str]:
    """`base` with the hunks' marked lines in place of what they look for.

    Raises Stale, whose words call the base `called`.
    """
    made: list[str] = []
    at = 0
    for hunk in hunks:
        start = _position(hunk, base, called)
        if start < at:
            raise Stale(hunk, "it stands above or in what comes before it in the edit")
        made += base[at:start]
        made += [text for sign, text in hunk.lines if sign != "-"]
        at = start + len(hunk.old)
    return [*made, *base[at:]]


def _position(hunk: Hunk, base: Sequence[str], called: str) -> int:
    old = hunk.old
    found = _positions(old, base)
    if len(found) == 1:
        return found[0]
    if found:
        lines = ", ".join(str(at + 1) for at in found)
        why = f"what it looks for was found {len(found)} times, from lines {lines} on: "
        raise Stale(hunk, f"{why}add lines that stay\n    {old[0]}")
    missing = [line for line in old if line.strip() and line not in base]
    if missing:
        raise Stale(hunk, f"this line is not in {called}:\n    {missing[0]}")
    lines = "\n    ".join(old)
    raise Stale(hunk, f"its lines are not in {called} in this order:\n    {lines}")


def _positions(old: Sequence[str], base: Sequence[str]) -> list[int]:
    """Where the lines `old` stand in `base`."""
    size = len(old)
    return [at for at in range(len(base) - size + 1) if list(base[at : at + size]) == list(old)]


def _unmarked(line: str) -> tuple[str, str]:
    """A line without its mark, and the mark's name."""
    match = _MARK.search(line)
    return (line[: match.start()], match.group(1)) if match else (line, "")


def without_marks(lines: Sequence[str]) -> tuple[str, dict[str, int]]:
    """The text without marks, and the line of each. Raises BadAnswer."""
    kept, marks = [], {}
    for number, line in enumerate(lines, 1):
        text, mark = _unmarked(line)
        kept.append(text)
        if mark:
            if mark in marks:
                raise BadAnswer(f"two lines are marked `// <- {mark}`", "number them: here, here2")
            marks[mark] = number
    return "\n".join(kept) + "\n", marks


def with_marks(text: str, marks: dict[str, int]) -> str:
    """The text with marks at the ends of their lines."""
    lines = text.splitlines()
    for mark, number in marks.items():
        lines[number - 1] = _marked(lines[number - 1], mark)
    return "\n".join(lines) + "\n"


def _marked(line: str, mark: str) -> str:
    return f"{line}  // <- {mark}" if mark else line


# --- working one out -----------------------------------------------------------------------------


def size(hunks: Sequence[Hunk]) -> int:
    """The lines that the hunks take in a file, skips included."""
    return sum(len(hunk.lines) + 1 for hunk in hunks) - 1


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
            if len(_positions(base[a:b], base)) != 1:
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
        return _marked(made[at], names.get(at + 1, ""))

    for kind, a, b, c, d in codes:
        if kind == "equal":
            first, last = max(a, part[0]), min(b, part[1])
            lines += [(" ", new(c + at - a)) for at in range(first, last)]
        elif part[0] <= a and b <= part[1]:
            lines += [("-", text) for text in base[a:b]]
            lines += [("+", new(at)) for at in range(c, d)]
    return lines
