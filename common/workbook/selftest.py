# SPDX-License-Identifier: MIT
"""Asks the emulated device whether it works on this machine, before anything is graded with it."""

from __future__ import annotations

import subprocess
from pathlib import Path

_SECONDS = 60


def run(folder: Path) -> str:
    """'' when the device in this build folder works, else what it said.

    `emulate --self-test` runs one known program with known values, findings and counters.
    """
    emulate = folder / "emulator" / "emulate"
    if not emulate.is_file():
        return "it is not built"
    if "--self-test" not in _said([str(emulate), "--help"])[1]:
        return ""
    code, text = _said([str(emulate), "--self-test"])
    if code == 0:
        return ""
    return text.strip() or (f"it ended with signal {-code}" if code < 0 else f"exit code {code}")


def _said(command: list[str]) -> tuple[int, str]:
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", timeout=_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return 1, f"it did not end within {_SECONDS} s"
    except OSError as error:
        return 1, f"it cannot be run: {error.strerror}"
    return done.returncode, done.stdout
