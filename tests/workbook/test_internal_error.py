# SPDX-License-Identifier: MIT
"""A device that dies at every launch: the failure is named as the device's, and nothing is graded.

The device is a build of the real one with tests/workbook/broken_launches.cpp linked in.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from workbook import __main__ as commands
from workbook.answers import catalog
from workbook.base.project import INTERNAL, DeviceFailed, Lesson
from workbook.judge import grade, progress

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
CHECK = Path(__file__).resolve().parent / "check_program.py"
BROKEN = BUILD / "emulator_broken"
PROGRAM = BUILD / "lessons" / "solution_00_double_all"
LESSON = Lesson("00_double_all", Path(__file__).resolve().parent / "fixture")


def ended(how: str, checks: str = "all") -> tuple[subprocess.CompletedProcess[str], list[dict]]:
    """A right program on a device that dies so, and what the report says."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.jsonl"
        env = dict(
            os.environ, LD_LIBRARY_PATH=str(BROKEN), EMULATOR_REPORT=str(report),
            EMULATOR_CHECKS=checks, BROKEN_LAUNCHES=how,
        )  # fmt: skip
        done = subprocess.run([str(PROGRAM)], env=env, capture_output=True, text=True, timeout=60)
        lines = report.read_text().splitlines() if report.exists() else []
        return done, [json.loads(line) for line in lines]


class Device(unittest.TestCase):
    def test_a_crash_of_the_device_has_an_exit_code_and_a_line_of_its_own(self) -> None:
        for how, name in (("trap", "SIGILL"), ("segv", "SIGSEGV"), ("abort", "SIGABRT")):
            for checks in ("all", "none"):
                with self.subTest(how=how, checks=checks):
                    done, report = ended(how, checks)
                    self.assertEqual(done.returncode, INTERNAL)
                    self.assertIn("internal error: the emulated device crashed", done.stderr)
                    self.assertIn(name, done.stderr)
                    self.assertEqual([line["code"] for line in report], ["internal-error"])


class Grader(unittest.TestCase):
    def setUp(self) -> None:
        patch = mock.patch.dict(os.environ, {"WORKBOOK_EMULATOR": str(BROKEN)})
        patch.start()
        self.addCleanup(patch.stop)

    def test_there_is_no_grade(self) -> None:
        with self.assertRaises(DeviceFailed) as caught:
            grade.grade_program(LESSON, PROGRAM, "emulator", BUILD)
        self.assertIn("SIGILL", str(caught.exception))
        self.assertIn("not your file's", caught.exception.to_do)

    def test_no_wrong_answer_passes_its_test(self) -> None:
        names = sorted(catalog.of_lesson(LESSON))
        self.assertGreater(len(names), 10)
        for name in names:
            done = subprocess.run(
                [sys.executable, str(CHECK), "mutant", LESSON.id, name], capture_output=True,
                text=True, timeout=120,
            )  # fmt: skip
            self.assertEqual(done.returncode, 1, f"{name}: {done.stdout}{done.stderr}")
            self.assertIn("FAILED: internal error: the emulated device crashed", done.stdout)

    def test_progress_stays_as_it_was_and_the_exit_code_is_its_own(self) -> None:
        def graded(*_: object) -> grade.Grade:
            return grade.grade_program(LESSON, PROGRAM, "emulator", BUILD)

        said = io.StringIO()
        with (
            mock.patch.object(grade, "grade_lesson", graded),
            mock.patch.object(progress, "remember") as remember,
            mock.patch.object(commands.install, "ensure"),
            mock.patch("workbook.build.folders.prepare", return_value=BUILD),
            mock.patch.object(sys, "argv", ["workbook", "grade", "00"]),
            mock.patch.object(sys.stdout, "reconfigure", create=True),
            contextlib.redirect_stderr(said),
        ):
            sys.stderr.reconfigure = lambda **_: None  # type: ignore[attr-defined]
            self.assertEqual(commands.main(), INTERNAL)
        remember.assert_not_called()
        self.assertIn("internal error: the emulated device crashed", said.getvalue())


if __name__ == "__main__":
    unittest.main()
