# SPDX-License-Identifier: MIT
# In make test MORE=1: a wrong answer of each kind is compiled and graded.
"""With a device that dies at every launch, no verdict comes true and no mutant's test passes."""

from __future__ import annotations

import contextlib
import io
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import check_program
from workbook.answers import catalog, verdicts
from workbook.base.project import Lesson, find_lesson
from workbook.running import case_run

LESSON = Lesson("00_double_all", Path(__file__).resolve().parent / "fixture")

# A library that takes the place of two functions of the runtime, through which every launch goes.
DEAD = """
#include <signal.h>
#include <stdlib.h>
static void die(void) { if (getenv("DEAD_BY_ABORT")) abort(); raise(SIGILL); }
int cudaLaunchKernel() { die(); return 0; }
int cudaLaunchKernelExC() { die(); return 0; }
int __cudaLaunchKernel() { die(); return 0; }
unsigned __cudaPushCallConfiguration() { die(); return 0; }
"""

# One of every kind of verdict that a program which launches something can have.
OF_EACH_KIND = (
    "names_of_the_tests", "no_guard", "race", "transposed_store", "throws", "throws_a_number",
    "launch_rejected", "loops_on_the_device", "crashes_on_the_host", "aborts", "ends_by_exit",
    "loops_on_the_host", "eats_memory", "floods", "writes_for_ever", "resets_the_device",
    "stops_the_device",
)  # fmt: skip


class DeadDevice(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        (folder / "dead.c").write_text(DEAD)
        cls.library = folder / "dead.so"
        command = ["gcc", "-shared", "-fPIC", "-o", str(cls.library), str(folder / "dead.c")]
        subprocess.run(command, check=True)

    def check(self, lesson: Lesson, name: str, **more: str) -> tuple[int, str]:
        """The exit status of a mutant's test and what it prints, on a device that is dead."""
        real = case_run._environment

        def preloaded(*arguments: object) -> dict[str, str]:
            return {**real(*arguments), "LD_PRELOAD": str(self.library), **more}

        out = io.StringIO()
        with (
            unittest.mock.patch.object(case_run, "_environment", preloaded),
            contextlib.redirect_stdout(out),
        ):
            return check_program.main("mutant", lesson.id, name), out.getvalue()

    def test_with_a_dead_device_no_mutant_passes_its_test(self) -> None:
        status, said = self.check(find_lesson("07"), "no_threads")  # which launches nothing
        self.assertEqual(status, 1, said)
        self.assertIn("the device itself fails: task 2: counts up of a right answer crashed", said)

    @unittest.mock.patch.object(check_program, "device_fails", lambda: "")
    def test_no_verdict_comes_true_by_a_dead_device(self) -> None:
        for name in OF_EACH_KIND:
            with self.subTest(name):
                status, said = self.check(LESSON, name)
                self.assertEqual(status, 1, said)
                self.assertIn("signal-4", said)

    @unittest.mock.patch.object(check_program, "device_fails", lambda: "")
    def test_not_even_that_of_one_that_aborts(self) -> None:
        status, said = self.check(LESSON, "aborts", DEAD_BY_ABORT="1")
        self.assertEqual(status, 1, said)
        self.assertIn('"task 2: counts up" aborts, and no verdict says so', said)

    def test_the_same_tests_pass_on_a_device_that_works(self) -> None:
        for name in ("no_guard", "aborts"):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                self.assertEqual(check_program.check_mutant(LESSON, name), 0, out.getvalue())

    def test_every_word_is_among_them(self) -> None:
        known = catalog.of_lesson(LESSON)
        words = {one.word for name in OF_EACH_KIND for one in known[name].verdicts.lines}
        missing = {*verdicts.OF_CASES, "finding", "launch-error"} - words
        # No launch, no case: programs that stop otherwise are the grader's own tests' concern.
        self.assertEqual(missing, {"ends-badly", "checks-nothing", "tampered"})


if __name__ == "__main__":
    unittest.main()
