# SPDX-License-Identifier: MIT
"""`make grade-class SUBMISSIONS=folder OUT=folder`: collects, grades and reports on a class."""

from __future__ import annotations

import contextlib
import os
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from ..base import files, options, processes
from ..base.phases import Phase
from ..base.project import PASSED, ROOT, USAGE, Lesson, WorkbookError, cores, find_lesson, lessons
from ..build import build, folders
from ..running import sandbox
from ..show import screen
from . import grading, layout, report, scoring
from .grading import ClassLimits, Grader
from .layout import Collected, Submission

_POINTS = "points.toml"
_SHOWN = 12  # problems on the screen; the report has all


def run() -> int:
    """Exit status 0 when everything that could be graded was, whatever the grades."""
    root = _folder("SUBMISSIONS", must_exist=True)
    out = _folder("OUT")
    if out == root or root.is_relative_to(out):
        raise WorkbookError(f"OUT={out} holds the submissions", "choose another folder", USAGE)
    known = lessons()
    wanted = [find_lesson(name) for name in options.words("LESSONS")]
    limits = ClassLimits.of(options.text("LIMITS"))
    rules = rules_of(root, known)
    sandbox.require(options.flag("TRUST"))
    collected = layout.collect(root, known, wanted or None)
    if out.is_relative_to(root):
        collected.submissions = [
            one for one in collected.submissions if one.student != out.relative_to(root).parts[0]
        ]
    _say_what_was_found(collected)
    to_grade = [one for one in collected.submissions if not one.problem]
    folder = prepare({one.lesson.id: one.lesson for one in to_grade})
    grader = Grader(folder, out / "graded", limits)
    results = grade(grader, to_grade, _jobs())
    by_key = {
        (one.student, one.lesson.id): found for one, found in zip(to_grade, results, strict=True)
    }
    rows = report.rows_of(collected, by_key, rules)
    report.write(out, collected, rows)
    _say_what_came_of_it(rows, out)
    return PASSED


def _folder(name: str, must_exist: bool = False) -> Path:
    value = options.text(name)
    if not value:
        raise WorkbookError(
            f"{name} is not given", "make grade-class SUBMISSIONS=folder OUT=folder", USAGE
        )
    path = Path(value).expanduser().resolve()
    if must_exist and not path.is_dir():
        raise WorkbookError(
            f"{name}={value} is no folder", "the folder with what was handed in", USAGE
        )
    return path


def _jobs() -> int:
    text = options.text("JOBS") or str(cores())
    if not text.isdigit() or not 0 < int(text) <= 512:
        raise WorkbookError(f"JOBS={text} is no number of jobs", f"JOBS={cores()}", USAGE)
    return int(text)


def rules_of(root: Path | None, known: list[Lesson]) -> scoring.Rules:
    """POINTS=file, or points.toml beside the submissions, or the defaults."""
    if named := options.text("POINTS"):
        return scoring.read(Path(named).expanduser(), known)
    beside = root / _POINTS if root else None
    if beside and beside.is_file():
        return scoring.read(beside, known)
    return scoring.Rules()


def prepare(wanted: dict[str, Lesson]) -> Path:
    """The build folder with the tests of these lessons."""
    folder = folders.prepare("emulator")
    targets = [f"lesson_test_{name}" for name in wanted]
    targets += [*build.PROGRAM, "emulator_cudart"]
    built = build.build(folder, targets, show="Building the tests")
    if not built.ok:
        print(build.first_failure(built.text))
        raise WorkbookError(
            "the tests did not build (the first error is above)",
            "this is the workbook's own code: make clean, then make; if it stays, please report it",
        )
    return folder


def grade(grader: Grader, submissions: list[Submission], jobs: int) -> list[dict[str, Any]]:
    """The results in the order of the submissions; each text is graded once."""
    first: dict[str, Submission] = {}
    keys = []
    for one in submissions:
        keys.append(grader.key(one.lesson, one.data))
        first.setdefault(keys[-1], one)
    done: dict[str, dict[str, Any]] = {}
    for key, one in first.items():
        if (found := grader.earlier(one.lesson, one.data)) is not None:
            done[key] = found
    left = {key: one for key, one in first.items() if key not in done}
    if done:
        print(f"{len(done)} of {len(first)} different files were graded by an earlier run.")
    if left:
        with Phase("grading", f"Grading {len(left)} files") as phase:
            for key, found in _graded(grader, left, jobs):
                done[key] = found
                phase.reached((len(done) - len(first) + len(left)) / len(left))
    return [done[key] for key in keys]


def _graded(grader: Grader, left: dict[str, Submission], jobs: int) -> Any:
    pool = ThreadPoolExecutor(max_workers=jobs)
    try:
        waiting = {pool.submit(grader.grade, s.lesson, s.data): key for key, s in left.items()}
        doubtful = []
        for future in as_completed(waiting):
            key, result = waiting[future], future.result()
            if result["again"]:
                doubtful.append(key)
            else:
                yield key, result
        # Out of time on a busy machine: once more without the others, before it costs a point.
        for key in doubtful:
            yield key, grader.grade(left[key].lesson, left[key].data, alone=True)
    except BaseException:
        grader.stopping.set()
        pool.shutdown(wait=False, cancel_futures=True)
        for pid in processes.below(os.getpid()):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        raise
    finally:
        pool.shutdown()


def _say(text: str, indent: str = "") -> None:
    """Text that submissions may have a part in, in the lines of a terminal."""
    screen.wrapped(screen.console(), files.printable(text), indent)


def _say_what_was_found(collected: Collected) -> None:
    submissions = collected.submissions
    _say(f"Recognised: {', '.join(collected.layouts) or 'nothing'}.")
    numbers = sorted({one.lesson.number for one in submissions})
    good = sum(not one.problem for one in submissions)
    _say(
        f"{len(collected.students)} students, lessons {', '.join(numbers)}: {good} files to grade."
    )
    problems = [one for one in submissions if one.problem]
    for one in problems[:_SHOWN]:
        _say(f"{one.student}, lesson {one.lesson.number}: {one.problem}", "  ")
    if len(problems) > _SHOWN:
        _say(f"and {len(problems) - _SHOWN} more that cannot be graded: the report has them", "  ")
    for remark in collected.remarks[:_SHOWN]:
        _say(remark, "  ")


def _say_what_came_of_it(rows: list[report.Row], out: Path) -> None:
    counts = Counter(row.status for row in rows)
    _say(", ".join(f"{count} {status}" for status, count in counts.most_common()) + ".")
    for row in rows:
        if row.status in (grading.REFUSED, grading.TAMPERED, grading.BROKEN):
            one = row.submission
            head = f"{one.student}, lesson {one.lesson.number}, {row.status}: "
            _say(head + row.first_cause.removeprefix("not graded: "), "  ")
    shown = os.path.relpath(out) if out.is_relative_to(ROOT) else str(out)
    print(f"Report: {shown}/index.html")
    _say("grades.csv, class.json, junit.xml and students/ are beside it.")
