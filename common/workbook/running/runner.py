# SPDX-License-Identifier: MIT
"""Runs a program in a process and session of its own, within limits, and says how it ended."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..base import files, processes

_MOST_PROCESSES = 64  # in a box, threads not counted
_PATIENCE = 5


@dataclass(frozen=True)
class Limits:
    """What one test case may use. `output` in bytes, `memory` in bytes of resident memory.

    With `of_processor` the seconds are those of the processor, for the process and all that it has
    started, and _PATIENCE times as many by the clock: what another program needs is not counted.
    """

    seconds: float = float(os.environ.get("WORKBOOK_TIME_LIMIT") or 15)
    memory: int = 900 << 20
    output: int = 4 << 20
    file_size: int = 64 << 20
    of_processor: bool = False

    @classmethod
    def on(cls, device: str) -> Limits:
        """The limits of a test case. A card's driver keeps hundreds of megabytes by itself."""
        return cls(memory=4 << 30) if device == "gpu" else cls()


@dataclass
class Ended:
    """How a process ended: `how` is '' for an ordinary exit, else time, memory, output or
    processes.
    """

    code: int
    how: str
    output: str
    seconds: float
    peak_memory: int
    process: int = 0  # its number, by which it was known

    @property
    def signal_name(self) -> str:
        return signal_words(-self.code) if self.code < 0 else ""


class Reports(Protocol):
    """What takes a program's reports while it runs (channel.py, ranks.py)."""

    @property
    def inherited(self) -> tuple[int, ...]:
        """The open files that the program gets."""

    @property
    def processes(self) -> list[int]:
        """Those that report, where the program that was started is not the one."""

    def fileno(self) -> int: ...

    def started(self) -> None: ...

    def take(self) -> bool:
        """Takes what has arrived; False once nothing more can come."""


class Surroundings(Protocol):
    """What a program may see and use (sandbox.py)."""

    @property
    def process(self) -> int | None:
        """The number by which the program knows itself; None for the number that all see."""

    def around(self, command: list[str]) -> list[str]:
        """The command line that runs `command` in there."""


def signal_words(number: int) -> str:
    """A signal in words that a beginner may have met."""
    words = {
        signal.SIGSEGV: "segmentation fault",
        signal.SIGABRT: "aborted",
        signal.SIGFPE: "arithmetic error, such as a division by zero",
        signal.SIGBUS: "bus error",
        signal.SIGILL: "illegal instruction",
        signal.SIGKILL: "killed",
        signal.SIGTERM: "terminated",
        signal.SIGXCPU: "used too much processor time",
        signal.SIGXFSZ: "wrote too large a file",
        signal.SIGPIPE: "broken pipe",
    }
    try:
        return words.get(signal.Signals(number)) or signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _is_late(pid: int, started: float, limits: Limits) -> bool:
    seconds = time.monotonic() - started
    if seconds <= limits.seconds:
        return False
    if not limits.of_processor or seconds > _PATIENCE * limits.seconds:
        return True
    return processes.processor_seconds(pid) > limits.seconds


# How long a program has to say where it was; the emulated device needs a few milliseconds.
_LAST_WORDS = 0.5


def _ask_to_end(process: subprocess.Popen[bytes], boxed: bool, ranks: list[int]) -> None:
    """Lets a program that is out of time report the kernel that it is in."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if ranks:  # mpirun would end them at once
            for pid in ranks:
                os.kill(pid, signal.SIGTERM)
        elif boxed:  # the box itself would end at once, and everything in it
            for pid in processes.below(process.pid):
                os.kill(pid, signal.SIGTERM)
        else:
            os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_LAST_WORDS)


def end_on_signals() -> None:
    """A request to end (Ctrl-C, SIGTERM, a closed terminal) cleans up first."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)


def _end_of(pid: int) -> int | None:
    """A file descriptor that can be read once the process has ended; None on an old kernel."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def run(
    command: list[str],
    env: dict[str, str],
    folder: Path,
    limits: Limits = Limits(),
    until: Callable[[], float] = lambda: math.inf,
    channel: Reports | None = None,
    box: Surroundings | None = None,
) -> Ended:
    """Runs `command` in its own session; everything it started is gone on return.

    `until` gives a time of time.monotonic() at which it ends at the latest, and may change it. What
    it reports over `channel` is taken meanwhile. In a box it sees only what is in there.
    """
    if not shutil.which(command[0]):
        raise FileNotFoundError(errno.ENOENT, "there is no such program", command[0])
    if box:
        command, folder = box.around(command), Path("/")
    boxed = box is not None and box.process is not None
    seconds = (int(limits.seconds) + 5) * 4
    # The shell sets the limits and becomes the program. A preexec_fn would do the same, and cost a
    # copy of this process for each run.
    cpu = f"ulimit -St {seconds}; ulimit -Ht {seconds + 5}"
    limited = f'{cpu}; ulimit -c 0; ulimit -f {limits.file_size >> 9}; exec "$@"'
    if box:  # what one user makes in a box another reads in the next
        limited = f"umask 022; {limited}"
    started = time.monotonic()
    process = subprocess.Popen(
        ["/bin/sh", "-c", limited, "sh", *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=env,
        cwd=folder,
        start_new_session=True,
        pass_fds=channel.inherited if channel else (),
    )
    assert process.stdout is not None
    os.set_blocking(process.stdout.fileno(), False)
    selector = selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ)
    if channel:
        channel.started()
        selector.register(channel, selectors.EVENT_READ)
    end = _end_of(process.pid)
    if end is not None:
        selector.register(end, selectors.EVENT_READ)
    kept = bytearray()
    how, peak, ticks, is_open = "", 0, 0, True
    try:
        while True:
            happened = [key.fileobj for key, _ in selector.select(0.01)]
            if channel in happened and not channel.take():
                selector.unregister(channel)
            if process.stdout in happened:
                chunk = process.stdout.read(1 << 16)
                if chunk:
                    kept += chunk
                elif chunk == b"":
                    is_open = False
                    selector.unregister(process.stdout)
            if len(kept) > limits.output:
                how = "output"
                break
            if process.poll() is not None:
                break
            ticks += 1
            if boxed and ticks % 4 == 0:
                inside = processes.below(process.pid)
                used = sum(map(processes.own_memory, inside))
                if len(inside) > _MOST_PROCESSES:
                    how = "processes"
                    break
            elif ticks % 16 == 0 and not boxed:
                used = processes.session_memory(process.pid)
            else:
                used = processes.own_memory(process.pid)
            peak = max(peak, used)
            if used > limits.memory:
                how = "memory"
                break
            look = ticks % 16 == 0 or not limits.of_processor
            if time.monotonic() > until() or (look and _is_late(process.pid, started, limits)):
                how = "time"
                _ask_to_end(process, boxed, channel.processes if channel else [])
                break
    finally:  # also after Ctrl-C: ends everything that was started here
        if channel and channel.processes:  # mpirun puts each rank into a group of its own
            for pid in processes.below(process.pid):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
        processes.kill_group(process.pid)
    process.wait()
    if channel:
        channel.take()
    if not how and is_open:  # what was still in the pipe; a stray child may hold it open: no wait
        while len(kept) <= limits.output and (chunk := process.stdout.read(1 << 16)):
            kept += chunk
        if len(kept) > limits.output:
            how = "output"
    process.stdout.close()
    selector.close()
    if end is not None:
        os.close(end)
    text = files.printable(bytes(kept[: limits.output]).decode("utf-8", "replace"))
    code, number = process.returncode, process.pid
    if box and box.process is not None:
        number = box.process
        code = 128 - code if 128 < code < 192 else code  # of a signal: as the shell says it
    return Ended(code, how, text, time.monotonic() - started, peak, number)
