# SPDX-License-Identifier: MIT
"""Indexes that a type of too few bits made negative."""

from __future__ import annotations

from typing import Any


def _wrapped_int(facts: dict[str, Any]) -> str:
    """Which number was computed in 32 bits and came out below 0: with 2^32 added it is a place in
    the array. '' for one that is below 0 for another reason, as by a subtraction.
    """
    index, elements, size = (facts.get(key) for key in ("index", "elements", "element_bytes"))
    if not isinstance(index, int) or not elements or not size:
        return ""
    for name, number, end in (
        ("index", index, int(elements)),
        ("offset in bytes", index * size, int(elements) * size),
    ):
        if -(2**31) <= number < -4096 * size and number + 2**32 < end:
            return f"the {name} is {number + 2**32}, computed in an int, which ends at 2^31 - 1"
    return ""


def of_negative_index(facts: dict[str, Any]) -> str:
    """What an index below 0 comes from: a narrow type where its number says so."""
    if words := _wrapped_int(facts):
        return words
    first = facts.get("first_index", facts.get("index"))
    if isinstance(first, int) and first <= -(2**30):
        return (
            "an index far below 0: too large for an int, it was computed in 32 bits and became "
            "negative"
        )
    if first == -(2**15):
        return "an index that begins at -32768: that is where a short goes on after 32767"
    return (
        "an index below 0: the subtraction goes too far, or nothing checks whether "
        "the element exists on that side"
    )
