# SPDX-License-Identifier: MIT
"""A student's file in lessons/: whether it was edited, copies of it, and writing it anew."""

from __future__ import annotations

import datetime
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from ..base import files
from ..base.project import ROOT, Lesson, relative, state_folder
from . import skeletons


def is_edited(lesson: Lesson) -> bool:
    """Whether lessons/ holds work that neither git nor the generator could bring back."""
    if not lesson.student_file.is_file():
        return False
    text = files.read_text(lesson.student_file)
    if text == skeletons.of_lesson(lesson).text or text == committed_text(lesson.student_file):
        return False
    return _digest(text) not in _written()


def committed_text(path: Path) -> str | None:
    """The file as committed in git, or None outside git or for a file that is not in it."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), "show", f"HEAD:./{relative(path)}"], capture_output=True
    )
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def differs(lesson: Lesson) -> bool:
    """Whether the file is not as it was at the start."""
    try:
        return files.read_bytes(lesson.student_file) != skeletons.of_lesson(lesson).text.encode()
    except OSError:
        return True


def write(path: Path, text: str) -> None:
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


def _written() -> set[str]:
    try:
        return set((state_folder() / "written").read_text(encoding="utf-8").split())
    except OSError:
        return set()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
