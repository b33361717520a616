# SPDX-License-Identifier: MIT
"""What a card adds: times against the solution and the card's copy bandwidth, and the sanitizer."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table
from rich.text import Text

from .. import diagnose
from ..base import options
from ..base.project import (
    NOT_ABLE,
    NOT_PASSED,
    PASSED,
    ROOT,
    Lesson,
    WorkbookError,
    lessons,
    relative,
)
from ..build import build as builder
from ..build import folders, programs
from ..running import runner, timing
from ..setup import toolkit
from . import screen

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")


@dataclass
class Contender:
    """One line of the table of times."""

    name: str
    timing: timing.Timing


def _build(folder: Path, targets: list[str]) -> None:
    built = builder.build(folder, targets)
    if not built.ok:
        print(builder.first_failure(built.text))
        raise WorkbookError(f"{' and '.join(targets)} did not build (see above)")


def time_lesson(
    lesson: Lesson, folder: Path, device: str = "gpu", elements: int | None = None
) -> list[Contender]:
    """The student's file and the solution under the clock, in two programs one after the other."""
    kinds = {"yours": f"bench_lesson_{lesson.id}", "solution": f"bench_solution_{lesson.id}"}
    _build(folder, list(kinds.values()))
    return [
        Contender(name, timing.run(folder / "lessons" / target, device, folder, elements=elements))
        for name, target in kinds.items()
    ]


def show_times(contenders: list[Contender]) -> None:
    """For each workload a line a contender: median, spread, rate, share of the copy rate."""
    out = screen.console()
    ceiling = max((c.timing.ceiling for c in contenders), default=0.0)
    device = next((c.timing.device for c in contenders if c.timing.device), "this card")
    out.print()
    out.print(Text(f"  Time on {device}, which copies at {ceiling:.0f} GB/s", "bold"))
    works = {w.name: w for c in contenders for w in c.timing.workloads}
    for name, any_work in works.items():
        out.print(Text(f"  {name}, {any_work.elements:,} elements", "cyan"))
        table = Table(box=None, pad_edge=False, show_header=False)
        for _ in range(5):
            table.add_column(justify="left", overflow="fold")
        for contender in contenders:
            work = next((w for w in contender.timing.workloads if w.name == name), None)
            if work is None:
                table.add_row(f"    {contender.name}", contender.timing.trouble or "not run")
                continue
            if work.wrong:
                table.add_row(f"    {contender.name}", Text("wrong", "red"))
                continue
            spread = f"{screen.milliseconds(work.fastest)} to {screen.milliseconds(work.slowest)}"
            share = work.share_of(ceiling)
            table.add_row(
                f"    {contender.name}",
                screen.milliseconds(work.median),
                f"({spread})",
                work.rate(),
                "" if share is None else f"{screen.bar(share * 100, 100, 10)} {share:.0%} of copy",
            )
        out.print(table)
    for contender in contenders:
        for work in contender.timing.workloads:
            if work.wrong:
                out.print(Text(f"  {contender.name}, {work.name}: {work.wrong}", "red"))
        if contender.timing.trouble:
            out.print(Text(f"  {contender.name}: {contender.timing.trouble}", "red"))
    out.print(Text("  Speed is never part of the verdict: a right answer passes.", "dim"))


def draw_times(lesson: Lesson, contenders: list[Contender], folder: Path) -> list[Path]:
    """The same as a figure."""
    from . import demo_figure

    return demo_figure.draw(lesson, contenders, [], folder, f"times_{lesson.number}")


# --- compute-sanitizer ---------------------------------------------------------------------------


def find_sanitizer() -> Path:
    """NVIDIA's compute-sanitizer: beside nvcc or on PATH."""
    for nvcc in toolkit.system_nvccs():
        beside = nvcc.resolve().parent / "compute-sanitizer"
        if beside.is_file():
            return beside
    if path := shutil.which("compute-sanitizer"):
        return Path(path)
    raise WorkbookError(
        "compute-sanitizer was not found beside nvcc or on PATH",
        "it comes with the CUDA Toolkit (Debian package cuda-sanitizer-13-0)",
    )


def errors_in(output: str) -> int | None:
    """The number in a tool's last `ERROR SUMMARY` (racecheck: hazards); None without one."""
    found = re.findall(r"(?:ERROR SUMMARY|RACECHECK SUMMARY): (\d+)", output)
    return int(found[-1]) if found else None


def sanitize_program(program: Path, tool: str, sanitizer: Path) -> tuple[int | None, str]:
    """Runs the value tests of `program` under one tool: how many errors, and its words."""
    command = [str(sanitizer), "--tool", tool, "--print-limit", "3", str(program), "~[efficient]"]
    limits = runner.Limits(seconds=240, memory=48 << 30)
    ended = runner.run(command, dict(os.environ), ROOT, limits)
    if ended.how:
        return None, f"did not finish ({ended.how})"
    return errors_in(ended.output), ended.output


def _one_line(output: str) -> str:
    """The first complaint, without the tool's margin."""
    lines = [re.sub(r"^=+ ?", "", line).strip() for line in output.splitlines()]
    told = (
        line for line in lines if re.match(r"(Invalid|Error|Warning|Program hit|Uninit|Barr)", line)
    )
    return next(told, "")


def sanitize(lesson: Lesson) -> int:
    """`make sanitize-NN`: the student's file under every tool (SOLUTION=1: the solution)."""
    folder = folders.prepare("gpu")
    kind = "solution" if options.flag("SOLUTION") else "lesson"
    target = f"{kind}_{lesson.id}"
    _build(folder, [target])
    print(f"Lesson {lesson.number} · {lesson.title}: compute-sanitizer on {target}")
    status = PASSED
    for tool in TOOLS:
        count, output = sanitize_program(folder / "lessons" / target, tool, find_sanitizer())
        if count is None:
            print(f"  –  {tool:10} {_one_line(output) or output.strip()[-200:]}")
            status = NOT_ABLE
        elif count:
            print(f"  ✗  {tool:10} {count} errors; the first: {_one_line(output)}")
            status = NOT_PASSED
        else:
            print(f"  ✓  {tool:10} nothing found")
    print("The emulator also looks for races in global memory, which no tool of these does.")
    return status


# --- all lessons, for maintainers ----------------------------------------------------------------


def check_all() -> int:
    """`make check-gpu`: every solution on the card: values, the four tools, and its times."""
    from ..judge import grade

    folder = folders.prepare("gpu")
    known = [lesson for lesson in lessons() if lesson.solution_file.is_file()]
    print(f"Building {len(known)} solutions for the card ...", flush=True)
    timed = [lesson for lesson in known if programs.has_workload(lesson)]
    targets = [f"solution_{one.id}" for one in known] + [f"bench_solution_{o.id}" for o in timed]
    built = builder.build(folder, targets, "Building")
    if not built.ok:
        print(builder.first_failure(built.text, 60))
        raise WorkbookError("a solution did not build for the card (see above)")
    try:
        sanitizer: Path | None = find_sanitizer()
    except WorkbookError as error:
        print(f"note: {error}")
        sanitizer = None
    status = PASSED
    for lesson in known:
        program = folder / "lessons" / f"solution_{lesson.id}"
        result = grade.grade_program(lesson, program, "gpu", folder)
        words = [f"values {'✓' if result.correct else '✗'}"]
        status = status if result.correct else NOT_PASSED
        for tool in TOOLS if sanitizer else ():
            count, _ = sanitize_program(program, tool, sanitizer)
            words.append(f"{tool} {'?' if count is None else '✓' if count == 0 else f'✗ {count}'}")
            status = NOT_PASSED if count else status
        print(f"{lesson.id}: " + " · ".join(words), flush=True)
        for case in result.results:
            if not case.values_right:
                print(f"    {case.case.name}: {case.ended or diagnose.cause_of(case) or 'wrong'}")
    for lesson in timed:
        program = folder / "lessons" / f"bench_solution_{lesson.id}"
        show_times([Contender(lesson.number, timing.run(program, "gpu", folder))])
    print(f"build folder: {relative(folder)}")
    return status
