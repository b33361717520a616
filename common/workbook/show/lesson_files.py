# SPDX-License-Identifier: MIT
"""Hints, the solution, and putting a lesson's file back, never over a student's work unasked."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from ..base import files
from ..base.project import (
    NOT_PASSED,
    PASSED,
    ROOT,
    USAGE,
    Lesson,
    WorkbookError,
    lessons,
    relative,
    state_folder,
)
from ..judge import progress
from ..lesson import index, skeletons
from . import screen

# --- hints ---------------------------------------------------------------------------------------


def read_hints(text: str) -> dict[int, list[tuple[str, str]]]:
    """Rungs by task from HINTS.md: `## Task k`, below it `### 1 A question` and so on."""
    hints: dict[int, list[tuple[str, str]]] = {}
    for part in re.split(r"^## +", text, flags=re.MULTILINE)[1:]:
        match = re.match(r"Task (\d+)[^\n]*\n", part)
        if not match:
            continue
        rungs = []
        for rung in re.split(r"^### +", part[match.end() :], flags=re.MULTILINE)[1:]:
            title, _, body = rung.partition("\n")
            rungs.append((title.strip(), body.strip("\n").rstrip()))
        hints[int(match.group(1))] = rungs
    return hints


def show_hint(lesson: Lesson, task: int | None = None, rung: int | None = None) -> int:
    """One rung more at every call, for the first task that failed last; TASK= and RUNG= choose."""
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


def show_solution(lesson: Lesson) -> int:
    """The solution, once the lesson has passed or with FORCE=1."""
    if not progress.solved(lesson) and os.environ.get("FORCE") != "1":
        print(f"Lesson {lesson.number} has not passed yet: make hint-{lesson.number} helps.")
        print(f"To see the solution all the same: make solution-{lesson.number} FORCE=1")
        return NOT_PASSED
    from rich.syntax import Syntax

    text = skeletons.solved(lesson.solution_file.read_text(encoding="utf-8"))
    out = screen.console()
    if sys.stdout.isatty():
        out.print(Syntax(text, "cuda", theme="ansi_dark").highlight(text), soft_wrap=True)
    else:
        print(text, end="")
    if is_edited(lesson):
        from . import side_by_side

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


# --- writing lessons' files ----------------------------------------------------------------------


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def committed_text(path: Path) -> str | None:
    """The file as committed in git, or None outside git or for a file that is not in it."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), "show", f"HEAD:./{relative(path)}"], capture_output=True
    )
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def is_edited(lesson: Lesson) -> bool:
    """Whether lessons/ holds work that neither git nor the generator could bring back."""
    if not lesson.student_file.is_file():
        return False
    text = files.read_text(lesson.student_file)
    if text == skeletons.of_lesson(lesson).text or text == committed_text(lesson.student_file):
        return False
    return _digest(text) not in _written()


def _written() -> set[str]:
    try:
        return set((state_folder() / "written").read_text(encoding="utf-8").split())
    except OSError:
        return set()


def _write(path: Path, text: str) -> None:
    """Writes beside the file and renames: a full disk leaves the old file whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(path.name + ".new")
    try:
        fresh.write_text(text, encoding="utf-8")
        os.replace(fresh, path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
    with (state_folder() / "written").open("a", encoding="utf-8") as file:
        file.write(_digest(text) + "\n")


def backup(lesson: Lesson) -> Path:
    """Copies the student's file to .workbook/backups and returns the copy."""
    folder = state_folder() / "backups" / lesson.id
    folder.mkdir(parents=True, exist_ok=True)
    stamp = datetime.datetime.now().strftime("%Y-%m-%d-%H%M%S")
    copy = folder / f"{lesson.slug}-{stamp}.cu"
    number = 1
    while copy.exists():
        number += 1
        copy = folder / f"{lesson.slug}-{stamp}-{number}.cu"
    shutil.copy2(lesson.student_file, copy)
    return copy


def _asked(question: str, name: str) -> bool:
    """The answer to a question, which YES=1 or FORCE=1 gives without asking."""
    if os.environ.get("YES") == "1" or os.environ.get("FORCE") == "1":
        return True
    if not sys.stdin.isatty():
        print(
            f"{name} holds your edits: not overwritten. To do it all the same: YES=1",
            file=sys.stderr,
        )
        return False
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")


def _may_overwrite(lesson: Lesson) -> bool:
    """Asks before a student's work is overwritten."""
    name = relative(lesson.student_file)
    return _asked(f"{name} holds your edits. Put the original back (a copy is kept)?", name)


def reset(lesson: Lesson) -> int:
    """Puts the skeleton back; edits are copied to .workbook/backups first."""
    text = skeletons.of_lesson(lesson).text
    path = lesson.student_file
    if path.is_file():
        if not _differs(lesson):
            print(f"{relative(path)} is already as it was.")
            return PASSED
        if not _may_overwrite(lesson):
            print("Nothing was changed.")
            return NOT_PASSED
        print(f"Your version is kept in {relative(backup(lesson))}")
    _write(path, text)
    print(f"{relative(path)} is as it was at the start.")
    return PASSED


def reset_all() -> int:
    """The same for every lesson, after one question."""
    changed = [
        lesson for lesson in lessons()
        if not lesson.student_file.is_file() or _differs(lesson)
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
            print(f"{lesson.id}: your version is kept in {relative(backup(lesson))}")
        _write(lesson.student_file, skeletons.of_lesson(lesson).text)
    print("Done. What you have reached is remembered: make progress")
    return PASSED


def _differs(lesson: Lesson) -> bool:
    """Whether the file is not as it was at the start."""
    try:
        return files.read_bytes(lesson.student_file) != skeletons.of_lesson(lesson).text.encode()
    except OSError:
        return True


def write_skeletons() -> int:
    """Writes every skeleton and the index; a student's edit is only overwritten if allowed."""
    status = PASSED
    for lesson in lessons():
        if not lesson.solution_file.is_file():
            print(f"{lesson.id}: no solution yet, left out")
            continue
        text = skeletons.of_lesson(lesson).text
        path = lesson.student_file
        if path.is_file() and path.read_bytes() == text.encode():
            continue
        if is_edited(lesson):
            if not _may_overwrite(lesson):
                status = NOT_PASSED
                continue
            print(f"{relative(path)}: kept in {relative(backup(lesson))}")
        _write(path, text)
        print(f"{relative(path)}: written")
    page = ROOT / "lessons" / "README.md"
    if not page.is_file() or page.read_text(encoding="utf-8") != index.text():
        page.write_text(index.text(), encoding="utf-8")
        print(f"{relative(page)}: written")
    return status
