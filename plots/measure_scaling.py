# SPDX-License-Identifier: MIT
"""Writes plots/data/scaling_model.csv: lessons 36 and 37 on 1, 2, 4 and 8 emulated devices, by the
model timeline (common/emulator/TIMELINE.md). No card is needed:

    sh common/workbook/run python plots/measure_scaling.py
"""

from __future__ import annotations

import argparse
import datetime
import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "common"))
from workbook.bench import results, scaling, timed_programs  # noqa: E402
from workbook.build import build as builder  # noqa: E402
from workbook.build import programs  # noqa: E402

CARDS = (1, 2, 4, 8)
# Cells of lesson 37. The emulated device needs 20 ns for a cell and a step, so longer rods are left
# to chart_scaling.py: from 2^21 cells of a rank on, the timeline's time is a straight line.
RODS = tuple(1 << k for k in range(17, 24, 2))


def chosen_programs(folder: Path) -> list[timed_programs.Program]:
    """Built for the emulated device."""
    wanted = [
        one for one in timed_programs.programs_of(list(scaling.LESSONS))
        if one.lesson and (one.lesson.number == "36" or one.kind == "solution")
    ]  # fmt: skip
    targets = [f"bench_solution_{one.lesson.id}" for one in wanted if one.lesson]
    builder.build(folder, list(dict.fromkeys(targets)))
    for one in wanted:
        assert one.lesson and one.source
        one.path, _ = programs.compiled(folder, one.lesson, one.source, programs.BENCH)
    return wanted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--out", type=Path, default=ROOT / "plots" / "data" / "scaling_model.csv")
    options = parser.parse_args()
    today = datetime.date.today().isoformat()
    table = scaling.Table([f"model timeline, {today}, commit {results.commit()}"])
    todo = scaling.jobs(
        chosen_programs(options.build.resolve()), [], list(CARDS), cells=lambda _: RODS
    )
    modelled = (replace(job, options=(*job.options, "--model")) for job in todo)
    wrong = scaling.measure("emulator", options.build.resolve(), modelled, table)
    table.write(options.out)
    print(f"{options.out}: {len(table.rows)} rows")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
