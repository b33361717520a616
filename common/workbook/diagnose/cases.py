# SPDX-License-Identifier: MIT
"""The diagnosis of one test case: the cause that its checks, findings and arrays point to."""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING

from ..facts import comparisons
from ..lesson.test_cases import CAPTURED
from ..running.case_result import CaseResult
from .causes import likely_cause, of_mistakes
from .counts import of_counter
from .mismatch import parse_mismatch
from .overlap import of_timeline
from .stopped import of_crash

if TYPE_CHECKING:
    from .arrays import Compared


class Diagnosis:
    """What one result says about its cause; each part is computed when it is first asked for."""

    def __init__(self, result: CaseResult) -> None:
        self._result = weakref.proxy(result)  # it is kept as long as the result is

    @functools.cached_property
    def arrays(self) -> list[Compared]:
        """The comparisons that failed, whole."""
        from . import arrays  # imports numpy: only where something went wrong

        found = arrays.compared(self._result.details)
        failed = [f for f in self._result.outcome.failures if parse_mismatch(f.infos)]
        for array, failure in zip(found, failed, strict=False):
            arrays.guess_columns(array, failure.infos)
        return found

    @functools.cached_property
    def telling(self) -> int | None:
        """Which of `arrays` the cause speaks of, where it speaks of one."""
        from . import summary

        found = summary.most_telling(self.arrays)
        return found[0] if found else None

    @functools.cached_property
    def cause(self) -> str:
        """The `looks like` line, or '' where no cause is clear."""
        result = self._result
        if result.passed:
            return ""
        wrong = any(finding.severity == "error" for finding in result.findings)
        if result.case.efficient and not wrong and not result.ended and result.outcome.failures:
            return self._of_counters()
        checks = [(failure.expression, failure.expansion) for failure in result.outcome.failures]
        explained = any(not CAPTURED.match(info) for info in result.texts())
        if result.ending == "times-out" and not result.findings:
            if result.case.ranks:
                return ""  # the message says which rank waits for which
            return "host code that does not finish: no kernel was seen to hang"
        return likely_cause(
            self.arrays, result.findings, result.exception(), checks,
            of_mistakes(result.details), explained,
        ) or of_crash(result.ended, result.output)  # fmt: skip

    def _of_counters(self) -> str:
        """The cause of a right and safe program that does too much."""
        details = self._result.details
        for failure in self._result.outcome.failures:
            check = comparisons.of(failure.compared)
            if check and (said := of_timeline(check, details) or of_counter(check, details)):
                return said
        return ""


_made: weakref.WeakKeyDictionary[CaseResult, Diagnosis] = weakref.WeakKeyDictionary()


def of_case(result: CaseResult) -> Diagnosis:
    """The diagnosis of a result, one for each."""
    made = _made.get(result)
    if made is None:
        made = _made[result] = Diagnosis(result)
    return made


def cause_of(result: CaseResult) -> str:
    """The `looks like` line of a result, or ''."""
    return of_case(result).cause
