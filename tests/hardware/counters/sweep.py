# SPDX-License-Identifier: MIT
"""Counts what single warp instructions and whole lessons ask of memory: on a card with Nsight
Compute, on the emulated device with its own counters; and compares the two."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import patterns
from device import (
    HERE,
    ROOT,
    Device,
    HardwareError,
    compile_cuda,
    read_table,
    say,
    tool,
    write_table,
)

SOURCES = HERE / "counters"
LESSONS = {
    1: "01_indexing_1d",
    2: "02_boundary_checks",
    14: "14_shared_memory_barriers",
    18: "18_tree_reduction",
    20: "20_histogram_rows_vs_atomics",
    22: "22_rng_seeding",
}

# Short name -> Nsight Compute's.
METRICS = {
    "g_ld_req": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "g_ld_sec": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "g_st_req": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "g_st_sec": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "g_red_req": "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    "g_red_sec": "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
    "g_atom_req": "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
    "g_atom_sec": "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
    "s_wave": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "s_ld_wave": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "s_st_wave": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "s_ld_conf": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "s_st_conf": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "s_atom_conf": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum",
    "s_ld_inst": "smsp__inst_executed_op_shared_ld.sum",
    "s_st_inst": "smsp__inst_executed_op_shared_st.sum",
    "inst": "smsp__inst_executed.sum",
    "thread_inst": "smsp__thread_inst_executed.sum",
}


# What is asked of each launch of the sweep: the fewer, the fewer times a kernel is repeated.
GROUPS = {
    "global": ("g_ld_req", "g_ld_sec", "g_st_req", "g_st_sec"),
    "global atomic": ("g_red_req", "g_red_sec", "g_atom_req", "g_atom_sec"),
    "shared": ("s_wave", "s_ld_wave", "s_st_wave", "s_ld_conf", "s_st_conf", "s_atom_conf"),
}
LAUNCHES_AT_ONCE = 300  # of the sweep, in one run of Nsight Compute


def group_of(kind: str) -> str:
    if ".shared" in kind:
        return "shared"
    return "global" if kind.startswith(("ld", "st")) else "global atomic"


def profile(
    device: Device, program: Path, *arguments: object, metrics: Sequence[str] = tuple(METRICS)
) -> list[dict[str, str]]:
    """The metrics of each launch, and `kernel`."""
    done = device.run(
        tool("ncu"), "--metrics", ",".join(METRICS[m] for m in metrics), "--clock-control", "none",
        "--cache-control", "none", "--csv", "--page", "raw", "--print-units", "base",
        program, *arguments, seconds=240,
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith('"')]
    if len(lines) < 3:
        said = f"{done.stdout[-800:]}{done.stderr[-800:]}"
        raise HardwareError(f"Nsight Compute gave no table: {said}")
    rows = list(csv.DictReader(io.StringIO("\n".join(lines))))[1:]  # the first row has the units
    wanted = {"kernel": "Kernel Name"} | {m: METRICS[m] for m in metrics}
    return [{k: row.get(n, "").replace(",", "") for k, n in wanted.items()} for row in rows]


def sweep_program(build: Path, device: Device) -> Path:
    build.mkdir(parents=True, exist_ok=True)
    name = "sweep_emulator" if device.emulated else "sweep_gpu"
    return compile_cuda(SOURCES / "sweep.cu", build / name, device)


def write_patterns(build: Path, numbers: Iterable[int]) -> Path:
    """The sweep's input: these patterns, by their places in patterns()."""
    made = patterns.patterns()
    build.mkdir(parents=True, exist_ok=True)
    path = build / "patterns.txt"
    path.write_text("".join(made[i].line(i) + "\n" for i in numbers))
    return path


def lesson_program(build: Path, device: Device, number: int) -> Path:
    kind = "emulator" if device.emulated else "gpu"
    flags = [f"-DLESSON={number}", f"-I{ROOT / 'lessons' / LESSONS[number]}"]
    program = build / f"lesson_{number:02}_{kind}"
    program.unlink(missing_ok=True)  # its source is another file
    return compile_cuda(SOURCES / "lesson_launches.cu", program, device, *flags)


def measure_lessons(build: Path, device: Device) -> None:
    """Writes results/lessons.csv."""
    table = []
    for number in LESSONS:
        for i, row in enumerate(profile(device, lesson_program(build, device, number))):
            name = re.sub(r"[(<].*", "", row["kernel"]).removeprefix("void ")
            table.append((number, i, name, *(row[key] for key in METRICS)))
    about = f"{device.describe()}, Nsight Compute"
    write_table("lessons", about, ("lesson", "launch", "kernel", *METRICS), table)
    say(f"counters: {len(table)} launches of lessons recorded")


def measure_sweep(build: Path, device: Device, kinds: Sequence[str] = ()) -> None:
    """Writes results/access_sweep.csv, group by group. `kinds`: only those that start with one of
    these, the rest stays."""
    program = sweep_program(build, device)
    made = patterns.patterns()
    counted: dict[int, dict[str, str]] = {}
    if kinds:
        counted = {int(row["id"]): row for row in read_table("access_sweep")[1]}
    header = tuple(metric for group in GROUPS.values() for metric in group)
    for group, metrics in GROUPS.items():
        places = [
            i
            for i, p in enumerate(made)
            if group_of(p.kind) == group and p.kind.startswith(tuple(kinds) or "")
        ]
        for first in range(0, len(places), LAUNCHES_AT_ONCE):
            batch = places[first : first + LAUNCHES_AT_ONCE]
            start = time.monotonic()
            rows = profile(device, program, write_patterns(build, batch), metrics=metrics)
            if len(rows) != len(batch):
                raise HardwareError(f"{len(rows)} of {len(batch)} launches were counted")
            counted |= dict(zip(batch, rows, strict=True))
            say(f"counters: {len(counted)} patterns, {time.monotonic() - start:.0f} s")
            write_table(
                "access_sweep",
                f"{device.describe()}, Nsight Compute",
                ("id", "kind", "width", "pattern", *header),
                [
                    (
                        i,
                        made[i].kind,
                        made[i].width,
                        made[i].name,
                        *(row.get(k, "") for k in header),
                    )
                    for i, row in sorted(counted.items())
                ],
            )


def measure(build: Path, device: Device) -> None:
    measure_lessons(build, device)
    measure_sweep(build, device)


def emulated_sweep(build: Path, device: Device) -> dict[int, dict[str, tuple[int, int]]]:
    """The emulated device's pairs (requests, sectors or wavefronts, conflicts) by pattern."""
    listed = write_patterns(build, range(len(patterns.patterns())))
    done = device.run(sweep_program(build, device), listed, EMULATOR_CHECKS="bounds")
    if done.returncode != 0:
        raise HardwareError(f"the sweep ended with {done.returncode}: {done.stderr[-600:]}")
    rows = csv.DictReader(io.StringIO(done.stdout))
    return {
        int(row.pop("id")): {k: tuple(map(int, v.split())) for k, v in row.items() if v}
        for row in rows
    }


def emulated_lessons(build: Path, device: Device) -> Iterator[tuple[int, list[dict]]]:
    """Each lesson's number and the counters of its launches."""
    for number in LESSONS:
        counters = build / f"lesson_{number:02}.json"
        done = device.run(lesson_program(build, device, number), EMULATOR_COUNTERS=str(counters))
        if done.returncode != 0:
            raise HardwareError(f"lesson {number} ended with {done.returncode}: {done.stderr}")
        yield number, json.loads(counters.read_text())["launches"]


# Where Nsight Compute's counts for a kind of access stand, and where the emulated device's.
COMPARED = {
    "ld.global": (("g_ld_req", "g_ld_sec"), "global_load"),
    "st.global": (("g_st_req", "g_st_sec"), "global_store"),
    "ld.shared": (("s_ld_wave", "s_ld_conf"), "shared_load"),
    "st.shared": (("s_st_wave", "s_st_conf"), "shared_store"),
}
LESSON_COUNTERS = {
    "g_ld_req": "global_load_requests",
    "g_ld_sec": "global_load_sectors",
    "g_st_req": "global_store_requests",
    "g_st_sec": "global_store_sectors",
    "s_ld_wave": "shared_load_wavefronts",
    "s_st_wave": "shared_store_wavefronts",
    "s_ld_conf": "shared_load_conflicts",
    "s_st_conf": "shared_store_conflicts",
}


def compare(build: Path, device: Device) -> list[str]:
    """What differs from the recorded counts; empty when all is well."""
    problems = []
    about, rows = read_table("access_sweep")
    made = patterns.patterns()
    emulated = emulated_sweep(build, device)
    compared = 0
    for row in rows:
        pattern = made[int(row["id"])]
        if (row["kind"], row["pattern"]) != (pattern.kind, pattern.name):
            return [f"access_sweep.csv is of other patterns than patterns.py makes: {row['id']}"]
        if pattern.kind not in COMPARED:
            continue
        names, place = COMPARED[pattern.kind]
        card = tuple(int(row[name]) for name in names)
        ours = emulated[int(row["id"])][place]
        compared += 1
        if card != ours:
            what = f"{pattern.kind} of {pattern.width} bytes, {pattern.name}"
            problems.append(f"{what}: {ours}, and the card counted {card}")
    say(f"counters: {compared} patterns against {about}: {len(problems)} differ")
    return problems + compare_lessons(build, device)


def compare_lessons(build: Path, device: Device) -> list[str]:
    """The same for the launches of the lessons."""
    problems = []
    about, rows = read_table("lessons")
    recorded = {(int(row["lesson"]), int(row["launch"])): row for row in rows}
    for number, launches in emulated_lessons(build, device):
        for i, launch in enumerate(launches):
            row = recorded.pop((number, i), None)
            if row is None:
                problems.append(f"lesson {number}, launch {i}: not recorded; measure again")
                continue
            for short, name in LESSON_COUNTERS.items():
                ours = launch["counters"][name]
                if int(row[short]) != ours:
                    what = f"lesson {number}, launch {i}, {row['kernel']}, {name}"
                    problems.append(f"{what}: {ours}, and the card counted {row[short]}")
    problems += [f"lesson {n}, launch {i}: only recorded" for n, i in recorded]
    say(f"counters: {len(rows)} launches of lessons against {about}: {len(problems)} differ")
    return problems
