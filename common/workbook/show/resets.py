# SPDX-License-Identifier: MIT
"""`make reset-NN`: puts a lesson's file back, never over a student's work unasked."""

from __future__ import annotations

import sys

from ..base import options
from ..base.project import NOT_PASSED, PASSED, Lesson, find_lesson, lessons, relative
from ..lesson import skeletons, student_files


def reset(which: str) -> int:
    """One lesson's file, or with `all` every one."""
    return reset_all() if which == "all" else reset_one(find_lesson(which))


def reset_one(lesson: Lesson) -> int:
    """Puts the skeleton back; edits are copied to .workbook/backups first."""
    text = skeletons.of_lesson(lesson).text
    path = lesson.student_file
    if path.is_file():
        if not student_files.differs(lesson):
            print(f"{relative(path)} is already as it was.")
            return PASSED
        if not may_overwrite(lesson):
            print("Nothing was changed.")
            return NOT_PASSED
        print(f"Your version is kept in {relative(student_files.backup(lesson))}")
    student_files.write(path, text)
    print(f"{relative(path)} is as it was at the start.")
    return PASSED


def reset_all() -> int:
    """The same for every lesson, after one question."""
    changed = [
        lesson for lesson in lessons()
        if not lesson.student_file.is_file() or student_files.differs(lesson)
    ]  # fmt: skip
    if not changed:
        print("Every lesson's file is already as it was.")
        return PASSED
    for lesson in changed:
        print(f"  {relative(lesson.student_file)}")
    names = "this file" if len(changed) == 1 else f"these {len(changed)} files"
    if not _asked(f"Put {names} back as they were (copies of yours are kept)?", names):
        print("Nothing was changed.")
        return NOT_PASSED
    for lesson in changed:
        if lesson.student_file.is_file():
            print(f"{lesson.id}: your version is kept in {relative(student_files.backup(lesson))}")
        student_files.write(lesson.student_file, skeletons.of_lesson(lesson).text)
    print("Done. What you have reached is remembered: make progress")
    return PASSED


def may_overwrite(lesson: Lesson) -> bool:
    """Asks before a student's work is overwritten."""
    name = relative(lesson.student_file)
    return _asked(f"{name} holds your edits. Put the original back (a copy is kept)?", name)


def _asked(question: str, name: str) -> bool:
    """The answer to a question, which YES=1 or FORCE=1 gives without asking."""
    if options.flag("YES") or options.flag("FORCE"):
        return True
    if not sys.stdin.isatty():
        print(
            f"{name} holds your edits: not overwritten. To do it all the same: YES=1",
            file=sys.stderr,
        )
        return False
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
