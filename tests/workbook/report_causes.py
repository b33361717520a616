# SPDX-License-Identifier: MIT
"""Prints for every wrong answer in the repository the screen that its author would see.

To be read by a person: does each screen name the real cause, on the right line? Arguments choose by
parts of names: `report_causes.py 02_ no_guard`. Run by `sh common/workbook/run python` with
WORKBOOK_TEST_BUILD set to a build folder in which workbook_test_programs was built.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from concurrent.futures import ThreadPoolExecutor

from rich.console import Console

import check_program
from workbook.answers import catalog
from workbook.answers.catalog import Answer
from workbook.base.project import lessons
from workbook.build import programs
from workbook.show import demo, grade_screen


def chosen(words: list[str]) -> list[Answer]:
    """The mutants whose `lesson.name` holds every word."""
    return [
        mutant
        for lesson in lessons()
        for mutant in catalog.of_lesson(lesson).values()
        if all(word in f"{lesson.id}.{mutant.name}" for word in words)
    ]


def told(mutant: Answer) -> list[str]:
    """The lines of the student's screen that speak of causes, each once."""
    result, _ = demo.grade_as_student(check_program.BUILD, mutant)
    out = io.StringIO()
    grade_screen.show_grade(result, Console(file=out, width=100, highlight=False))
    lines = []
    for line in out.getvalue().splitlines()[1:]:
        line = line.rstrip()
        quiet = re.match(r"  [✓–] |  \d+ of \d+ passed|emulator: ", line) or "as above" in line
        if line and not quiet and line not in lines:
            lines.append(line)
    return lines


def main(words: list[str]) -> int:
    todo = chosen(words)

    def compile_it(one: Answer) -> None:
        with contextlib.suppress(programs.BuildFailed):
            demo.compile_as_student(check_program.BUILD, one)

    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(compile_it, todo))
    for mutant in todo:  # grading ends stray processes: nothing compiles meanwhile
        print(f"== {mutant.lesson.id} {mutant.name}: {mutant.summary}")
        print("\n".join(told(mutant)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
