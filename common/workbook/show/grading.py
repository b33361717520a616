# SPDX-License-Identifier: MIT
"""`make` and `make NN`: builds, grades and shows a lesson, and says what to do next."""

from __future__ import annotations

import json
from pathlib import Path

from ..base.project import NOT_PASSED, PASSED, Lesson, devices_wanted, lessons, relative
from ..build import folders, programs
from ..judge import grade as judge
from ..judge import progress
from ..setup import install
from . import grade_screen, screen


def grade(lesson: Lesson, as_json: bool = False) -> int:
    """`make NN`: the exit status is the verdict."""
    return PASSED if _grade(lesson, as_json) else NOT_PASSED


def grade_next(as_json: bool = False) -> int:
    """Plain `make`: grade the first unsolved lesson, say what to do; 0 whenever it could grade."""
    known = lessons()
    data = progress.load()
    unsolved = [lesson for lesson in known if not progress.solved(lesson, data)]
    if not unsolved:
        for device in devices_wanted():
            folders.prepare(device)
        screen.show_progress(known)
        print("Every lesson is solved. make NN grades one again; make reset-NN starts one afresh.")
        return PASSED
    lesson = unsolved[0]
    if not data:
        print("Welcome. Each lesson is a folder in lessons/ with one .cu file for you to complete.")
    passed = _grade(lesson, as_json)
    if not as_json and not passed:
        print(f"\nNext: read  lessons/{lesson.id}/README.md")
        print(f"      edit  lessons/{lesson.id}/{lesson.slug}.cu")
        print(f"      run   make {lesson.number}")
    return PASSED


def _grade(lesson: Lesson, as_json: bool) -> bool:
    """Builds, grades and shows one lesson on the devices of DEVICE; True when all passed."""
    wanted = devices_wanted()
    if only_card := wanted == ["gpu"]:
        # A card has no counters: efficiency and safety come from the emulator, if it can be built.
        wanted = ["gpu", "emulator"]
    results = []
    for device in wanted:
        if only_card and results and (absent := install.emulator_needs()):
            packages = " ".join(need.package for need in absent)
            print(f"  safe and efficient: not graded, the emulated device needs {packages}")
            break
        folder = folders.prepare(device, lesson)
        result = judge.grade_lesson(lesson, device, folder, screen.Status())
        progress.remember(result)
        results.append(result)
        if not as_json:
            grade_screen.show_grade(result)
        if result.build_error:
            break
        if device == "gpu" and result.correct and not as_json:
            _time(lesson, folder)
    if as_json:
        print(json.dumps([result.as_json() for result in results], indent=2))
    passed = all(result.passed for result in results)
    if passed and not as_json:
        _say_next()
    return passed


def _say_next() -> None:
    """After a lesson that passed: the first one that has not."""
    data = progress.load()
    following = next((one for one in lessons() if not progress.solved(one, data)), None)
    if following:
        print(f"\nSolved. Next: lessons/{following.id}/README.md, then make {following.number}")
    else:
        print("\nSolved, and with it every lesson. make progress shows them all.")


def _time(lesson: Lesson, folder: Path) -> None:
    """Times of the student's file and the solution, as a table and a figure."""
    from . import gpu  # takes a while, and is for cards alone

    if not programs.has_workload(lesson):
        print("  (this lesson has no workload for the clock)")
        return
    contenders = gpu.time_lesson(lesson, folder)
    gpu.show_times(contenders)
    for path in gpu.draw_times(lesson, contenders, folder / "times"):
        print(f"  {relative(path)}")
