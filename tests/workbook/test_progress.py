# SPDX-License-Identifier: MIT
"""`make progress` shows the same marks as the screen of the lesson did."""

from __future__ import annotations

import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from rich.console import Console

from workbook.base.project import find_lesson
from workbook.judge import progress
from workbook.judge.grade import Grade
from workbook.lesson.test_cases import Outcome, TestCase
from workbook.running.case_result import WRONG_VALUES, CaseResult
from workbook.show import screen

LESSON = find_lesson("02")


def case(right: bool, *tags: str, skipped: str = "") -> CaseResult:
    return CaseResult(TestCase("a", tags), Outcome(True, right, 1), "", [], skipped=skipped)


class Marks(unittest.TestCase):
    def shown(self, *results: CaseResult) -> str:
        """The lesson's row after it was graded with these results."""
        with tempfile.TemporaryDirectory() as name:
            state = Path(name) / ".workbook"
            state.mkdir()
            with (
                mock.patch.object(progress, "ROOT", Path(name)),
                mock.patch.object(progress, "state_folder", lambda: state),
            ):
                progress.remember(Grade(LESSON, "emulator", list(results)))
                out = io.StringIO()
                screen.show_progress([LESSON], Console(file=out, width=80))
        return out.getvalue().splitlines()[1]

    def test_what_was_not_run_is_not_failed(self) -> None:
        row = self.shown(case(False, "task1"), case(False, "efficient", skipped=WRONG_VALUES))
        self.assertRegex(row, r"✗ +✓ +–")

    def test_what_failed_is_failed(self) -> None:
        row = self.shown(case(True, "task1"), case(False, "efficient"))
        self.assertRegex(row, r"✓ +✓ +✗")


if __name__ == "__main__":
    unittest.main()
