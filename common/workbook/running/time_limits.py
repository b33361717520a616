# SPDX-License-Identifier: MIT
"""How long the test cases of a lesson may take: little, once one of them has not finished.

A loop without an end is seldom in one place only: all cases that reach it would wait for the whole
limit. After the first the others get a short one, and all of them together a few seconds. Seconds
are a program's own (own_time.py), so that a busy machine changes nothing.
"""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections.abc import Iterable

from ..facts.findings import Finding
from .runner import Limits

SHORT = 3.0  # seconds: several times what the longest case of a right answer takes
TOGETHER = 9.0  # seconds for all that is left after the first case that did not finish


class TimeLimits:
    """The limits of one grading; the cases run in several threads."""

    def __init__(self, limits: Limits, whole: bool = False) -> None:
        """With `whole` every case gets the whole limit, whatever the others do."""
        self._limits, self._whole = limits, whole
        self.shortest = min(SHORT, limits.seconds)
        self._lock = threading.Lock()
        self._until = math.inf
        self._loops: set[tuple[str, str]] = set()

    @property
    def short(self) -> bool:
        """Whether a case has not finished."""
        return self._until < math.inf

    def until(self) -> float:
        """The time of a program's own clock at which every case ends, as far as is known now."""
        return self._until

    def starved(self, seconds: float) -> None:
        """A case has ended that waited so long for a processor: the others get that time."""
        with self._lock:
            self._until += seconds

    def for_next(self) -> Limits | None:
        """The limits of the next case to start; None where no time is left."""
        if not self.short:
            return self._limits
        if time.monotonic() >= self._until:
            return None
        return dataclasses.replace(self._limits, seconds=self.shortest)

    def did_not_finish(self) -> None:
        """From now on the limits are short."""
        if self._whole:
            return
        with self._lock:
            self._until = min(self._until, time.monotonic() + TOGETHER)

    def stop(self) -> None:
        """Ends the cases that run, and lets no other start."""
        with self._lock:
            self._until = 0.0

    def remember(self, found: Iterable[Finding]) -> None:
        """Where a case did not finish."""
        with self._lock:
            self._loops |= loops_of(found)

    def known(self, found: Iterable[Finding]) -> bool:
        """Whether an earlier case did not finish in the same loop."""
        with self._lock:
            return not self._loops.isdisjoint(loops_of(found))


def hangs(found: Iterable[Finding]) -> list[Finding]:
    """The findings that say why a program does not finish."""
    return [one for one in found if one.code in ("hang", "deadlock")]


def loops_of(found: Iterable[Finding]) -> set[tuple[str, str]]:
    """Identifies an endless loop: by its kernel, or by its line where kernels share it."""
    ids: set[tuple[str, str]] = set()
    for one in hangs(found):
        ids |= {("kernel", str(one.data.get("kernel"))), ("line", one.place)}
    return ids
