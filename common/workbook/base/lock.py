# SPDX-License-Identifier: MIT
"""What only one `make` at a time may do in this checkout: the others wait, and say for what.

Each lock protects one thing: the checkout itself (its tools and its build folders), or a folder of
optional packages. A download for one part does not keep a lesson from being graded.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections import Counter
from collections.abc import Iterator

from .project import state_folder

CHECKOUT = "lock"  # the file in .workbook that stands for tools and build folders

_held: Counter[str] = Counter()


@contextlib.contextmanager
def only_one(doing: str, of: str = CHECKOUT) -> Iterator[None]:
    """Holds a lock while `doing` something; within this process it may be taken again. The system
    frees it when the process ends, however that happens.
    """
    if _held[of]:
        _held[of] += 1
        try:
            yield
        finally:
            _held[of] -= 1
        return
    with open(state_folder() / of, "a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            other = file.read().strip() or "another make"
            print(f"Waiting: {other} in this folder. Ctrl-C stops waiting.", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            pass  # a file system without locks: two runs may collide
        file.seek(0)
        file.truncate()
        file.write(f"process {os.getpid()} is {doing}")
        file.flush()
        _held[of] += 1
        try:
            yield
        finally:
            _held[of] -= 1
            file.seek(0)
            file.truncate()


def of_packages(folder: str) -> str:
    """The lock of a folder of optional packages in .workbook, by the folder's name."""
    return f"{CHECKOUT}-{folder}"
