# SPDX-License-Identifier: MIT
"""The emulated device on one processor that qemu imitates: check_processor.py MODEL LEVEL.

The library under test holds the handlers of several levels, and chooses by itself. All unit tests
but the [slow] ones run, then the device's self-test, and six lessons are graded. With a third
argument, `slow`, the slow unit tests run instead. Without qemu the test is skipped with a reason,
but not where CI is set.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from unittest import mock

from workbook.base.project import DeviceFailed, cores, find_lesson
from workbook.build import self_test
from workbook.judge.grade import grade_program
from workbook.running import runner

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
LIBRARY = BUILD / "emulator_levels"
LESSONS = ("00", "03", "05", "06", "14", "17")  # each starts some twenty processes
SLOW, SLOW_LAYERS = "[slow]", ("ptx", "machine", "checks")
FORKS = "[forks]"  # start threads in forked processes, which qemu 7.2 cannot
LAYERS = ("ptx", "machine", "checks", "runtime", "driver")
# A case takes up to twenty times as long as on the processor itself.
LIMITS = runner.Limits(seconds=300, memory=4 << 30)


def unit_tests(under: list[str], level: str, which: str) -> list[str]:
    """What failed. test_levels.cpp compares the level with the one named here."""
    wrong = []
    env = dict(os.environ, PROCESSOR_LEVEL=level)
    for layer in LAYERS if which != SLOW else SLOW_LAYERS:
        command = [*under, str(BUILD / "tests" / f"test_{layer}"), which]
        done = subprocess.run(command, env=env, capture_output=True, text=True, errors="replace")
        if done.returncode != 0:
            wrong.append(f"test_{layer} ended with {done.returncode}:\n{done.stdout[-3000:]}")
    return wrong


def lessons() -> list[str]:
    """Those of the six solutions that did not pass."""
    wrong = []
    for number in LESSONS:
        lesson = find_lesson(number)
        program = BUILD / "lessons" / f"solution_{lesson.id}"
        try:
            grade = grade_program(lesson, program, "emulator", BUILD, jobs=cores(), limits=LIMITS)
        except DeviceFailed as error:
            wrong.append(f"lesson {number}: {error}")
            continue
        failed = [result.case.name for result in grade.results if not result.passed]
        if not grade.passed:
            wrong.append(f"lesson {number}: {failed or 'not all three grades'}")
    return wrong


def main(model: str, level: str, part: str = "") -> int:
    qemu = shutil.which("qemu-x86_64")
    if not qemu:
        print("qemu-x86_64 is missing: apt-get install qemu-user")
        return 1 if os.environ.get("CI") else 77
    # It warns on each start of features that it does not imitate; none is part of a level.
    under = [qemu, "-cpu", model]
    if part == "slow":
        for text in (wrong := unit_tests(under, level, SLOW)):
            print("FAILED:", text)
        return 1 if wrong else 0
    wrong = unit_tests(under, level, f"~[.]~{SLOW}~{FORKS}")
    chosen = {"WORKBOOK_EMULATOR": str(LIBRARY), "WORKBOOK_RUN_UNDER": shlex.join(under)}
    known = BUILD / "emulator" / "self_test"
    wrong += [f"self-test: {text}" for text in self_test.problems(LIBRARY, known, under)]
    with mock.patch.dict(os.environ, chosen):
        wrong += lessons()
    for text in wrong:
        print("FAILED:", text)
    if not wrong:
        print(f"{model}: {level}, {len(LAYERS)} layers' unit tests and {len(LESSONS)} lessons")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
