# SPDX-License-Identifier: MIT
"""A file that does not compile or link is distinguished from a broken build."""

from __future__ import annotations

import os
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from workbook.base.project import ROOT, Lesson
from workbook.build import build, folders
from workbook.judge import grade

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
FIXTURE = Path(__file__).resolve().parent / "fixture"
TARGET = "lesson_00_double_all"


class Builds(unittest.TestCase):
    def setUp(self) -> None:
        self.source = BUILD / "tests" / "workbook" / "student" / "double_all.cu"
        solution = FIXTURE / "solutions" / "00_double_all" / "double_all.cu"
        self.right = solution.read_text()
        self.addCleanup(self.source.write_text, self.right)

    def build(self, text: str) -> build.Built:
        self.source.write_text(text)
        return build.build_student_file(BUILD, TARGET, self.source)

    def test_a_right_file_builds_and_passes(self) -> None:
        self.assertTrue(self.build(self.right).ok)
        lesson = Lesson("00_double_all", FIXTURE)
        program = BUILD / "lessons" / TARGET
        self.assertTrue(grade.grade_program(lesson, program, "emulator", BUILD).passed)

    def test_a_compile_error_is_shown_as_the_compiler_printed_it(self) -> None:
        made = self.build(self.right.replace("out[i] = i;", "out[i] = j;"))
        self.assertEqual((made.ok, made.stage), (False, "compile"))
        self.assertRegex(made.text, r'double_all\.cu\(\d+\): error: identifier "j" is undefined')
        self.assertNotIn("ninja", made.text)
        self.assertNotIn("Traceback", made.text)

    def test_a_missing_function_is_named(self) -> None:
        made = self.build(self.right.replace("void count_up(int*", "void count_upwards(int*"))
        self.assertEqual((made.ok, made.stage), (False, "link"))
        self.assertIn("count_up(int*, int)", made.text)

    def test_a_warning_is_shown(self) -> None:
        made = self.build(self.right.replace("out[i] = i;", "{ int unused_here; out[i] = i; }"))
        self.assertTrue(made.ok)
        self.assertEqual(made.text.count('unused_here" was declared'), 1)
        self.assertNotIn("can be suppressed", made.text)


class Configured(unittest.TestCase):
    def test_a_folder_configured_by_hand_is_made_anew_only_for_another_compiler(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "build.ninja").touch()
            cache = f"CMAKE_HOME_DIRECTORY:INTERNAL={ROOT}\nCMAKE_CUDA_COMPILER:FILEPATH=/a/nvcc\n"
            (folder / "CMakeCache.txt").write_text(cache)
            with (
                unittest.mock.patch.object(folders, "build_folder", lambda device: folder),
                unittest.mock.patch.object(folders.subprocess, "run", side_effect=RuntimeError),
            ):
                self.assertEqual(folders.configure("emulator", Path("/a/nvcc")), folder)
                with self.assertRaises(RuntimeError):
                    folders.configure("emulator", Path("/b/nvcc"))


if __name__ == "__main__":
    unittest.main()
