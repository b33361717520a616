# SPDX-License-Identifier: MIT
"""A test that got no processor has no verdict: what the screen and grade-class say of it.

test_busy_machine.py grades on a machine with much else to do.
"""

from __future__ import annotations

import io
import unittest

from rich.console import Console

from workbook.base.project import Lesson
from workbook.judge.grade import Grade
from workbook.lesson.test_cases import Outcome, TestCase
from workbook.running.case_result import BUSY, CaseResult
from workbook.show import grade_screen
from workbook.teach import grading


def not_graded(case: TestCase) -> CaseResult:
    return CaseResult(case, Outcome(), "", [], 2.0, skipped=BUSY, by_the_clock=60.0, used=2.0)


class BusyMachine(unittest.TestCase):
    """What is said where even the longest time by the clock was not enough."""

    LESSON = Lesson("02_boundary_checks")

    def grade(self, *more: CaseResult) -> Grade:
        passed = CaseResult(TestCase("task 1: adds", ("task1",)), Outcome(True, True, 1), "", [])
        late = not_graded(TestCase("task 2: is in bounds", ("task2",)))
        return Grade(self.LESSON, "emulator", [passed, late, *more])

    def test_it_is_no_verdict(self) -> None:
        grade = self.grade()
        self.assertIsNone(grade.correct)
        self.assertTrue(grade.safe)
        self.assertFalse(grade.passed)

    def test_what_is_wrong_stays_wrong(self) -> None:
        failed = CaseResult(TestCase("task 3: x", ("task3",)), Outcome(True, False, 1), "", [])
        self.assertIs(self.grade(failed).correct, False)

    def test_the_screen_says_so(self) -> None:
        said = io.StringIO()
        grade_screen.show_grade(self.grade(), Console(file=said, width=80))
        text = " ".join(said.getvalue().split())
        self.assertIn("the machine was busy: this test had 2 s of processor time in 60 s", text)
        self.assertIn("run it again", text)
        self.assertIn("correct – · safe ✓", text)

    def test_a_class_grades_it_again(self) -> None:
        hanging = CaseResult(
            TestCase("a", ("task1",)), Outcome(), "x", [], 15.0, ending="times-out"
        )
        self.assertFalse(grading._hurried(hanging))
        hanging.by_the_clock = 60.0
        self.assertTrue(grading._hurried(hanging))
        self.assertTrue(grading._hurried(not_graded(TestCase("b", ("task1",)))))
        self.assertEqual(grading._as_data(self.grade(), "")["status"], grading.BROKEN)


if __name__ == "__main__":
    unittest.main()
