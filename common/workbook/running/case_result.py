# SPDX-License-Identifier: MIT
"""The result of one test case: its checks, its findings, how it ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..facts.findings import Finding
from ..lesson.test_cases import Outcome, TestCase
from .time_limits import hangs

# Why a case was not graded: its task's values are wrong, others have used up the time, or other
# programs have used the processors.
WRONG_VALUES, NO_TIME, BUSY = "wrong values", "no time", "busy machine"


@dataclass(eq=False)  # one result is one object: diagnose/cases.py keeps a diagnosis for each
class CaseResult:
    """One test case: `ended` is '' when it ran to its end, else how it did not. Of several ranks it
    is the result of the one to blame, with the findings of all.

    `ending` is the same as a word for programs to read, one of verdicts.ENDINGS or another. A case
    with a word in `skipped` has no verdict. `seconds` are the program's own (own_time.py), and
    `by_the_clock` those that passed meanwhile; `used` are seconds of processors.
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
    by_the_clock: float = 0.0
    used: float = 0.0

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
