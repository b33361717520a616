# SPDX-License-Identifier: MIT
# In make test MORE=1: a dozen programs are compiled.
"""What a student sees, whole, numbers masked: golden/*.txt, which `--update` writes anew."""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import unittest
import unittest.mock
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from workbook import diagnose
from workbook.answers import catalog
from workbook.base.project import ROOT, Lesson
from workbook.bench import loop
from workbook.build import programs
from workbook.judge import grade
from workbook.lesson import test_cases
from workbook.running import case_run, runner
from workbook.show import demo, doctor, grade_screen

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
HERE = Path(__file__).resolve().parent
LESSON = Lesson("00_double_all", HERE / "fixture")


def masked(text: str) -> str:
    """Without what differs from run to run or from machine to machine."""
    text = text.replace(str(ROOT), "ROOT")
    text = re.sub(r"(?<![\w,(.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w|,\d|\.\d)", "N", text)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def shown(result: grade.Grade) -> str:
    out = io.StringIO()
    grade_screen.show_grade(result, Console(file=out, width=80, highlight=False, emoji=False))
    return out.getvalue()


def of_mutant(name: str) -> str:
    return shown(demo.grade_as_student(BUILD, catalog.find(LESSON, name))[0])


def of_skeleton() -> str:
    program, _ = programs.compiled(BUILD, LESSON, programs.skeleton_file(BUILD, LESSON))
    result = grade.grade_program(LESSON, program, "emulator", BUILD)
    result.untouched = True
    return shown(result)


def of_solution() -> str:
    program = BUILD / "lessons" / "solution_00_double_all"
    return shown(grade.grade_program(LESSON, program, "emulator", BUILD))


SCREENS: dict[str, Callable[[], str]] = {
    "solution": of_solution,
    "skeleton": of_skeleton,
    "no_guard": lambda: of_mutant("no_guard"),
    "race": lambda: of_mutant("race"),
    "launch_rejected": lambda: of_mutant("launch_rejected"),
    "loops_on_the_device": lambda: of_mutant("loops_on_the_device"),
    "transposed_store": lambda: of_mutant("transposed_store"),
}


class Golden(unittest.TestCase):
    maxDiff = None

    def test_screens(self) -> None:
        for name, make in SCREENS.items():
            with self.subTest(name):
                text = make()
                self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
                path = HERE / "golden" / f"{name}.txt"
                self.assertEqual(path.read_text(), masked(text), "run with --update to accept it")

    def test_every_stored_screen_is_tested(self) -> None:
        self.assertEqual({path.stem for path in (HERE / "golden").glob("*.txt")}, set(SCREENS))


class Other(unittest.TestCase):
    def test_a_run_that_takes_too_long_is_asked_where(self) -> None:
        text = LESSON.solution_file.read_text()
        endless = "for (volatile unsigned k = 1; k != 0; k += 2) {}"
        self.assertEqual(text.count("out[i] = i;"), 1)
        lines = text.replace("out[i] = i;", f"{{\n{endless}\nout[i] = i;}}").splitlines()
        source = BUILD / "demo" / "endless" / "double_all.cu"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text("\n".join(lines) + "\n")
        program, _ = programs.compiled(BUILD, LESSON, source)
        cases = [c for c in test_cases.cases_of(LESSON) if "counts up" in c.name]
        limits = runner.Limits(seconds=0.5)
        result = grade.run_case(program, cases[0], "emulator", BUILD, limits)
        self.assertEqual(result.ended, "did not finish within 0.5 s")
        found = [(one.code, one.line) for one in result.findings]
        self.assertEqual(found, [("hang", lines.index(endless) + 1)])

    def test_where_no_kernel_is_endless_it_is_the_host(self) -> None:
        text = LESSON.solution_file.read_text()
        launch = "    count_up_kernel<<<"
        source = BUILD / "demo" / "endless_host" / "double_all.cu"
        source.parent.mkdir(parents=True, exist_ok=True)
        endless = "    for (volatile int k = 0; k < 1; k = 2 * k) {}\n"
        source.write_text(text.replace(launch, endless + launch))
        program, _ = programs.compiled(BUILD, LESSON, source)
        cases = [c for c in test_cases.cases_of(LESSON) if "counts up" in c.name]
        with unittest.mock.patch.object(case_run, "_SECOND_LOOK", 0.5):
            result = grade.run_case(program, cases[0], "emulator", BUILD, runner.Limits(seconds=1))
        self.assertEqual(result.findings, [])
        self.assertIn("did not finish", result.ended)
        self.assertIn("host code", diagnose.cause_of(result))

    def test_doctor_names_versions_and_what_to_do(self) -> None:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            doctor.report()
            doctor.Row(False, "g++", "10", "install another").show()
        text = out.getvalue()
        for words in ("nvcc with g++", "matplotlib", "disk", "GPU", "to do: install another"):
            self.assertIn(words, text)

    def test_the_bar_of_the_loop_adds_up(self) -> None:
        parts = {"tool": 0.3, "ninja": 0.1, "nvcc": 1.2, "link": 0.2, "tests": 0.5}
        self.assertEqual(loop.bar(parts), "tttn" + "c" * 12 + "ll" + "x" * 5)
        self.assertEqual(len(loop.bar({**parts, "tests": 60.0})), 40)


if __name__ == "__main__":
    if "--update" in sys.argv:
        for each, screen_of in SCREENS.items():
            (HERE / "golden" / f"{each}.txt").write_text(masked(screen_of()))
    else:
        unittest.main()
