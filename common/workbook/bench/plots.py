# SPDX-License-Identifier: MIT
"""`make plots`: draws every figure from plots/data; no card is needed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

from ..base.project import NOT_ABLE, PASSED, ROOT, WorkbookError


def draw() -> int:
    """Runs plots/draw.py with this interpreter."""
    if not importlib.util.find_spec("matplotlib"):
        raise WorkbookError(
            "drawing needs matplotlib, which this Python does not have",
            "apt-get install python3-matplotlib, or make plots WORKBOOK_PYTHON=/path/to/python3",
        )
    done = subprocess.run([sys.executable, str(ROOT / "plots" / "draw.py")], cwd=ROOT)
    if done.returncode == 0:
        print("figures: plots/figures; what to see in each: plots/README.md")
    return PASSED if done.returncode == 0 else NOT_ABLE
