# SPDX-License-Identifier: MIT
"""`make skeletons`: writes lessons/ anew from solutions/, never over edits unasked."""

from __future__ import annotations

from ..base.project import NOT_PASSED, PASSED, ROOT, lessons, relative
from ..lesson import index, skeletons, student_files
from ..show import resets


def run() -> int:
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
        if student_files.is_edited(lesson):
            if not resets.may_overwrite(lesson):
                status = NOT_PASSED
                continue
            print(f"{relative(path)}: kept in {relative(student_files.backup(lesson))}")
        student_files.write(path, text)
        print(f"{relative(path)}: written")
    page = ROOT / "lessons" / "README.md"
    if not page.is_file() or page.read_text(encoding="utf-8") != index.text():
        page.write_text(index.text(), encoding="utf-8")
        print(f"{relative(page)}: written")
    return status
