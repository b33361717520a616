# SPDX-License-Identifier: MIT
"""What came of one test case, and the cause that its checks, findings and arrays point to."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..facts.findings import Finding
from ..lesson.test_cases import CAPTURED, Outcome, TestCase
from .time_limits import hangs

if TYPE_CHECKING:
    from ..diagnose.arrays import Compared

# Why a case was not run: its task's values are wrong, or others have used up the time.
WRONG_VALUES, NO_TIME = "wrong values", "no time"


@dataclass
class CaseResult:
    """One test case: `ended` is '' when it ran to its end, else how it did not. Of several ranks it
    is the result of the one to blame, with the findings of all.

    `ending` is the same as a word for programs to read, one of verdicts.ENDINGS or another. A case
    with a word in `skipped` was not run.
    """

    case: TestCase
    outcome: Outcome
    ended: str
    findings: list[Finding]
    seconds: float = 0.0
    peak_memory: int = 0
    output: str = ""
    details: list[dict[str, Any]] = field(default_factory=list)
    ending: str = ""
    skipped: str = ""

    @property
    def values_right(self) -> bool:
        return not self.ended and self.outcome.complete and self.outcome.success

    @property
    def safe(self) -> bool:
        return not any(finding.unsafe for finding in self.findings)

    @property
    def passed(self) -> bool:
        return self.values_right and self.safe

    @property
    def hangs(self) -> bool:
        """Whether it did not finish, on the host or on the device."""
        return self.ending == "times-out" or bool(hangs(self.findings))

    def texts(self) -> list[str]:
        """The context lines of all failed checks."""
        return [info for failure in self.outcome.failures for info in failure.infos]

    def exception(self) -> str:
        for failure in self.outcome.failures:
            if failure.exception:
                return failure.exception
        return ""

    @functools.cached_property
    def arrays(self) -> list[Compared]:
        """The comparisons that failed, whole."""
        from .. import diagnose
        from ..diagnose import arrays  # imports numpy: only where something went wrong

        found = arrays.compared(self.details)
        told = [f for f in self.outcome.failures if diagnose.parse_mismatch(f.infos)]
        for array, failure in zip(found, told, strict=False):
            arrays.guess_columns(array, failure.infos)
        return found

    @functools.cached_property
    def telling(self) -> int | None:
        """Which of `arrays` the cause speaks of, where it speaks of one."""
        from ..diagnose import summary

        told = summary.most_telling(self.arrays)
        return told[0] if told else None

    def cause(self) -> str:
        """The `looks like` line, or ''."""
        if self.passed:
            return ""
        return self._cause

    @functools.cached_property
    def _cause(self) -> str:
        from .. import diagnose

        wrong = any(finding.severity == "error" for finding in self.findings)
        if self.case.efficient and not wrong and not self.ended and self.outcome.failures:
            counted = [c for entry in self.details if isinstance(c := entry.get("count"), dict)]
            launched = any(c.get("launches") for c in counted)
            for failure in self.outcome.failures:
                if said := diagnose.of_timeline(failure.expression, self.details):
                    return said
                check = (failure.expression, failure.expansion)
                if said := diagnose.of_counter(*check, launched, counted, self.details):
                    return said
            return ""
        checks = [(failure.expression, failure.expansion) for failure in self.outcome.failures]
        mistake = diagnose.of_mistakes(self.details)
        explained = any(not CAPTURED.match(info) for info in self.texts())
        if self.ending == "times-out" and not self.findings:
            if self.case.ranks:
                return ""  # which rank waits for which is said
            return "host code that does not finish: no kernel was seen to hang"
        return diagnose.likely_cause(
            self.arrays, self.findings, self.exception(), checks, mistake, explained
        ) or diagnose.of_crash(self.ended, self.output)
