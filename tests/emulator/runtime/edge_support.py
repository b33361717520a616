# SPDX-License-Identifier: MIT
"""What test_edge.py's tests run: small programs, built once, and the emulator that runs them."""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent / "programs"
sys.path.insert(0, str(PROGRAMS.parents[3] / "common"))
from workbook.build import build_cache  # noqa: E402

SHARED = ["-std=c++17", "-cudart", "shared"]
PTX = [*SHARED, "-arch=compute_75", "-lineinfo", "-Xcompiler", "-g"]
RUN_SECONDS = 120

# Name of the built program: source and flags.
BUILDS: dict[str, tuple[str, list[str]]] = {
    "plain": ("plain.cu", [*PTX, "--no-compress"]),
    "plain_packed": ("plain.cu", PTX),
    "plain_static": ("plain.cu", ["-std=c++17", "-cudart", "static", "-arch=compute_75"]),
    "plain_sass": ("plain.cu", [*SHARED, "-gencode", "arch=compute_75,code=sm_75"]),
    "plain_now": ("plain.cu", [*PTX, "-Xlinker", "-z,now"]),
    "unknown_opcode": ("unknown_opcode.cu", PTX),
    "endings": ("endings.cu", PTX),
    "host_lines": ("host_lines.cu", PTX),
    "host_lines_o2": ("host_lines.cu", [*PTX, "-O2"]),
    "host_lines_bare": ("host_lines.cu", [*SHARED, "-arch=compute_75"]),
    "graphs": ("graphs.cu", PTX),
    "per_thread": ("per_thread.cu", [*PTX, "--default-stream", "per-thread"]),
    "per_thread_legacy": ("per_thread.cu", PTX),
    "first_call": ("first_call.cpp", [*SHARED, "-g", "-lcuda", "-Xcompiler", "-pthread"]),
    "ipc": ("ipc.cu", PTX),
    "graph_rules": ("graph_rules.cu", PTX),
    "textures": ("textures.cu", [*PTX, "-Xcompiler", "-Wno-deprecated-declarations"]),
    "driver": ("driver.cpp", ["-std=c++17", "-cudart", "none", "-g", "-lcuda"]),
    "driver_static": ("driver.cpp", ["-std=c++17", "-g", "-lcuda"]),
    "both_apis_static": ("both_apis.cu", ["-std=c++17", "-arch=compute_75", "-lcuda"]),
    "compiled": ("compiled.cpp", ["-std=c++17", "-cudart", "none", "-g", "-lcuda", "-lnvrtc"]),
    "threads": ("threads.cu", [*PTX, "-lcuda"]),
    "newer": ("newer.cu", [*SHARED, "-arch=compute_90"]),
    "newer_and_older": (
        "newer.cu",
        [
            *SHARED,
            *("-gencode", "arch=compute_75,code=compute_75"),
            *("-gencode", "arch=compute_80,code=compute_80"),
        ],
    ),
}
# These link libraries that an installation may lack: then their tests are skipped.
OPTIONAL = {"driver", "driver_static", "both_apis_static", "compiled", "threads"}

options = argparse.Namespace()


class Outcome:
    """The results of a run of a program."""

    def __init__(self, status: int, out: str, err: str, findings: list[dict]) -> None:
        self.status, self.out, self.err, self.findings = status, out, err, findings

    def codes(self) -> list[str]:
        """The findings' codes, in order."""
        return [finding["code"] for finding in self.findings]


def preloaded() -> dict[str, str]:
    """What a program needs in its environment when the emulator is built with a sanitizer."""
    library = os.environ.get("WORKBOOK_TEST_PRELOAD")
    return {"LD_PRELOAD": library} if library else {}


def emulate(
    *arguments: str | Path, program: str | Path = "", environment: dict[str, str] | None = None
) -> Outcome:
    """Runs `emulate` with options, a program and its arguments; findings come from its report."""
    report = options.build / f"report_{os.getpid()}.jsonl"
    report.unlink(missing_ok=True)
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("EMULATOR_", "LD_"))}
    clean["EMULATOR_REPORT"] = str(report)
    clean.update(preloaded())
    clean.update(environment or {})
    words = [str(argument) for argument in arguments]
    program = [str(options.build / program)] if program else []
    done = subprocess.run(
        [str(options.library / "emulate"), *program, *words],
        env=clean,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=RUN_SECONDS,
        check=False,
        cwd=options.build,
    )
    findings = []
    if report.exists():
        findings = [json.loads(line) for line in report.read_text().splitlines()]
    return Outcome(done.returncode, done.stdout, done.stderr, findings)


def blamed(source: str) -> dict[str, list[int]]:
    """Lines of a program by the word after BLAME on them."""
    lines: dict[str, list[int]] = {}
    for number, text in enumerate((PROGRAMS / source).read_text().splitlines(), start=1):
        if match := re.search(r"// BLAME (\S+)", text):
            lines.setdefault(match.group(1), []).append(number)
    return lines


def compile_program(source: str, program: Path, flags: list[str]) -> str:
    """Builds a program unless it is up to date; nvcc's complaint, or nothing."""
    command = [options.nvcc, *flags, str(PROGRAMS / source), "-o", str(program)]
    complaint = build_cache.compile_cached(command, program)
    return complaint and f"{program.name}: {complaint}"


def compile_programs() -> str:
    """Builds all programs; the complaints, or nothing. Optional ones may fail."""
    options.build.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [
            pool.submit(compile_program, source, options.build / name, flags)
            for name, (source, flags) in BUILDS.items()
        ]
        needed = [job for name, job in zip(BUILDS, jobs, strict=True) if name not in OPTIONAL]
        return "\n".join(job.result() for job in needed if job.result())
