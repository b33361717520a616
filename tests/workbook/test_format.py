# SPDX-License-Identifier: MIT
# In make test MORE=1: every source is formatted; make format does it.
"""Formatting: clang-format for C++ and CUDA, ruff for Python. Skipped where a tool is missing."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from workbook.answers import catalog
from workbook.answers.catalog import UNUSUAL
from workbook.author import maintain
from workbook.base.project import ROOT, lessons
from workbook.lesson import skeletons


def badly_formatted(tool: str, files: list[Path], *options: str) -> list[str]:
    """Those of the files that clang-format would change."""
    command = [tool, "--dry-run", "-Werror", *options, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True)
    return sorted({line.split(":")[0] for line in done.stderr.splitlines() if "error:" in line})


def unusual_answers(folder: Path) -> list[Path]:
    """The unusual answers that are edits, in `folder`."""
    answers = [catalog.of_lesson(lesson, UNUSUAL).values() for lesson in lessons()]
    return [
        catalog.written(folder, answer)[0]
        for of_lesson in answers
        for answer in of_lesson
        if not answer.whole
    ]


def main() -> int:
    """0 fine, 1 not formatted, 77 (skipped) when a formatter could not be had."""
    status, missing = 0, []
    if tool := maintain.clang_format():
        if bad := badly_formatted(tool, maintain.sources(".h", ".cpp", ".cu", ".cuh")):
            print("not formatted (make format):", *(f"  {path}" for path in bad), sep="\n")
            status = 1
        with tempfile.TemporaryDirectory() as folder:
            ours = f"--style=file:{ROOT / '.clang-format'}"
            for path in map(Path, badly_formatted(tool, unusual_answers(Path(folder)), ours)):
                lesson, name = path.parts[-3:-1]
                again = f"make mutant-{lesson[:2]} NAME={name}"
                print(f"the unusual answer {name} of {lesson} is not formatted: {again}")
                status = 1
        for lesson in lessons():
            text = skeletons.of_lesson(lesson).text
            name = f"--assume-filename={lesson.student_file}"
            done = subprocess.run(
                [tool, name], input=text, capture_output=True, text=True, cwd=ROOT
            )
            if done.stdout != text:
                print(f"the skeleton of {lesson.id} is not formatted: mend its placeholders")
                status = 1
    else:
        missing.append(
            f"clang-format {maintain.CLANG_FORMAT_MAJOR}: apt-get install clang-format-14"
        )
    if tool := maintain.ruff(install=True):
        for arguments in (["check", "-q"], ["format", "--check", "-q"]):
            done = subprocess.run(
                [tool, *arguments, "--no-cache", str(ROOT)], capture_output=True, text=True
            )
            if done.returncode != 0:
                print(f"ruff {arguments[0]}:\n{done.stdout}{done.stderr}")
                status = 1
    else:
        missing.append("ruff: not on PATH, and PyPI could not be reached")
    for line in missing:
        print("skipped,", line)
    return status or (77 if missing else 0)


if __name__ == "__main__":
    sys.exit(main())
