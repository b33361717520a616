# SPDX-License-Identifier: MIT
"""What need not be shown in full: cases that fail for a reason shown before, and findings that
follow from others.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..diagnose import cause_of
from ..facts.findings import Finding
from ..running.case_result import CaseResult

# Threads that miss a barrier go on beside the others: what they then meet is no mistake of its own.
_MISSED = {"barrier-divergence", "deadlock"}
_OF_MISSED = {"race-shared", "race-global", "uninitialized-shared"}


def failing_alike(results: Iterable[CaseResult]) -> dict[int, list[CaseResult]]:
    """By the id() of a case: later ones that fail by findings that were all shown, and only by
    them, the most of them in that case; or that the same failed call has stopped. A case whose
    values are wrong for another reason, or that ended in another way, is none of them.
    """
    shown: dict[tuple[Any, ...], CaseResult] = {}
    stopped: dict[str, CaseResult] = {}
    alike: dict[int, list[CaseResult]] = {}
    for result in results:
        if result.skipped or result.passed or result.hangs:
            continue
        if error := _stopped_by(result):
            if error in stopped:
                alike.setdefault(id(stopped[error]), []).append(result)
            else:
                stopped[error] = result
            continue
        keys = [finding.key for finding in result.findings]
        first = shown.get(keys[0]) if keys else None
        if first and all(key in shown for key in keys) and _nothing_else(result, first):
            alike.setdefault(id(first), []).append(result)
            continue
        for key in keys:
            shown.setdefault(key, result)
    return alike


def _stopped_by(result: CaseResult) -> str:
    """The exception by which a case failed, if there is nothing else that is wrong in it."""
    failures = result.outcome.failures
    if result.ended or result.findings or len(failures) != 1:
        return ""
    return failures[0].exception


def _nothing_else(result: CaseResult, first: CaseResult) -> bool:
    """Whether the findings, shown with `first`, are all that is wrong in `result`."""
    if result.ended:
        return False
    if result.values_right:
        return True
    same_cause = bool(cause_of(first)) and cause_of(result) == cause_of(first)
    return not result.case.efficient and not first.values_right and same_cause


def following(result: CaseResult) -> list[Finding]:
    """The findings that follow from another one of the case, or from its early end: threads that
    missed a barrier race, and a program that was stopped frees nothing.
    """
    missed = {f.data.get("kernel") for f in result.findings if f.code in _MISSED}
    stopped = bool(result.ended or result.exception())
    return [
        finding for finding in result.findings
        if (finding.code in _OF_MISSED and finding.data.get("kernel") in missed)
        or (finding.code == "leak" and stopped)
    ]  # fmt: skip
