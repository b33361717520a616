#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the emulator for sanitizers and runs its tests under them (make test-sanitized).

    sanitized.py [address|thread ...] [--tests REGEX] [--jobs N]

`address` is AddressSanitizer and UndefinedBehaviorSanitizer over the unit tests, the PTX forms,
the fuzzers' corpora, the seeded programs of cases/ and test_edge.py; `thread` is ThreadSanitizer
over the test of several host threads. The presets `sanitized` and `thread` say with which flags.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common"))

from workbook.setup import install  # noqa: E402

# Preset, folder, what is built, and which tests of ctest run.
KINDS = {
    "address": (
        "sanitized",
        "build-sanitized",
        ["emulator_cudart", "emulator_cuda", "emulate", "workbook_emulator_programs"],
        r"^(emulator|case)\.",
    ),
    "thread": (
        "thread",
        "build-thread",
        ["emulator_cudart", "emulator_cuda", "emulate"],
        r"^emulator\.threads$",
    ),
}


def run(command: list[str], **more: str) -> bool:
    """Runs a command in the repository; whether it succeeded."""
    print("$", *command, flush=True)
    return (
        subprocess.run(command, cwd=ROOT, env={**os.environ, **more}, check=False).returncode == 0
    )


def main() -> int:
    """0 when everything was built and every test passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="address|thread")
    parser.add_argument("--tests", help="only tests whose names match")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    if unknown := set(options.kinds) - set(KINDS):
        parser.error(f"unknown: {', '.join(unknown)}; known are {', '.join(KINDS)}")
    nvcc = install.ensure()
    toolkit = f"-DCUDAToolkit_ROOT={nvcc.resolve().parent.parent}"
    failed = []
    for kind in options.kinds or KINDS:
        preset, folder, targets, tests = KINDS[kind]
        jobs = ["-j", str(options.jobs)]
        configure = ["cmake", "--preset", preset, f"-DCMAKE_CUDA_COMPILER={nvcc}", toolkit]
        if not (ROOT / folder / "CMakeCache.txt").is_file():
            configure += ["-G", "Ninja"]
        ctest = ["ctest", "--test-dir", folder, "--output-on-failure", *jobs]
        good = (
            run(configure)
            and run(["cmake", "--build", folder, *jobs, "--target", *targets])
            and run([*ctest, "-R", options.tests or tests])
        )
        if not good:
            failed.append(kind)
    if failed:
        print("sanitized.py: not clean under", " and ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
