# SPDX-License-Identifier: MIT
"""The self-test passes on a device that works, and says what is wrong with another."""

from __future__ import annotations

import os
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from workbook.base.project import INTERNAL, WorkbookError
from workbook.build import self_test

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])


class SelfTest(unittest.TestCase):
    def folder_with(self, library: Path) -> Path:
        """The known program beside another build of the device."""
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        folder = Path(scratch.name)
        shutil.copy(BUILD / "emulator" / "self_test", folder)
        for file in library.glob("libcudart.so*"):
            (folder / file.name).symlink_to(file.resolve())
        return folder

    def test_passes_on_the_device(self) -> None:
        self.assertEqual(self_test.problems(BUILD / "emulator"), [])

    def test_the_program_marks_three_mistakes(self) -> None:
        codes = sorted(code for code, _ in self_test.expected_findings())
        self.assertEqual(codes, ["out-of-bounds-global", "race-shared", "uninitialized-shared"])

    def test_a_device_that_dies_fails_it(self) -> None:
        folder = self.folder_with(BUILD / "emulator_broken")
        self.assertIn("internal error", self_test.problems(folder)[0])
        with self.assertRaises(WorkbookError) as caught:
            self_test.require(folder)
        self.assertEqual(caught.exception.code, INTERNAL)

    def test_a_device_without_checkers_fails_it(self) -> None:
        with mock.patch.object(self_test, "expected_findings", return_value=set()):
            wrong = self_test.problems(BUILD / "emulator")
        self.assertEqual([text.split(":")[0] for text in wrong], ["findings"])

    def test_other_values_and_counters_fail_it(self) -> None:
        with (
            mock.patch.object(self_test, "_VALUES", ["1"]),
            mock.patch.object(self_test, "_COUNTERS", {"blocks": 5}),
        ):
            wrong = self_test.problems(BUILD / "emulator")
        self.assertEqual([text.split(":")[0] for text in wrong], ["values", "counters"])

    def test_a_missing_program_fails_it(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self_test.problems(Path(folder)), ["self_test is missing"])


if __name__ == "__main__":
    unittest.main()
