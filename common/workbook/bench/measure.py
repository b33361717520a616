# SPDX-License-Identifier: MIT
"""`make bench`: every rung of every lesson and the libraries on this machine's card, into a CSV.

It needs no more than nvcc, CMake and Catch2: no rich, no network.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

from ..base import options
from ..base.project import NOT_ABLE, NOT_PASSED, PASSED, ROOT, WorkbookError
from ..build import folders
from ..running import timing
from ..setup import cards, toolkit
from . import python_peers, results, scaling
from .timed_programs import PEER_NAMES, Program, build_all, peers, programs_of

DATA = ROOT / "plots" / "data"
SECONDS = 0.6  # for the runs of one workload, warm-up and checking not counted
BUDGET = 200  # seconds of measuring; what does not fit any more is named

_NAME = re.compile(r'"(\w[^"\n]*\w)"')  # of a work: parts of messages begin or end with a space

SIZES = tuple(1 << k for k in range(10, 28, 2))


def plan() -> str:
    """What would be measured, for a machine without a card."""
    lines = ["On a machine with an NVIDIA card it would build for that card and measure"]
    ladders: dict[str, list[str]] = {}
    for one in sorted(programs_of([]), key=lambda p: p.lesson.number if p.lesson else ""):
        assert one.lesson
        ladders.setdefault(one.lesson.id, []).append(one.name)
    lines += [f"  {lesson:28} {', '.join(names)}" for lesson, names in ladders.items()]
    libraries = [PEER_NAMES[p.name] for p in peers() if p.kind == "peer"]
    lines += [
        f"  {'libraries':28} {', '.join(libraries)}",
        f"  {'in Python, where installed':28} {', '.join(python_peers.LIBRARIES)}",
        f"  {'for figures':28} sizes, strides, bank conflicts, bins and skew, the CPU",
        f"and write {(DATA / 'bench.csv').relative_to(ROOT)}. It takes about four minutes.",
        f"With several cards, lessons {' and '.join(scaling.LESSONS)} on 1, 2, 4 ... cards go to",
        f"{(DATA / 'scaling.csv').relative_to(ROOT)}.",
    ]
    return "\n".join(lines)


def find_nvcc() -> Path:
    """An nvcc of this machine that is new enough; nothing is fetched."""
    named = options.text("WORKBOOK_NVCC")
    for nvcc in [Path(named)] if named and named != "wheels" else toolkit.system_nvccs():
        if toolkit.nvcc_version(nvcc)[:2] >= toolkit.OLDEST_NVCC:
            return nvcc
    if root := toolkit.local_toolkit():
        return root / "bin" / "nvcc"
    raise WorkbookError(
        "make bench found no nvcc of CUDA 12.4 or newer",
        "install CUDA Toolkit 13, or name one: make bench WORKBOOK_NVCC=/path/to/nvcc",
    )


def works_of(wanted: list[Program]) -> set[str]:
    """The names of the works of these programs' lessons, as their sources have them."""
    found: set[str] = set()
    for lesson in {one.lesson.id: one.lesson for one in wanted if one.lesson}.values():
        text = lesson.workload_file.read_text(encoding="utf-8")
        found |= set(_NAME.findall(text))
    return found


def serves(one: Program, works: set[str]) -> bool:
    """Whether a library does one of these works."""
    assert one.source
    text = one.source.read_text(encoding="utf-8")
    return any(f'"{name}"' in text for name in works)


def jobs(
    wanted: list[Program], libraries: list[Program], elements: int = 0, part: bool = False
) -> Iterator[tuple[Program, list[str]]]:
    """What to run, and with which options, the most important first.

    `elements` takes the place of all sizes: a rehearsal. `part`: chosen lessons alone.
    """
    short = ["--seconds", str(SECONDS)] + (["--elements", str(elements)] if elements else [])
    by_name = {one.name: one for one in libraries}
    for one in libraries:
        if one.kind == "peer" and (not part or serves(one, works_of(wanted))):
            yield one, short
    for one in wanted:
        yield one, short
    if not part:
        yield by_name["access"], short
        yield by_name["host"], [*short, "--seconds", "2", "--only", "Mandelbrot"]
    for size in () if part else SIZES if not elements else (elements,):
        yield by_name["transfers"], ["--elements", str(size), "--seconds", "0.2"]
        yield by_name["host"], ["--elements", str(size), "--seconds", "0.2", "--only", "adds"]
    curve = [one for one in wanted if one.lesson and one.lesson.number == "21"]
    if part and not curve:
        return
    chosen = [one for one in curve if one.name in ("solution", "1_global_atomics")]
    chosen += [one for one in curve if one.kind == "rung"][-1:]
    for one in dict.fromkeys([one.name for one in chosen]):
        rung = next(r for r in chosen if r.name == one)
        yield rung, [*short, "--sweep", "--seconds", "0.3"]
    yield by_name["cub"], [*short, "--sweep", "--seconds", "0.3"]


def measure(
    device: str,
    folder: Path,
    todo: Iterator[tuple[Program, list[str]]],
    rows: results.Rows,
    budget: float,
) -> tuple[int, list[str]]:
    """Runs everything one after the other; returns what was wrong, and what did not fit."""
    begin, wrong, late = time.monotonic(), 0, []
    for one, arguments in todo:
        if time.monotonic() - begin > budget:
            late.append(one.title)
            continue
        if one.path is None:
            print(f"  {one.title:44} skipped: {one.trouble.splitlines()[0]}", flush=True)
            wrong += bool(one.lesson)
            continue
        timed = timing.run(one.path, device, folder, options=tuple(arguments))
        if timed.trouble:
            print(f"  {one.title:44} {timed.trouble}", flush=True)
            wrong += 1
        if timed.ceiling and (device == "emulator" or "--elements" not in arguments):
            rows.ceilings.append(timed.ceiling)
        for work in timed.workloads:
            version = PEER_NAMES.get(one.name, one.name)
            if work.runs:
                rows.add(one.lesson.number if one.lesson else "", one.kind, version, "", work)
            wrong += bool(work.wrong)
            told = f"WRONG: {work.wrong.splitlines()[0]}" if work.wrong else results.short(work)
            sized = f" ({work.elements})" if "--elements" in arguments else ""
            print(f"  {one.title:34} {work.name + sized:46} {told}", flush=True)
    return wrong, late


def run() -> int:
    """Builds, measures, writes; says what it would do where there is no card."""
    if not cards.present():
        print("make bench needs an NVIDIA card with its driver, and nvidia-smi lists none here.")
        print(plan())
        return NOT_ABLE
    chosen = options.words("LESSONS")
    nvcc = find_nvcc()
    folder = folders.configure("gpu", nvcc)
    budget = float(options.text("SECONDS_FOR_BENCH") or BUDGET)
    out = Path(options.text("OUT") or DATA)
    several = [n for n in scaling.LESSONS if n in chosen or not chosen and cards.count() > 1]
    code = PASSED
    if not chosen or set(chosen) - set(scaling.LESSONS):
        code = bench(folder, nvcc, chosen, out / "bench.csv", budget)
    if several:
        code = max(code, scaling.run(folder, nvcc, several, out / "scaling.csv"))
    return code


def bench(
    folder: Path,
    nvcc: Path,
    chosen: list[str],
    out: Path,
    budget: float,
    device: str = "gpu",
    elements: int = 0,
) -> int:
    """Builds in `folder` and writes `out`. With device `emulator` and few elements: a rehearsal."""
    begin = time.monotonic()
    wanted = [p for p in programs_of(chosen) if p.lesson and p.lesson.number not in scaling.LESSONS]
    libraries = [one for one in peers() if one.name != scaling.PEER]
    print(f"Building {len(wanted) + len(libraries)} programs ...", flush=True)
    build_all(folder, wanted, libraries)
    print(f"Built after {time.monotonic() - begin:.0f} s; measuring ...", flush=True)
    rows = results.Rows(results.machine(nvcc))
    if chosen:  # the others keep the rows of an earlier run, with its day and commit
        rows.keep(out)
    measuring = time.monotonic()
    todo = jobs(wanted, libraries, elements, part=bool(chosen))
    wrong, late = measure(device, folder, todo, rows, 0.7 * budget)
    results.write(out, rows)  # before the Python part, which may fail
    if device == "gpu":
        left = budget - (time.monotonic() - measuring)
        wrong += python_peers.measure(rows, max(left, 20.0), works_of(wanted) if chosen else None)
        results.write(out, rows)
    results.show(rows)
    for name in dict.fromkeys(late):
        print(f"not measured, as the time was over: {name}")
    print(f"{out}: {len(rows.rows)} rows, {time.monotonic() - begin:.0f} s in all")
    return NOT_PASSED if wrong else PASSED
