# SPDX-License-Identifier: MIT
"""What an access outside of an array says about its index."""

from __future__ import annotations

from ..facts.findings import Finding
from . import geometry, narrow
from .by_code import by_code


def _wrapped_below_zero(facts: dict) -> bool:
    """Whether the address is 2^32 elements past the start, less a few."""
    past_end, elements, size = (facts.get(key) for key in ("past_end", "elements", "element_bytes"))
    if not isinstance(past_end, int) or not size:
        return False
    past_start = past_end + int(elements or 0) * size
    return 0 < size * 2**32 - past_start <= size * 4096


def _as_bytes(facts: dict, elements: int, size: int) -> bool:
    """Whether the elements that are used, from 0 on, are as many as the array has bytes."""
    last, first = facts.get("last_index"), facts.get("first_index")
    if not isinstance(last, int) or first is None or last + 1 < 2 * elements or elements < 4:
        return False
    return 0 <= last + 1 - elements * size < size


def _too_few_bytes(facts: dict) -> str:
    """Dynamic shared memory that is smaller than one element."""
    if not facts.get("bytes"):
        return "the launch asks for no dynamic shared memory: the third number in <<< >>>"
    return (
        "the launch asks for less dynamic shared memory than one element has: the third number in "
        "<<< >>> is in bytes"
    )


def _alike(finding: Finding) -> bool:
    """Whether the facts, which are those of one launch, hold for the others that did the same: each
    has one thread that left the array, or several threads of one block left it by one element.
    """
    others = finding.facts.get("other_launches", 0)
    if finding.facts.get("threads_of_block", 0) >= 2:
        return True
    return not others or int(finding.data.get("count") or 1) <= 1 + others


def of_bounds(finding: Finding) -> str:
    """How far outside, and how many: what that says about the index."""
    facts = finding.facts
    index, elements = facts.get("index"), facts.get("elements")
    below = isinstance(index, int) and index < 0
    if _wrapped_below_zero(facts):
        return (
            "an index just below 2^32: an unsigned number went below 0, or a counter was not set "
            "to 0 at first"
        )
    if finding.code == "out-of-bounds-shared":
        if below:
            if facts.get("first_index", -1) == -1:
                return "an index below 0: the slot before the first"
            return "an index below 0, and nothing checks for that"
        if elements == 0:
            return _too_few_bytes(facts)
        if facts.get("dynamic"):
            return (
                "an index past the tile, or a launch that asks for too few bytes of shared memory"
            )
    if finding.code != "out-of-bounds-global":
        return by_code[finding.code]
    if below:
        return narrow.of_negative_index(facts)
    if words := geometry.of_bounds(finding):
        return words
    size = facts.get("element_bytes")
    if elements and size and size > 1 and _as_bytes(facts, int(elements), int(size)):
        return (
            f"as many elements are used as the array has bytes, {facts['last_index'] + 1}: was it "
            "allocated without sizeof?"
        )
    if elements == 0:
        return "an array without elements, and nothing checks whether there is one"
    if geometry.of_results(finding):
        return "each block stores an element of its own, and there are more blocks than elements"
    first, last = facts.get("first_index"), facts.get("last_index")
    if elements is not None and first == last == elements and _alike(finding):
        too_far = "exactly one element too far: a bound that is off by one"
        return too_far + ("" if geometry.may_be_own(finding) else ", or a wrong index")
    if geometry.is_own(finding):
        return "a missing or wrong bounds check"
    return by_code[finding.code]
