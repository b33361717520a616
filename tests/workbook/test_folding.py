# SPDX-License-Identifier: MIT
"""What is shown once: equal findings, cases that fail for nothing else, a task's cause; and whose
line a finding names.
"""

from __future__ import annotations

import io
import tempfile
import unittest
import unittest.mock
from pathlib import Path
from typing import Any

from rich.console import Console

from workbook import diagnose
from workbook.base.project import Lesson
from workbook.facts.findings import Finding
from workbook.judge import folding, grade
from workbook.lesson import own_lines
from workbook.lesson.test_cases import Failure, Outcome, TestCase
from workbook.running.case_result import CaseResult
from workbook.show import grade_screen

LESSON = Lesson("00_double_all", Path(__file__).resolve().parent / "fixture")


def bounds(line: int = 7, array: str = "a", access: str = "read", **facts: Any) -> Finding:
    return Finding({"code": "out-of-bounds-global", "severity": "error", "file": "x.cu",
                    "line": line, "message": f"`{array}[8]` is {access}",
                    "facts": {"array": array, "access": access, "index": 8, **facts}})  # fmt: skip


def race(sides: tuple[tuple[int, str], tuple[int, str]], **facts: Any) -> Finding:
    (line, access), (other, other_access) = sides
    return Finding({"code": "race-global", "severity": "error", "file": "x.cu", "line": line,
                    "message": "race", "other": {"line": other},
                    "facts": {"array": "a", "access": access, "other_access": other_access,
                              **facts}})  # fmt: skip


def case(number: int, *found: Finding, wrong: str = "", task: str = "task1") -> CaseResult:
    """A case with these findings; `wrong`: what a failed check says, else the values are right."""
    failures = [Failure([wrong])] if wrong else []
    name = f"task {task[-1]}: case {number}"
    return CaseResult(
        TestCase(name, (task,)), Outcome(True, not wrong, 1, failures), "", list(found)
    )


def shown(*results: CaseResult) -> str:
    out = io.StringIO()
    graded = grade.Grade(LESSON, "emulator", list(results))
    grade_screen.show_grade(graded, Console(file=out, width=80, highlight=False))
    return out.getvalue()


def of_kernel(code: str, line: int, kernel: str = "k") -> Finding:
    return Finding({"code": code, "severity": "error", "file": "x.cu", "line": line,
                    "message": f"{code} found", "kernel": kernel})  # fmt: skip


class Following(unittest.TestCase):
    """Findings that follow from another one are named in one line, and others are not."""

    def test_races_after_a_missed_barrier(self) -> None:
        found = (of_kernel("race-shared", 9), of_kernel("barrier-divergence", 7))
        text = shown(case(1, *found))
        self.assertNotIn("race-shared found", text)
        self.assertIn("barrier-divergence found", text)
        self.assertIn("may follow from it: race-shared (x.cu:9)", text)

    def test_a_race_of_another_kernel_is_its_own(self) -> None:
        found = (of_kernel("race-shared", 9, "other"), of_kernel("barrier-divergence", 7))
        self.assertIn("race-shared found", shown(case(1, *found)))

    def test_a_race_alone(self) -> None:
        self.assertIn("race-shared found", shown(case(1, of_kernel("race-shared", 9))))

    def test_a_leak_after_an_early_end(self) -> None:
        leak = of_kernel("leak", 5)
        self.assertIn("leak found", shown(case(1, leak)))
        ended = case(1, leak)
        ended.ended = "ended early: exit() was called before the test was over"
        text = shown(ended)
        self.assertNotIn("leak found", text)
        self.assertIn("may follow from it: leak", text)


class Equal(unittest.TestCase):
    def test_findings_are_equal_in_line_array_and_direction(self) -> None:
        one = bounds()
        self.assertEqual(one.key, bounds(index=99, grid=[2, 1, 1]).key)
        for other in (
            bounds(line=8),
            bounds(array="b"),
            bounds(access="write"),
            bounds(index=-1),
            bounds(other_arrays=["b"]),
        ):
            self.assertNotEqual(one.key, other.key)

    def test_the_sides_of_a_race_have_no_order(self) -> None:
        one = race(((7, "read"), (9, "write")), relation="block")
        self.assertEqual(one.key, race(((9, "write"), (7, "read")), relation="grid").key)
        for other in (
            race(((7, "write"), (9, "write"))),
            race(((7, "read"), (7, "write"))),
            race(((7, "read"), (9, "write")), relation="host"),
            race(((7, "read"), (9, "write")), clash="scope"),
        ):
            self.assertNotEqual(one.key, other.key)


class Folding(unittest.TestCase):
    def test_cases_that_fail_by_nothing_else_are_one_line(self) -> None:
        text = shown(case(1, bounds()), case(2, bounds()), case(3, bounds(), task="task3"))
        self.assertEqual(text.count("`a[8]` is read"), 1)
        self.assertIn("✗ 2 more tests fail for the same reason (task 1, task 3)", text)
        self.assertNotIn("as above", text)
        self.assertIn("safe ✗ (1 finding)", text)

    def test_another_finding_is_shown(self) -> None:
        for other in (bounds(array="b"), bounds(access="write"), bounds(line=8)):
            text = shown(case(1, bounds()), case(2, other), case(3, bounds(), other))
            self.assertNotIn("as above", text.split("case 2")[1].split("✗")[0])
            self.assertIn(str(other.data["message"]), text.split("case 2")[1])
            # The third case has what the first two have.
            self.assertIn("1 more test fails for the same reason", text)

    def test_wrong_values_of_their_own_are_shown(self) -> None:
        mine = "element 3: got 5, want 6"
        text = shown(case(1, bounds()), case(2, bounds(), wrong=mine))
        self.assertIn(mine, text)
        self.assertIn("out-of-bounds-global, as above", text)
        self.assertNotIn("for the same reason", text)

    def test_a_failed_call_that_stops_several_cases_is_shown_once(self) -> None:
        def stopped(number: int, error: str, *found: Finding) -> CaseResult:
            result = case(number, *found)
            failure = Failure([f"n := {number}"], exception=error)
            result.outcome = Outcome(True, False, 1, [failure])
            return result

        first = "x.cu:5: cudaStreamBeginCapture(s): cudaErrorInvalidValue"
        other = "x.cu:9: cudaGraphLaunch(e, s): cudaErrorInvalidValue"
        results = [stopped(1, first), stopped(2, first), stopped(3, other), stopped(4, first)]
        text = shown(*results)
        self.assertEqual(text.count("cudaStreamBeginCapture"), 1)
        self.assertEqual(text.count("cudaGraphLaunch"), 1)
        self.assertIn("2 more tests fail for the same reason", text)
        # One that has a finding or a failed check as well says more.
        wrong = stopped(5, first)
        wrong.outcome.failures.append(Failure(["element 3: got 5, want 6"]))
        again = [stopped(1, first), stopped(2, first, bounds()), wrong]
        self.assertEqual(folding.failing_alike(again), {})

    def test_a_case_that_ended_is_no_repetition(self) -> None:
        ended = case(2, bounds())
        ended.ended = "crashed: segmentation fault on the host"
        self.assertEqual(folding.failing_alike([case(1, bounds()), ended]), {})

    def test_the_cause_of_a_task_is_told_once(self) -> None:
        with unittest.mock.patch.object(diagnose.Diagnosis, "cause", "the sign is wrong"):
            results = [
                case(1, wrong="element 0: got 1, want 2"),
                case(2, wrong="element 1: got 3, want 4"),
                case(3, wrong="element 2: got 5, want 6", task="task2"),
            ]
            text = shown(*results)
        self.assertEqual(text.count("looks like: the sign is wrong"), 2)
        for words in ("got 1, want 2", "got 3, want 4", "got 5, want 6"):
            self.assertIn(words, text)


class OwnLines(unittest.TestCase):
    SOURCE = "__device__ void given(int* a) {\n    while (*a) {}\n}\n" \
             "__device__ void k(int* a) {\n    // TODO 1 (1 line): wait.\n    given(a);\n" \
             "    // END 1\n    given(a + 1);\n}\n"  # fmt: skip

    def pointed(self, line: int, *calls: int) -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.cu"
            path.write_text(self.SOURCE)
            data = {"code": "hang", "file": "x.cu", "path": str(path), "line": line, "notes": [],
                    "inlined_at": [{"path": str(path), "line": at} for at in calls]}  # fmt: skip
            own_lines.point_to(data)
            return data

    def test_the_call_in_a_task_is_the_place(self) -> None:
        moved = self.pointed(2, 6)
        self.assertEqual(moved["line"], 6)
        self.assertIn("on line 2", moved["notes"][0])
        self.assertEqual(self.pointed(2, 3, 6, 8)["line"], 6)

    def test_other_places_stay(self) -> None:
        self.assertEqual(self.pointed(2)["line"], 2)
        self.assertEqual(self.pointed(2, 8)["line"], 2)  # called by the lesson itself
        self.assertEqual(self.pointed(6, 8)["line"], 6)  # the student's own already
        self.assertEqual(own_lines.in_tasks(self.SOURCE), {5, 6})


if __name__ == "__main__":
    unittest.main()
