# SPDX-License-Identifier: MIT
"""The table that `make bench` writes and plots/ reads: a row for each version of each work."""

from __future__ import annotations

import csv
import datetime
import statistics
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from ..base import options
from ..base.project import ROOT
from ..running.timing import Timed
from ..setup import toolkit

# Name, and what it holds. Times in milliseconds, rates in GB/s with 10^9 bytes.
COLUMNS = {
    "lesson": "number, or empty for what belongs to no lesson alone",
    "workload": "what was done, in words",
    "version": "the rung's file, `solution`, or the library",
    "kind": "rung, solution, peer, or figure",
    "library": "its version, where it has one",
    "elements": "size of the work",
    "runs": "how many were timed",
    "median_ms": "median of all runs",
    "fastest_ms": "fastest run",
    "slowest_ms": "slowest run",
    "noise": "difference of the medians of the two halves of the runs, share of the median",
    "bytes": "the least that must move",
    "operations": "arithmetic, 0 where it was not counted",
    "gb_per_s": "bytes / median",
    "copy_gb_per_s": "copy bandwidth of the card, median of this run's measurements",
    "share_of_copy": "gb_per_s / copy_gb_per_s",
    "right": "yes, or no where the results were wrong",
    "gpu": "the card",
    "driver": "its driver",
    "toolkit": "CUDA's version",
    "date": "day of the run",
    "commit": "of this repository, + where files were changed",
}
NUMBERS = (
    "elements", "runs", "median_ms", "fastest_ms", "slowest_ms", "noise", "bytes", "operations",
    "gb_per_s", "copy_gb_per_s", "share_of_copy",
)  # fmt: skip


@dataclass
class Rows:
    """The rows of one run."""

    machine: dict[str, str]
    ceilings: list[float] = field(default_factory=list)
    rows: list[dict[str, str]] = field(default_factory=list)
    earlier: list[dict[str, str]] = field(default_factory=list)  # whole rows of another run

    def keep(self, path: Path) -> None:
        """Takes over the rows of an earlier run on the same card; new ones take their places."""
        if path.is_file():
            with path.open(newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            self.earlier = [row for row in rows if row.get("gpu") == self.machine["gpu"]]

    def add(self, lesson: str, kind: str, version: str, library: str, work: Timed) -> None:
        """Appends one measurement; one with the same size, work and version takes its place."""
        row = {
            "lesson": lesson, "workload": work.name, "version": version, "kind": kind,
            "library": library, "elements": str(work.elements), "runs": str(work.runs),
            "median_ms": f"{work.median:.6f}", "fastest_ms": f"{work.fastest:.6f}",
            "slowest_ms": f"{work.slowest:.6f}", "noise": f"{work.noise:.4f}",
            "bytes": f"{work.bytes:.0f}", "operations": f"{work.operations:.0f}",
            "gb_per_s": f"{work.gigabytes_per_second:.3f}", "right": "no" if work.wrong else "yes",
        }  # fmt: skip
        key = [row[name] for name in ("workload", "version", "elements", "lesson")]
        self.rows = [
            r for r in self.rows
            if [r[name] for name in ("workload", "version", "elements", "lesson")] != key
        ]  # fmt: skip
        self.rows.append(row)

    def complete(self) -> list[dict[str, str]]:
        """The rows with the columns that only the whole run knows."""
        copy = statistics.median(self.ceilings) if self.ceilings else 0.0
        known = [*self.earlier, *self.rows]
        lesson_of = {row["workload"]: row["lesson"] for row in known if row["lesson"]}
        done = []
        for row in self.rows:
            share = float(row["gb_per_s"]) / copy if copy else 0.0
            done.append({
                **row, "lesson": row["lesson"] or lesson_of.get(row["workload"], ""),
                "copy_gb_per_s": f"{copy:.1f}", "share_of_copy": f"{share:.4f}", **self.machine,
            })  # fmt: skip
        new = {_key(row) for row in done}
        done += [row for row in self.earlier if _key(row) not in new]
        return sorted(done, key=lambda r: (r["lesson"] or "99", r["workload"], r["kind"] == "peer"))


def _key(row: dict[str, str]) -> tuple[str, ...]:
    return tuple(row[name] for name in ("lesson", "workload", "version", "elements"))


def said(*command: str) -> str:
    """What a command prints; "" where it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def commit() -> str:
    """The commit that was measured; COMMIT=... where git does not know."""
    if named := options.text("COMMIT"):
        return named
    name = said("git", "rev-parse", "--short", "HEAD")
    changed = said("git", "status", "--porcelain", "--untracked-files=no")
    return (name + ("+" if changed else "")) or "unknown"


def machine(nvcc: Path) -> dict[str, str]:
    """The columns that are the same in every row."""
    told = said("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader", "-i", "0")
    gpu, _, driver = told.partition(",")
    return {
        "gpu": gpu.strip() or "unknown",
        "driver": driver.strip() or "unknown",
        "toolkit": ".".join(map(str, toolkit.nvcc_version(nvcc)[:2])),
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
    }


def write(path: Path, rows: Rows) -> None:
    """The whole table, first a file beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".tmp")
    with fresh.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(COLUMNS), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.complete())
    fresh.replace(path)


def problems(path: Path) -> list[str]:
    """What is wrong with a table: empty when it keeps the schema."""
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != list(COLUMNS):
            return [f"the columns are {reader.fieldnames}, want {list(COLUMNS)}"]
        rows = list(reader)
    found = [] if rows else ["it has no rows"]
    for at, row in enumerate(rows, 2):
        where = f"line {at} ({row['workload']}, {row['version']})"
        try:
            number = {name: float(row[name]) for name in NUMBERS}
        except (TypeError, ValueError) as error:
            found.append(f"{where}: {error}")
            continue
        if row["kind"] not in ("rung", "solution", "peer", "figure"):
            found.append(f"{where}: kind {row['kind']}")
        if row["right"] not in ("yes", "no"):
            found.append(f"{where}: right {row['right']}")
        for name in ("gpu", "driver", "toolkit", "date", "commit", "version", "workload"):
            if not row[name]:
                found.append(f"{where}: {name} is empty")
        if not 0 < number["fastest_ms"] <= number["median_ms"] <= number["slowest_ms"]:
            found.append(f"{where}: the times are in no order")
            continue
        rate = number["bytes"] / number["median_ms"] * 1e-6
        if abs(rate - number["gb_per_s"]) > 0.01 * rate + 0.01:
            found.append(f"{where}: gb_per_s is not bytes / median_ms")
        copy = number["copy_gb_per_s"]
        if copy and abs(number["gb_per_s"] / copy - number["share_of_copy"]) > 0.01 + 1e-3 * rate:
            found.append(f"{where}: share_of_copy does not fit")
    return found


def short(work: Timed) -> str:
    """One measurement in words."""
    return f"{work.median:10.4f} ms {work.rate():>14}  noise {work.noise:.1%}"


def show(rows: Rows) -> None:
    """A table for each work that has several versions: the best library, and where we are."""
    works: dict[str, list[dict[str, str]]] = {}
    for row in rows.complete():
        if row["kind"] != "figure" and row["right"] == "yes":
            works.setdefault(row["workload"], []).append(row)
    print("\nAgainst the best library of this run (rate of ours / rate of the best one)")
    for name, all_rows in works.items():
        libraries = [row for row in all_rows if row["kind"] == "peer"]
        ours = [row for row in all_rows if row["kind"] != "peer"]
        if not libraries or not ours:
            continue
        best, mine = (max(part, key=_speed) for part in (libraries, ours))
        ratio = _speed(mine) / _speed(best)
        print(
            f"  {name:34} {mine['version']:30} {float(mine['gb_per_s']):6.0f} GB/s "
            f"{float(mine['share_of_copy']):6.1%} of copy   {ratio:5.2f} x {best['version']}"
        )


def _speed(row: dict[str, str]) -> float:
    return float(row["elements"]) / float(row["median_ms"])
