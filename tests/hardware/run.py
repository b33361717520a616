#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The emulated device against hardware.

    run.py measure [PART...]   on a machine with a card: run everything there, write results/*.csv
    run.py compare [PART...]   anywhere: does the emulated device agree with results/*.csv?
    run.py [all] [PART...]     both where there is a card, else compare

PART: values, approximate, divergence, counters, findings, timeline (default: all of them). Options:
--build FOLDER (default build/hardware), --library FOLDER of the emulator's libcudart (default
build/emulator), --results FOLDER (default tests/hardware/results). `measure --emulated` measures
the emulated device, into --results: a rehearsal without a card.
"""

from __future__ import annotations

import argparse
import importlib
import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import device  # noqa: E402
from device import HERE, ROOT, Device, HardwareError, say  # noqa: E402

PARTS = {
    "values": "random_kernels",
    "approximate": "approximate",
    "divergence": "corner_cases",
    "counters": "sweep",
    "findings": "sanitizer",
    "timeline": "overlap",
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", nargs="?", default="all", choices=("all", "measure", "compare"))
    parser.add_argument("parts", nargs="*", default=[])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "hardware")
    parser.add_argument("--library", type=Path, default=ROOT / "build" / "emulator")
    parser.add_argument("--results", type=Path, default=device.RESULTS)
    parser.add_argument("--emulated", action="store_true")
    options = parser.parse_args()
    if options.emulated and (options.what != "measure" or options.results == device.RESULTS):
        parser.error("--emulated goes with `measure` and a --results FOLDER of its own")
    device.RESULTS = options.results
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"there is no part {part}: the parts are {', '.join(PARTS)}")
    for part in PARTS:
        sys.path.insert(0, str(HERE / part))
    wanted = {name: importlib.import_module(PARTS[name]) for name in options.parts or PARTS}
    has_card = shutil.which("nvidia-smi") is not None
    if options.what == "measure" or (options.what == "all" and has_card):
        for name, part in wanted.items():
            start = time.monotonic()
            try:
                part.measure(options.build, Device(options.library if options.emulated else None))
            except HardwareError as error:
                say(f"{name}: {error}")
            say(f"{name}: {time.monotonic() - start:.0f} s")
    if options.what == "measure":
        return 0
    problems = []
    for part in wanted.values():
        problems += part.compare(options.build, Device(options.library))
    for problem in problems[:40]:
        say(f"  {problem}")
    if len(problems) > 40:
        say(f"  and {len(problems) - 40} more")
    return 1 if problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except HardwareError as error:
        sys.exit(f"error: {error}")
