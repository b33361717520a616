# SPDX-License-Identifier: MIT
"""The programs that `make bench` times: rungs and solutions of lessons, and libraries."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ..base.project import ROOT, Lesson, WorkbookError, cores, lessons
from ..build import build as builder
from ..build import programs

PEERS = ROOT / "tests" / "peers"

# The lessons that have a target come first, should the time not suffice.
FIRST = ("19", "25", "26", "27", "28", "29", "30", "31", "21", "16", "02", "09", "10", "22", "20",
         "12", "23", "24")  # fmt: skip

PEER_NAMES = {
    "cub": "CUB", "thrust": "Thrust", "cublas": "cuBLAS", "curand_philox": "cuRAND Philox",
    "curand_xorwow": "cuRAND XORWOW", "cusparse": "cuSPARSE", "host": "CPU",
    "cub_allocator": "CUB's allocator", "cudamalloc": "cudaMalloc", "nccl": "NCCL",
    "transfers": "this workbook", "access": "this workbook",
}  # fmt: skip
FIGURES = ("host", "transfers", "access")  # measurements for figures, no library's


@dataclass
class Program:
    """One thing to time: a rung or the solution of a lesson, or a library."""

    name: str  # the file's stem: 2_tile, solution, cub
    kind: str  # rung, solution, peer, figure
    lesson: Lesson | None = None
    source: Path | None = None
    path: Path | None = None  # where it was built
    trouble: str = ""

    @property
    def title(self) -> str:
        return f"{self.lesson.number} {self.name}" if self.lesson else PEER_NAMES[self.name]


def programs_of(chosen: list[str]) -> list[Program]:
    """Everything that can be timed, by lesson: rungs from the first to the last, the solution."""
    found = []
    order = {number: at for at, number in enumerate(FIRST)}
    for lesson in sorted(lessons(), key=lambda one: order.get(one.number, len(order))):
        if not programs.has_workload(lesson) or (chosen and lesson.number not in chosen):
            continue
        for path in sorted((lesson.solution_folder / "variants").glob("*.cu")):
            found.append(Program(path.stem, "rung", lesson, path))
        found.append(Program("solution", "solution", lesson, lesson.solution_file))
    return found


def peers() -> list[Program]:
    """The libraries and the measurements for figures, in tests/peers."""
    return [
        Program(path.stem, "figure" if path.stem in FIGURES else "peer", source=path)
        for path in sorted(PEERS.glob("*.cu"))
    ]


def build_all(
    folder: Path,
    wanted: list[Program],
    libraries: list[Program],
    peer_targets: tuple[str, ...] = ("workbook_peers",),
) -> None:
    """Builds everything with all cores: CMake what it knows, and the rungs beside it."""
    timed = {one.lesson.id: one.lesson for one in wanted if one.lesson}
    # Whole programs: their libraries are built with them.
    targets = [f"bench_solution_{name}" for name in timed]

    def compile_rung(one: Program) -> None:
        assert one.lesson and one.source
        try:
            programs.object_of(folder, one.lesson, one.source)
        except programs.BuildFailed as error:
            one.trouble = f"does not build: {error}"

    def by_cmake() -> tuple[builder.Built, builder.Built]:
        return builder.build(folder, targets), builder.build(folder, list(peer_targets))

    with ThreadPoolExecutor(max_workers=cores() + 1) as pool:
        future = pool.submit(by_cmake)
        list(pool.map(compile_rung, wanted))
        built, libraries_built = future.result()
    if not built.ok:
        print(builder.first_failure(built.text))
        raise WorkbookError("the workloads did not build for the card (see above)")
    for one in libraries:
        path = folder / "peers" / f"peer_{one.name}"
        if libraries_built.ok and path.is_file():
            one.path = path
        else:
            one.trouble = "not built: its library is not part of this toolkit"
    if not libraries_built.ok:
        print(builder.first_failure(libraries_built.text))
    for one in wanted:
        if one.trouble or not one.lesson or not one.source:
            continue
        try:
            one.path, _ = programs.compiled(folder, one.lesson, one.source, programs.BENCH)
        except programs.BuildFailed as error:
            one.trouble = f"does not link: {error}"
