# SPDX-License-Identifier: MIT
"""Room on the disk: asked for before set-up, and after a command that failed, since a full disk or
a used-up quota makes compilers, linkers and pip fail in many ways. Standard library only.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from pathlib import Path

from .project import ROOT, WorkbookError, relative

# What the compiler's packages, the device and the lessons' programs take, tests not counted.
NEEDED_MIB = 1500
# The cost of the first `make` where neither nvcc nor Python modules are installed, measured on
# x86-64. README states both numbers, too.
COST = "make downloads up to 210 MB, and the folder grows to 800 MB"
# What is tried after a failure. A tool that fails removes the file that it could not complete, so
# there can be some room again: the device's library takes about half of this.
_TRIED = 32 << 20
_SAID = {
    errno.ENOSPC: re.compile(r"No space left on device|Errno 28\b"),
    errno.EDQUOT: re.compile(r"Disk quota exceeded|Errno 122\b"),
}


def check() -> None:
    """Raises unless there is room for what set-up fetches and builds."""
    free = shutil.disk_usage(ROOT).free >> 20
    if free < NEEDED_MIB:
        raise WorkbookError(
            f"{free} MiB are free in {ROOT}, and setting up needs {NEEDED_MIB}",
            "free some space and run make again",
        )


def stop_if_full(said: str = "", *folders: Path) -> None:
    """Raises where a failed command `said` that there is no room, or where a folder has not enough
    for what a build writes.

    `said` must not come from a compiler whose own errors are the reason: a student's file can make
    it say anything.
    """
    for number, pattern in _SAID.items():
        if pattern.search(said):
            raise _full(number, "")
    for folder in folders:
        if number := _refused(folder):
            raise _full(number, f": {relative(folder)} does not take {_TRIED >> 20} MiB more")


def _refused(folder: Path) -> int:
    """The error number with which the folder refuses a file, or 0. Only trying tells of a quota."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, _TRIED)
    except OSError as error:  # any other is not about room
        return error.errno if error.errno in _SAID else 0
    return 0


def _full(number: int, where: str) -> WorkbookError:
    if number == errno.EDQUOT:
        return WorkbookError(
            f"your disk quota is used up{where}",
            "free some space, or ask for a larger quota, and run make again",
        )
    return WorkbookError(f"the disk is full{where}", "free some space and run make again")
