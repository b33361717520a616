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
    """Lines of at most `width` columns. Every line of both texts is there; long ones are cut."""
    a, b = left.expandtabs(4).splitlines(), right.expandtabs(4).splitlines()
    if width < _NARROWEST:
        lines = list(difflib.unified_diff(a, b, *titles, lineterm="", n=2))
        return [line[:width] for line in lines] or ["(both are the same)"]
    half = (width - 3) // 2

    def cell(number: int, lines: list[str]) -> str:
        if number < 0:
            return " " * half
        text = f"{number + 1:4} {lines[number]}"
        return (text if len(text) <= half else text[: half - 1] + "…").ljust(half)

    shown = [f"{titles[0]:{half}}   {titles[1]}".rstrip()]
    for mark, one, two in _rows(a, b):
        middle = " " if mark == "=" else mark
        shown.append(f"{cell(one, a)} {middle} {cell(two, b)}".rstrip())
    return shown
