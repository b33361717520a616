# SPDX-License-Identifier: MIT
"""Pastes genuine output into lessons' READMEs, between `<!-- output: ... -->` and `<!-- end -->`.

    <!-- output: make 02 -->          the grade of the untouched lesson
    <!-- output: mutant no_guard -->  that wrong answer's first finding, or its first wrong values

Run by `make outputs` after the lessons' programs have been built. It writes README files only.
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich.console import Console

import check_program
from workbook import demo, mutants, screen, skeletons
from workbook.grade import Grade, grade_program
from workbook.project import Lesson, lessons

_BLOCK = re.compile(r"(<!-- output: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
_FINDING = re.compile(r"^(?:error|warning)\[[a-z-]+\]: .*?(?=\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)


def _screen(grade: Grade) -> str:
    out = io.StringIO()
    screen.show_grade(
        grade, Console(file=out, width=80, highlight=False, emoji=False, markup=False)
    )
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).strip("\n")


def _first_message(grade: Grade) -> str:
    for result in grade.results:
        found = _FINDING.search(result.output)
        if found:
            # A student has the file at hand: its name is enough.
            return re.sub(r"^( *--> )\S*/", r"\1", found.group(0), flags=re.MULTILINE)
    lines = _screen(grade).splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("  ✗"))
    last = next((i for i in range(first + 1, len(lines)) if not lines[i].startswith("   ")), None)
    return "\n".join(lines[first:last])


def _output(lesson: Lesson, what: str) -> str:
    build = check_program.BUILD
    if what.startswith("mutant "):
        name = what.removeprefix("mutant ")
        return _first_message(demo.grade_as_student(build, mutants.find(lesson, name))[0])
    # A folder of its own that stays: programs are kept between runs, and findings quote the source
    # from the path that it was compiled from.
    folder = build / "workbook" / "outputs" / lesson.id
    source = mutants.write_as_student(folder, lesson, skeletons.of_lesson(lesson).text)
    program, _ = check_program.compiled(lesson, source)
    return _screen(grade_program(lesson, program, "emulator", build))


def main(wanted: list[str]) -> int:
    for lesson in lessons():
        if wanted and lesson.number not in wanted:
            continue
        readme = lesson.folder / "README.md"

        def filled(match: re.Match[str], lesson: Lesson = lesson) -> str:
            return f"{match.group(1)}```\n{_output(lesson, match.group(2))}\n```\n{match.group(3)}"

        text = readme.read_text()
        new = _BLOCK.sub(filled, text)
        if new != text:
            readme.write_text(new)
            print(f"wrote {readme.relative_to(Path.cwd())}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
