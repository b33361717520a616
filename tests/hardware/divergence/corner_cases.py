# SPDX-License-Identifier: MIT
"""Runs each corner case of corner_cases.cu in a process of its own, since some may hang."""

from __future__ import annotations

from pathlib import Path

from device import HERE, Device, compile_cuda, read_table, say, write_table

# Where the emulated device differs from an H200, and why it may.
EXPLAINED = {
    "count_in_both_branches": "PTX: all threads of a warp must reach the same bar.red. The card"
    " lets each branch of a warp complete a barrier of its own; here all arrivals count together.",
    "vote_and_shuffle": "CUDA: all lanes of a mask must execute the same operation. The card"
    " hangs; here each operation completes, with a finding (warp-mask).",
}
SECONDS = 8  # a case that runs longer hangs


def run_all(build: Path, device: Device) -> dict[str, str]:
    """What each case printed, or `hang`."""
    name = "corner_cases_emulator" if device.emulated else "corner_cases_gpu"
    program = compile_cuda(HERE / "divergence" / "corner_cases.cu", build / name, device)
    results = {}
    for case in device.run(program, "--list").stdout.split():
        done = device.run(
            program, case, seconds=SECONDS, EMULATOR_CHECKS="none", EMULATOR_BUDGET="50000000"
        )
        said = done.stdout.strip().removeprefix(f"{case}: ")
        results[case] = (
            "hang" if done.returncode == 124 else said or f"ended with {done.returncode}"
        )
    return results


def measure(build: Path, device: Device) -> None:
    """Writes results/divergence.csv."""
    results = run_all(build, device)
    write_table("divergence", device.describe(), ("case", "result"), results.items())
    say(f"divergence: {len(results)} corner cases recorded")


def compare(build: Path, device: Device) -> list[str]:
    """Cases that differ from results/divergence.csv without being explained above."""
    about, rows = read_table("divergence")
    results = run_all(build, device)
    problems = []
    for row in rows:
        case, card = row["case"], row["result"]
        ours = results.get(case, "no such case")
        if ours != card and case not in EXPLAINED:
            problems.append(f"{case}: {ours}; and the card: {card}")
        if ours == card and case in EXPLAINED:
            problems.append(f"{case} is explained in corner_cases.py, and does not differ")
    count = f"{len(rows)} corner cases, of which {len(EXPLAINED)} differ as explained"
    say(f"divergence: {count}, against {about}: {len(problems)} problems")
    return problems
