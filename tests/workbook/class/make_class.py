#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a class of 30 students who hand in lesson 02: right, wrong, broken and hostile files.

    sh common/workbook/run python tests/workbook/class/make_class.py FOLDER [COPIES]

EXPECTED says what each must come to. With COPIES the class is repeated with files that differ in a
comment, to measure how long a large class takes.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Collection
from pathlib import Path

from workbook.answers import catalog
from workbook.base.project import Lesson, find_lesson
from workbook.lesson import skeletons

LESSON = "02"

# Wrong answers of the lesson's own, each a student's.
WRONG = (
    "no_guard", "less_or_equal", "guard_drops_last", "first_block_only", "one_thread", "host_loop",
    "float_ceil", "empty_launch", "gather_no_guard", "negative_index",
)  # fmt: skip

# Code that is added to the right answer, and what comes of it.
HOSTILE = {
    "mia": ("not passed", "#include <unistd.h>\nconst int now = (_exit(0), 0);"),
    "noah": ("refused", "int main() { return 0; }"),
    "olga": ("refused", '#include <cstdlib>\nint f() { return std::system("true"); }'),
    "paul": ("tampered", "#include <csignal>\n#include <unistd.h>\n"
             "const int now = kill(getppid(), SIGSTOP);"),
    "quinn": ("refused", 'asm(".globl cudaLaunchKernel\\ncudaLaunchKernel: ret");'),
    "ravi": ("does not compile",
             '#include "../../solutions/02_boundary_checks/boundary_checks.cu"'),
    "sara": ("not passed", "#include <unistd.h>\n"
             "const int now = [] { for (;;) fork(); return 0; }();"),
    "tom": ("refused", '#include "/dev/zero"'),
    "uma": ("tampered", "#include <sys/syscall.h>\n#include <unistd.h>\nconst char* none[] = {0};\n"
            'const long now = syscall(SYS_execve, "/usr/bin/env", none, none);'),
}  # fmt: skip

EXPECTED = {
    **dict.fromkeys(("anna", "ben", "chloe", "dora"), "passed"),
    **dict.fromkeys(("emil", "fay", "gus", "hana", "ivan", "jo", "kim", "lea", "mats", "ned"),
                    "not passed"),
    **{name: status for name, (status, _) in HOSTILE.items()},
    "vera": "does not compile", "will": "unchanged", "xena": "empty", "yuri": "missing",
    "zoe": "misnamed", "abe": "duplicate", "bea": "not passed",
}  # fmt: skip


def texts(lesson: Lesson) -> dict[str, str]:
    """What each student hands in; not the ones of whom there is no such file."""
    right = lesson.solution_file.read_text(encoding="utf-8")
    unusual = catalog.of_lesson(lesson, catalog.UNUSUAL)
    made = {"anna": right}
    for name, answer in zip(("ben", "chloe"), sorted(unusual), strict=False):
        made[name] = unusual[answer].expand()[0]
    made["dora"] = "// my own\n" + made["ben"]
    students = [name for name, status in EXPECTED.items() if status == "not passed"]
    for name, wrong in zip(students, WRONG, strict=False):
        made[name] = catalog.find(lesson, wrong).expand()[0]
    for name, (_, code) in HOSTILE.items():
        made[name] = f"{right}\n{code}\n"
    made["vera"] = right.replace("return (n + size - 1) / size;", "return (n + size - 1) / size")
    made["will"] = skeletons.of_lesson(lesson).text
    made["xena"] = "\n"
    made["bea"] = made["emil"].replace("idx", "index") + "// handed in late\n"
    return made


def make(folder: Path, copies: int = 1, only: Collection[str] = ()) -> None:
    """The class below `folder`: folders, zip files and a Moodle download, as they come. With `only`
    just these students and those who handed in nothing that can be graded.
    """
    lesson = find_lesson(LESSON)
    name = f"{lesson.slug}.cu"
    for copy in range(copies):
        for at, (student, text) in enumerate(texts(lesson).items()):
            if only and student not in only:
                continue
            if copy:
                student, text = f"{student} {copy}", f"{text}// {copy}\n"
            if at % 5 == 3:
                folder.mkdir(parents=True, exist_ok=True)
                with zipfile.ZipFile(folder / f"{student}.zip", "w") as archive:
                    archive.writestr(f"work/{name}", text)
                continue
            top = f"{student}_{4000 + at}_assignsubmission_file_" if at % 5 == 4 else student
            place = folder / top
            place.mkdir(parents=True)
            (place / name).write_text(text, encoding="utf-8")
            (place / "notes.txt").write_text("It works on my machine.\n")
    right = lesson.solution_file.read_text(encoding="utf-8")
    (folder / "yuri").mkdir()
    (folder / "yuri" / "README.md").write_text("I was ill.\n")
    (folder / "zoe").mkdir()
    (folder / "zoe" / "Boundary-Checks (2).cu").write_text(right)
    for text, place in ((right, "abe/old"), ("// newer\n" + right, "abe/new")):
        (folder / place).mkdir(parents=True)
        (folder / place / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
