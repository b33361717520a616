# SPDX-License-Identifier: MIT
# In make test MORE=1: the same file is compiled a dozen times.
"""What is graded is decided by contents: files with old times are built, unchanged ones are not."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

from workbook.base.project import Lesson
from workbook.build import build, stale_outputs
from workbook.judge import grade
from workbook.lesson import skeletons

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
FIXTURE = Path(__file__).resolve().parent / "fixture"
LESSON = Lesson("00_double_all", FIXTURE)
TARGET = "lesson_00_double_all"
LONG_AGO = 1_000_000_000  # 2001: older than any object
CMAKE = """cmake_minimum_required(VERSION 3.24)
project(small LANGUAGES CXX)
add_executable(one lessons/one.cpp)
add_executable(two lessons/two.cpp)
target_include_directories(one PRIVATE common)
"""


class OfALesson(unittest.TestCase):
    """The grade follows the file's text, as a student sees it."""

    def setUp(self) -> None:
        self.source = BUILD / "tests" / "workbook" / "student" / "double_all.cu"
        self.solution = skeletons.solved(LESSON.solution_file.read_text())
        self.skeleton = skeletons.of_lesson(LESSON).text
        self.addCleanup(self.source.write_text, LESSON.solution_file.read_text())

    def passes(self, text: str) -> bool:
        self.source.write_text(text)
        os.utime(self.source, (LONG_AGO, LONG_AGO))
        self.assertTrue(build.build_student_file(BUILD, TARGET, self.source).ok)
        program = BUILD / "lessons" / TARGET
        return grade.grade_program(LESSON, program, "emulator", BUILD).passed

    def test_a_skeleton_after_a_solution_fails_and_the_other_way_round(self) -> None:
        self.assertTrue(self.passes(self.solution))
        self.assertFalse(self.passes(self.skeleton))
        self.assertTrue(self.passes(self.solution))

    def test_a_header_beside_the_file_counts(self) -> None:
        header = self.source.parent / "given.h"
        self.addCleanup(lambda: header.unlink(missing_ok=True))
        for line, right in (("", True), ("#error given.h is another", False), ("", True)):
            header.write_text(line + "\n")
            os.utime(header, (LONG_AGO, LONG_AGO))
            self.source.write_text('#include "given.h"\n' + self.solution)
            os.utime(self.source, (LONG_AGO, LONG_AGO))
            made = build.build_student_file(BUILD, TARGET, self.source)
            self.assertEqual(made.ok, right, made.text)

    def test_nothing_is_compiled_again_for_the_same_text(self) -> None:
        self.assertTrue(self.passes(self.solution))
        made = next(BUILD.rglob(f"{TARGET}.dir/**/double_all.cu.o"))
        before = made.stat().st_mtime_ns
        self.assertTrue(self.passes(self.solution))  # written anew, with the same text
        self.assertEqual(made.stat().st_mtime_ns, before)


class OfAProject(unittest.TestCase):
    """The mechanism, under each of CMake's generators that the workbook uses."""

    GENERATOR = "Unix Makefiles"

    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory(prefix="work book-")  # folders may have blanks
        self.addCleanup(place.cleanup)
        self.root = Path(place.name).resolve()
        self.write("CMakeLists.txt", CMAKE)
        self.write("common/value.h", "constexpr int value = 1;\n")
        self.write("lessons/one.cpp", '#include "value.h"\nint main() { return value; }\n')
        self.write("lessons/two.cpp", "int main() { return 20; }\n")
        patch = unittest.mock.patch.object(stale_outputs, "ROOT", self.root)
        patch.start()
        self.addCleanup(patch.stop)
        self.folder = self.root / "build"
        command = ["cmake", "-S", str(self.root), "-B", str(self.folder), "-G", self.GENERATOR]
        command.append("-DCMAKE_CXX_COMPILER_LAUNCHER=")  # a compiler cache misses hidden headers
        subprocess.run(command, check=True, capture_output=True)
        self.assertEqual(self.built(), (1, 20))

    def write(self, name: str, text: str, when: float = LONG_AGO) -> None:
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        os.utime(path, (when, when))

    def built(self) -> tuple[int, int]:
        made = build.build(self.folder, ["one", "two"])
        self.assertTrue(made.ok, made.text)
        one, two = (subprocess.run([self.folder / name]).returncode for name in ("one", "two"))
        return one, two

    def times(self) -> dict[str, int]:
        return {str(path): path.stat().st_mtime_ns for path in self.folder.rglob("*.o")}

    def test_a_source_and_a_header_with_old_times(self) -> None:
        self.write("lessons/two.cpp", "int main() { return 21; }\n")
        self.assertEqual(self.built(), (1, 21))
        self.write("common/value.h", "constexpr int value = 2;\n")
        self.assertEqual(self.built(), (2, 21))

    def test_a_new_header_that_hides_another(self) -> None:
        self.write("lessons/value.h", "constexpr int value = 3;\n")
        self.assertEqual(self.built(), (3, 20))

    def test_only_what_has_changed_is_compiled_again(self) -> None:
        before = self.times()
        self.assertEqual(self.built(), (1, 20))
        self.assertEqual(self.times(), before)
        self.write("common/value.h", "constexpr int value = 2;\n")
        self.assertEqual(self.built(), (2, 20))
        again = [Path(path).name for path, when in self.times().items() if when != before[path]]
        self.assertEqual(again, ["one.cpp.o"])

    def test_a_clock_that_was_set_back(self) -> None:
        later = time.time() + 3600
        for path in self.folder.rglob("*"):
            os.utime(path, (later, later))
        with unittest.mock.patch.object(time, "time_ns", lambda: int(later * 1e9)):
            self.built()
        self.write("lessons/two.cpp", "int main() { return 22; }\n", time.time())
        self.assertEqual(self.built(), (1, 22))

    def test_what_was_built_by_hand_meanwhile_is_not_built_again(self) -> None:
        self.write("lessons/two.cpp", "int main() { return 24; }\n")
        time.sleep(2.5)  # more than the times of files are coarse
        (self.folder / "two").unlink()
        for made in self.folder.rglob("two.cpp.o"):
            made.unlink()
        subprocess.run(["cmake", "--build", str(self.folder)], check=True, capture_output=True)
        self.assertEqual(stale_outputs.Sources(self.folder).remove_stale(), [])
        self.assertEqual(self.built(), (1, 24))

    def test_a_file_that_changes_during_the_build_is_compiled_again(self) -> None:
        sources = stale_outputs.Sources(self.folder)
        self.assertEqual(sources.remove_stale(), [])
        self.write("lessons/two.cpp", "int main() { return 23; }\n")
        subprocess.run(["cmake", "--build", str(self.folder)], check=True, capture_output=True)
        sources.forget_changed()
        self.assertEqual(self.built(), (1, 23))


@unittest.skipUnless(shutil.which("ninja"), "needs ninja")
class OfANinjaProject(OfAProject):
    GENERATOR = "Ninja"


if __name__ == "__main__":
    unittest.main()
