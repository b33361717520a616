# SPDX-License-Identifier: MIT
"""`make all`: one table, whatever goes wrong in a lesson; and the end of a `make` that fails."""

from __future__ import annotations

import io
import os
import unittest
import unittest.mock
from pathlib import Path

from rich.console import Console

from workbook.base.project import Lesson, WorkbookError, lessons
from workbook.build import build
from workbook.facts.findings import Finding
from workbook.judge.grade import Grade
from workbook.lesson import skeletons
from workbook.lesson.test_cases import Failure, Outcome, TestCase
from workbook.running.case_result import CaseResult
from workbook.show import grade_all, grade_screen

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])


def graded(lesson: Lesson, right: bool, *findings: Finding) -> Grade:
    case = TestCase("task 1: adds what is " + "very " * 12 + "long", ("task1",))
    outcome = Outcome(True, right, 1, [] if right else [Failure([])])
    return Grade(lesson, "emulator", [CaseResult(case, outcome, "", list(findings))])


def shown(rows: list[grade_all.Row]) -> str:
    out = io.StringIO()
    grade_all.show(rows, Console(file=out, width=80, highlight=False))
    return out.getvalue()


class All(unittest.TestCase):
    def setUp(self) -> None:
        self.known = lessons()[:5]

    def test_one_that_fails_does_not_stop_the_others(self) -> None:
        results = {
            self.known[0].id: graded(self.known[0], True),
            self.known[1].id: WorkbookError("the file is a pipe"),
            self.known[2].id: Grade(self.known[2], "emulator", build_stage="compile",
                                    build_error="error"),
            self.known[3].id: graded(self.known[3], False),
        }  # fmt: skip

        def grade_lesson(lesson: Lesson, *_: object, **__: object) -> Grade:
            result = results[lesson.id]
            if isinstance(result, Exception):
                raise result
            return result

        with (
            unittest.mock.patch.object(skeletons, "untouched", lambda one: one.id not in results),
            unittest.mock.patch.object(build, "build_all"),
            unittest.mock.patch.object(grade_all.grade, "grade_lesson", grade_lesson),
            unittest.mock.patch.object(grade_all.progress, "remember"),
        ):
            rows = grade_all.grade_all(BUILD, self.known)
        self.assertEqual([row.passed for row in rows], [True, False, False, False, False])
        text = shown(rows)
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
        for words in ("the file is a pipe", "does not compile", "1 of 1", "not begun: 04",
                      "1 of 5 lessons pass"):  # fmt: skip
            self.assertIn(words, " ".join(text.split()))

    def test_nothing_is_cut(self) -> None:
        found = Finding({"code": "out-of-bounds-global", "severity": "error", "line": 1234})
        text = shown([grade_all.Row(lesson, graded(lesson, False, found), "words " * 30)
                      for lesson in lessons()])  # fmt: skip
        self.assertNotIn("…", text)
        self.assertEqual(text.split().count("words"), 30 * len(lessons()))

    def test_only_a_file_equal_to_the_skeleton_is_untouched(self) -> None:
        lesson = self.known[0]
        text = skeletons.of_lesson(lesson).text
        for words, expected in ((text, True), (text + "// mine\n", False)):
            with unittest.mock.patch.object(skeletons.files, "read_text", lambda _, w=words: w):
                self.assertEqual(skeletons.untouched(lesson), expected)

    def test_a_program_that_was_not_built_is_neither_efficient_nor_not(self) -> None:
        broken = Grade(self.known[0], "emulator", build_stage="link", build_error="x")
        self.assertIsNone(broken.efficient)
        self.assertFalse(broken.passed)
        out = io.StringIO()
        grade_screen.show_grade(broken, Console(file=out, width=80))
        self.assertIn("does not link", out.getvalue())


if __name__ == "__main__":
    unittest.main()
