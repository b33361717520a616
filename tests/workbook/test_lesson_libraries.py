# SPDX-License-Identifier: MIT
"""Libraries of a lesson: installed when it is first built, and named where they cannot be."""

from __future__ import annotations

import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from workbook import install, lesson_libraries
from workbook.project import NOT_ABLE, WorkbookError

TARGETS = ["lesson_31_libraries"]
PACKAGES = "libopenblas-dev liblapacke-dev libfftw3-dev"


class Libraries(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        (self.folder / "lessons").mkdir()
        (self.folder / "emulator").mkdir()
        self.device("emulator")

    def device(self, name: str) -> None:
        (self.folder / "CMakeCache.txt").write_text(f"DEVICE:STRING={name}\n")

    def configured(self, *_args: object, **_options: object) -> subprocess.CompletedProcess[str]:
        (self.folder / "lessons" / "link_31_libraries.txt").touch()
        return subprocess.CompletedProcess([], 0, "", "")

    def require(self, root: list[str] | None, absent: bool = True) -> tuple[list[str], str]:
        """With or without rights, on a machine with or without the packages; and what is said."""
        with (
            mock.patch.object(install, "root_prefix", return_value=root),
            mock.patch.object(
                install, "missing_headers", side_effect=lambda names: names if absent else []
            ),
            mock.patch.object(install, "missing", return_value=[]),
            mock.patch.object(install, "_root", return_value="") as run,
            mock.patch.object(lesson_libraries.subprocess, "run", side_effect=self.configured),
            mock.patch("builtins.print") as said,
        ):
            self.run_as_root = run
            unbuilt = lesson_libraries.require(self.folder, TARGETS)
        return unbuilt, "\n".join(str(call.args[0]) for call in said.call_args_list)

    def test_other_lessons_need_nothing(self) -> None:
        with mock.patch.object(install, "install_packages") as installs:
            self.assertEqual(lesson_libraries.require(self.folder, ["lesson_29_matmul_tiled"]), [])
            self.assertEqual(lesson_libraries.require(self.folder, ["emulate"]), [])
        installs.assert_not_called()

    def test_names_and_sizes_come_before_the_installation(self) -> None:
        unbuilt, said = self.require([])
        self.assertEqual(unbuilt, ["stand_in_cublas", "stand_in_cusolver", "stand_in_cufft"])
        self.assertIn("Lesson 31 calls cuBLAS, cuSOLVER and cuFFT", said)
        self.assertIn("MB", said)
        commands = [" ".join(call.args[1]) for call in self.run_as_root.call_args_list]
        self.assertTrue(any(command.endswith(PACKAGES) for command in commands), commands)

    def test_without_rights_the_command_is_said(self) -> None:
        with self.assertRaises(WorkbookError) as caught:
            self.require(None)
        self.assertIn(f"install -y --no-install-recommends {PACKAGES}", caught.exception.to_do)
        self.assertEqual(caught.exception.code, NOT_ABLE)  # which is no grade

    def test_what_is_installed_is_not_installed_again(self) -> None:
        self.require(None, absent=False)
        self.run_as_root.assert_not_called()

    def test_once_known_and_built_nothing_is_done(self) -> None:
        self.configured()
        for name in ("cublas", "cusolver", "cufft"):
            (self.folder / "emulator" / f"lib{name}.so").touch()
        with mock.patch.object(install, "missing_headers") as looks:
            self.assertEqual(lesson_libraries.require(self.folder, TARGETS), [])
        looks.assert_not_called()

    def test_a_card_needs_nvidias_own(self) -> None:
        self.device("gpu")
        with self.assertRaises(WorkbookError) as caught:
            self.require([])
        self.assertIn("this CUDA toolkit does not include", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
