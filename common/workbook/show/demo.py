# SPDX-License-Identifier: MIT
"""For a class: a lesson's ladder side by side, or a named wrong answer as the student sees it."""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from rich.table import Table
from rich.text import Text

from ..answers import catalog
from ..base import options
from ..base.project import PASSED, Lesson, WorkbookError, cores, devices_wanted, relative
from ..build import build as builder
from ..build import folders, programs
from ..facts import counters
from ..judge import grade
from ..lesson import test_cases
from ..running import timing
from ..setup import cards
from . import grade_screen, screen


@dataclass
class Rung:
    """One program of the ladder, its description, and its result."""

    name: str
    text: str
    source: Path
    grade: grade.Grade | None = None
    timing: timing.Timing | None = None
    # (test case, counter) -> value
    values: dict[tuple[str, str], int] = field(default_factory=dict)


def ladder(lesson: Lesson, build: Path) -> list[Rung]:
    """The variants from the first to the last and the solution; the skeleton where none exist."""
    rungs = []
    for path in sorted((lesson.solution_folder / "variants").glob("*.cu")):
        name = re.sub(r"^\d+_", "", path.stem).replace("_", " ")
        lines = path.read_text(encoding="utf-8").splitlines()
        rungs.append(Rung(name, catalog.split_whole(lines, "Variant", relative(path))[0], path))
    if not rungs:
        text = "The file as you find it: nothing filled in."
        rungs = [Rung("skeleton", text, programs.skeleton_file(build, lesson))]
    rungs.append(Rung("solution", "The solution in solutions/.", lesson.solution_file))
    return rungs


def climb(lesson: Lesson, build: Path) -> list[Rung]:
    """Builds and grades every rung on the emulator; compiles several at a time."""
    built = builder.build(build, [f"solution_{lesson.id}"])
    if not built.ok:
        print(builder.first_failure(built.text))
        raise WorkbookError(f"the solution of lesson {lesson.number} did not build (see above)")
    rungs = ladder(lesson, build)
    columns = counters.looked_at(lesson)

    def program_of(rung: Rung) -> Path:
        try:
            return programs.compiled(build, lesson, rung.source)[0]
        except programs.BuildFailed as error:
            raise WorkbookError(f"{relative(rung.source)} does not build:\n{error}") from error

    with ThreadPoolExecutor(max_workers=cores()) as pool:
        made = list(pool.map(program_of, rungs))
    for rung, program in zip(rungs, made, strict=True):
        # One after the other: grading ends every process that a program has left running.
        rung.grade = grade.grade_program(lesson, program, "emulator", build, thorough=True)
        for result in rung.grade.counted:
            measured = counters.measured(result.details)
            for name in columns.get(result.case.name, []):
                if name in measured:
                    rung.values[result.case.name, name] = measured[name]
    return rungs


def time_rungs(lesson: Lesson, rungs: list[Rung], build: Path) -> None:
    """Times every rung on this machine's card, one after the other."""
    built = builder.build(build, [f"bench_solution_{lesson.id}"])
    if not built.ok:
        print(builder.first_failure(built.text))
        raise WorkbookError(f"the workload of lesson {lesson.number} did not build (see above)")
    for rung in rungs:
        try:
            program, _ = programs.compiled(build, lesson, rung.source, programs.BENCH)
        except programs.BuildFailed as error:
            rung.timing = timing.Timing(trouble=f"does not build: {error}")
            continue
        rung.timing = timing.run(program, "gpu", build)


def rows_of_counters(
    rungs: list[Rung], cases: list[test_cases.TestCase], columns: dict[str, list[str]]
) -> list[tuple[test_cases.TestCase, list[tuple[str, list[int | None]]]]]:
    """For each [efficient] case its counters, each with one value a rung; only measured ones."""
    rows = []
    for case in cases:
        lines = []
        for name in columns.get(case.name, []):
            values = [rung.values.get((case.name, name)) for rung in rungs]
            if any(value is not None for value in values):
                lines.append((name, values))
        # Cases of one task look at the same timeline.
        again = any(lines == shown for _, shown in rows)
        if lines and not (again and all(name in counters.OF_TIMELINE for name, _ in lines)):
            rows.append((case, lines))
    return rows


def _short(value: int | None) -> str:
    return "–" if value is None else f"{value:,}" if value < 10**8 else f"{value:.3g}"


_NAME_WIDTH = 20  # of a counter's name at least, before numbers get short


def _number_format(rows: list[list[int | None]], width: int) -> Callable[[int | None], str]:
    """How to write these numbers so that a line holds them: in full, else as `28.0 M`."""
    columns = zip(*[[len(_short(value)) for value in row] for row in rows], strict=True)
    needed = _NAME_WIDTH + sum(max(9, *column) + 2 for column in columns)
    return _short if needed <= width else _rounded


def _rounded(value: int | None) -> str:
    if value is None or value < 10**4:
        return _short(value)
    power = min(4, (len(str(value)) - 1) // 3)
    return f"{value / 1000**power:.3g} {' kMGT'[power]}"


def _heading(rungs: list[Rung]) -> list[str]:
    return [str(at) if rung.name != "solution" else "sol." for at, rung in enumerate(rungs, 1)]


def show(lesson: Lesson, rungs: list[Rung]) -> None:
    """The tables: what the rungs are, and what they cost."""
    out = screen.console()
    out.print(Text(f"Lesson {lesson.number} · {lesson.title}: from rung to rung", "bold"))
    names = _heading(rungs)
    width = max(len(rung.name) for rung in rungs)
    out.print(Text(f"{'':7}{'':{width}}  values  safe  on target", "bold"))
    for at, rung in enumerate(rungs):
        result = rung.grade
        assert result is not None
        met = sum(r.values_right for r in result.counted) if result.correct else 0
        marks = Text.assemble(
            f"{names[at]:>5}  ", (f"{rung.name:{width}}", "bold"), "     ", _mark(result.correct),
            "      ", _mark(result.safe), f"    {met} of {len(result.counted)}",
        )  # fmt: skip
        out.print(marks)
        for line in _wrap(rung.text[:1].upper() + rung.text[1:], out.width - 9):
            out.print(Text(" " * 7 + line, "dim"))
    _show_counters(lesson, rungs, names, out)


def _tables(
    lines: list[tuple[str, list[int | None]]], headings: list[str], first: int, width: int
) -> list[Table]:
    """The counters with a column for each rung; several tables where one would be too wide."""
    number = _number_format([values for _, values in lines], width)
    widths = [
        max(9, len(heading), *(len(number(values[at])) for _, values in lines))
        for at, heading in enumerate(headings)
    ] if lines else [max(9, len(heading)) for heading in headings]  # fmt: skip
    fitting = max(1, (width - first) // (max(widths) + 2))
    count = -(-len(headings) // fitting)
    size = -(-len(headings) // count)  # as equal as they can be
    tables = []
    for start in range(0, len(headings), size):
        shown = range(start, min(start + size, len(headings)))
        table = Table(box=None, pad_edge=False, header_style="bold", show_header=True)
        table.add_column("", min_width=first, overflow="fold")
        for at in shown:
            heading = Text(headings[at])
            table.add_column(heading, justify="right", min_width=widths[at], no_wrap=True)
        for name, values in lines:
            table.add_row(counters.words(name), *[number(values[at]) for at in shown])
        tables.append(table)
    return tables


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width) if text else []


def _mark(value: bool | None) -> Text:
    return Text("✓", "green") if value else Text("✗", "red")


def _show_counters(
    lesson: Lesson, rungs: list[Rung], names: list[str], out: screen.Console
) -> None:
    solution = rungs[-1].grade
    assert solution is not None
    cases = [result.case for result in solution.counted]
    rows = rows_of_counters(rungs, cases, counters.looked_at(lesson))
    if not rows:
        return
    out.print()
    out.print(Text("What each rung asked of the device (counted on the emulator)", "bold"))
    longest = max(len(counters.words(name)) for _, lines in rows for name, _ in lines)
    for case, lines in rows:
        right = [_case_right(rung, case) for rung in rungs]
        differing = [(name, values) for name, values in lines if len({*values}) > 1]
        same = [
            f"{counters.words(name)} {_short(values[0])}"
            for name, values in lines
            if len({*values}) == 1
        ]
        for line in _wrap(case.title, out.width - 2):
            out.print(Text(line, "cyan"))
        if differing or len({*right}) > 1:
            headings = [
                name + {True: " ✓", False: " ✗", None: ""}[right[at]]
                for at, name in enumerate(names)
            ]
            for table in _tables(differing, headings, min(longest, _NAME_WIDTH), out.width):
                out.print(table)
        if same:
            for line in _wrap("the same in all: " + ", ".join(same), out.width):
                out.print(Text(line, "dim"))


def _case_right(rung: Rung, case: test_cases.TestCase) -> bool | None:
    for result in rung.grade.counted if rung.grade else []:
        if result.case.name == case.name:
            return result.values_right
    return None


def show_times(rungs: list[Rung]) -> None:
    """Times and shares of the copy bandwidth, a table for each workload."""
    out = screen.console()
    timed = [rung.timing for rung in rungs if rung.timing]
    ceiling = max((t.ceiling for t in timed), default=0.0)
    device = next((t.device for t in timed if t.device), "GPU")
    names = list(dict.fromkeys(work.name for t in timed for work in t.workloads))
    out.print()
    out.print(Text(f"Times on {device}, which copies at {ceiling:.0f} GB/s", "bold"))
    for name in names:
        out.print(Text(name, "cyan"))
        table = Table(box=None, pad_edge=False, header_style="bold")
        for at, column in enumerate(("", "rung", "values", "median", "spread", "rate", "of copy")):
            table.add_column(column, justify="left" if at in (1, 4) else "right", overflow="fold")
        for heading, rung in zip(_heading(rungs), rungs, strict=True):
            work = next((w for w in rung.timing.workloads if w.name == name), None)  # type: ignore
            if work is None:
                table.add_row(heading, rung.name, (rung.timing and rung.timing.trouble) or "–")
                continue
            share = work.share_of(ceiling)
            table.add_row(
                heading,
                rung.name,
                _mark(not work.wrong),
                screen.milliseconds(work.median),
                f"{screen.milliseconds(work.fastest)} to {screen.milliseconds(work.slowest)}",
                work.rate(),
                "–" if share is None else f"{share:.0%}",
            )
        out.print(table)
    for rung in rungs:
        if rung.timing and rung.timing.trouble:
            out.print(Text(f"{rung.name}: {rung.timing.trouble}", "red"))


def draw(lesson: Lesson, rungs: list[Rung], folder: Path) -> list[Path]:
    """The figure of the counters that differ between rungs, and of the times where measured."""
    from . import demo_figure

    solution = rungs[-1].grade
    assert solution is not None
    cases = [result.case for result in solution.counted]
    rows = rows_of_counters(rungs, cases, counters.looked_at(lesson))
    return demo_figure.draw(lesson, rungs, rows, folder)


def run(lesson: Lesson) -> int:
    """`make demo-NN`: a ladder, or with MUTANT=name a wrong answer."""
    if mutant := options.text("MUTANT"):
        return run_mutant(lesson, mutant)
    return run_ladder(lesson, "gpu" in devices_wanted() or cards.present())


def run_ladder(lesson: Lesson, with_gpu: bool) -> int:
    """Table and figure."""
    build = folders.prepare("emulator")
    rungs = climb(lesson, build)
    show(lesson, rungs)
    if with_gpu and programs.has_workload(lesson):
        time_rungs(lesson, rungs, folders.prepare("gpu"))
        show_times(rungs)
    folder = Path(options.text("OUT") or build / "demo")
    files = draw(lesson, rungs, folder)
    if files:
        print("\nfigure: " + ", ".join(relative(path) for path in files))
    return PASSED


def run_mutant(lesson: Lesson, name: str) -> int:
    """`make demo-NN MUTANT=name`: the edit, and exactly the screen of a student who made it."""
    mutant = catalog.find(lesson, name)
    build = folders.prepare("emulator")
    built = builder.build(build, [f"solution_{lesson.id}"])
    if not built.ok:
        print(builder.first_failure(built.text))
        raise WorkbookError(f"the solution of lesson {lesson.number} did not build (see above)")
    result, source = grade_as_student(build, mutant)
    out = screen.console()
    out.print(Text(f"Lesson {lesson.number} · {name}", "bold"))
    for line in _wrap(mutant.summary, out.width):
        out.print(Text(line))
    out.print()
    show_edit(mutant, out)
    print(f"\n{relative(source)}\nThe student's screen:\n")
    grade_screen.show_grade(result)
    return PASSED


_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def show_edit(answer: catalog.Answer, out: screen.Console) -> None:
    """What the answer changes in its base, as a diff with the student's lines."""
    name = f"{answer.lesson.slug}.cu"
    base = catalog.text_of_base(answer.lesson, answer.kind, answer.base)
    lines = difflib.unified_diff(
        base.splitlines(), answer.expand()[0].splitlines(),
        f"{answer.base or 'solution'}/{name}", f"{answer.name}/{name}", lineterm="", n=2,
    )  # fmt: skip
    for line in lines:
        style = "bold" if line.startswith(("---", "+++")) else _STYLES.get(line[0], "")
        out.print(Text(line, style), soft_wrap=True)


def compile_as_student(build: Path, mutant: catalog.Answer) -> tuple[Path, Path, str]:
    """A wrong answer under the student's file name: source, program, the compiler's words.

    Raises programs.BuildFailed.
    """
    source, _ = catalog.written(build, mutant)
    program, said = programs.compiled(build, mutant.lesson, source)
    return source, program, said


def grade_as_student(build: Path, mutant: catalog.Answer) -> tuple[grade.Grade, Path]:
    """The grade of such a file."""
    try:
        source, program, said = compile_as_student(build, mutant)
    except programs.BuildFailed as error:
        made = grade.Grade(mutant.lesson, "emulator", build_stage=error.stage)
        # The compiler's words come after its command.
        words = str(error).partition("\n")[2] if error.stage == "compile" else str(error)
        made.build_error = builder.tidy(words).strip()
        return made, catalog.written(build, mutant)[0]
    result = grade.grade_program(mutant.lesson, program, "emulator", build)
    result.compiler_warnings = "\n".join(builder.warnings_about(said, source))
    return result, source
