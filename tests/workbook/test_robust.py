# SPDX-License-Identifier: MIT
"""Pipes, devices and endless files in place of the grader's inputs; escape sequences; what is left
running when the grader ends.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

from rich.console import Console

from workbook.answers import catalog
from workbook.base import files
from workbook.base.project import Lesson, WorkbookError, cores
from workbook.build import build
from workbook.judge import grade, progress
from workbook.lesson.test_cases import Outcome, TestCase
from workbook.running import own_time, runner
from workbook.show import grade_screen

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
FIXTURE = Path(__file__).resolve().parent / "fixture"
LESSON = Lesson("00_double_all", FIXTURE)


def starve(own: own_time.OwnTime) -> None:
    """As if all of the time had been spent on waiting for a processor."""
    own.starved = time.monotonic() - own._started


class Time(unittest.TestCase):
    """The limit of a program's own time (own_time.py; test_busy_machine.py has a busy machine)."""

    def ended(self, script: str, seconds: float) -> runner.Ended:
        limits = runner.Limits(seconds=seconds)
        return runner.run(["sh", "-c", script], dict(os.environ), BUILD, limits)

    def test_sleeping_is_counted(self) -> None:
        self.assertEqual(self.ended("sleep 60", 0.3).how, "time")

    def test_work_is_counted_that_of_children_too(self) -> None:
        busy = "while :; do :; done"
        self.assertEqual(self.ended(f"sh -c '{busy}'", 0.3).how, "time")
        self.assertEqual(self.ended(f"{busy} & wait", 0.3).how, "time")

    def test_many_threads_have_no_more_time_than_the_cores(self) -> None:
        busy = "while :; do :; done"
        many = " & ".join([f"sh -c '{busy}'"] * 12)
        done = self.ended(f"{many} & wait", 0.5)
        self.assertEqual(done.how, "time")
        self.assertLess(done.used, 0.5 * cores() + 3)

    def test_a_program_that_gets_no_processor_is_told_apart(self) -> None:
        with unittest.mock.patch.object(runner.OwnTime, "look", starve):
            done = self.ended("sleep 60", 0.02)
        self.assertEqual(done.how, "busy")


class Inputs(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.root = Path(place.name)

    def pipe(self, name: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(path)
        return path

    def test_nothing_but_a_file_of_some_size_is_read(self) -> None:
        (self.root / "large").write_bytes(b"x" * 1025)
        (self.root / "folder").mkdir()
        for path, words in (
            (self.pipe("pipe"), "is a pipe"),
            (Path("/dev/zero"), "is a device"),
            (self.root / "folder", "is a folder"),
        ):
            with self.assertRaisesRegex(files.NotReadable, words):
                files.read_bytes(path)
        with self.assertRaisesRegex(files.NotReadable, "more than 0 MiB"):
            files.read_bytes(self.root / "large", 1024)
        self.assertEqual(len(files.read_bytes(self.root / "large", 1024, cut=True)), 1024)
        self.assertEqual(len(files.read_bytes(self.root / "large", 1025)), 1025)

    def test_a_students_file(self) -> None:
        lesson = Lesson("02_boundary_checks", self.root)
        path = self.pipe("lessons/02_boundary_checks/boundary_checks.cu")
        for make, words in ((None, "is a pipe"), ("/dev/zero", "is a device")):
            if make:
                path.unlink()
                path.symlink_to(make)
            with self.assertRaises(WorkbookError) as caught:
                grade.grade_lesson(lesson, "emulator", BUILD)
            self.assertIn(f"boundary_checks.cu {words}", str(caught.exception))
            self.assertIn("make reset-02", caught.exception.to_do)
        self.assertTrue(lesson.has_kernel)  # which asks the file too

    def test_the_file_of_progress(self) -> None:
        self.pipe(".workbook/progress.json")
        with unittest.mock.patch.object(progress, "ROOT", self.root):
            self.assertEqual(progress.load(), {})

    def test_the_list_of_wrong_answers(self) -> None:
        self.pipe("solutions/02_boundary_checks/mutants.txt")
        with self.assertRaises(OSError):
            catalog.of_lesson(Lesson("02_boundary_checks", self.root))

    def test_a_compiler_that_waits_or_takes_too_much(self) -> None:
        source = self.root / "a.cpp"
        with unittest.mock.patch.object(build, "_COMPILER_MEMORY", 300 << 20):
            source.write_text('#include "/dev/zero"\n')
            command = build._limited(["g++", "-c", str(source), "-o", "/dev/null"])
            code, _ = build._run(command)
            self.assertNotEqual(code, 0)
        source.write_text(f'#include "{self.pipe("never.h")}"\n')
        code, text = build._run(["g++", "-c", str(source), "-o", "/dev/null"], seconds=1)
        self.assertNotEqual(code, 0)
        self.assertIn("stopped after 1 s", text)


class Terminals(unittest.TestCase):
    def test_what_a_program_prints_cannot_steer_the_terminal(self) -> None:
        hostile = "a\x1b[31mb\x1b]0;title\x07c\x1bcd\x9b2Je\x07f\u202eg\r\nh\ti\n"
        self.assertEqual(files.printable(hostile), "abcd?2Je?f?g\nh\ti\n")
        ended = runner.run(
            [sys.executable, "-c", "print('\\x1b[2Jx\\x1b]52;c;aGk=\\x07y')"],
            dict(os.environ), Path.cwd(),
        )  # fmt: skip
        self.assertEqual(ended.output, "xy\n")

    def test_what_the_code_printed_is_shown_and_bounded(self) -> None:
        def failed(name: str, text: str) -> grade.CaseResult:
            outcome = Outcome(True, False, 1, [])
            return grade.CaseResult(TestCase(name, ("task1",)), outcome, "", [], output=text)

        many = "".join(f"line {n} {'x' * 300}\n" for n in range(1000))
        report = "error[leak]: 4 bytes are never freed\n --> a.cu:3\n\nemulator: 1 error\n"
        results = [
            failed("task 1: a", "i is 7\n" + report),
            failed("task 1: b", "i is 7\n"),
            failed("task 1: c", many),
            failed("task 1: d", ""),
        ]
        out = io.StringIO()
        graded = grade.Grade(LESSON, "emulator", results)
        grade_screen.show_grade(graded, Console(file=out, width=80, highlight=False))
        text = out.getvalue()
        self.assertEqual(text.count("your code printed:"), 2, text)
        self.assertEqual(text.count("i is 7"), 1, text)
        self.assertNotIn("never freed", text)
        for words in ("line 0 xx", "line 3 xx", "... 993 lines more ...", "line 999 xx"):
            self.assertIn(words, text)
        self.assertNotIn("line 4 xx", text)
        self.assertLess(len(text.splitlines()), 50)


class Processes(unittest.TestCase):
    CODE = """
import sys, time
from pathlib import Path
from workbook.judge import grade
from workbook.running import runner
from workbook.lesson.test_cases import TestCase
from workbook.base.project import Lesson
runner.end_on_signals()
program = Path(sys.argv[1])
cases = [TestCase(str(n), ("task1",)) for n in range(9)]
grade.grade_program(Lesson("00_double_all"), program, "gpu", Path("."), cases=cases, jobs=2)
"""

    def test_none_is_left_when_the_grader_is_asked_to_end(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            pids = Path(name) / "pids"
            program = Path(name) / "program"
            program.write_text(
                f"#!/bin/sh\nsetsid sleep 60 & echo $! >> {pids}\necho $$ >> {pids}\nsleep 60\n"
            )
            program.chmod(0o755)
            grader = subprocess.Popen(
                [sys.executable, "-c", self.CODE, str(program)], stderr=subprocess.DEVNULL
            )
            for _ in range(200):
                if pids.exists() and len(pids.read_text().split()) >= 4:
                    break
                time.sleep(0.05)
            grader.send_signal(signal.SIGTERM)
            self.assertNotEqual(grader.wait(20), 0)
            for pid in pids.read_text().split():
                self.assertFalse(Path("/proc", pid).exists(), f"process {pid} still runs")


if __name__ == "__main__":
    unittest.main()
