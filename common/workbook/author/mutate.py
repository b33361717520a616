# SPDX-License-Identifier: MIT
"""`make mutate-NN`: do the tests of a lesson notice small mistakes in its solution?

Each edit that operators.py makes in the tasks of the solution is compiled and run, until its first
case that fails. One that passes all cases survives: the tests lack something, or the edit changes
nothing. Those that change nothing are listed in solutions/NN_slug/equivalent.txt, in the format of
unusual.txt, with the reason. A record is stale if no operator makes its edit any more, or if a test
notices it.
"""

from __future__ import annotations

import dataclasses
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ..answers import catalog, edits
from ..answers.catalog import EQUIVALENT, Answer
from ..base import options, phases, processes
from ..base.project import NOT_PASSED, PASSED, Lesson, WorkbookError, cores, relative
from ..build import build as builder
from ..build import folders, programs
from ..judge.grade import run_case
from ..lesson import skeletons, test_cases
from ..running import runner
from ..running.case_result import CaseResult
from ..running.time_limits import SHORT, TimeLimits
from ..show import screen
from . import operators
from .shared_headers import Compiler, DoesNotCompile, NotShared

SURVIVES, NOT_BUILT = "", "does not build"  # or the name of the case that fails
_SLOWER = 10  # times the solution's own time: a case that takes longer than that hangs
_TRIES = 3  # to run a case on a machine that leaves it no processor


@dataclass(frozen=True)
class Mutation:
    """The solution with one edit; `line` is the first line that it changes, in a student's file."""

    operator: str
    line: int
    old: str
    new: str
    text: str


@dataclass
class Score:
    """What has become of the edits of one lesson."""

    lesson: Lesson
    caught: int
    not_built: int
    equivalent: int
    survivors: list[Mutation]
    stale: list[str]  # of the records: which, and why

    def __str__(self) -> str:
        whole = self.caught + self.equivalent + len(self.survivors)
        left_out = f" ({self.not_built} did not compile)" if self.not_built else ""
        survive = "1 survives" if len(self.survivors) == 1 else f"{len(self.survivors)} survive"
        return (
            f"lesson {self.lesson.number}: {self.caught} of {whole} caught, "
            f"{self.equivalent} equivalent, {survive}{left_out}"
        )


def run(lesson: Lesson) -> int:
    """`make mutate-NN`; JOBS at a time."""
    build = folders.prepare("emulator")
    built = builder.build(build, [f"solution_{lesson.id}", "fork_after"])
    if not built.ok:
        print(builder.first_failure(built.text))
        raise WorkbookError(f"the solution of lesson {lesson.number} did not build (see above)")
    own = processes.adopt_orphans()
    try:
        with Trials(build, lesson) as trials:
            score = score_of(lesson, trials, options.number("JOBS") or cores())
    finally:
        processes.end_orphans(own)
    return show(score)


def show(score: Score) -> int:
    """Prints the survivors, the stale records and the score."""
    base = catalog.text_of_base(score.lesson, EQUIVALENT).splitlines()
    for one in score.survivors:
        print(f"line {one.line}, {one.operator}: `{one.old}` becomes `{one.new}`")
        for hunk in edits.edit(base, one.text.splitlines(), {}):
            print("\n".join(f"    {sign} {text}" for sign, text in hunk.lines))
    for told in score.stale:
        print(f"stale: {told}")
    print(score)
    if score.survivors:
        records = relative(EQUIVALENT.list_of(score.lesson))
        print(
            "  to do: add what a test lacks, and the edit to mutants.txt. An edit that changes\n"
            f"  nothing goes to {records}, with the reason"
        )
    return NOT_PASSED if score.survivors or score.stale else PASSED


def mutations_of(lesson: Lesson) -> list[Mutation]:
    """Every edit that an operator makes in the lesson's tasks."""
    text = catalog.text_of_base(lesson, EQUIVALENT)
    found = []
    for edit in operators.edits(text, skeletons.task_lines(text)):
        line = text.count("\n", 0, edit.begin) + 1
        old = " ".join(text[edit.begin : edit.end].split())
        new = " ".join(edit.new.split())
        found.append(Mutation(edit.operator, line, old, new, edit.apply(text)))
    return found


def records_of(
    lesson: Lesson, mutations: Sequence[Mutation]
) -> tuple[dict[str, Answer], list[str]]:
    """The records by the text that they make, and which of them no operator makes any more."""
    made, stale = {mutation.text for mutation in mutations}, []
    known: dict[str, Answer] = {}
    for name, record in catalog.of_lesson(lesson, EQUIVALENT).items():
        try:
            text, _ = record.expand()
        except catalog.BadAnswer as error:
            stale.append(str(error))
            continue
        if text not in made:
            stale.append(f"{record.file}: no operator makes the edit of {name}")
        elif text in known:
            stale.append(f"{record.file}: {name} is the edit of {known[text].name}")
        else:
            known[text] = record
    return known, stale


def score_of(lesson: Lesson, trial: Callable[[str], str], jobs: int) -> Score:
    """Tries every edit. `trial` returns SURVIVES, NOT_BUILT or the name of the case that fails."""
    mutations = mutations_of(lesson)
    records, stale = records_of(lesson, mutations)
    status = screen.Status()
    results: list[str] = []
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        try:
            for result in pool.map(trial, [mutation.text for mutation in mutations]):
                results.append(result)
                done = len(results)
                status.tell(f"{phases.bar(done, len(mutations))} {done} of {len(mutations)} edits")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
        finally:
            status.clear()
    score = Score(lesson, 0, 0, 0, [], stale)
    for mutation, result in zip(mutations, results, strict=True):
        record = records.get(mutation.text)
        if record and result:
            why = result if result == NOT_BUILT else f'is noticed by "{result}"'
            stale.append(f"{record.file}: the edit of {record.name} {why}")
        if result == NOT_BUILT:
            score.not_built += 1
        elif result:
            score.caught += 1
        elif record:
            score.equivalent += 1
        else:
            score.survivors.append(mutation)
    return score


class Trials:
    """Compiles and runs edits of one lesson's solution; may be called by several threads."""

    def __init__(self, build: Path, lesson: Lesson) -> None:
        self._build, self._lesson = build, lesson
        self._cases = list(test_cases.cases_of(lesson))
        self._failed: Counter[str] = Counter()  # how many edits each case has noticed
        self._limits: dict[str, runner.Limits] = {}
        self._own = threading.local()  # a compiler and a folder for each thread
        self._slots = 0
        self._lock = threading.Lock()
        self._stack = ExitStack()

    def __enter__(self) -> Trials:
        """Raises WorkbookError unless the solution itself passes."""
        try:
            program = self._program(catalog.text_of_base(self._lesson, EQUIVALENT))
            for case in self._cases:
                result = self._result(program, case, runner.Limits.on("emulator"))
                if not result.passed:
                    why = result.ended or "it fails"
                    raise WorkbookError(
                        f'the solution does not pass "{case.name}": {why}',
                        f"make test TESTS=solution.{self._lesson.id}",
                    )
                seconds = max(SHORT, _SLOWER * result.seconds)
                limits = runner.Limits.on("emulator")
                self._limits[case.name] = dataclasses.replace(limits, seconds=seconds)
        except programs.BuildFailed as error:
            self._stack.close()
            raise WorkbookError(f"the solution does not build: {error}") from error
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def __call__(self, text: str) -> str:
        """SURVIVES, NOT_BUILT, or the name of the first case that fails."""
        try:
            program = self._program(text)
        except (programs.BuildFailed, DoesNotCompile):
            return NOT_BUILT
        try:
            # What has noticed most so far comes first.
            for case in sorted(self._cases, key=lambda case: -self._failed[case.name]):
                if not self._result(program, case, self._limits[case.name]).passed:
                    with self._lock:
                        self._failed[case.name] += 1
                    return case.name
        finally:
            program.unlink()
        return SURVIVES

    def _result(
        self, program: Path, case: test_cases.TestCase, limits: runner.Limits
    ) -> CaseResult:
        for _ in range(_TRIES):
            times = TimeLimits(limits, whole=True)
            result = run_case(program, case, "emulator", self._build, times=times)
            if not result.skipped:
                return result
        raise WorkbookError(
            f'the machine was too busy to run "{case.name}"', "run it again, or with JOBS=1"
        )

    def _program(self, text: str) -> Path:
        """The program of an edited solution. Raises BuildFailed or DoesNotCompile."""
        if not hasattr(self._own, "folder"):
            with self._lock:
                self._slots += 1
                slot = str(self._slots)
            self._own.folder = self._build / "workbook" / "mutations" / self._lesson.id / slot
            try:
                compiler = Compiler(self._build, self._lesson)
                with self._lock:
                    self._own.compiler = self._stack.enter_context(compiler)
            except NotShared:
                self._own.compiler = None
        source = catalog.write_as_student(self._own.folder, self._lesson, text)
        if self._own.compiler:
            try:
                made = self._own.compiler.object_of(source)
                return programs.linked(self._build, self._lesson, source, made)
            except DoesNotCompile:
                raise
            except NotShared:
                pass  # nvcc itself
        return programs.compiled(self._build, self._lesson, source, quick=True)[0]
