# SPDX-License-Identifier: MIT
"""`make picture-NN`: draws what the student's kernels touched, from a traced run of one test."""

from __future__ import annotations

import math
import re
import tempfile
from pathlib import Path
from typing import Any

from .. import diagnose
from ..base import options
from ..base.project import PASSED, USAGE, Lesson, WorkbookError, relative
from ..build import build as builder
from ..build import folders
from ..facts import findings, timeline
from ..judge import grade
from ..lesson import test_cases
from ..lesson.test_cases import TestCase


def make(lesson: Lesson) -> int:
    """Builds the student's file and draws its pictures into build/pictures/NN."""
    if not lesson.has_kernel:
        raise WorkbookError(
            f"lesson {lesson.number} has no kernel: nothing runs on the device, and there is "
            "nothing to draw",
            f"make {lesson.number} shows what your threads do",
            USAGE,
        )
    build = folders.prepare("emulator")
    built = builder.build_student_file(build, f"lesson_{lesson.id}", lesson.student_file)
    if not built.ok:
        raise WorkbookError(
            f"lessons/{lesson.id}/{lesson.slug}.cu does not build", f"make {lesson.number} says why"
        )
    program = build / "lessons" / f"lesson_{lesson.id}"
    files = draw(lesson, program, build, build / "pictures" / lesson.number)
    for name, text in files:
        print(f"  {relative(name)}  {text}")
    print(f"another test: make picture-{lesson.number} CASE='part of its name'")
    return PASSED


def _cases(lesson: Lesson) -> list[TestCase]:
    cases = test_cases.cases_of(lesson)
    if wanted := options.text("CASE"):
        chosen = [case for case in cases if wanted in case.name]
        if not chosen:
            names = "\n".join(f"    {case.name}" for case in cases)
            raise WorkbookError(f"no test case has `{wanted}` in its name; there are\n{names}",
                                "CASE='part of a name'", USAGE)  # fmt: skip
        return chosen
    return cases


def _to_draw(
    lesson: Lesson, program: Path, build: Path, folder: Path
) -> tuple[grade.CaseResult, Path]:
    """The first test case that does not pass, with its trace; else the one that shows most."""
    best: tuple[int, grade.CaseResult, Path] | None = None
    for number, case in enumerate(_cases(lesson)):
        path = folder / f"trace-{number}"
        result = grade.run_case(program, case, "emulator", build, trace=path)
        if not path.is_file():
            continue
        shows = _shows(path)
        if timeline.last(result.details):  # best of a case that is about it
            shows = 5 if case.efficient else 4
        if not result.passed and (shows or diagnose.of_case(result).arrays):
            return result, path
        if shows and (best is None or shows > best[0]):
            if best:
                best[2].unlink()
            best = (shows, result, path)
        else:
            path.unlink()
    if best is None:
        raise WorkbookError(
            "no kernel of this lesson touches memory yet: there is nothing to draw",
            f"fill in the first task; make hint-{lesson.number} helps",
        )
    return best[1], best[2]


def _shows(path: Path) -> int:
    """What a trace has to show: 0 no access, 1 global memory, 2 shared memory, 3 and by several
    warps. Code does not show how threads meet in shared memory: a picture does.
    """
    text = path.read_bytes()
    shared = re.compile(rb'\["access",\d+,(\d+),\d+,"shared"')
    warps = {match.group(1) for match in shared.finditer(text)}
    if warps:
        return 3 if len(warps) > 1 else 2
    return int(b'["access"' in text)


def choose(launches: list[Any], finding: findings.Finding | None) -> Any | None:
    """The launch that shows most: that of the finding, of a size that a picture can hold."""
    from . import draw_time

    launches = [one for one in launches if one.accesses]
    if finding:
        data = finding.data
        fits = [one for one in launches if not data.get("kernel") or one.kernel == data["kernel"]]
        if finding.code.startswith("race-"):
            pairs = [(one, pair) for one in fits if (pair := draw_time.racing(one, data))]
            apart = [one for one, (a, b) in pairs if (a.block, a.warp) != (b.block, b.warp)]
            fits = apart or [one for one, _ in pairs] or fits
        elif any(access.bad for one in fits for access in one.accesses):
            fits = [one for one in fits if any(access.bad for access in one.accesses)]
        launches = fits or launches
    elif any(access.space == "shared" for one in launches for access in one.accesses):
        launches = [one for one in launches if any(a.space == "shared" for a in one.accesses)]
    if not launches:
        return None
    # A few full warps say more than one thread or a thousand blocks.
    return min(launches, key=lambda one: abs(math.log2(max(1, len(one.accesses)) / 24)))


def draw(lesson: Lesson, program: Path, build: Path, out: Path) -> list[tuple[Path, str]]:
    """All pictures of one program: (file, what it shows). THEME=dark draws on black."""
    from . import draw_access, draw_map, draw_time, draw_timeline, theme, trace

    chosen = theme.DARK if options.text("THEME") == "dark" else theme.LIGHT
    with tempfile.TemporaryDirectory(prefix="workbook-") as scratch:
        result, path = _to_draw(lesson, program, build, Path(scratch))
        read = trace.read(path)
    verdict = "passes" if result.passed else "does not pass"
    print(f"Lesson {lesson.number}, {result.case.name}: {verdict}")
    measured = timeline.last(result.details)
    if read.cut and not measured:
        print("  (the run is long: its first part is drawn)")
    finding = next((one for one in result.findings if one.unsafe), None)
    launch = choose(read.launches, finding)
    figures = []
    with theme.drawing(chosen):
        if measured:
            figures.append(
                ("timeline", "when each stream copies and computes, and when the host waits",
                 draw_timeline.figure(measured.intervals, measured.returned,
                                      result.case.name, chosen))
            )  # fmt: skip
        elif launch:
            race = finding if finding and finding.code.startswith("race-") else None
            figures += [
                ("access", "lanes against addresses: how many sectors each access moves",
                 draw_access.figure(launch, "global", chosen)),
                ("banks", "banks of shared memory: which lanes get in each other's way",
                 draw_access.figure(launch, "shared", chosen)),
                ("time", "warps by time, with barriers" + (" and the race" if race else ""),
                 draw_time.figure(launch, race.data if race else None, chosen)),
            ]  # fmt: skip
        diagnosis = diagnose.of_case(result)
        if diagnosis.arrays and diagnosis.telling is not None:
            array = diagnosis.arrays[diagnosis.telling]
            figures += [
                ("errors", "which elements are wrong",
                 draw_map.errors(array, chosen, diagnosis.cause)),
                ("owners", "which thread wrote each element", draw_map.owners(array, chosen)),
            ]  # fmt: skip
        suffix = "-dark" if chosen is theme.DARK else ""
        out.mkdir(parents=True, exist_ok=True)
        for old in out.glob("*.png"):
            if old.stem.endswith("-dark") == bool(suffix):
                old.unlink()
                old.with_suffix(".svg").unlink(missing_ok=True)
        return [
            (theme.save(figure, out, name + suffix)[1], text)
            for name, text, figure in figures
            if figure is not None
        ]
