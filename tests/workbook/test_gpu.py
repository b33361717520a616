# SPDX-License-Identifier: MIT
"""What a card adds, as far as it can be tested without one: reading clocks and sanitizers."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import threading
import time
import unittest
import unittest.mock
from pathlib import Path

from workbook.base.project import find_lesson
from workbook.judge import grade
from workbook.lesson.test_cases import Outcome, TestCase
from workbook.running import timing
from workbook.running.case_result import CaseResult
from workbook.show import gpu

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])


def stand_in(text: str, code: int = 0) -> Path:
    """A program that prints `text` and ends with `code`."""
    path = Path(tempfile.mkdtemp()) / "program"
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {code}\n")
    path.chmod(0o755)
    return path


COPY = '{"copy": {"device": "Card", "bytes": 8, "median_ms": 1.0, "gigabytes_per_second": 2000.0}}'
WORK = (
    '{"workload": {"name": "adds", "elements": 1000, "bytes": 4000000, "operations": 0, '
    '"wrong": "%s", "runs": 9, "median_ms": 0.004, "fastest_ms": 0.0039, "slowest_ms": 0.005}}'
)


class Clock(unittest.TestCase):
    def test_the_clock_runs_through_on_the_emulator(self) -> None:
        program = BUILD / "lessons" / "bench_solution_02_boundary_checks"
        made = timing.run(program, "emulator", BUILD, elements=3000)
        self.assertEqual(made.trouble, "")
        self.assertEqual([w.wrong for w in made.workloads], ["", ""])
        self.assertTrue(all(w.median > 0 and w.runs >= 5 for w in made.workloads))
        self.assertGreater(made.ceiling, 0)
        self.assertTrue(all(w.fastest <= w.median <= w.slowest for w in made.workloads))

    def test_a_table_and_a_figure(self) -> None:
        fast = timing.run(stand_in(f"{COPY}\nnoise\n{WORK % ''}"), "gpu", BUILD)
        wrong = timing.run(stand_in(f"{COPY}\n{WORK % 'element 3'}", 1), "gpu", BUILD)
        self.assertAlmostEqual(fast.workloads[0].gigabytes_per_second, 1000.0)
        contenders = [gpu.Contender("yours", wrong), gpu.Contender("solution", fast)]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            gpu.show_times(contenders)
        text = out.getvalue()
        self.assertIn("Time on Card, which copies at 2000 GB/s", text)
        self.assertRegex(text, r"solution +4 us +\(3.9 us to 5 us\) +1000 GB/s +█+░+ 50% of copy")
        self.assertIn("yours, adds: element 3", text)
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
        with tempfile.TemporaryDirectory() as folder:
            files = gpu.draw_times(find_lesson("02"), contenders, Path(folder))
            self.assertEqual([f.name for f in files], ["times_02.svg", "times_02.png"])

    def test_work_that_memory_does_not_limit_has_a_unit_of_its_own(self) -> None:
        points = (WORK % "").replace('"elements": 1000', '"elements": 9000000, "unit": "points"')
        fast = timing.run(stand_in(f"{COPY}\n{points}"), "gpu", BUILD)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            gpu.show_times([gpu.Contender("solution", fast)])
        text = out.getvalue()
        self.assertRegex(text, r"solution +4 us +\(3.9 us to 5 us\) +2250 G points/s")
        self.assertNotIn("of copy", text)
        few = timing.Timed("x", 5000, 8, 0, "", median=1.0, unit="points")
        self.assertEqual(few.rate(), "5 M points/s")
        many = timing.Timed("x", 5000, 8, 6e10, "", median=2.0, unit="operations")
        self.assertEqual(many.rate(), "30 T operations/s")  # not one for each element

    def test_the_units_come_from_the_workloads(self) -> None:
        program = BUILD / "lessons" / "bench_solution_23_monte_carlo_pi"
        if not program.exists():
            self.skipTest("bench_solution_23_monte_carlo_pi is not built")
        made = timing.run(program, "emulator", BUILD, tiny=True)
        self.assertEqual({work.unit for work in made.workloads}, {"points"})

    def test_a_program_that_breaks_off_is_told(self) -> None:
        self.assertIn("code 3", timing.run(stand_in("no device", 3), "gpu", BUILD).trouble)
        self.assertEqual(timing.run(stand_in("{}"), "gpu", BUILD).trouble, "printed no result")


class Cases(unittest.TestCase):
    def at_once(self, device: str) -> int:
        """The most cases that ran at a time."""
        lock, running, most = threading.Lock(), 0, 0

        def run_case(_: Path, case: TestCase, *__: object, **___: object) -> CaseResult:
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            time.sleep(0.05)
            with lock:
                running -= 1
            return CaseResult(case, Outcome(True, True, 1), "", [])

        cases = [TestCase(f"task 1: {letter}", ("task1",)) for letter in "abcdef"]
        with unittest.mock.patch.object(grade, "run_case", run_case):
            grade.grade_program(find_lesson("02"), Path("x"), device, BUILD, jobs=3, cases=cases)
        return most

    def test_they_run_one_after_another_on_a_card(self) -> None:
        self.assertEqual(self.at_once("gpu"), 1)

    def test_they_run_side_by_side_on_the_emulator(self) -> None:
        self.assertEqual(self.at_once("emulator"), 3)


class Sanitizer(unittest.TestCase):
    def test_the_summary_is_read(self) -> None:
        self.assertEqual(gpu.errors_in("========= ERROR SUMMARY: 0 errors"), 0)
        self.assertEqual(gpu.errors_in("========= ERROR SUMMARY: 24 errors"), 24)
        self.assertEqual(
            gpu.errors_in(
                "========= RACECHECK SUMMARY: 3 hazards displayed (3 errors, 0 warnings)"
            ),
            3,
        )
        self.assertIsNone(gpu.errors_in("========= COMPUTE-SANITIZER\nno device"))

    def test_the_tool_is_run_on_the_values_only(self) -> None:
        tool = stand_in('$0 "$@"')
        tool.write_text('#!/bin/sh\necho "$@"\necho "========= ERROR SUMMARY: 2 errors"\n')
        count, output = gpu.sanitize_program(Path("/x/lesson"), "memcheck", tool)
        self.assertEqual(count, 2)
        self.assertIn("--tool memcheck", output)
        self.assertIn("/x/lesson ~[efficient]", output)


if __name__ == "__main__":
    unittest.main()
