# SPDX-License-Identifier: MIT
"""`make autograde-02 FILE=... FORMAT=...`: one file for one lesson, for the autograders of others.

The exit status is the verdict: 0 passed, 1 not passed, 2 wrong use, 3 could not grade, 70 the
workbook's own failure. OUT=file has the result (the standard output without it) in a format:

json        what class.json has of one submission (README, Grade a class)
gradescope  results.json of a Gradescope autograder
github      the result that GitHub Classroom's reporter takes; also into $GITHUB_OUTPUT
score       the share of the points from 0 to 1, for a cell of nbgrader's or a spreadsheet
"""

from __future__ import annotations

import base64
import json
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from ..base import files, options
from ..base.project import INTERNAL, NOT_PASSED, PASSED, USAGE, Lesson, WorkbookError, lessons
from ..running import sandbox
from . import command, grading, report
from .grading import ClassLimits, Grader
from .layout import Collected, Submission
from .report import Row


def run(lesson: Lesson) -> int:
    """Grades and reports; the exit status is the verdict."""
    style = options.text("FORMAT") or "json"
    if style not in FORMATS:
        raise WorkbookError(f"FORMAT={style} is not known", "one of " + ", ".join(FORMATS), USAGE)
    source = Path(options.text("FILE") or lesson.student_file).expanduser()
    with redirect_stdout(sys.stderr):  # what is said meanwhile is no part of the result
        row = _graded(lesson, source)
    text = FORMATS[style](row)
    if out := options.text("OUT"):
        path = Path(out).expanduser()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8", errors="replace")
    else:
        print(text)
    if style == "github" and (listed := os.environ.get("GITHUB_OUTPUT")):
        with open(listed, "a", encoding="utf-8") as file:
            file.write(f"result={base64.b64encode(text.encode()).decode()}\n")
    if row.status == grading.BROKEN:
        print(f"not graded: {row.first_cause}", file=sys.stderr)
        return INTERNAL
    return PASSED if row.status == grading.PASSED else NOT_PASSED


def _graded(lesson: Lesson, source: Path) -> Row:
    limits = ClassLimits.of(options.text("LIMITS"))
    rules = command.rules_of(None, lessons())
    sandbox.require(options.flag("TRUST"))
    one = Submission("", lesson, source.name)
    try:
        one.data = files.read_bytes(source)
    except files.NotReadable as error:
        one.problem = f"{source.name} {error.strerror}"
    except OSError as error:
        one.problem = f"missing: {source.name} ({error.strerror})"
    results = {}
    if not one.problem:
        folder = command.prepare({lesson.id: lesson})
        with tempfile.TemporaryDirectory(prefix="workbook-") as kept:
            grader = Grader(folder, Path(kept), limits)
            result = grader.grade(lesson, one.data)
            if result["again"]:
                result = grader.grade(lesson, one.data, alone=True)
            results["", lesson.id] = result
    (row,) = report.rows_of(Collected([one]), results, rules)
    return row


def _parts(row: Row) -> list[tuple[str, float, float, str]]:
    """Name, points, most points, and what to say, of each part of the grade."""
    cases = row.result.get("cases") or []

    def said(wanted: list[dict[str, Any]]) -> str:
        lines = []
        for case in wanted:
            mark = "passed" if case["passed"] else "not run" if case["skipped"] else "failed"
            lines.append(f"{mark}: {case['name']}")
            lines += [f"  {line}" for line in case["message"].splitlines()]
        return "\n".join(lines) or row.first_cause

    numbers = sorted({case["task"] for case in cases if not case["efficient"]})
    parts = []
    for at, (got, most) in enumerate(row.points.tasks):
        number = numbers[at] if at < len(numbers) else at + 1
        own = [case for case in cases if case["task"] == number and not case["efficient"]]
        parts.append((f"task {number}", got, most, said(own)))
    unsafe = [case for case in cases if not case["safe"]]
    safe = "no finding" if row.result.get("safe") else said(unsafe)
    parts.append(("safe", *row.points.safe, safe))
    if row.points.efficient[1]:
        counted = [case for case in cases if case["efficient"]]
        parts.append(("efficient", *row.points.efficient, said(counted)))
    return parts


def as_json(row: Row) -> str:
    """One submission as in class.json."""
    return json.dumps(report.as_json(row), indent=1, ensure_ascii=False)


def gradescope(row: Row) -> str:
    """results.json: a total, and a test for each part of the grade."""
    tests = [
        {
            "name": name, "score": got, "max_score": most, "output": said,
            "status": "passed" if got >= most else "failed", "visibility": "visible",
        }
        for name, got, most, said in _parts(row)
    ]  # fmt: skip
    screen = row.result.get("screen") or row.first_cause
    made = {"score": row.points.total, "output": f"{row.status}\n\n{screen}",
            "output_format": "text", "visibility": "visible", "tests": tests}  # fmt: skip
    return json.dumps(made, indent=1, ensure_ascii=False)


def github(row: Row) -> str:
    """The result of one test runner for GitHub Classroom's reporter."""
    status = "pass" if row.status == grading.PASSED else "fail"
    tests = [
        {
            "name": name, "status": "pass" if got >= most else "fail", "score": got,
            "message": said, "test_code": f"make {row.submission.lesson.number}",
            "filename": row.submission.place, "line_no": 0, "execution_time": "",
        }
        for name, got, most, said in _parts(row)
    ]  # fmt: skip
    made = {"version": 1, "status": status, "max_score": row.points.most, "tests": tests}
    return json.dumps(made, ensure_ascii=False)


def score(row: Row) -> str:
    """From 0 to 1."""
    return f"{row.points.total / row.points.most if row.points.most else 0:.4f}"


FORMATS: dict[str, Callable[[Row], str]] = {
    "json": as_json, "gradescope": gradescope, "github": github, "score": score,
}  # fmt: skip
