# SPDX-License-Identifier: MIT
"""`make all`: grades every lesson that was begun, and shows one table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text

from ..base.phases import Phase
from ..base.project import NOT_PASSED, PASSED, Lesson, WorkbookError, lessons
from ..build import build, folders
from ..judge import grade, progress
from ..judge.grade import Grade
from ..lesson import skeletons
from . import screen

NOT_BEGUN = "not begun"


@dataclass
class Row:
    """One lesson: its grade, or why there is none."""

    lesson: Lesson
    grade: Grade | None = None
    words: str = ""

    @property
    def passed(self) -> bool:
        return self.grade is not None and self.grade.passed


def first_problem(result: Grade) -> str:
    """The most important problem, in a few words; '' for a lesson that passed."""
    if result.build_error:
        return "not graded" if result.build_stage == "refused" else f"does not {result.build_stage}"
    if result.passed:
        return ""
    found = [finding for finding in result.merged_findings() if finding.unsafe]
    failed = next((one for one in result.results if not one.passed and not one.skipped), None)
    if found:
        return f"{found[0].code} (line {found[0].line})" if found[0].line else found[0].code
    return f"{failed.case.task}: {failed.ended or failed.case.title}" if failed else ""


def grade_all(folder: Path, known: list[Lesson]) -> list[Row]:
    """The rows of these lessons, whatever goes wrong in one of them."""
    started = [lesson for lesson in known if not skeletons.untouched(lesson)]
    rows = {lesson.id: Row(lesson, words=NOT_BEGUN) for lesson in known}
    if started:
        build.build_all(folder, [f"lesson_{lesson.id}" for lesson in started], "Compiling")
        with Phase("grading", f"Grading {len(started)} of {len(known)} lessons") as phase:
            for done, lesson in enumerate(started):
                rows[lesson.id] = _row(lesson, folder)
                phase.reached((done + 1) / len(started))
    return list(rows.values())


def _row(lesson: Lesson, folder: Path) -> Row:
    try:
        result = grade.grade_lesson(lesson, "emulator", folder)
    except WorkbookError as error:
        return Row(lesson, words=str(error))
    progress.remember(result)
    return Row(lesson, result, first_problem(result))


def show(rows: list[Row], out: screen.Console | None = None) -> None:
    """One line for each lesson that was begun; long texts are wrapped, not cut."""
    out = out or screen.console()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("", "lesson"):
        table.add_column(name, overflow="fold")
    for name in (*screen.GRADES, "passed"):
        table.add_column(name, justify="center", no_wrap=True)
    table.add_column("first problem", overflow="fold")
    styles = {"✓": "green", "✗": "red"}
    for row in rows:
        if row.words == NOT_BEGUN:
            continue
        marks = ["·"] * 3 if row.grade is None or row.grade.build_error else [
            screen.mark(value)
            for value in (row.grade.correct, row.grade.safe, row.grade.efficient)
        ]  # fmt: skip
        table.add_row(
            row.lesson.number,
            Text(row.lesson.title, "green" if row.passed else ""),
            *(Text(mark, styles.get(mark, "dim")) for mark in marks),
            f"{row.grade.cases_passed} of {len(row.grade.results)}"
            if row.grade and row.grade.results
            else "",
            row.words,
        )
    if table.row_count:
        out.print(table)
    if waiting := [row.lesson.number for row in rows if row.words == NOT_BEGUN]:
        screen.wrapped(out, "not begun: " + ", ".join(waiting), "")
    count = sum(row.passed for row in rows)
    out.print(Text(f"{screen.bar(count, len(rows))} {count} of {len(rows)} lessons pass"))


def run() -> int:
    """Exit status 0 only where every lesson passes."""
    folder = folders.prepare("emulator")
    rows = grade_all(folder, lessons())
    show(rows)
    failed = [row for row in rows if not row.passed and row.words != NOT_BEGUN]
    if failed:
        print(f"make {failed[0].lesson.number} shows more of the first that does not pass.")
    return PASSED if all(row.passed for row in rows) else NOT_PASSED
