# SPDX-License-Identifier: MIT
"""The time that a program has had, on a machine where others want the processors as well.

A program's own time is the clock's, less what it spent ready to run and not running. The kernel
counts that for each thread (the second number of /proc/PID/task/TID/schedstat; the kernel's
documentation, "Scheduler Statistics"). Where it does not, the threads' states say when the program
was ready, and its processor time says how much of that it got.
"""

from __future__ import annotations

import contextlib
import os
import time

from ..base import processes

_READY, _ON_DISK = b"R", b"D"  # states of proc(5): wants a processor; waits for a disk


class OwnTime:
    """Of a process that was just started, and of all that it starts. Call look() often: what a
    thread waited between the last look and its end is not seen.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._started = self._last = time.monotonic()
        self._delays: dict[tuple[int, int], int] = {}  # ns by process and thread
        self._used = 0.0
        self.starved = 0.0  # seconds: ready and not running

    @property
    def seconds(self) -> float:
        """What the program has had, waits of its own included."""
        return max(0.0, self.now() - self._started)

    @property
    def used(self) -> float:
        """Seconds of processors, of all its processes, at the last look."""
        return self._used

    def now(self) -> float:
        """The clock, as a program sees it that never waits for a processor."""
        return time.monotonic() - self.starved

    def look(self) -> None:
        """Reads how things are."""
        now = time.monotonic()
        passed, self._last = now - self._last, now
        delays, ready, on_disk = self._threads()
        used = processes.processor_seconds(self._pid)
        got, self._used = max(0.0, used - self._used), max(used, self._used)
        if delays is None:
            waited = passed - got if ready else 0.0
        else:
            # The most delayed thread: one that waits for it sleeps, and is not delayed itself.
            grown = (delay - self._delays.get(thread, 0) for thread, delay in delays.items())
            waited = max(grown, default=0) / 1e9
            self._delays = delays
        if on_disk:
            waited = max(waited, passed - got)
        self.starved += min(max(0.0, waited), passed)

    def _threads(self) -> tuple[dict[tuple[int, int], int] | None, bool, bool]:
        """The delay of each thread, or None where the kernel keeps none; whether one is ready to
        run, and whether one waits for a disk.
        """
        delays: dict[tuple[int, int], int] | None = {}
        states = set()
        for process in (self._pid, *processes.below(self._pid)):
            with contextlib.suppress(OSError):
                for name in os.listdir(f"/proc/{process}/task"):
                    folder = f"/proc/{process}/task/{name}"
                    with contextlib.suppress(OSError, IndexError):
                        with open(f"{folder}/stat", "rb") as file:
                            states.add(file.read().rsplit(b")", 1)[1].split()[0])
                    delay = _delay(folder)
                    if delay is None:
                        delays = None
                    elif delays is not None:
                        delays[process, int(name)] = delay
        return delays, _READY in states, _ON_DISK in states


def _delay(folder: str) -> int | None:
    """Nanoseconds that a thread has waited for a processor; 0 once it has ended, None where the
    kernel does not count them.
    """
    try:
        with open(f"{folder}/schedstat", "rb") as file:
            return int(file.read().split()[1])
    except (IndexError, ValueError):
        return None
    except OSError:
        return None if os.path.exists(f"{folder}/stat") else 0
