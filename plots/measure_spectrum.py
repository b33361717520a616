# SPDX-License-Identifier: MIT
"""Writes plots/data/spectrum.csv: what the solution of lesson 40 makes of a million events.

On the emulated device, in some seconds: the same counts on every machine. `--mine` takes the
student's answer instead of the solution.

    sh common/workbook/run python plots/measure_spectrum.py [--mine] [--out spectrum.csv]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from workbook.base.project import ROOT
from workbook.build import build

LESSON = "40_capstone_dimuon"
CASE = "task 8: a million events*"


def main() -> int:
    """Builds the solution, runs the case of a million events, and keeps its text."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "plots" / "data" / "spectrum.csv")
    parser.add_argument("--mine", action="store_true", help="the student's answer")
    arguments = parser.parse_args()
    out, kind = arguments.out.resolve(), "lesson" if arguments.mine else "solution"
    folder = build.prepare("emulator")
    if not build.build(folder, [f"{kind}_{LESSON}"]).ok:
        print(f"{kind}_{LESSON} does not build: make 40 says why", file=sys.stderr)
        return 1
    program = folder / "lessons" / f"{kind}_{LESSON}"
    out.unlink(missing_ok=True)
    done = subprocess.run([program, CASE], env=dict(os.environ, WORKBOOK_SPECTRUM=str(out)))
    if done.returncode or not out.is_file():
        print(f"{program.name} wrote no spectrum (see above)", file=sys.stderr)
        return 1
    print(f"wrote {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
