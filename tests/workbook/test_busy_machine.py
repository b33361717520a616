# SPDX-License-Identifier: MIT
"""A verdict depends on the answer alone: the same grades on a machine with much else to do."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
import unittest
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from workbook.base.project import find_lesson
from workbook.judge.grade import grade_program
from workbook.lesson.test_cases import TestCase
from workbook.running import own_time, runner
from workbook.running.case_run import run_case

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
SOLUTIONS = ("02", "18", "25", "27", "37", "40")
SPINNERS = 40
GROUPS = Path("/sys/fs/cgroup")
ENDLESS = "while True: pass"


@contextlib.contextmanager
def busy(spinners: int = SPINNERS) -> Iterator[None]:
    """Programs that want a processor all the time, each in a session of its own: the kernel's
    autogroups would hide the load of one session's.
    """
    started = [
        subprocess.Popen([sys.executable, "-c", ENDLESS], start_new_session=True)
        for _ in range(spinners)
    ]
    try:
        yield
    finally:
        for one in started:
            one.kill()
        for one in started:
            one.wait()


@contextlib.contextmanager
def fifth_of_a_core() -> Iterator[None]:
    """This process and what it starts in a control group that has 20 of each 100 ms."""
    old = GROUPS / "cpu" if (GROUPS / "cpu" / "cpu.cfs_quota_us").exists() else None
    folder = (old or GROUPS) / f"workbook-test-{os.getpid()}"
    try:
        folder.mkdir()
        if old:
            (folder / "cpu.cfs_period_us").write_text("100000")
            (folder / "cpu.cfs_quota_us").write_text("20000")
        else:
            (folder / "cpu.max").write_text("20000 100000")
        (folder / "cgroup.procs").write_text(str(os.getpid()))
    except OSError as error:
        with contextlib.suppress(OSError):
            folder.rmdir()
        raise unittest.SkipTest(f"no control group can be made here: {error}") from error
    try:
        yield
    finally:
        ((old or GROUPS) / "cgroup.procs").write_text(str(os.getpid()))
        folder.rmdir()


class OwnTime(unittest.TestCase):
    def spinning(self, seconds: float) -> own_time.OwnTime:
        process = subprocess.Popen([sys.executable, "-c", ENDLESS], start_new_session=True)
        try:
            own = own_time.OwnTime(process.pid)
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                time.sleep(0.1)
                own.look()
            return own
        finally:
            process.kill()
            process.wait()

    def test_it_is_about_what_the_processor_gave(self) -> None:
        with busy():
            own = self.spinning(4)
            seconds = own.seconds
        self.assertGreater(own.starved, seconds)
        self.assertLess(seconds, 3 * own.used + 1)

    def test_without_the_kernels_count_the_states_say_it(self) -> None:
        with busy(), mock.patch.object(own_time, "_delay", lambda folder: None):
            own = self.spinning(4)
            self.assertGreater(own.starved, own.seconds)

    def test_sleep_is_ones_own(self) -> None:
        with busy(8):
            process = subprocess.Popen(["sleep", "30"], start_new_session=True)
            own = own_time.OwnTime(process.pid)
            for _ in range(10):
                time.sleep(0.1)
                own.look()
            process.kill()
            process.wait()
        self.assertLess(own.starved, 0.5)


class Verdicts(unittest.TestCase):
    def assert_right(self, number: str) -> None:
        lesson = find_lesson(number)
        program = BUILD / "lessons" / f"solution_{lesson.id}"
        if not program.exists():
            self.skipTest(f"{program.name} was not built")
        grade = grade_program(lesson, program, "emulator", BUILD)
        wrong = [(r.case.name, r.ended, r.skipped) for r in grade.results if not r.passed]
        self.assertTrue(grade.passed, wrong)

    def test_beside_forty_programs(self) -> None:
        with busy():
            for number in SOLUTIONS:
                with self.subTest(number):
                    self.assert_right(number)

    def test_with_a_fifth_of_a_core(self) -> None:
        with fifth_of_a_core():
            for number in SOLUTIONS:
                with self.subTest(number):
                    self.assert_right(number)

    def test_an_endless_loop_is_one(self) -> None:
        script = BUILD / "workbook" / "endless.sh"
        script.parent.mkdir(exist_ok=True)
        script.write_text("#!/bin/sh\nwhile :; do :; done\n")
        script.chmod(0o755)
        with busy(6):
            limits = runner.Limits(seconds=1)
            result = run_case(script, TestCase("one", ("task1",)), "gpu", BUILD, limits)
        self.assertEqual(result.ending, "times-out")
        self.assertEqual(result.skipped, "")


if __name__ == "__main__":
    unittest.main()
