# SPDX-License-Identifier: MIT
"""A failed check in words: what it got and what it wants, for `CHECK(a == b)` and the like."""

from __future__ import annotations

import re

from ..facts import comparisons

_INTACT = re.compile(r"^(?:\w+(?:\.|->))*(\w+)(?:\.|->)intact\(\)$")


def split(text: str) -> tuple[str, str, str] | None:
    """Both sides of the one comparison that is not within brackets or quotes, and its operator."""
    depth, at, found = 0, 0, None
    while at < len(text):
        char = text[at]
        if char in "\"'":
            end = at + 1
            while end < len(text) and text[end] != char:
                end += 2 if text[end] == "\\" else 1
            at = end + 1
            continue
        depth += (char in "([{") - (char in ")]}")
        operator = re.match(r" (==|!=|<=|>=|<|>) ", text[at : at + 4]) if depth == 0 else None
        if operator:
            if found:
                return None
            found = (at, at + operator.end(), operator.group(1))
            at += operator.end() - 1
        at += 1
    if depth or not found:
        return None
    return text[: found[0]].strip(), found[2], text[found[1] :].strip()


def _value(text: str) -> str:
    """As people write it: `4096`, not `4096 (0x1000)`; `0.25`, not `0.25f`."""
    text = re.sub(r"\s*\(0x[0-9a-fA-F]+\)", "", " ".join(text.split()))
    return re.sub(r"(?<![\w.])(-?\d+\.?\d*(?:e[-+]?\d+)?)f\b", r"\1", text)


def in_words(expression: str, expansion: str) -> str:
    """`` `now[tile]`: got 0, want 127``; '' for what is no comparison."""
    expression = " ".join(expression.split())
    if intact := _INTACT.match(expression):
        return f"something was written before the start or past the end of `{intact.group(1)}`"
    sides, values = split(expression), split(" ".join(expansion.split()))
    if not sides or not values or sides[1] != values[1]:
        plain = re.fullmatch(r"!?[\w:.>()\[\], -]+", expression)
        if plain and expansion.strip() in ("true", "false", "!true", "!false"):
            is_true = expansion.strip() in ("true", "!false")
            shown = expression.removeprefix("!")
            got = is_true if not expression.startswith("!") else not is_true
            words = {True: "true", False: "false"}
            return f"{shown}: got {words[got]}, want {words[not got]}"
        return ""
    left, operator, right = sides
    got, want = _value(values[0]), _value(values[2])
    if re.fullmatch(r"cuda[A-Z]\w+", right):
        got, want = f"error {got}", right
    if left == values[0]:  # a number, or text, that says nothing more
        return ""
    return f"`{left}`: got {got}, {comparisons.WANT[operator].format(want)}"
