# SPDX-License-Identifier: MIT
"""Processes as /proc shows them: what one has started, what they use, and how to end them all."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")


def adopt_orphans() -> set[int]:
    """From now on a process whose parent has ended becomes a child of this one, if it was below it.
    Returns the children that there are before.

    A program may leave a daemon running, outside of its session: end_orphans() finds it.
    """
    set_child_subreaper = 36  # PR_SET_CHILD_SUBREAPER of prctl(2)
    try:
        ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0)
    except (OSError, AttributeError):
        pass
    return set(_children())


def end_orphans(own: set[int]) -> int:
    """Ends every child of this process but its `own`; call it when no run is under way. Returns how
    many.
    """
    ended = 0
    for _ in range(100):  # ending one may orphan the next
        children = set(_children()) - own
        if not children:
            break
        for pid in children:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                ended += 1
            except (ProcessLookupError, ChildProcessError, PermissionError):
                pass
    return ended


def _children() -> list[int]:
    """The children of this process."""
    try:
        lists = Path("/proc/self/task").glob("*/children")  # in most kernels
        found = [int(pid) for one in lists for pid in one.read_bytes().split()]
        if Path("/proc/self/task", str(os.getpid()), "children").exists():
            return found
    except OSError:
        pass
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    if int(file.read().rsplit(b")", 1)[1].split()[1]) == os.getpid():
                        found.append(int(entry))
            except (OSError, IndexError, ValueError):
                pass
    return found


def session_memory(session: int) -> int:
    """Resident bytes of every process in `session`, so that a fork does not hide memory."""
    total = 0
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:
                fields = file.read().rsplit(b")", 1)[1].split()
        except (OSError, IndexError):
            continue
        if int(fields[3]) == session:  # field 6 of proc(5), after pid and comm
            total += int(fields[21]) * _PAGE
    return total


def below(pid: int) -> list[int]:
    """All processes that `pid` and its children have started: what leaves a session stays there."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                with open(f"/proc/{entry}/stat", "rb") as file:
                    parent = int(file.read().rsplit(b")", 1)[1].split()[1])
                children.setdefault(parent, []).append(int(entry))
    found, to_read = [], [pid]
    while to_read:
        below = children.get(to_read.pop(), [])
        found += below
        to_read += below
    return found


def processor_seconds(pid: int) -> float:
    """What `pid` and everything below it have used, processes that have ended included."""
    ticks = 0
    for one in (pid, *below(pid)):
        with contextlib.suppress(OSError, IndexError, ValueError):
            with open(f"/proc/{one}/stat", "rb") as file:
                fields = file.read().rsplit(b")", 1)[1].split()
            # Fields 14 to 17 of proc(5): its own, and those of children that were waited for.
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def own_memory(pid: int) -> int:
    """Resident bytes of one process; 0 once it has ended."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as file:
            return int(file.read().split()[1]) * _PAGE
    except (OSError, IndexError, ValueError):
        return 0


def kill_group(pid: int) -> None:
    """Ends all processes of the group that `pid` leads."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
