# SPDX-License-Identifier: MIT
"""The Python libraries of `make bench`: each in a process of its own, absent ones named."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time

from ..base.project import ROOT
from ..running import timing
from . import results

SCRIPT = ROOT / "tests" / "peers" / "python_peers.py"
LIBRARIES = {"NumPy": "numpy", "Numba": "numba", "CuPy": "cupy", "PyTorch": "torch", "JAX": "jax"}


def interpreters() -> list[str]:
    """The Pythons that may have the libraries: a named one, the one on PATH, this one."""
    found = [os.environ.get("PEERS_PYTHON", ""), shutil.which("python3") or "", sys.executable]
    return list(dict.fromkeys(filter(None, found)))


def python_with(module: str) -> str | None:
    """An interpreter that can import `module`."""
    test = f"import importlib.util as i, sys; sys.exit(not i.find_spec({module!r}))"
    for python in interpreters():
        if subprocess.run([python, "-c", test], capture_output=True).returncode == 0:
            return python
    return None


def measure(rows: results.Rows, seconds: float, works: set[str] | None = None) -> int:
    """Runs every library that is installed for at most `seconds` in all; returns what was wrong.

    `works`: only these.
    """
    chosen = ["--works", "|".join(sorted(works))] if works else []
    end, wrong = time.monotonic() + seconds, 0
    for name, module in LIBRARIES.items():
        python = python_with(module)
        if python is None:
            print(f"  {name:34} skipped: not installed")
            continue
        left = end - time.monotonic()
        if left < 5:
            print(f"  {name:34} skipped: the time is over")
            continue
        env = dict(os.environ, XLA_PYTHON_CLIENT_PREALLOCATE="false", PYTHONUNBUFFERED="1")
        try:
            done = subprocess.run(
                [python, str(SCRIPT), module, "--seconds", f"{left:.0f}", *chosen],
                capture_output=True, text=True, env=env, timeout=left + 15,
            )  # fmt: skip
            output = done.stdout
            errors = done.stderr if done.returncode else ""
        except subprocess.TimeoutExpired as stopped:
            output = (stopped.stdout or b"").decode(errors="replace")
            errors = "did not finish in the time that was left"
        wrong += _take(rows, output)
        if errors:
            print(f"  {name:34} {errors.strip().splitlines()[-1]}")
    return wrong


def _take(rows: results.Rows, output: str) -> int:
    wrong = 0
    for line in output.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if not isinstance(entry, dict) or "workload" not in entry:
            continue
        work = timing.workload_of(entry["workload"])
        wrong += bool(work.wrong)
        told = f"WRONG: {work.wrong}" if work.wrong else results.short(work)
        print(f"  {entry['version']:34} {work.name:46} {told}", flush=True)
        if work.median:
            rows.add("", "peer", entry["version"], entry.get("library", ""), work)
    return wrong
