# SPDX-License-Identifier: MIT
"""Hints, a rung more at every call, and the solution beside what the student wrote."""

from __future__ import annotations

import contextlib
import sys

from rich.syntax import Syntax

from ..base import files, options
from ..base.project import NOT_PASSED, PASSED, USAGE, Lesson, WorkbookError, relative
from ..judge import progress
from ..lesson import skeletons, student_files
from ..lesson.hints import read_hints
from . import screen, side_by_side


def hint(lesson: Lesson) -> int:
    """`make hint-NN`; TASK= and RUNG= choose one."""
    return show_hint(lesson, options.number("TASK"), options.number("RUNG"))


def show_hint(lesson: Lesson, task: int | None = None, rung: int | None = None) -> int:
    """One rung more at every call, for the first task that failed last, unless one is chosen."""
    try:
        hints = read_hints((lesson.folder / "HINTS.md").read_text(encoding="utf-8"))
    except OSError as error:
        raise WorkbookError(f"lesson {lesson.number} has no HINTS.md: {error}") from error
    if not hints:
        raise WorkbookError(f"HINTS.md of lesson {lesson.number} has no `## Task k`")
    data = progress.load()
    entry = data.setdefault(lesson.id, {})
    failing = [t for t in (entry.get("last") or {}).get("failing_tasks", []) if t in hints]
    if task is None:
        task = failing[0] if failing else min(hints)
    if task not in hints:
        raise WorkbookError(
            f"there is no task {task}", f"the tasks are {', '.join(map(str, hints))}", USAGE
        )
    rungs = hints[task]
    seen = entry.setdefault("hints", {})
    shown = rung if rung is not None else min(int(seen.get(str(task), 0)) + 1, len(rungs))
    if not 1 <= shown <= len(rungs):
        raise WorkbookError(f"there is no rung {shown}", f"the rungs are 1 to {len(rungs)}", USAGE)
    page = [f"## Lesson {lesson.number}, task {task}"]
    for title, body in rungs[:shown]:
        page += [f"### {title}", body]
    out = screen.console()
    screen.show_page("\n\n".join(page), out)
    seen[str(task)] = max(shown, int(seen.get(str(task), 0)))
    with contextlib.suppress(OSError):  # a read-only workbook shows the first rung again
        progress.save(data)
    if shown < len(rungs):
        out.print(f"({shown} of {len(rungs)}: make hint-{lesson.number} again for the next)")
    else:
        out.print(f"({shown} of {len(rungs)}: this was the last; TASK=k asks about another task)")
    return PASSED


def solution(lesson: Lesson) -> int:
    """The solution, once the lesson has passed or with FORCE=1."""
    if not progress.solved(lesson) and not options.flag("FORCE"):
        print(f"Lesson {lesson.number} has not passed yet: make hint-{lesson.number} helps.")
        print(f"To see the solution all the same: make solution-{lesson.number} FORCE=1")
        return NOT_PASSED
    text = skeletons.solved(lesson.solution_file.read_text(encoding="utf-8"))
    out = screen.console()
    if sys.stdout.isatty():
        out.print(Syntax(text, "cuda", theme="ansi_dark").highlight(text), soft_wrap=True)
    else:
        print(text, end="")
    if student_files.is_edited(lesson):
        yours = files.read_text(lesson.student_file)
        print("\nYours and the solution:")
        for line in side_by_side.render(yours, text, out.width, ("yours", "solution")):
            out.print(line, style=_diff_style(line, out.width), markup=False, soft_wrap=True)
    print(f"file: {relative(lesson.solution_file)}")
    if (notes := lesson.solution_folder / "NOTES.md").is_file():
        print(f"why it is so: {relative(notes)}")
    return PASSED


def _diff_style(line: str, width: int) -> str:
    if width >= 110:
        mark = line[(width - 3) // 2 + 1 : (width - 3) // 2 + 2]
        return {"-": "red", "+": "green", "|": "yellow"}.get(mark, "")
    return {"-": "red", "+": "green", "@": "cyan"}.get(line[:1], "")
