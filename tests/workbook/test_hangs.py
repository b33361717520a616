# SPDX-License-Identifier: MIT
# In make test MORE=1: most of it waits for time limits.
"""Programs that do not finish cost little, and [efficient] cases wait for their own tasks only."""

from __future__ import annotations

import io
import os
import re
import time
import unittest
import unittest.mock
from pathlib import Path

from rich.console import Console

from workbook.base.project import Lesson
from workbook.build import programs
from workbook.facts.findings import Finding
from workbook.judge import grade
from workbook.lesson import test_cases
from workbook.lesson.test_cases import Failure, Outcome, TestCase
from workbook.running import runner, time_limits
from workbook.running.case_result import NO_TIME, WRONG_VALUES, CaseResult
from workbook.show import grade_screen

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
FIXTURE = Path(__file__).resolve().parent / "fixture"
LESSON = Lesson("00_double_all", FIXTURE)
ENDLESS = "for (volatile unsigned k = 1; k != 0; k += 2) {}  // odd numbers, round and round"


def compiled(name: str, before: str) -> tuple[Path, int]:
    """The solution with an endless loop before the line that starts so, and the loop's line."""
    lines = LESSON.solution_file.read_text().splitlines()
    at = next(n for n, line in enumerate(lines) if line.strip().startswith(before))
    lines.insert(at, ENDLESS)
    source = BUILD / "demo" / name / "double_all.cu"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text("\n".join(lines) + "\n")
    return programs.compiled(BUILD, LESSON, source)[0], at + 1


def cases(count: int, *words: str) -> list[TestCase]:
    """The lesson's cases with one of these words in their names, `count` times."""
    known = test_cases.cases_of(LESSON)
    return [case for case in known if any(word in case.name for word in words)] * count


def shown(graded: grade.Grade) -> str:
    out = io.StringIO()
    grade_screen.show_grade(graded, Console(file=out, width=80, highlight=False))
    return out.getvalue()


class Hangs(unittest.TestCase):
    def setUp(self) -> None:
        patch = unittest.mock.patch.object(time_limits, "TOGETHER", 6.0)
        patch.start()
        self.addCleanup(patch.stop)
        self.limits = runner.Limits(seconds=2)

    def test_cases_that_stop_in_one_kernel_are_shown_once(self) -> None:
        program, line = compiled("endless_kernel", "if (i < n) out[i] = i;")
        started = time.monotonic()
        chosen = cases(20, "counts up") + cases(1, "doubles", "efficient")
        result = grade.grade_program(
            LESSON, program, "emulator", BUILD, jobs=2, limits=self.limits, cases=chosen
        )
        # The limits are 2 s, 2 s for the place and 6 s for all others; the rest is the machine's.
        self.assertLess(time.monotonic() - started, 25)
        (alike,) = result.hanging_alike()
        self.assertGreater(len(alike), 2)
        self.assertEqual({f.line for one in alike for f in one.findings}, {line})
        text = shown(result)
        # Which one depends on what is reached first, the limit or the device's own budget.
        found = re.findall("the kernel (?:does not finish|had not finished)", text)
        self.assertEqual(len(found), 1, text)
        self.assertRegex(text, r"✗ \d+ more tests do not finish either \(task 2\) ")
        self.assertIn("– efficient  1 test, graded once task 2 is right", text)
        self.assertIn("safe ✗ (1 finding)", text)

    def test_a_host_that_does_not_finish(self) -> None:
        program, _ = compiled("endless_host", "count_up_kernel<<<")
        started = time.monotonic()
        result = grade.grade_program(
            LESSON, program, "emulator", BUILD, jobs=2, limits=self.limits,
            cases=cases(20, "counts up"),
        )  # fmt: skip
        self.assertLess(time.monotonic() - started, 25)
        self.assertEqual([one for one in result.results if one.findings], [])
        text = shown(result)
        self.assertEqual(text.count("host code that does not finish"), 1, text)
        self.assertRegex(text, r"– \d+ tests not run: those that did not finish took all the time")

    def test_a_case_that_finishes_is_graded_after_one_that_does_not(self) -> None:
        program, _ = compiled("endless_kernel", "if (i < n) out[i] = i;")
        chosen = [*cases(1, "counts up"), *cases(1, "doubles")]
        result = grade.grade_program(
            LESSON, program, "emulator", BUILD, jobs=1, limits=self.limits, cases=chosen
        )
        self.assertEqual([one.passed for one in result.results], [False, True])

    def test_a_thorough_run_gives_each_case_its_whole_limit(self) -> None:
        program, _ = compiled("endless_kernel", "if (i < n) out[i] = i;")
        result = grade.grade_program(
            LESSON, program, "emulator", BUILD, jobs=2, limits=self.limits, thorough=True,
            cases=cases(3, "counts up") + cases(1, "efficient"),
        )  # fmt: skip
        # By the limit or by the device's own budget, whichever is reached first.
        self.assertEqual([one.hangs for one in result.results], 4 * [True])
        for one in result.results:
            (finding,) = one.findings
            # Ended by the grader: the device says where the kernel was, and no budget is used up.
            by_limit = one.ending == "times-out"
            self.assertEqual(finding.facts["ended"], by_limit)
            self.assertEqual(finding.facts["budget"] == 0, by_limit)

    def test_hangs_of_one_loop_belong_together(self) -> None:
        def hang(kernel: str, line: int) -> CaseResult:
            data = {"code": "hang", "kernel": kernel, "file": "a.cu", "line": line}
            return CaseResult(TestCase("task 1: a", ("task1",)), Outcome(), "", [Finding(data)])

        host = CaseResult(TestCase("b", ()), Outcome(), "did not finish", [], ending="times-out")
        first, same_kernel, same_line, other = (
            hang("f", 3), hang("f", 4), hang("g", 4), hang("h", 9),
        )  # fmt: skip
        results = [first, same_kernel, host, same_line, other, host]
        groups = grade.Grade(LESSON, "emulator", results).hanging_alike()
        self.assertEqual(groups, [[first, same_kernel, same_line], [host, host], [other]])


class Limits(unittest.TestCase):
    def test_they_get_short_and_run_out(self) -> None:
        with unittest.mock.patch.object(time, "monotonic", lambda: now):
            now = 100.0
            limits = time_limits.TimeLimits(runner.Limits(seconds=15))
            self.assertEqual(limits.for_next().seconds, 15)
            limits.did_not_finish()
            self.assertEqual(limits.for_next().seconds, time_limits.SHORT)
            now = 101.0
            limits.did_not_finish()  # a second one gives no further time
            self.assertEqual(limits.until(), 100 + time_limits.TOGETHER)
            now = limits.until()
            self.assertIsNone(limits.for_next())

    def test_all_of_them_are_less_than_thirty_seconds(self) -> None:
        self.assertLess(runner.Limits().seconds + time_limits.TOGETHER, 30)


class Efficiency(unittest.TestCase):
    """Which [efficient] cases run, when the values of task 1 are wrong."""

    def ran(self, **keys: bool) -> dict[str, str]:
        def run_case(_: Path, case: TestCase, *__: object, **___: object) -> CaseResult:
            right = case.name != "one"
            failures = [] if right else [Failure([])]
            return CaseResult(case, Outcome(True, right, 1, failures), "", [])

        chosen = [
            TestCase("of one", ("efficient", "task1")),
            TestCase("one", ("task1",)),
            TestCase("two", ("task2",)),
            TestCase("of two", ("efficient", "task2")),
            TestCase("of both", ("efficient", "task1", "task2")),
            TestCase("of all", ("efficient",)),
        ]
        with unittest.mock.patch.object(grade, "run_case", run_case):
            result = grade.grade_program(LESSON, Path(), "emulator", BUILD, cases=chosen, **keys)
        self.assertEqual([one.case for one in result.results], chosen)
        self.result = result
        return {one.case.name: one.skipped for one in result.results}

    def test_a_case_waits_for_its_own_tasks(self) -> None:
        skipped = self.ran()
        self.assertEqual(
            {name for name in skipped if skipped[name]}, {"of one", "of both", "of all"}
        )
        self.assertEqual({*skipped.values()}, {"", WRONG_VALUES})
        self.assertEqual(self.result.cases_passed, 2)
        self.assertIsNone(self.result.efficient)
        self.assertFalse(self.result.passed)
        self.assertIn("3 tests, graded once task 1 is right", shown(self.result))

    def test_a_thorough_run_leaves_none_out(self) -> None:
        self.assertEqual({*self.ran(thorough=True).values()}, {""})
        self.assertEqual(self.result.cases_passed, 2)

    def test_what_was_not_run_is_said(self) -> None:
        late = CaseResult(TestCase("x", ("task3",)), Outcome(), "", [], skipped=NO_TIME)
        text = shown(grade.Grade(LESSON, "emulator", [late]))
        self.assertIn(
            "– 1 test not run: those that did not finish took all the time (task 3)", text
        )


if __name__ == "__main__":
    unittest.main()
