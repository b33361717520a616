# SPDX-License-Identifier: MIT
"""`make bench` for work on several cards: lessons 36 and 37 on 1, 2, 4, ... of them, with a table
of their own, plots/data/scaling.csv."""

from __future__ import annotations

import csv
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..base import options
from ..base.project import NOT_PASSED, PASSED
from ..running import timing
from ..setup import cards
from . import results
from .timed_programs import PEER_NAMES, Program, build_all, peers, programs_of

LESSONS = ("36", "37")
PEER = "nccl"
SECONDS = 0.2  # for the runs of one size
ARRAYS = tuple(1 << k for k in range(7, 28, 2))  # doubles: 1 KiB to 1 GiB
RODS = tuple(1 << k for k in range(18, 29, 2))  # cells
MOST_CELLS = (1 << 31) - 1  # that the interface of lesson 37 can count
LOCAL, BY_NCCL = "local all-reduces: bus bandwidth", "all-reduces by NCCL: bus bandwidth"
# The first rung of lesson 36 has the all-reduce of the solution, the others have its sums.
SUMS = ("1_one_device_after_the_other", "solution")
ROD = "100 steps of a rod"

# Name, and what it holds. Times in milliseconds, rates in GB/s with 10^9 bytes.
COLUMNS = {
    "lesson": "its number",
    "workload": "what was done, in words",
    "version": "the rung's file, `solution`, or the library",
    "kind": "rung, solution or peer",
    "library": "NCCL or MPI, with its version",
    "cards": "how many took part",
    "elements": "size of the work, of all cards together",
    "runs": "how many were timed",
    "median_ms": "median of all runs",
    "fastest_ms": "fastest run",
    "slowest_ms": "slowest run",
    "bytes": "of an all-reduce: the array's, times 2 (cards - 1) / cards",
    "gb_per_s": "bytes / median; of an all-reduce its bus bandwidth",
    "digest": "of the bits of a result that must not depend on the number of cards",
    "right": "yes, or no where the results were wrong",
}
_KEY = ("lesson", "workload", "version", "library", "cards", "elements")
_COUNTS = ("cards", "elements", "runs")
_TIMES = ("fastest_ms", "median_ms", "slowest_ms")


@dataclass(frozen=True)
class Job:
    """A program on so many cards; `mpi` is the folder of another Open MPI than the system's."""

    program: Program
    lesson: str
    cards: int
    options: tuple[str, ...]
    mpi: Path | None = None


@dataclass
class Table:
    """The rows of one machine, day and commit. `head` names these, and how the cards are linked."""

    head: list[str]
    rows: list[dict[str, str]] = field(default_factory=list)

    def add(self, job: Job, work: timing.Timed) -> None:
        """Appends a measurement."""
        version = PEER_NAMES.get(job.program.name, job.program.name)
        self.rows.append({
            "lesson": job.lesson, "workload": work.name, "version": version,
            "kind": job.program.kind, "library": work.library, "cards": str(job.cards),
            "elements": str(work.elements), "runs": str(work.runs),
            "median_ms": f"{work.median:.6f}", "fastest_ms": f"{work.fastest:.6f}",
            "slowest_ms": f"{work.slowest:.6f}", "bytes": f"{work.bytes:.0f}",
            "gb_per_s": f"{work.gigabytes_per_second:.3f}", "digest": work.digest,
            "right": "no" if work.wrong else "yes",
        })  # fmt: skip

    def keep(self, path: Path, measured: Iterable[str]) -> None:
        """Takes over the other lessons' rows where machine, day and commit are the same."""
        if path.is_file():
            earlier = read(path)
            if earlier.head == self.head:
                self.rows += [row for row in earlier.rows if row["lesson"] not in set(measured)]

    def write(self, path: Path) -> None:
        """The head as comments, then the rows."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="", encoding="utf-8") as file:
            file.writelines(f"# {line}".rstrip() + "\n" for line in self.head)
            writer = csv.DictWriter(file, list(COLUMNS), lineterminator="\n")
            writer.writeheader()
            writer.writerows(sorted(self.rows, key=_order))


def _order(row: dict[str, str]) -> tuple[object, ...]:
    return (
        row["lesson"], row["workload"], int(row["cards"]), row["kind"] == "peer", row["version"],
        row["library"], int(row["elements"]),
    )  # fmt: skip


def read(path: Path) -> Table:
    """A table that `write` made."""
    lines = path.read_text(encoding="utf-8").splitlines()
    head = [line[1:].removeprefix(" ") for line in lines if line.startswith("#")]
    return Table(head, list(csv.DictReader(line for line in lines if not line.startswith("#"))))


def head_of(machine: dict[str, str], count: int) -> list[str]:
    """What was measured on, and how the cards are linked, as `nvidia-smi topo -m` says."""
    topology = re.sub(r"\x1b\[[\d;]*m", "", results.said("nvidia-smi", "topo", "-m"))
    links = topology.partition("Legend:")[0]
    return [
        f"{count} x {machine['gpu']}, driver {machine['driver']}, CUDA {machine['toolkit']}, "
        f"{machine['date']}, commit {machine['commit']}",
        "nvidia-smi topo -m",
        *(line.expandtabs().rstrip() for line in links.splitlines() if line.strip()),
    ]


def numbers_of_cards(there: int) -> list[int]:
    """1, 2, 4, 8 as far as there are cards, and all of them."""
    return sorted({count for count in (1, 2, 4, 8) if count < there} | {there})


def cells_for(count: int) -> list[int]:
    """Of the rods for so many cards: strong scaling, and weak: `count` times each rod."""
    return sorted({*RODS, *(min(count * rod, MOST_CELLS) for rod in RODS)})


def jobs(
    wanted: list[Program],
    libraries: list[Program],
    counts: list[int],
    mpi: Path | None = None,
    cells: Callable[[int], Iterable[int]] = cells_for,
) -> Iterator[Job]:
    """What to run: every rung on each number of cards, and the solution of lesson 37 with `mpi`."""

    def sizes(values: Iterable[int]) -> tuple[str, ...]:
        return ("--elements", ",".join(map(str, values)), "--seconds", str(SECONDS))

    for count in counts:
        for one in wanted:
            assert one.lesson
            lesson = one.lesson.number
            if lesson == "37":
                yield Job(one, lesson, count, sizes(cells(count)))
                if mpi and one.kind == "solution":
                    yield Job(one, lesson, count, sizes(cells(count)), mpi)
                continue
            if one.name in SUMS:
                both = ("--only", "on all devices", "--seconds", str(SECONDS))
                yield Job(one, lesson, count, both)
            if count > 1 and one.name != SUMS[0]:
                yield Job(one, lesson, count, ("--only", LOCAL, *sizes(ARRAYS)))
            if count > 1 and one.kind == "solution":
                yield Job(one, lesson, count, ("--only", BY_NCCL, *sizes(ARRAYS)))
                for peer in libraries:
                    yield Job(peer, lesson, count, ("--only", BY_NCCL, *sizes(ARRAYS)))


def measure(device: str, folder: Path, todo: Iterable[Job], table: Table) -> int:
    """Runs everything one after the other; returns how much was wrong."""
    wrong = 0
    for job in todo:
        title = f"{job.cards} x {job.lesson} {job.program.name}"
        if job.program.path is None:
            print(f"  {title:40} skipped: {job.program.trouble.splitlines()[0]}", flush=True)
            wrong += job.program.kind != "peer"
            continue
        timed = timing.run(
            job.program.path, device, folder, options=job.options, checks=device == "gpu",
            cards=job.cards, mpi=job.mpi,
        )  # fmt: skip
        if timed.trouble:
            print(f"  {title:40} {timed.trouble}", flush=True)
            wrong += 1
        for work in timed.workloads:
            table.add(job, work)
            wrong += bool(work.wrong)
            told = f"WRONG: {work.wrong.splitlines()[0]}" if work.wrong else results.short(work)
            print(f"  {title:40} {work.name} ({work.elements}) {told}", flush=True)
    differing = different_bits(table.rows)
    for text in differing:
        print(f"  WRONG: {text}")
    return wrong + len(differing)


def different_bits(rows: list[dict[str, str]]) -> list[str]:
    """Works whose results should be the same bits on any number of cards, and are not."""
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        if row["digest"]:
            found[row["workload"], row["elements"]].add(row["digest"])
    return [
        f"{work} ({elements}): {len(digests)} different results"
        for (work, elements), digests in found.items()
        if len(digests) > 1
    ]


def problems(path: Path) -> list[str]:
    """What is wrong with a table: empty when it keeps the schema."""
    table = read(path)
    found = [] if table.head and table.rows else ["it has no head or no rows"]
    for at, row in enumerate(table.rows, 1):
        where = f"row {at} ({row.get('workload')}, {row.get('version')})"
        if list(row) != list(COLUMNS) or None in row.values():
            return [*found, f"{where}: the columns are {list(row)}, want {list(COLUMNS)}"]
        try:
            least, median, most = (float(row[name]) for name in _TIMES)
            bytes_moved, rate = float(row["bytes"]), float(row["gb_per_s"])
            counts = [int(row[name]) for name in _COUNTS]
        except ValueError as error:
            found.append(f"{where}: {error}")
            continue
        if not (0 < least <= median <= most and min(counts) > 0):
            found.append(f"{where}: the times are in no order, or a number is not positive")
        elif abs(bytes_moved / median * 1e-6 - rate) > 0.01 * rate + 0.01:
            found.append(f"{where}: gb_per_s is not bytes / median_ms")
        if row["kind"] not in ("rung", "solution", "peer") or row["right"] not in ("yes", "no"):
            found.append(f"{where}: kind {row['kind']}, right {row['right']}")
    keys = [tuple(row[name] for name in _KEY) for row in table.rows]
    if len(set(keys)) < len(keys):
        found.append("two rows have the same key")
    return found + different_bits(table.rows)


def show(rows: list[dict[str, str]]) -> None:
    """The largest work of each kind on each number of cards."""
    print("\nThe largest on each number of cards")
    largest: dict[tuple[str, ...], dict[str, str]] = {}
    for row in rows:
        key = tuple(row[name] for name in _KEY[:-1])
        if key not in largest or int(row["elements"]) > int(largest[key]["elements"]):
            largest[key] = row
    for row in sorted(largest.values(), key=_order):
        print(
            f"  {row['cards']} x {row['workload']:42} {row['version']:30} "
            f"{float(row['median_ms']):10.3f} ms {float(row['gb_per_s']):8.1f} GB/s"
        )


def run(folder: Path, nvcc: Path, chosen: list[str], out: Path) -> int:
    """Builds, measures on 1, 2, 4, ... cards, and writes `out`."""
    begin = time.monotonic()
    there, named = cards.count(), options.text("CUDA_AWARE_MPI")
    table = Table(head_of(results.machine(nvcc), there))
    table.keep(out, chosen)
    wanted = programs_of(chosen)
    libraries = [one for one in peers() if one.name == PEER]
    print(f"Building {len(wanted) + len(libraries)} programs ...", flush=True)
    build_all(folder, wanted, libraries, (f"peer_{PEER}",))
    print(f"Built after {time.monotonic() - begin:.0f} s; measuring ...", flush=True)
    todo = jobs(wanted, libraries, numbers_of_cards(there), Path(named) if named else None)
    wrong = measure("gpu", folder, todo, table)
    table.write(out)
    show(table.rows)
    print(f"{out}: {len(table.rows)} rows, {time.monotonic() - begin:.0f} s in all")
    return NOT_PASSED if wrong else PASSED
