# SPDX-License-Identifier: MIT
"""The device's self-test: one known program with known values, findings and counters.

It runs at the end of setting up and in `make doctor`. A device that fails it grades nothing: what
it would say of a student's file could be its own fault.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..facts import findings
from ..base.project import INTERNAL, ROOT, WorkbookError

TARGET = "emulator_self_test"
SOURCE = ROOT / "common" / "emulator" / "programs" / "self_test.cu"
_SECONDS = 60

# block_sums adds 128 consecutive numbers in each of four blocks: 128 * (256 b + 127) / 2.
_VALUES = ["8128", "24512", "40896", "57280"]
# Of the same launch. 16 warps read 128 bytes each, aligned: four sectors a request.
_COUNTERS = {
    "blocks": 4,
    "warps": 16,
    "threads": 512,
    "global_load_requests": 16,
    "global_load_sectors": 64,
    "global_load_bytes": 2048,
    "global_store_bytes": 16,
    "shared_load_conflicts": 0,
    "block_barriers": 28,  # seven rounds in each block
}


def expected_findings() -> set[tuple[str, int]]:
    """Codes and lines, from the marks in the program's source."""
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    marks = [(re.search(r"// <- ([\w-]+)$", line), number) for number, line in enumerate(lines, 1)]
    return {(mark.group(1), number) for mark, number in marks if mark}


def problems(emulator: Path, program: Path | None = None, under: Sequence[str] = ()) -> list[str]:
    """What the device in this folder does wrong; empty when it works.

    The program is the one beside it unless named; `under` is a command that starts it.
    """
    program = program or emulator / "self_test"
    if not program.is_file():
        return [f"{program.name} is missing"]
    with tempfile.TemporaryDirectory(prefix="workbook-") as scratch:
        report, counters = Path(scratch) / "report.jsonl", Path(scratch) / "counters.json"
        env = {key: value for key, value in os.environ.items() if not key.startswith("EMULATOR_")}
        older = env.get("LD_LIBRARY_PATH")
        env.update(
            LD_LIBRARY_PATH=str(emulator) + (f":{older}" if older else ""),
            EMULATOR_REPORT=str(report),
            EMULATOR_COUNTERS=str(counters),
        )  # fmt: skip
        try:
            done = subprocess.run(
                [*under, str(program)], env=env, capture_output=True, text=True, errors="replace",
                timeout=_SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return [f"the known program did not finish within {_SECONDS} s"]
        except OSError as error:
            return [f"the known program does not start: {error}"]
        found = {(one.code, one.line) for one in findings.read_report(report)}
        return [
            *_wrong_end(done),
            *_differences("values", done.stdout.split(), _VALUES),
            *_differences("findings", sorted(found), sorted(expected_findings())),
            *_wrong_counters(counters),
        ]


def _wrong_end(done: subprocess.CompletedProcess[str]) -> list[str]:
    if done.returncode == 0:
        return []
    last = (done.stderr.strip().splitlines() or ["no word"])[0]
    return [f"the known program ended with {done.returncode}: {last}"]


def _differences(what: str, got: object, want: object) -> list[str]:
    return [] if got == want else [f"{what}: got {got}, want {want}"]


def _wrong_counters(path: Path) -> list[str]:
    try:
        launches = json.loads(path.read_text(encoding="utf-8"))["launches"]
        got = next(one for one in launches if one["kernel"] == "block_sums")["counters"]
    except (OSError, ValueError, KeyError, StopIteration):
        return ["counters: there are none"]
    return _differences("counters", {name: got.get(name) for name in _COUNTERS}, _COUNTERS)


def require(emulator: Path) -> None:
    """Raises WorkbookError unless the device works on this machine."""
    if wrong := problems(emulator):
        raise WorkbookError(
            "the emulated device does not work on this machine:\n  " + "\n  ".join(wrong),
            "nothing was graded, and your work is not the cause: make clean, then make; if it\n"
            "  stays, please report it with what make doctor prints",
            INTERNAL,
        )
