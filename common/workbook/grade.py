# SPDX-License-Identifier: MIT
"""Grades one program against one lesson's test: correct, safe, efficient.

The verdict comes from Catch2's XML report of each test case, run in a process of its own, and from
the emulator's findings. What the program prints is never read for the verdict.

For the workbook's tests, WORKBOOK_EMULATOR names a folder with another build of the device, and
WORKBOOK_RUN_UNDER a command that starts the programs, such as a processor emulator.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import shlex
import signal
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import catch_xml, counters, findings, phases, runner
from .catch_xml import CAPTURED, Outcome, TestCase
from .findings import Finding
from .project import ROOT, DeviceFailed, Lesson, WorkbookError, cores

if TYPE_CHECKING:
    from .diagnose.arrays import Compared

# catch_main.cpp ends a program that calls exit() inside a test with this code.
_EXIT_CALLED = 86
# The emulated device ends a program with it that cannot run on this machine at all.
_CANNOT_RUN = 126
# Thread-instructions, for finding the loop of a launch that took too long: a second or two.
_SMALL_BUDGET, _SECOND_LOOK = "1000000000", 10.0

# What the dynamic linker says, with code 127, when a library is missing or does not fit.
_NOT_LOADED = ("symbol lookup error", "error while loading shared libraries")


@dataclass
class CaseResult:
    """One test case: `ended` is '' when it ran to its end, else how it did not.

    `ending` is the same as a word for programs to read, one of verdicts.ENDINGS or another.
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

    @property
    def values_right(self) -> bool:
        return not self.ended and self.outcome.complete and self.outcome.success

    @property
    def safe(self) -> bool:
        return not any(finding.unsafe for finding in self.findings)

    @property
    def passed(self) -> bool:
        return self.values_right and self.safe

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
        from . import diagnose
        from .diagnose import arrays  # imports numpy: only where something went wrong

        found = arrays.compared(self.details)
        told = [f for f in self.outcome.failures if diagnose.parse_mismatch(f.infos)]
        for array, failure in zip(found, told, strict=False):
            arrays.guess_columns(array, failure.infos)
        return found

    @functools.cached_property
    def telling(self) -> int | None:
        """Which of `arrays` the cause speaks of, where it speaks of one."""
        from .diagnose import story

        told = story.most_telling(self.arrays)
        return told[0] if told else None

    def cause(self) -> str:
        """The `looks like` line, or ''."""
        if self.passed:
            return ""
        return self._cause

    @functools.cached_property
    def _cause(self) -> str:
        from . import diagnose

        wrong = any(finding.severity == "error" for finding in self.findings)
        if self.case.efficient and not wrong and not self.ended and self.outcome.failures:
            counted = [c for entry in self.details if isinstance(c := entry.get("count"), dict)]
            launched = any(c.get("launches") for c in counted)
            for failure in self.outcome.failures:
                check = (failure.expression, failure.expansion)
                if said := diagnose.of_counter(*check, launched, counted):
                    return said
            return ""
        checks = [(failure.expression, failure.expansion) for failure in self.outcome.failures]
        mistake = diagnose.of_mistakes(self.details)
        explained = any(not CAPTURED.match(info) for info in self.texts())
        if self.ended.startswith("did not finish") and not self.findings:
            return "host code that does not come to its end: no kernel was found that does not"
        return diagnose.likely_cause(
            self.arrays, self.findings, self.exception(), checks, mistake, explained
        ) or diagnose.of_crash(self.ended, self.output)


@dataclass
class Grade:
    """The grade of one program on one device; with `build_error` there was nothing to run."""

    lesson: Lesson
    device: str
    results: list[CaseResult] = field(default_factory=list)
    build_stage: str = ""
    build_error: str = ""
    compiler_warnings: str = ""

    @property
    def tasks(self) -> list[CaseResult]:
        return [result for result in self.results if not result.case.efficient]

    @property
    def counted(self) -> list[CaseResult]:
        return [result for result in self.results if result.case.efficient]

    @property
    def correct(self) -> bool:
        tasks = self.tasks
        return bool(tasks) and all(result.values_right for result in tasks)

    @property
    def safe(self) -> bool:
        """No finding, and every case ran to its end: a run cut short proves nothing."""
        return bool(self.results) and all(r.safe and not r.ended for r in self.results)

    @property
    def efficient(self) -> bool | None:
        """None where the device has no counters: a card is not asked for efficiency."""
        if self.device == "gpu":
            return None
        return self.correct and all(result.values_right for result in self.counted)

    @property
    def passed(self) -> bool:
        return self.correct and self.safe and self.efficient is not False

    @property
    def cases_passed(self) -> int:
        """Efficiency counts only once the values are right: doing nothing is cheap."""
        counted = sum(result.passed for result in self.counted) if self.correct else 0
        return counted + sum(result.passed for result in self.tasks)

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
                    "seconds": round(result.seconds, 3),
                    "peak_memory": result.peak_memory,
                    "failures": [vars(failure) for failure in result.outcome.failures],
                    "findings": [finding.data for finding in result.findings],
                    "looks_like": result.cause(),
                    "output": result.output[-2000:],
                }
                for result in self.results
            ],
            "findings": [dict(f.data, cases=f.cases) for f in self.merged_findings()],
        }


def _environment(device: str, build: Path, report: Path, details: Path) -> dict[str, str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith("EMULATOR_")}
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "LD_PRELOAD"):
        env.pop(name, None)
    env["WORKBOOK_DETAILS"] = str(details)
    if device == "emulator":
        # Before the program's own search path, where a toolkit's libcudart might stand.
        older = env.get("LD_LIBRARY_PATH")
        library = os.environ.get("WORKBOOK_EMULATOR") or str(build / "emulator")
        env["LD_LIBRARY_PATH"] = library + (f":{older}" if older else "")
        env["EMULATOR_REPORT"] = str(report)
        env["EMULATOR_WRITERS"] = "1"
    return env


def run_case(
    program: Path,
    case: TestCase,
    device: str,
    build: Path,
    limits: runner.Limits | None = None,
    trace: Path | None = None,
) -> CaseResult:
    """Runs one test case of `program` in its own process; with `trace`, what it touches is kept."""
    limits = limits or runner.Limits.on(device)
    with tempfile.TemporaryDirectory(prefix="workbook-") as scratch:
        xml, report = Path(scratch) / "report.xml", Path(scratch) / "findings.jsonl"
        under = shlex.split(os.environ.get("WORKBOOK_RUN_UNDER", ""))
        command = [*under, str(program), case.spec, "-r", "xml", "-o", str(xml)]
        details = Path(scratch) / "details"
        env = _environment(device, build, report, details)
        if trace and device == "emulator":
            env["EMULATOR_TRACE"] = str(trace)
        try:
            ended = runner.run(command, env, ROOT, limits)
        except OSError as error:
            raise WorkbookError(f"cannot run {program}: {error}") from error
        outcome = catch_xml.read_outcome(xml, case)
        if device == "emulator":
            _stop_if_device_failed(ended, report)
        found = findings.read_report(report)
        noted = counters.read_details(details)
        if ended.how == "time" and device == "emulator" and not found:
            found = _where_it_hangs(command, env, report, limits)
    ending, words = _how_it_ended(ended, outcome, limits)
    return CaseResult(
        case, outcome, words, found,
        ended.seconds, ended.peak_memory, ended.output, noted, ending,
    )  # fmt: skip


def _stop_if_device_failed(ended: runner.Ended, report: Path) -> None:
    """Raises DeviceFailed after a run that the emulated device itself has ended.

    The device opens its report before any code of the program runs. Without one it did not start.
    """
    failed = [one for one in findings.read_report(report) if one.code == "internal-error"]
    if failed:
        raise DeviceFailed(str(failed[0].data.get("message", "")))
    if report.exists() or ended.code == 127:
        return
    if ended.code == _CANNOT_RUN:
        raise WorkbookError(ended.output.strip() or "the emulated device cannot run here")
    if ended.code is not None and ended.code < 0:
        raise DeviceFailed(f"{ended.signal_name} before the program began")


def _where_it_hangs(
    command: list[str], env: dict[str, str], report: Path, limits: runner.Limits
) -> list[Finding]:
    """Findings of a second run, in which a launch may do less: the kernel that does not end."""
    with contextlib.suppress(OSError):
        report.unlink()
    with contextlib.suppress(OSError):
        runner.run(
            command,
            # Nothing else is looked for: the budget is then used up within a second.
            {**env, "EMULATOR_BUDGET": _SMALL_BUDGET, "EMULATOR_CHECKS": "stalls"},
            ROOT,
            dataclasses.replace(limits, seconds=min(_SECOND_LOOK, limits.seconds)),
        )
    return [one for one in findings.read_report(report) if one.code in ("hang", "deadlock")]


def _how_it_ended(ended: runner.Ended, outcome: Outcome, limits: runner.Limits) -> tuple[str, str]:
    """Empty for a run that came to its own end with a whole report; else a word of
    verdicts.ENDINGS (or one that no verdict knows) and the same as a sentence.
    """
    if ended.how == "time":
        return "times-out", f"did not finish within {limits.seconds:g} s"
    if ended.how == "memory":
        return "out-of-memory", f"out of memory: used more than {limits.memory >> 20} MiB"
    if ended.how == "output":
        mebibytes = limits.output >> 20
        return "floods", f"flooded its output: printed more than {mebibytes} MiB"
    fatal = next((failure.fatal for failure in outcome.failures if failure.fatal), "")
    if fatal:
        if "SIGSEGV" in fatal:
            return "crashes", "crashed: segmentation fault on the host"
        number = getattr(signal, fatal.split(" - ")[0].strip(), 0)
        return _crash_word(number), f"crashed: {fatal.split(' - ')[-1]}"
    if ended.code == _EXIT_CALLED and not outcome.complete:
        return "ends-early", "ended early: exit() was called before the test was over"
    if ended.code == -signal.SIGXFSZ:
        return "fills-disk", f"wrote a file of more than {limits.file_size >> 20} MiB"
    if ended.code < 0:
        return _crash_word(-ended.code), f"crashed: {ended.signal_name}"
    if not outcome.complete:
        if ended.code == 127 and any(words in ended.output for words in _NOT_LOADED):
            raise WorkbookError(
                "the lesson's program cannot be started, and that is not your file's fault: "
                + ended.output.strip().splitlines()[0],
                "make clean, then make; if it stays, please report it",
            )
        stopped = f"the program stopped with code {ended.code} before the test was over"
        return "ends-early", f"ended early: {stopped}"
    if outcome.success and ended.code != 0:
        return "ends-badly", f"passed its checks and then ended with code {ended.code}"
    if outcome.success and outcome.assertions == 0 and not outcome.warnings:
        return "checks-nothing", "checked nothing: no assertion was reached"
    return "", ""


def _crash_word(number: int) -> str:
    """A student's own mistakes end in few ways; any other signal is none that a verdict names."""
    if number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE):
        return "crashes"
    return "aborts" if number == signal.SIGABRT else f"signal-{number}"


def grade_program(
    lesson: Lesson,
    program: Path,
    device: str,
    build: Path,
    jobs: int | None = None,
    limits: runner.Limits | None = None,
    cases: Sequence[TestCase] | None = None,
    on_case: Callable[[int, int], None] | None = None,
) -> Grade:
    """Grades a program that is already built. on_case(done, all) is called as cases end."""
    cases = catch_xml.cases_in_source(lesson.test_file) if cases is None else cases
    if not cases:
        raise WorkbookError(f"{lesson.test_file} holds no TEST_CASE")
    runner.adopt_orphans()
    try:
        with ThreadPoolExecutor(max_workers=jobs or cores()) as pool:
            runs = pool.map(lambda case: run_case(program, case, device, build, limits), cases)
            results = []
            for result in runs:
                results.append(result)
                if on_case:
                    on_case(len(results), len(cases))
    finally:
        runner.end_orphans()
    return Grade(lesson, device, results)


def grade_lesson(lesson: Lesson, device: str, build: Path) -> Grade:
    """Builds and grades the student's file; on a terminal a line tells how far it is."""
    from . import build as builder
    from . import screen

    if not lesson.student_file.is_file():
        raise WorkbookError(
            f"lessons/{lesson.id}/{lesson.slug}.cu is missing",
            f"make reset-{lesson.number} brings it back",
        )
    target = f"lesson_{lesson.id}"
    status = screen.Status()
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
            print(built.text)
            raise WorkbookError(
                f"{target} did not build, and not because of your file (see above)",
                "make clean, then make; if it stays, please report it",
            )
        return Grade(lesson, device, build_stage=built.stage, build_error=built.text)
    program = build / "lessons" / target
    started = time.monotonic()
    grade = grade_program(lesson, program, device, build, on_case=status.count)
    phases.add("grading", time.monotonic() - started)
    status.clear()
    grade.compiler_warnings = built.text
    return grade
