# SPDX-License-Identifier: MIT
"""Two texts beside each other, or below each other where the screen is narrow."""

from __future__ import annotations

import difflib

_NARROWEST = 110  # columns for two texts of 50 and their numbers


def _rows(left: list[str], right: list[str]) -> list[tuple[str, int, int]]:
    """(`=`, `-`, `+` or `|`, index into left, index into right); -1 where there is none."""
    rows = []
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for kind, a, b, c, d in matcher.get_opcodes():
        for at in range(max(b - a, d - c)):
            one = a + at if a + at < b else -1
            two = c + at if c + at < d else -1
            mark = (
                "=" if kind == "equal" else "|" if min(one, two) >= 0 else "-" if one >= 0 else "+"
            )
            rows.append((mark, one, two))
    return rows


def render(left: str, right: str, width: int, titles: tuple[str, str]) -> list[str]:
    """Both texts beside each other in `width` columns, long lines going on below; where that is
    too narrow the lines that differ, below each other and unbroken.
    """
    a, b = left.expandtabs(4).splitlines(), right.expandtabs(4).splitlines()
    if width < _NARROWEST:
        return list(difflib.unified_diff(a, b, *titles, lineterm="", n=2)) or [
            "(both are the same)"
        ]
    half = (width - 3) // 2
    shown = [f"{titles[0]:{half}}   {titles[1]}".rstrip()]
    for mark, one, two in _rows(a, b):
        middle = " " if mark == "=" else mark
        cells = _cell(one, a, half), _cell(two, b, half)
        for at in range(max(map(len, cells))):
            first, second = (cell[at] if at < len(cell) else "" for cell in cells)
            shown.append(f"{first:{half}} {middle} {second}".rstrip())
    return shown


def _cell(number: int, lines: list[str], width: int) -> list[str]:
    """A line with its number, in as many pieces as the width needs."""
    if number < 0:
        return [""]
    text, room = lines[number], width - 5
    pieces = [text[at : at + room] for at in range(0, len(text), room)] or [""]
    return [f"{number + 1:4} {pieces[0]}", *(f"{'':5}{piece}" for piece in pieces[1:])]
