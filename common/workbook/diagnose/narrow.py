# SPDX-License-Identifier: MIT
"""Indexes that a type of too few bits made negative."""

from __future__ import annotations

from typing import Any


def of_negative_index(facts: dict[str, Any]) -> str:
    """What an index below 0 comes from: a narrow type where its number says so."""
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
