# SPDX-License-Identifier: MIT
"""The NVIDIA cards of this machine, as the driver lists them."""

from __future__ import annotations

import re
import shutil
import subprocess


def count() -> int:
    """How many cards the driver lists."""
    if not shutil.which("nvidia-smi"):
        return 0
    done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
    return 0 if done.returncode else len(re.findall(r"^GPU \d+:", done.stdout, re.MULTILINE))


def present() -> bool:
    """Whether the driver lists a card."""
    return count() > 0
