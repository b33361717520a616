# SPDX-License-Identifier: MIT
"""Grades one program against one lesson's test: correct, safe, efficient.

The verdict comes from what Catch2 and the emulator report of each test case, run in a process of
its own (channel.py). What the program prints is never read for the verdict.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from ..base import files, phases, processes
from ..base.project import Lesson, WorkbookError, cores, relative
from ..build import build as builder
from ..diagnose import cause_of
from ..facts import findings
from ..facts.findings import Finding
from ..lesson import skeletons, test_cases
from ..lesson.test_cases import Outcome, TestCase
from ..running import runner
from ..running.case_result import BUSY, WRONG_VALUES, CaseResult
from ..running.case_run import run_case
from ..running.sandbox import Box
from ..running.time_limits import TimeLimits, loops_of

__all__ = ["CaseResult", "Grade", "grade_lesson", "grade_program", "run_case"]


@dataclass
class Grade:
    """The grade of one program on one device; with `build_error` there was nothing to run.

    `untouched`: the program is the skeleton, in which the student has written nothing yet.
    """

    lesson: Lesson
    device: str
    results: list[CaseResult] = field(default_factory=list)
    build_stage: str = ""
    build_error: str = ""
    compiler_warnings: str = ""
    untouched: bool = False

    @property
    def tasks(self) -> list[CaseResult]:
        return [result for result in self.results if not result.case.efficient]

    @property
    def counted(self) -> list[CaseResult]:
        return [result for result in self.results if result.case.efficient]

    @property
    def correct(self) -> bool | None:
        """None where nothing is wrong, and a busy machine has kept cases from being graded."""
        tasks = self.tasks
        if not tasks or any(not one.values_right and one.skipped != BUSY for one in tasks):
            return False
        return None if any(one.skipped for one in tasks) else True

    @property
    def busy(self) -> list[CaseResult]:
        """The cases that a busy machine has kept from being graded."""
        return [result for result in self.results if result.skipped == BUSY]

    @property
    def safe(self) -> bool:
        """No finding, and every case ran to its end: a run cut short proves nothing."""
        graded = [result for result in self.results if result.skipped != BUSY]
        return bool(graded) and all(r.safe and not r.ended for r in graded)

    @property
    def efficient(self) -> bool | None:
        """None where that is not known: a card has no counters, or some cases were not run."""
        if self.device == "gpu" or self.build_error:
            return None
        if any(not result.skipped and not result.values_right for result in self.counted):
            return False
        return None if any(result.skipped for result in self.counted) else True

    @property
    def passed(self) -> bool:
        return bool(self.correct) and self.safe and self.efficient is not False and not self.busy

    @property
    def cases_passed(self) -> int:
        """How many cases passed. Efficiency counts only where the values are right."""
        wrong = self.wrong_tasks()
        return sum(
            r.passed and not (r.case.efficient and r.case.waits_for(wrong)) for r in self.results
        )

    def wrong_tasks(self) -> set[int]:
        """The tasks whose values are wrong in some case, or not known to be right."""
        wrong = [result.case for result in self.tasks if not result.values_right]
        return {number for case in wrong for number in case.task_numbers}

    def hanging_alike(self) -> list[list[CaseResult]]:
        """The cases that do not finish, those of one loop or launch together."""
        groups: list[tuple[set[tuple[str, str]], list[CaseResult]]] = []
        for result in self.results:
            if not result.hangs:
                continue
            loops = loops_of(result.findings)
            for known, members in groups:
                if loops == known or not loops.isdisjoint(known):
                    known |= loops
                    members.append(result)
                    break
            else:
                groups.append((set(loops), [result]))
        return [members for _, members in groups]

    def merged_findings(self) -> list[Finding]:
        return findings.merge([(result.case.name, result.findings) for result in self.results])

    def as_json(self) -> dict[str, Any]:
        return {
            "lesson": self.lesson.id,
            "device": self.device,
            "passed": self.passed,
            "correct": self.correct,
            "safe": self.safe,
            "efficient": self.efficient,
            "build": {"stage": self.build_stage, "error": self.build_error},
            "warnings": self.compiler_warnings,
            "cases": [
                {
                    "name": result.case.name,
                    "tags": list(result.case.tags),
                    "passed": result.passed,
                    "values_right": result.values_right,
                    "ended": result.ended,
                    "skipped": result.skipped,
                    "seconds": round(result.seconds, 3),
                    "processor_seconds": round(result.used, 3),
                    "seconds_by_the_clock": round(result.by_the_clock, 3),
                    "peak_memory": result.peak_memory,
                    "failures": [vars(failure) for failure in result.outcome.failures],
                    "findings": [finding.data for finding in result.findings],
                    "looks_like": cause_of(result),
                    "output": result.output[-2000:],
                }
                for result in self.results
            ],
            "findings": [dict(f.data, cases=f.cases) for f in self.merged_findings()],
        }


def grade_program(
    lesson: Lesson,
    program: Path,
    device: str,
    build: Path,
    jobs: int | None = None,
    limits: runner.Limits | None = None,
    cases: Sequence[TestCase] | None = None,
    on_case: Callable[[int, int], None] | None = None,
    thorough: bool = False,
    box: Box | None = None,
) -> Grade:
    """Grades a program that is already built. on_case(done, all) is called as cases end.

    In a box nothing is left of what it starts, so several programs can be graded at a time.

    An [efficient] case waits until its tasks' values are right: doing nothing is cheap. After a
    case that does not finish the others get little time. With `thorough` neither is so.
    """
    cases = test_cases.cases_of(lesson) if cases is None else cases
    if not cases:
        raise WorkbookError(f"{relative(lesson.test_folder)} holds no TEST_CASE")
    own = processes.adopt_orphans() if not box else set()
    try:
        limits = limits or runner.Limits.on(device)
        times = TimeLimits(limits, whole=thorough)
        grade = Grade(lesson, device)

        def run(case: TestCase) -> CaseResult:
            if not thorough and case.efficient and case.waits_for(grade.wrong_tasks()):
                return CaseResult(case, Outcome(), "", [], skipped=WRONG_VALUES)
            return run_case(program, case, device, build, times=times, box=box)

        # On a card one after another: they share its memory, which some of them measure.
        at_once = 1 if device == "gpu" else jobs or cores()
        with ThreadPoolExecutor(max_workers=at_once) as pool:
            try:
                # All values first: what they are decides which [efficient] cases run.
                for chosen in (
                    [case for case in cases if not case.efficient],
                    [case for case in cases if case.efficient],
                ):
                    for result in pool.map(run, chosen):
                        grade.results.append(result)
                        if on_case:
                            on_case(len(grade.results), len(cases))
            except BaseException:
                times.stop()
                raise
    finally:
        if not box:
            processes.end_orphans(own)
    order = {case: at for at, case in enumerate(cases)}
    grade.results.sort(key=lambda result: order[result.case])
    return grade


class Progress(Protocol):
    """Shows how far a grading is (show/screen.py has one for terminals)."""

    def tell(self, text: str) -> None: ...

    def count(self, done: int, whole: int) -> None:
        """How many of the test cases have ended."""

    def clear(self) -> None: ...


class _Silent:
    """For callers that show something of their own."""

    def tell(self, text: str) -> None:
        pass

    def count(self, done: int, whole: int) -> None:
        pass

    def clear(self) -> None:
        pass


def grade_lesson(
    lesson: Lesson, device: str, build: Path, progress: Progress | None = None
) -> Grade:
    """Builds and grades the student's file, and says how far it is by `progress`."""
    status = progress or _Silent()
    if not os.path.lexists(lesson.student_file):
        raise WorkbookError(
            f"lessons/{lesson.id}/{lesson.slug}.cu is missing",
            f"make reset-{lesson.number} brings it back",
        )
    try:
        files.read_bytes(lesson.student_file)
    except files.NotReadable as error:
        raise WorkbookError(
            f"lessons/{lesson.id}/{lesson.slug}.cu {error.strerror}",
            f"remove it; make reset-{lesson.number} then brings the file back",
        ) from error
    target = f"lesson_{lesson.id}"
    status.tell("compiling ...")
    started = time.monotonic()
    built = builder.build_student_file(
        build, target, lesson.student_file,
        lambda done: status.tell(f"compiling ... {phases.bar(done, 1)}"),
    )  # fmt: skip
    phases.add("lesson", time.monotonic() - started)
    if not built.ok:
        status.clear()
        if built.stage == "build":
            raise WorkbookError(
                f"{target} did not build, and not because of your file (see above)",
                "make clean, then make; if it stays, please report it",
                log=built.text,
            )
        return Grade(lesson, device, build_stage=built.stage, build_error=built.text)
    program = build / "lessons" / target
    started = time.monotonic()
    grade = grade_program(lesson, program, device, build, on_case=status.count)
    phases.add("grading", time.monotonic() - started)
    status.clear()
    grade.compiler_warnings = built.text
    grade.untouched = skeletons.untouched(lesson)
    return grade
