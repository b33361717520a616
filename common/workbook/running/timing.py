# SPDX-License-Identifier: MIT
"""Runs a program built from common/harness/workloads/bench_main.cpp and reads what it measured."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..base.project import ROOT
from ..setup.cards import count as cards_here
from . import ranks, runner


@dataclass(frozen=True)
class Timed:
    """One workload: times in milliseconds, 0 where no clock ran; `wrong` is '' when it is right."""

    name: str
    elements: int
    bytes: float
    operations: float
    wrong: str
    median: float = 0.0
    fastest: float = 0.0
    slowest: float = 0.0
    runs: int = 0
    halves: tuple[float, float] = (0.0, 0.0)  # medians of the two halves of the runs
    one_core: float = 0.0  # with `cost`: milliseconds of one core of the host for the same work
    one_core_elements: int = 0
    unit: str = ""  # what is made, where computing and not memory sets the pace
    digest: str = ""  # of the bits of the results, where these must not depend on the cards
    library: str = ""  # that does part of the work, with its version

    def rate(self) -> str:
        """`1470 GB/s`, or `21.3 G points/s` for work that memory does not limit."""
        if not self.unit:
            return f"{self.gigabytes_per_second:.0f} GB/s"
        per_second = self.made / self.median * 1e3 if self.median else 0.0
        if self.unit == "operations" and per_second >= 1e12:
            return f"{per_second / 1e12:.4g} T {self.unit}/s"
        scale, letter = (1e9, "G") if per_second >= 1e9 else (1e6, "M")
        return f"{per_second / scale:.4g} {letter} {self.unit}/s"

    @property
    def made(self) -> float:
        """How many of `unit` one run makes: of `operations` more than one for each element."""
        return self.operations if self.unit == "operations" else self.elements

    def share_of(self, ceiling: float) -> float | None:
        """The share of the copy bandwidth; None where that says nothing."""
        return None if self.unit or not ceiling else self.gigabytes_per_second / ceiling

    @property
    def noise(self) -> float:
        """How far apart the two halves are, as a share of the median: the same version twice."""
        return abs(self.halves[0] - self.halves[1]) / self.median if self.median else 0.0

    @property
    def gigabytes_per_second(self) -> float:
        return self.bytes / self.median * 1e-6 if self.median else 0.0


@dataclass
class Timing:
    """All workloads of one program. `ceiling` is the card's copy bandwidth in GB/s, or 0."""

    device: str = ""
    ceiling: float = 0.0
    workloads: list[Timed] = field(default_factory=list)
    trouble: str = ""

    @property
    def right(self) -> bool:
        return not self.trouble and all(not work.wrong for work in self.workloads)

    def as_json(self) -> dict[str, Any]:
        return {**vars(self), "workloads": [vars(work) for work in self.workloads]}


def run(
    program: Path,
    device: str,
    build: Path,
    tiny: bool = False,
    elements: int | None = None,
    options: tuple[str, ...] = (),
    checks: bool = True,
    cards: int = 0,
    mpi: Path | None = None,
) -> Timing:
    """Runs every workload of `program`; with `tiny` for the values alone, without a clock.

    `elements` takes the place of each workload's own number; `options` are further ones of
    bench_main.cpp; without `checks` the emulator only computes. `cards`: that many, where the work
    is one of several; `mpi`: the folder of another Open MPI than the system's.
    """
    env = {key: value for key, value in os.environ.items() if not key.startswith("EMULATOR_")}
    if device == "emulator":
        older = env.get("LD_LIBRARY_PATH")
        env["LD_LIBRARY_PATH"] = str(build / "emulator") + (f":{older}" if older else "")
        if not checks:
            env["EMULATOR_CHECKS"] = "none"
        if cards:
            env["EMULATOR_DEVICES"] = str(cards)
    limits = runner.Limits(
        seconds=60 if tiny else 300,
        memory=(2 if tiny else 48) << 30,
        file_size=1 << 30,  # memory that ranks share
    )
    chosen = ["--tiny"] if tiny else []
    chosen += ["--elements", str(elements)] if elements else []
    chosen += ["--cards", str(cards)] if cards else []
    command = [str(program), *chosen, *options]
    if b"libmpi.so" in program.read_bytes():  # a process for each card
        count = cards or (2 if device == "emulator" else max(1, cards_here()))
        command = ranks.command(count, command, [{}] * count, mpi=mpi)
        if mpi:
            older = env.get("LD_LIBRARY_PATH")
            env["LD_LIBRARY_PATH"] = str(mpi / "lib") + (f":{older}" if older else "")
            env["OPAL_PREFIX"] = str(mpi)
    ended = runner.run(command, env, ROOT, limits)
    return read(ended)


def workload_of(entry: dict[str, Any]) -> Timed:
    """What one line of the program says about one workload."""
    first, second = entry.get("halves_ms") or (0, 0)
    return Timed(
        str(entry.get("name", "")), int(entry.get("elements", 0)), float(entry.get("bytes", 0)),
        float(entry.get("operations", 0)), str(entry.get("wrong", "")),
        float(entry.get("median_ms", 0)), float(entry.get("fastest_ms", 0)),
        float(entry.get("slowest_ms", 0)), int(entry.get("runs", 0)),
        (float(first), float(second)), float(entry.get("one_core_ms", 0)),
        int(entry.get("one_core_elements", 0)), str(entry.get("unit", "")),
        str(entry.get("digest", "")), str(entry.get("library", "")),
    )  # fmt: skip


def read(ended: runner.Ended) -> Timing:
    """What a program printed, and how it ended."""
    timing = Timing()
    for line in ended.output.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if not isinstance(entry, dict):
            continue
        if copy := entry.get("copy"):
            timing.device = str(copy.get("device", ""))
            timing.ceiling = float(copy.get("gigabytes_per_second", 0))
        if work := entry.get("workload"):
            timing.workloads.append(workload_of(work))
    if ended.how or ended.code not in (0, 1):
        words = {"time": "did not finish", "memory": "used too much memory"}.get(ended.how)
        words = words or ended.signal_name or f"ended with code {ended.code}"
        last = ended.output.strip().splitlines()[-1:]
        timing.trouble = words + (f": {last[0]}" if last and not last[0].startswith("{") else "")
    elif not timing.workloads:
        timing.trouble = "printed no result"
    return timing
