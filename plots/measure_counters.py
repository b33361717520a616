# SPDX-License-Identifier: MIT
"""Writes plots/data/counters.csv: what Nsight Compute counted on a card, and the emulated device.

The card's counts are those of tests/hardware/results; the emulated device runs the same accesses
now. No card is needed:

    sh common/workbook/run python plots/measure_counters.py
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HARDWARE = ROOT / "tests" / "hardware"
sys.path[:0] = [str(HARDWARE), str(HARDWARE / "counters")]
import patterns  # noqa: E402
import sweep  # noqa: E402
from device import Device, read_table  # noqa: E402

COLUMNS = ("what", "pattern", "counter", "card", "emulator", "gpu")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", type=Path, default=ROOT / "build" / "emulator")
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "hardware")
    parser.add_argument("--out", type=Path, default=ROOT / "plots" / "data" / "counters.csv")
    chosen = parser.parse_args()
    device = Device(chosen.library)
    about, recorded = read_table("access_sweep")
    gpu = about.removeprefix("#").split(",")[0].strip()
    emulated = sweep.emulated_sweep(chosen.build, device)
    made, rows = patterns.patterns(), []
    for row in recorded:
        pattern = made[int(row["id"])]
        if pattern.kind not in sweep.COMPARED:
            continue
        names, place = sweep.COMPARED[pattern.kind]
        ours = emulated[int(row["id"])][place]
        what = f"{pattern.kind} {pattern.width}"
        rows += [
            (what, pattern.name, name, row[name], value, gpu)
            for name, value in zip(names, ours, strict=True)
        ]
    about, recorded = read_table("lessons")
    of_card = {(int(row["lesson"]), int(row["launch"])): row for row in recorded}
    for number, launches in sweep.emulated_lessons(chosen.build, device):
        for i, launch in enumerate(launches):
            row = of_card[number, i]
            for short, name in sweep.LESSON_COUNTERS.items():
                value = launch["counters"][name]
                rows.append((f"lesson {number:02}", row["kernel"], short, row[short], value, gpu))
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    with chosen.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    print(f"{chosen.out}: {len(rows)} counts")


if __name__ == "__main__":
    main()
