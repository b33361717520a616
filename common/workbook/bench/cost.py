# SPDX-License-Identifier: MIT
"""`make bench-cost`: what the emulated device needs for each lesson's work, beside one core of the
CPU and, where plots/data/bench.csv has it, a card."""

from __future__ import annotations

import csv
import datetime
import platform
from dataclasses import dataclass
from pathlib import Path

from ..base import options
from ..base.project import NOT_PASSED, PASSED, ROOT, Lesson, WorkbookError, lessons
from ..build import build as builder
from ..build import folders, programs
from ..running import timing
from . import results

DATA = ROOT / "plots" / "data"
ELEMENTS = 200_003  # of each work: enough for the emulator's rate, little enough for patience
COLUMNS = (
    "lesson", "workload", "elements", "emulator_ns", "emulator_unchecked_ns", "one_core_ns",
    "cpu", "date", "commit",
)  # fmt: skip


@dataclass(frozen=True)
class Cost:
    """Nanoseconds for each element; one_core is 0 where the workload has no work of a core."""

    lesson: str
    workload: str
    elements: int
    checked: float
    unchecked: float
    one_core: float


def cpu_name() -> str:
    """The processor, as the system names it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2] for line in text.splitlines() if line.startswith("model name")]
    return " ".join(names[0].split()) if names else platform.machine()


def of_lesson(lesson: Lesson, build: Path, elements: int) -> list[Cost]:
    """The solution's works, with all checks and without."""
    program = build / "lessons" / f"bench_solution_{lesson.id}"
    options = ("--cost", str(elements))
    checked = timing.run(program, "emulator", build, options=options)
    unchecked = timing.run(program, "emulator", build, options=options, checks=False)
    for made in (checked, unchecked):
        if not made.right:
            wrong = next((work.wrong for work in made.workloads if work.wrong), made.trouble)
            raise WorkbookError(f"lesson {lesson.number} cannot be timed: {wrong}")
    costs = []
    for slow, fast in zip(checked.workloads, unchecked.workloads, strict=True):
        core = slow.one_core / slow.one_core_elements if slow.one_core_elements else 0.0
        costs.append(
            Cost(
                lesson.number,
                slow.name,
                slow.elements,
                1e6 * slow.median / slow.elements,
                1e6 * fast.median / fast.elements,
                1e6 * core,
            )
        )
    return costs


def write(path: Path, costs: list[Cost]) -> None:
    """The table, with the machine in each row."""
    path.parent.mkdir(parents=True, exist_ok=True)
    today, commit, cpu = datetime.date.today().isoformat(), results.commit(), cpu_name()
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for one in costs:
            times = (f"{ns:.3f}" for ns in (one.checked, one.unchecked, one.one_core))
            row = (one.lesson, one.workload, one.elements, *times, cpu, today, commit)
            writer.writerow(row)


def run() -> int:
    """Times every solution on the emulated device; writes plots/data/cost.csv."""
    build = folders.prepare("emulator")
    known = [lesson for lesson in lessons() if programs.has_workload(lesson)]
    built = builder.build(build, [f"bench_solution_{lesson.id}" for lesson in known], "Building")
    if not built.ok:
        print(builder.first_failure(built.text))
        raise WorkbookError("a workload did not build (see above)")
    costs = []
    print(f"{'nanoseconds for each element':48} checked  unchecked  one core")
    for lesson in known:
        for one in of_lesson(lesson, build, ELEMENTS):
            costs.append(one)
            print(
                f"{one.lesson} {one.workload:46} {one.checked:8.1f} {one.unchecked:9.1f} "
                f"{one.one_core:9.2f}",
                flush=True,
            )
    out = Path(options.text("OUT") or DATA) / "cost.csv"
    write(out, costs)
    print(f"{out}: {len(costs)} rows")
    return PASSED if costs else NOT_PASSED
