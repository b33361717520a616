# SPDX-License-Identifier: MIT
"""`make bench-loop`: where the time from a save to the verdict goes, for every lesson."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ..base.project import PASSED, ROOT, Lesson, lessons
from ..build import build as builder
from ..build import folders, programs
from ..judge import grade
from ..show import screen

_PARTS = ("tool", "ninja", "nvcc", "link", "tests")
_LETTERS = dict(zip(_PARTS, "tnclx", strict=True))


def _seconds(command: list[str]) -> float:
    started = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)
    return time.monotonic() - started


def split(lesson: Lesson, build: Path) -> dict[str, float]:
    """Seconds of each part, measured on the solution; nothing of the student's is touched."""
    tool = [
        sys.executable,
        "-c",
        "import workbook.show.screen, workbook.judge.grade, workbook.build.build",
    ]
    parts = {"tool": _seconds(tool)}
    parts["ninja"] = _seconds(["cmake", "--build", str(build), "--target", f"solution_{lesson.id}"])
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"{lesson.slug}.cu"
        source.write_bytes(lesson.solution_file.read_bytes())
        started = time.monotonic()
        made, _ = programs.object_of(build, lesson, source)
        parts["nvcc"] = time.monotonic() - started
        started = time.monotonic()
        program, _ = programs.compiled(build, lesson, source)
        parts["link"] = time.monotonic() - started
        started = time.monotonic()
        grade.grade_program(lesson, program, "emulator", build)
        parts["tests"] = time.monotonic() - started
        for left in (program, made, made.with_suffix(".json")):
            left.unlink(missing_ok=True)
    return parts


def bar(parts: dict[str, float], width: int = 40, whole: float = 4.0) -> str:
    """One letter for each 0.1 s: `tncccccccccccclxxxx`."""
    text, done, drawn = "", 0.0, 0
    for name in _PARTS:
        done += parts[name]
        end = min(width, round(done / whole * width))
        text += _LETTERS[name] * (end - drawn)
        drawn = end
    return text


def run() -> int:
    """Prints a bar for each lesson, and the slowest."""
    build = folders.prepare("emulator")
    known = [lesson for lesson in lessons() if lesson.solution_file.is_file()]
    builder.build(build, [f"solution_{lesson.id}" for lesson in known], "Building")
    print("from a save to the verdict, seconds; one letter is 0.1 s:")
    print("  " + " · ".join(f"{_LETTERS[name]} {name}" for name in _PARTS))
    worst = 0.0
    for lesson in known:
        parts = split(lesson, build)
        total = sum(parts.values())
        worst = max(worst, total)
        print(f"  {lesson.number} {total:5.2f}  {bar(parts)}", flush=True)
    width = screen.console().width
    print(f"slowest: {worst:.2f} s, {builder.cores()} cores"[:width])
    return PASSED
