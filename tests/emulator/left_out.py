#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the emulator without its optional parts, and runs the unit tests that remain.

    left_out.py [--jobs N]

EMULATOR_DRIVER, EMULATOR_TEXTURES and EMULATOR_VIDEO are OFF in build-left-out/. A program that
needs one of them must be refused with a sentence that names the option.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common"))

from workbook.build import build_cache  # noqa: E402
from workbook.setup import install  # noqa: E402

BUILD = ROOT / "build-left-out"
PROGRAMS = ROOT / "tests" / "emulator" / "runtime" / "programs"
OPTIONS = ["EMULATOR_DRIVER", "EMULATOR_TEXTURES", "EMULATOR_VIDEO"]
UNIT_TESTS = ["test_ptx", "test_machine", "test_checks", "test_runtime"]
PTX = ["-std=c++17", "-cudart", "shared", "-arch=compute_75"]
# A program, how it is compiled, and the option that it needs; None: it needs none of them.
NEEDS = {
    "plain.cu": (PTX, None),
    "driver.cpp": (["-std=c++17", "-cudart", "none", "-lcuda"], "EMULATOR_DRIVER"),
    "textures.cu": ([*PTX, "-Xcompiler", "-Wno-deprecated-declarations"], "EMULATOR_TEXTURES"),
    "video.cu": (PTX, "EMULATOR_VIDEO"),
}


def run(command: list[str]) -> bool:
    """Runs a command in the repository; whether it succeeded."""
    print("$", *command, flush=True)
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def refused(nvcc: Path, source: str) -> str:
    """What is wrong with how the build runs a program; '' if nothing."""
    flags, option = NEEDS[source]
    program = BUILD / Path(source).stem
    complaint = build_cache.compile_cached(
        [str(nvcc), *flags, str(PROGRAMS / source), "-o", str(program)], program
    )
    if complaint:
        return f"{source} does not compile: {complaint}"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(BUILD / "emulator")}
    done = subprocess.run(
        [program], env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    named = [name for name in OPTIONS if f"{name} is OFF" in done.stderr]
    if option is None:
        return "" if done.returncode == 0 and not named else f"{source} fails:\n{done.stderr}"
    if done.returncode == 0 or named != [option]:
        return (
            f"{source} is not refused for {option}: it ends with {done.returncode}\n{done.stderr}"
        )
    return ""


def main() -> int:
    """0 when everything was built and every test passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    nvcc = install.ensure()
    configure = ["cmake", "-S", ".", "-B", str(BUILD), "-DDEVICE=emulator"]
    configure += [f"-DCMAKE_CUDA_COMPILER={nvcc}",
                  f"-DCUDAToolkit_ROOT={nvcc.resolve().parent.parent}"]  # fmt: skip
    configure += [f"-D{name}=OFF" for name in OPTIONS]
    if not (BUILD / "CMakeCache.txt").is_file():
        configure += ["-G", "Ninja"]
    targets = ["emulator_cudart", "emulator_cuda", *UNIT_TESTS]
    build = ["cmake", "--build", str(BUILD), "-j", str(options.jobs), "--target", *targets]
    if not run(configure) or not run(build):
        return 1
    if (BUILD / "tests" / "test_driver").exists():
        print("left_out.py: the driver's unit tests were built")
        return 1
    passed = [run([str(BUILD / "tests" / test), "~[.]~[slow]~[video]"]) for test in UNIT_TESTS]
    wrong = [text for text in (refused(nvcc, source) for source in NEEDS) if text]
    print(*wrong, sep="\n")
    return 0 if all(passed) and not wrong else 1


if __name__ == "__main__":
    sys.exit(main())
