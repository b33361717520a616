# SPDX-License-Identifier: MIT
"""Runs Python programs under `emulate`, for the tests of this folder."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from workbook.base.project import lessons
from workbook.running import python_programs

HERE = Path(__file__).resolve().parent
EMULATOR = Path(os.environ.get("WORKBOOK_TEST_BUILD", "build")).resolve() / "emulator"
PYTHON = python_programs.interpreter()


def emulate(
    *arguments: str | Path, folder: Path = HERE, python: str | Path | None = PYTHON, **more: str
):
    """Runs Python under `emulate`, without writing into the user's folders."""
    assert python
    env = {**os.environ, "CUPY_CACHE_DIR": str(EMULATOR / "cupy_cache"), **more}
    env.pop("PYTHONPATH", None)  # the workbook's own
    # Lessons' functions of C come from the solutions.
    known = (
        python_programs.library_of(lesson, EMULATOR.parent, "solution") for lesson in lessons()
    )
    folders = {str(library.parent) for library in known if library.exists()}
    others = [env["LD_LIBRARY_PATH"]] if env.get("LD_LIBRARY_PATH") else []
    env["LD_LIBRARY_PATH"] = ":".join(sorted(folders) + others)
    return subprocess.run(
        [EMULATOR / "emulate", python, *arguments],
        cwd=folder, capture_output=True, text=True, timeout=240, env=env,
    )  # fmt: skip


def run_text(test: unittest.TestCase, text: str) -> subprocess.CompletedProcess:
    """Runs a program of a few lines, script.py in a folder of its own."""
    folder = Path(tempfile.mkdtemp())
    test.addCleanup(lambda: subprocess.run(["rm", "-r", folder], check=True))
    (folder / "script.py").write_text(text, encoding="utf-8")
    return emulate("script.py", folder=folder)


def main() -> None:
    """Runs the calling script's tests, unless there is no Python for them."""
    if not PYTHON:
        print("skipped: Numba and CuPy are not installed here; `make python` installs them")
        sys.exit(77)
    unittest.main()
