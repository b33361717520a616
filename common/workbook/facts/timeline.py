# SPDX-License-Identifier: MIT
"""The model timeline of an answer, as common/harness/cases/timeline.h writes it for the grader.

The file is written by the process in which the student's code runs, so a timeline that is not as it
should be counts as none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Interval = dict[str, Any]  # kind, device, stream, begin, end, ...; times in nanoseconds
_NUMBERS = ("stream", "begin", "end")


@dataclass(frozen=True)
class Timeline:
    """The intervals in the order of the calls, and when the host has come back from them."""

    intervals: list[Interval]
    returned: int


def last(details: list[dict[str, Any]]) -> Timeline | None:
    """The timeline that a test case measured last; None where there is none, or nothing in it."""
    for entry in reversed(details):
        found, returned = entry.get("timeline"), entry.get("returned", 0)
        if not found:
            continue
        sound = isinstance(found, list) and all(map(_is_interval, found))
        return Timeline(found, returned) if sound and isinstance(returned, int) else None
    return None


def _is_interval(one: object) -> bool:
    return (
        isinstance(one, dict)
        and isinstance(one.get("kind"), str)
        and isinstance(one.get("device", 0), int)
        and all(isinstance(one.get(name), int) for name in _NUMBERS)
    )
