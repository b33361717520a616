#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Breaks one key line of a checker at a time and expects a unit test to notice.

    python3 tests/emulator/mutate_checkers.py --build build [PATTERN]

Not part of the default tests, for it compiles once for each mutation (some seconds each). What to
break stands in mutations.txt. A mutation is applied in place, the layer's unit tests are built and
run, and the file is restored, also after Ctrl-C. The exit status is 1 when a mutation survives,
does not compile, or names a line that has changed.
"""

from __future__ import annotations

import argparse
import dataclasses
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EMULATOR = ROOT / "common" / "emulator"


@dataclasses.dataclass
class Mutation:
    """One line, its broken form, and what a test must notice. `old` occurs once in the file."""

    file: str  # below common/emulator; the folder names the tests
    old: str
    new: str
    what: str


def mutations() -> list[Mutation]:
    """The table in mutations.txt: blank lines part its entries."""
    found = []
    for entry in (Path(__file__).parent / "mutations.txt").read_text().split("\n\n"):
        lines = [line for line in entry.splitlines() if not line.startswith("#")]
        if not lines:
            continue
        file, _, what = lines[0].partition(": ")
        old = "\n".join(line[2:] for line in lines if line.startswith("- "))
        new = "\n".join(line[2:] for line in lines if line.startswith("+ "))
        found.append(Mutation(file, old, new, what))
    return found


def run(command: list[str], folder: Path = ROOT) -> bool:
    """Whether a command succeeds."""
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0


def verdict(mutation: Mutation, build: Path, jobs: str) -> str:
    """`caught`, or what is wrong."""
    path = EMULATOR / mutation.file
    original = path.read_text()
    if original.count(mutation.old) != 1:
        return f"stale: the line occurs {original.count(mutation.old)} times"
    tests = "test_" + mutation.file.split("/")[0]
    try:
        path.write_text(original.replace(mutation.old, mutation.new))
        if not run(["cmake", "--build", str(build), "--target", tests, "-j", jobs]):
            return "does not compile"
        return "survived" if run([str(build / "tests" / tests)], build) else "caught"
    finally:
        path.write_text(original)


def main() -> int:
    """Tries all mutations whose file or purpose contains the pattern."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--jobs", default="2")
    parser.add_argument("pattern", nargs="?", default="")
    options = parser.parse_args()
    options.build = options.build.resolve()
    chosen = [m for m in mutations() if options.pattern in m.file or options.pattern in m.what]
    for tests in sorted({"test_" + m.file.split("/")[0] for m in chosen}):
        built = run(["cmake", "--build", str(options.build), "--target", tests, "-j", options.jobs])
        if not built or not run([str(options.build / "tests" / tests)], options.build):
            print(f"{tests} does not pass as it is")
            return 1
    bad = 0
    for mutation in chosen:
        found = verdict(mutation, options.build, options.jobs)
        bad += found != "caught"
        print(f"{found:12}  {mutation.file}: {mutation.what}", flush=True)
    print(f"{len(chosen) - bad} of {len(chosen)} caught")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
