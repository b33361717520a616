# SPDX-License-Identifier: MIT
"""Pastes genuine output into README files, between `<!-- output: ... -->` and `<!-- end -->`.

    <!-- output: make 02 -->           the grade of the untouched lesson: its first three failures
                                       and its summary
    <!-- output: make 02 no_guard -->  the whole screen of that wrong answer, below its command
    <!-- output: mutant no_guard -->   a wrong answer's first finding, or its first wrong values

`make outputs` runs it after the lessons' programs have been built. With --check it writes nothing,
and ends with 1 where a page differs from what the programs print now. Arguments are the pages:
ids of lessons, or README for the one of the workbook; all of them otherwise.
"""

from __future__ import annotations

import difflib
import io
import re
import sys
from dataclasses import replace
from pathlib import Path

from rich.console import Console

import check_program
from workbook.answers import catalog
from workbook.base.project import ROOT, Lesson, find_lesson, lessons, relative
from workbook.judge.grade import Grade, grade_program
from workbook.lesson import skeletons
from workbook.show import demo, grade_screen

_BLOCK = re.compile(r"(<!-- output: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
_FINDING = re.compile(r"^(?:error|warning)\[[a-z-]+\]: .*?(?=\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)


_FAILURES_SHOWN = 3  # of the untouched lesson: the others look alike


def _screen(grade: Grade) -> str:
    out = io.StringIO()
    console = Console(file=out, width=80, highlight=False, emoji=False, markup=False)
    grade_screen.show_grade(grade, console)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()).strip("\n")


def cut(screen: str) -> str:
    """The screen up to its third failure, the number of tests that are left out, its summary."""
    lines = screen.split("\n")
    heads = [at for at, line in enumerate(lines) if line.startswith(("  ✗ ", "  ✓ "))]
    failed = [at for at in heads if lines[at].startswith("  ✗ ")]
    if len(failed) <= _FAILURES_SHOWN:
        return screen
    dropped = [at for at in heads if at > failed[_FAILURES_SHOWN - 1]]
    summary = next(at for at in range(dropped[-1] + 1, len(lines)) if lines[at][:3] != "   ")
    alike = [re.match(r"  ✗ (\d+) more test", lines[at]) for at in dropped]
    tests = sum(int(match[1]) if match else 1 for match in alike)
    words = f"  ... {tests} more test{'s' * (tests > 1)} ..."
    return "\n".join([*lines[: dropped[0]], words, *lines[summary:]])


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
        return _first_message(demo.grade_as_student(build, catalog.find(lesson, name))[0])
    if match := re.fullmatch(r"make \d\d (\w+)", what):
        grade, _ = demo.grade_as_student(build, catalog.find(lesson, match.group(1)))
        return f"$ make {lesson.number}\n{_screen(grade)}"
    # A folder of its own that stays: programs are kept between runs, and findings quote the source
    # from the path that it was compiled from.
    folder = build / "workbook" / "outputs" / lesson.id
    source = catalog.write_as_student(folder, lesson, skeletons.of_lesson(lesson).text)
    program, _ = check_program.compiled(lesson, source)
    grade = grade_program(lesson, program, "emulator", build)
    return cut(_screen(replace(grade, untouched=True)))


def _filled(text: str, lesson: Lesson | None) -> str:
    """The page with what its blocks print now; a block may name its lesson."""

    def output(match: re.Match[str]) -> str:
        number = re.match(r"make (\d\d)", match.group(2))
        of = find_lesson(number.group(1)) if number else lesson
        assert of is not None, f"{match.group(2)}: of which lesson?"
        return f"{match.group(1)}```\n{_output(of, match.group(2))}\n```\n{match.group(3)}"

    return _BLOCK.sub(output, text)


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    wanted = [name for name in arguments if name != "--check"]
    pages: list[tuple[str, Path, Lesson | None]] = [("README", ROOT / "README.md", None)]
    pages += [(lesson.id, lesson.folder / "README.md", lesson) for lesson in lessons()]
    stale = []
    for name, page, lesson in pages:
        if wanted and name not in wanted:
            continue
        text = page.read_text(encoding="utf-8")
        new = _filled(text, lesson)
        if new == text:
            continue
        stale.append(name)
        if check:
            difference = difflib.unified_diff(text.split("\n"), new.split("\n"), "page", "now",
                                              lineterm="", n=1)  # fmt: skip
            print(
                f"{relative(page)} is stale: make outputs writes it anew\n", *difference, sep="\n"
            )
        else:
            page.write_text(new, encoding="utf-8")
            print(f"wrote {relative(page)}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
