# SPDX-License-Identifier: MIT
"""Generates a lesson's skeleton from its solution.

The solution carries the markers:

    // TODO 1 (about 2 lines): what to write.      kept
    // More of the same sentence.                  kept
    //| out[i] = 0.0f;                             the placeholder: kept as code, without `//| `
    out[i] = a[i] + b[i];                          the solution: left out
    // END 1                                       kept

Comment lines directly after the TODO line belong to it. A placeholder line, or a bare `//|` where
there is no placeholder, ends that text. Everything outside the markers is kept as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..base import files
from ..base.project import Lesson, WorkbookError

_TODO = re.compile(r"^\s*// TODO (\d+) \((?:about )?\d+ lines?\): \S")
_ANY_TODO = re.compile(r"^\s*// TODO\b")
_END = re.compile(r"^\s*// END\b(?: (\d+)\s*$)?")
_PLACEHOLDER = re.compile(r"^(\s*)//\|(?: (.*))?$")
_COMMENT = re.compile(r"^\s*//(?!\|)")


@dataclass(frozen=True)
class Skeleton:
    """The generated text and the numbers of its tasks."""

    text: str
    tasks: tuple[int, ...]


def generate(source: str, name: str = "solution") -> Skeleton:
    """The skeleton of a solution's text. Raises WorkbookError naming line and cause."""

    def wrong(line: int, what: str) -> WorkbookError:
        return WorkbookError(f"{name}:{line}: {what}", "see CONTRIBUTING.md, Add a lesson")

    kept: list[str] = []
    tasks: list[int] = []
    task = 0  # the open task, or 0
    state = "outside"  # outside, text, placeholder, solution
    opened = 0
    for number, line in enumerate(source.splitlines(), 1):
        todo, end, placeholder = _TODO.match(line), _END.match(line), _PLACEHOLDER.match(line)
        if _ANY_TODO.match(line):
            if not todo:
                raise wrong(number, "a TODO reads `// TODO k (about m lines): text`")
            if task:
                raise wrong(number, f"TODO inside TODO {task}, which has no END")
            task, state, opened = int(todo.group(1)), "text", number
            if task != len(tasks) + 1:
                raise wrong(number, f"TODO {task} where TODO {len(tasks) + 1} is next")
            tasks.append(task)
            kept.append(line)
        elif end:
            if not task or end.group(1) is None or int(end.group(1)) != task:
                raise wrong(
                    number, f"this END does not close {f'TODO {task}' if task else 'any TODO'}"
                )
            task, state = 0, "outside"
            kept.append(line)
        elif state == "outside":
            if placeholder:
                raise wrong(number, "a placeholder outside TODO and END")
            kept.append(line)
        elif placeholder and state in ("text", "placeholder"):
            state = "placeholder"
            if placeholder.group(2):
                kept.append(placeholder.group(1) + placeholder.group(2))
        elif placeholder:
            raise wrong(number, "a placeholder after the solution's lines: put it before them")
        elif state == "text" and _COMMENT.match(line):
            kept.append(line)
        else:
            state = "solution"
    if task:
        raise wrong(opened, f"TODO {task} has no END")
    if not tasks:
        raise wrong(1, "no TODO: a lesson has at least one task")
    return Skeleton("\n".join(kept) + "\n", tuple(tasks))


def solved(source: str) -> str:
    """A solution's text as a student would have it: the skeleton with the solution's lines."""
    return "".join(
        line for line in source.splitlines(keepends=True) if not _PLACEHOLDER.match(line.rstrip())
    )


def task_lines(text: str) -> list[range]:
    """The lines of each task in a student's text, counted from 1, without those of its markers."""
    found, begun = [], 0
    for number, line in enumerate(text.splitlines(), 1):
        if _TODO.match(line):
            begun = number + 1
        elif _END.match(line):
            found.append(range(begun, number))
    return found


def finished(source: str) -> str:
    """A solution's text as finished code: without the comments of its tasks."""
    kept = []
    in_text = False  # of a TODO comment
    for line in source.splitlines(keepends=True):
        placeholder, end = _PLACEHOLDER.match(line.rstrip()), _END.match(line)
        if _TODO.match(line):
            in_text = True
        elif placeholder or end or not _COMMENT.match(line):
            in_text = False
        if not (in_text or placeholder or end):
            kept.append(line)
    return "".join(kept)


def of_lesson(lesson: Lesson) -> Skeleton:
    """The skeleton of a lesson, from solutions/."""
    path = lesson.solution_file
    try:
        source = path.read_text(encoding="utf-8")
    except OSError as error:
        raise WorkbookError(f"cannot read the solution: {error}") from error
    return generate(source, f"solutions/{lesson.id}/{path.name}")


def untouched(lesson: Lesson) -> bool:
    """Whether the student's file is still the skeleton; not if it cannot be read."""
    try:
        return files.read_text(lesson.student_file) == of_lesson(lesson).text
    except OSError:
        return False
