# SPDX-License-Identifier: MIT
"""Only one `make` at a time sets up or builds in this checkout: the others wait, and say so."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator

from .project import state_folder

_held = 0


@contextlib.contextmanager
def only_one(what: str) -> Iterator[None]:
    """Holds the checkout's lock; within this process it may be taken again. The system frees it
    when the process ends, however that happens.
    """
    global _held
    if _held:
        _held += 1
        try:
            yield
        finally:
            _held -= 1
        return
    with open(state_folder() / "lock", "a+", encoding="utf-8") as file:
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
        file.write(f"process {os.getpid()} is {what}")
        file.flush()
        _held += 1
        try:
            yield
        finally:
            _held -= 1
            file.seek(0)
            file.truncate()
