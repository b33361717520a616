# SPDX-License-Identifier: MIT
"""With NAMED=1 a wrong answer runs where its verdicts say, and elsewhere until they come true."""

from __future__ import annotations

import unittest
import unittest.mock
from collections.abc import Sequence
from pathlib import Path

import check_program
from workbook.answers import verdicts
from workbook.base.project import Lesson
from workbook.facts.findings import Finding
from workbook.judge import grade
from workbook.lesson.test_cases import Failure, Outcome, TestCase

LESSON = Lesson("00_double_all", Path(__file__).resolve().parent / "fixture")
FILE = Path("double_all.cu")
RIGHT, WRONG = Outcome(True, True, 1), Outcome(True, False, 1, [Failure([], "a == b", "1 == 2")])
CASES = [TestCase(f"task {task}: {name}", (f"task{task}",)) for task in (1, 2) for name in "abc"]
CASES.append(TestCase("efficient: loads once", ("efficient", "task2")))
RACE = Finding({"code": "race-shared", "severity": "error", "file": "a/double_all.cu", "line": 7})


class Named(unittest.TestCase):
    def judge(
        self, lines: str, wrong: Sequence[str], found: Sequence[str] = ()
    ) -> tuple[list[str], list[str]]:
        """The cases that are run, in order, and what is wrong with the verdicts. Of the lesson's
        cases those in `wrong` fail, and those in `found` have a race on the marked line.
        """
        run: list[str] = []

        def graded(
            lesson: Lesson, program: Path, seconds: float | None, cases: Sequence[TestCase]
        ) -> grade.Grade:
            run.extend(case.name for case in cases)
            results = [
                grade.CaseResult(
                    case,
                    WRONG if case.name in wrong else RIGHT,
                    "",
                    [RACE] if case.name in found else [],
                )
                for case in cases
            ]
            return grade.Grade(lesson, "emulator", results)

        wanted = verdicts.parse(lines.split("; "))
        with (
            unittest.mock.patch.object(check_program, "graded", graded),
            unittest.mock.patch.object(check_program, "NAMED", True),
            unittest.mock.patch("workbook.lesson.test_cases.cases_of", return_value=CASES),
        ):
            _, _, reasons = check_program.judged(LESSON, FILE, FILE, wanted, {"here": 7})
        return run, reasons

    def test_only_what_is_named_runs(self) -> None:
        run, reasons = self.judge('fails "task 2: b"', ["task 2: b"])
        self.assertEqual((run, reasons), (["task 2: b"], []))
        run, reasons = self.judge("fails task 1", [case.name for case in CASES[:3]])
        self.assertEqual((run, reasons), ([case.name for case in CASES[:3]], []))

    def test_a_finding_is_looked_for_until_it_is_there(self) -> None:
        run, reasons = self.judge("finding race-shared @here", [], ["task 1: c"])
        self.assertEqual((run, reasons), ([case.name for case in CASES[:3]], []))

    def test_the_named_cases_tasks_come_first(self) -> None:
        lines = 'fails "task 2: a"; finding race-shared @here'
        run, reasons = self.judge(lines, ["task 2: a"], ["task 2: c"])
        self.assertEqual((run, reasons), (["task 2: a", "task 2: b", "task 2: c"], []))

    def test_what_never_comes_true_is_wrong_after_all_cases(self) -> None:
        run, reasons = self.judge('fails "task 2: b"', [])
        self.assertEqual(sorted(run), sorted(case.name for case in CASES))
        self.assertIn('"task 2: b" passes', reasons[0])

    def test_what_else_fails_among_them_is_wrong(self) -> None:
        lines = 'fails "task 2: b"; finding race-shared @here'
        run, reasons = self.judge(lines, ["task 2: b", "task 2: a"], ["task 2: c"])
        self.assertEqual(len(run), len(CASES))
        self.assertEqual(reasons, ['"task 2: a" fails, and no verdict says so'])

    def test_a_count_is_off_in_an_answer_that_is_right(self) -> None:
        run, reasons = self.judge("efficient efficient", ["efficient: loads once"])
        self.assertEqual((run, reasons), (["task 1: a", "efficient: loads once"], []))
        run, reasons = self.judge("efficient efficient", [c.name for c in CASES if c.efficient])
        self.assertEqual(reasons, [])

    def test_a_count_that_a_student_is_not_shown_yet_is_left_out(self) -> None:
        failing = ["task 2: b", "efficient: loads once"]
        run, reasons = self.judge("fails task 2; fails efficient", failing + ["task 2: a"])
        self.assertIn('"task 2: c" passes', reasons[0])  # all cases have run
        run, reasons = self.judge('fails "task 2: b"; fails efficient', failing)
        self.assertEqual((run, reasons), (["task 2: b"], []))
        run, reasons = self.judge('fails "task 1: b"; efficient efficient', ["task 1: b"])
        self.assertEqual(run[:2], ["task 1: b", "efficient: loads once"])
        self.assertIn('"efficient: loads once" passes', reasons[0])

    def test_it_runs_where_only_there_a_verdict_comes_true(self) -> None:
        lines = 'fails "task 2: b"; fails efficient; finding race-shared @here'
        last = "efficient: loads once"
        run, reasons = self.judge(lines, ["task 2: b", last], [last])
        self.assertEqual((run[-1], reasons), (last, []))

    def test_in_a_wrong_answer_the_same_is_a_failure(self) -> None:
        _, reasons = self.judge("efficient efficient", [case.name for case in CASES])
        self.assertIn("fails", reasons[0])


if __name__ == "__main__":
    unittest.main()
