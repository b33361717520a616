# SPDX-License-Identifier: MIT
"""The book's interactive views: what the solution and one wrong answer really did.

    <!-- view: barriers missing_barrier "task 3: sums the elements of each block when all" -->

in a lesson's page names the kind of view, the wrong answer, and a test case (the start of its
name). Both programs run that case on the emulated device with a trace; the view shows one launch.
Every number in it comes from the traces: book.js only draws. Source text is not in it.
"""

from __future__ import annotations

import html
import json
import re
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..answers import catalog
from ..base.project import Lesson, WorkbookError, relative
from ..build import build as builder
from ..build import programs
from ..judge import grade
from ..lesson import skeletons, test_cases
from ..pictures.trace import Access, Launch, Trace, read
from ..show import demo
from .pages import Page

MARK = re.compile(r'<!-- view: (?P<kind>\S+) (?P<mutant>\S+) "(?P<case>[^"]+)" -->')
_ANY_MARK = re.compile(r"^<!-- view:.*?-->$", re.MULTILINE)  # on a line of its own
_MOST_STEPS = 12  # of one warp: what comes after repeats itself
_FULL = 32


def of_pages(pages: Iterable[Page], device: Path) -> dict[str, str]:
    """The views that pages ask for: the mark, and the HTML in its place."""
    made = {}
    for page in pages:
        for mark in _ANY_MARK.findall(page.source.read_text(encoding="utf-8")):
            match = MARK.fullmatch(mark)
            if not match or match["kind"] not in KINDS or not page.lesson:
                raise WorkbookError(
                    f"{page.path.as_posix()}: {mark} is no view",
                    'in a lesson: <!-- view: KIND MUTANT "start of a test case\'s name" -->, '
                    f"where KIND is one of {', '.join(KINDS)}",
                )
            print(f"  lesson {page.lesson.number}: {match['kind']}", flush=True)
            made[mark] = as_html(
                view(page.lesson, match["kind"], match["mutant"], match["case"], device)
            )
    return made


def as_html(data: dict[str, Any]) -> str:
    """The place of a view in a page; the data are in it, so that it works without a server."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("</", "<\\/")
    words = html.escape(data["title"])
    return (
        f'<div class="wb-view"><p><strong>{words}</strong> '
        '<span class="wb-without">This view needs JavaScript.</span></p>'
        f'<script type="application/json">{text}</script></div>'
    )


def view(lesson: Lesson, kind: str, mutant: str, case: str, device: Path) -> dict[str, Any]:
    """The data of one view."""
    built = builder.build(device, [f"solution_{lesson.id}"])
    if not built.ok:
        print(builder.first_failure(built.text))
        raise WorkbookError(f"the solution of lesson {lesson.number} did not build (see above)")
    known = [one for one in test_cases.cases_of(lesson) if
             one.name.startswith(case)]  # fmt: skip
    if len(known) != 1:
        raise WorkbookError(
            f"{len(known)} test cases of lesson {lesson.number} begin with `{case}`",
            f"look at {relative(lesson.test_folder)}",
        )
    wrong = catalog.find(lesson, mutant)
    right_program = _solution(lesson, device)
    wrong_program = demo.compile_as_student(device, wrong)[1]
    title, steps_of, usable = KINDS[kind]
    with tempfile.TemporaryDirectory(prefix="workbook-") as scratch:
        traces = [
            _trace(program, known[0], device, Path(scratch) / str(at))
            for at, program in enumerate((right_program, wrong_program))
        ]
    launches = _same_launch(traces[0], traces[1], usable)
    if launches is None:
        raise WorkbookError(
            f"lesson {lesson.number}: in `{known[0].name}` no launch of the solution and {mutant} "
            f"is one that a view of {kind} can show",
            "choose another test case or wrong answer",
        )
    names = (("solution", "The solution"), (mutant, f"Wrong answer: {wrong.summary}"))
    return {
        "kind": kind,
        "title": f"{title} Lesson {lesson.number}, {known[0].title}",
        "programs": [
            {"name": name, "text": text, "launch": launch.title(), "steps": steps_of(launch)}
            for (name, text), launch in zip(names, launches, strict=True)
        ],
    }


def _solution(lesson: Lesson, device: Path) -> Path:
    """The program of the solution, with the line numbers that a student's file would have."""
    folder = device / "workbook" / "book" / lesson.id
    text = skeletons.solved(lesson.solution_file.read_text(encoding="utf-8"))
    return programs.compiled(device, lesson, catalog.write_as_student(folder, lesson, text))[0]


def _trace(program: Path, case: test_cases.TestCase, device: Path, path: Path) -> Trace:
    grade.run_case(program, case, "emulator", device, trace=path)
    if not path.is_file():
        raise WorkbookError(f"{relative(program)} wrote no trace of `{case.name}`")
    return read(path)


def _same_launch(
    right: Trace, wrong: Trace, usable: Callable[[Launch], bool]
) -> tuple[Launch, Launch] | None:
    """The smallest launch that both make, and that shows what the view is about."""
    pairs = [
        (a, b)
        for a, b in zip(right.launches, wrong.launches, strict=False)
        if (a.kernel, a.grid, a.block) == (b.kernel, b.grid, b.block)
        and a.whole and b.whole and usable(a) and usable(b)
    ]  # fmt: skip
    return min(pairs, key=lambda pair: sum(len(one.accesses) for one in pair), default=None)


def _full_warp(launch: Launch, space: str) -> list[Access]:
    """What the first warp with 32 active lanes asks of `space`, in its order."""
    found: dict[tuple[int, int], list[Access]] = {}
    for one in launch.accesses:
        if one.space == space:
            found.setdefault((one.block, one.warp), []).append(one)
    full = [accesses for accesses in found.values() if len(accesses[0].lanes) == _FULL]
    return full[0][:_MOST_STEPS] if full else []


def _request(launch: Launch, one: Access) -> dict[str, Any]:
    return {
        "line": one.line.number,
        "kind": one.kind,
        "name": launch.name_of(one),
        "warp": one.warp,
        "bytes": one.bytes,
        "lanes": one.lanes,
        "offsets": one.offsets,
    }


# --- lanes to sectors ----------------------------------------------------------------------------


def sectors(launch: Launch) -> list[dict[str, Any]]:
    """Each request of a warp to global memory, and the bytes used of each sector."""
    return [
        {
            **_request(launch, one),
            "sectors": [[at, len(used)] for at, used in sorted(one.sectors().items())],
        }
        for one in _full_warp(launch, "global")
    ]


# --- banks ---------------------------------------------------------------------------------------


def banks(launch: Launch) -> list[dict[str, Any]]:
    """Each request of a warp to shared memory; one word a lane."""
    return [
        {**_request(launch, one), "passes": one.wavefronts()}
        for one in _full_warp(launch, "shared")
    ]


def _one_word_each(launch: Launch) -> bool:
    found = _full_warp(launch, "shared")
    return bool(found) and all(one.bytes <= 4 for one in found)


# --- from barrier to barrier ---------------------------------------------------------------------


def barriers(launch: Launch) -> list[dict[str, Any]]:
    """The first block's steps in shared memory: what each warp does at its k-th statement after a
    barrier, all warps together. Nothing but barriers keeps warps in step, so an element that two
    warps use between two of them, one writing, is in conflict, in whatever step each uses it.
    """
    block = min(one.block for one in launch.accesses)
    variable, elements, size = _shared_variable(launch, block)
    events: list[Any] = [one for one in launch.barriers if one.block == block]
    events += [
        one
        for one in launch.accesses
        if one.block == block and one.space == "shared" and one.array == variable
    ]
    steps: list[dict[str, Any]] = []
    passed = 0
    interval: list[Access] = []
    for event in [*sorted(events, key=lambda one: one.at), None]:
        if isinstance(event, Access):
            interval.append(event)
            continue
        if interval:
            steps += _interval(interval, launch, variable, elements, size, passed)
        passed += 1
        interval = []
    return steps


def _shared_variable(launch: Launch, block: int) -> tuple[int, int, int]:
    """The shared variable that is used most: its index, elements, and bytes of an element."""
    used = [one for one in launch.accesses if one.block == block and one.space == "shared"]
    variable = max({one.array for one in used}, key=lambda v: sum(one.array == v for one in used))
    size = min(one.bytes for one in used if one.array == variable)
    return variable, launch.shared[variable].bytes // size, size


def _interval(
    accesses: list[Access], launch: Launch, variable: int, elements: int, size: int, passed: int
) -> list[dict[str, Any]]:
    """The steps between two barriers."""
    by_step: dict[int, list[Access]] = {}
    last: dict[int, tuple[int, Access]] = {}  # warp -> its statement's number, its last access
    for one in accesses:
        number, before = last.get(one.warp, (-1, None))
        # Another line is another statement, and so is a read after a write: the next round.
        if (
            before is None
            or before.line != one.line
            or (before.kind, one.kind) == ("store", "load")
        ):
            number += 1
        last[one.warp] = (number, one)
        by_step.setdefault(number, []).append(one)
    start = launch.shared[variable].offset
    users: dict[int, set[int]] = {}  # element -> warps
    written: set[int] = set()
    made = []
    for number in sorted(by_step):
        read_now: set[int] = set()
        written_now: set[int] = set()
        threads = 0
        for one in by_step[number]:
            at = {(offset - start) // size for offset in one.good_offsets()}
            if one.kind != "load":
                written_now |= at
            if one.kind != "store":
                read_now |= at
            for element in at:
                users.setdefault(element, set()).add(one.warp)
        written |= written_now
        lanes = {(one.warp, lane) for one in by_step[number] for lane in one.lanes}
        threads = len(lanes)
        made.append(
            {
                "passed": passed,
                "name": launch.shared[variable].name,
                "elements": elements,
                "lines": sorted({one.line.number for one in by_step[number]}),
                "warps": len({one.warp for one in by_step[number]}),
                "threads": threads,
                "reads": sorted(read_now),
                "writes": sorted(written_now),
                "conflicts": sorted(e for e in written if len(users[e]) > 1),
            }
        )
    return made


def _crosses_warps(launch: Launch) -> bool:
    used = {(one.block, one.warp) for one in launch.accesses if one.space == "shared"}
    full = any(one.space == "shared" and len(one.lanes) == _FULL for one in launch.accesses)
    return full and len(used) > 1 and all(one.array >= 0 for one in launch.accesses
                                          if one.space == "shared")  # fmt: skip


# Kind of view -> its heading, what a launch shows in it, and whether it shows anything.
KINDS: dict[
    str, tuple[str, Callable[[Launch], list[dict[str, Any]]], Callable[[Launch], bool]]
] = {
    "barriers": ("From barrier to barrier.", barriers, _crosses_warps),
    "sectors": (
        "From lanes to sectors.", sectors, lambda launch: bool(_full_warp(launch, "global")),
    ),
    "banks": ("Banks of shared memory.", banks, _one_word_each),
}  # fmt: skip
