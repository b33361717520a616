# SPDX-License-Identifier: MIT
"""Runs the random kernels on a device and compares what they computed with a card's results."""

from __future__ import annotations

import concurrent.futures
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import generate
from device import (
    HERE,
    Device,
    HardwareError,
    cores,
    nvcc,
    read_table,
    runtime_library,
    say,
    write_table,
)

SOURCES = HERE / "values"

# Kernels whose instruction the card's assembler replaces by code that does not do what PTX ISA's
# "Scalar Video Instructions" say exactly. The emulated device does what the ISA says.
DEPARTURES = re.compile(
    # It multiplies the 32 bits of unsigned operands as signed numbers and extends c by its sign.
    "t_vmad_(s32_u32_s32_sat_shr15_b0|s32_s32_u32_sat_shr7_b3|u32_u32_u32_)"
    # It saturates to an unsigned word what has lost its 33rd bit, and compares it with c as signed.
    "|t_v(add|sub|absdiff|shl|shr)_u32_[us]32_u32_sat_((clamp|wrap)_)?(min|max)_whole"
)


def build_harness(build: Path, device: Device) -> Path:
    """The program that loads PTX and launches its kernels: C++ only, the same for both devices."""
    program = build / ("harness_emulator" if device.emulated else "harness_gpu")
    build.mkdir(parents=True, exist_ok=True)
    toolkit = Path(nvcc()).resolve().parents[1]
    library = device.library or runtime_library()
    command = ["g++", "-std=c++20", "-O1", f"-I{toolkit / 'include'}", str(SOURCES / "harness.cpp")]
    command += ["-o", str(program), f"-L{library}", "-lcudart", "-ldl"]
    if not device.emulated:
        command.append(f"-Wl,-rpath,{library}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HardwareError(f"harness.cpp does not compile:\n{done.stderr}")
    return program


def run_all(
    build: Path,
    device: Device,
    jobs: int = 0,
    expected: Path | None = None,
    optimize: bool = True,
    made: Iterable[generate.Module] | None = None,
) -> dict[str, str]:
    """Every kernel's hash by its name; `refused: why` where a kernel was not run.

    `made`: these modules instead of those with exact results. Raw results (harness.cpp says which)
    stay in build/raw*.
    """
    modules = build / "ptx"
    say(f"{generate.write(modules, made)} random kernels written")
    harness = build_harness(build, device)
    files = sorted(modules.glob("*.ptx"))
    jobs = min(jobs or cores(), len(files))

    def part(number: int) -> tuple[int, str, str]:
        options = [f"--loader={'runtime' if device.emulated else 'driver'}"]
        options.append(f"--raw={build / f'raw{number:02}.bin'}")
        if not optimize:
            options.append("--optimize=0")
        if expected:
            options.append(f"--expected={expected}")
        done = device.run(
            harness, *options, *files[number::jobs],
            EMULATOR_REPORT=str(build / f"findings{number:02}.jsonl"),
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    for old in (*build.glob("findings*.jsonl"), *build.glob("raw*.bin")):
        old.unlink()
    hashes: dict[str, str] = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for code, out, complaint in pool.map(part, range(jobs)):
            if code not in (0, 3):  # 3: the emulated device refused some kernels
                say(f"the harness ended with {code}: {complaint[-600:]}")
            for line in out.splitlines():
                name, rest = line.split(" ", 1)
                hashes[name] = rest.replace("refused #", "refused:")
    return hashes


def findings(build: Path) -> list[str]:
    """What the emulated device's checkers said: nothing, for these kernels."""
    return [
        line
        for file in sorted(build.glob("findings*.jsonl"))
        for line in file.read_text().splitlines()
    ]


def measure(build: Path, device: Device) -> None:
    """Writes results/values.csv: what this card computed, and what it computed with code that was
    assembled without optimization, where that differs."""
    expected = build / "emulated_hashes.txt"
    plain = run_all(build, device, optimize=False)
    hashes = run_all(build, device, expected=expected if expected.exists() else None)
    rows = []
    for name in sorted(hashes):
        other = plain.get(name, "")
        rows.append((name, hashes[name], other if other != hashes[name] else ""))
    write_table("values", device.describe(), ("kernel", "hash", "unoptimized"), rows)
    depends = sum(1 for row in rows if row[2])
    say(
        f"values: {len(rows)} kernels with exact results recorded; "
        f"{depends} depend on the assembler"
    )


def compare(build: Path, device: Device) -> list[str]:
    """What differs on this device from results/values.csv; empty when all is well."""
    about, rows = read_table("values")
    recorded = {row["kernel"]: (row["hash"], row["unoptimized"]) for row in rows}
    hashes = run_all(build, device)
    problems = []
    refused = departed = 0
    for name, value in sorted(hashes.items()):
        if value.startswith("refused"):
            refused += 1
        elif name not in recorded:
            problems.append(f"{name}: has no recorded result; measure again on a card")
        elif DEPARTURES.match(name):
            departed += value not in recorded[name]
        elif value not in recorded[name]:
            problems.append(f"{name}: {value}, and the card gave {recorded[name][0]}")
    problems += [f"a finding on a correct kernel: {line[:300]}" for line in findings(build)]
    say(f"values: {len(hashes)} kernels against {about}")
    say(
        f"values: {len(problems)} problems, {refused} kernels refused, {departed} where the card "
        "departs from PTX ISA"
    )
    return problems
