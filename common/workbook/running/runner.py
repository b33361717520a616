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
from ..base.project import cores
from .own_time import OwnTime

_MOST_PROCESSES = 64  # in a box, threads not counted
_PATIENCE = 40


@dataclass(frozen=True)
class Limits:
    """What one test case may use. `output` in bytes, `memory` in bytes of resident memory.

    The seconds are the program's own (own_time.py): what it waits for a processor that other
    programs use does not count, up to _PATIENCE times as many seconds by the clock. More processor
    time than all cores have in these seconds ends it as well.
    """

    seconds: float = float(os.environ.get("WORKBOOK_TIME_LIMIT") or 15)
    memory: int = 900 << 20
    output: int = 4 << 20
    file_size: int = 64 << 20

    @classmethod
    def on(cls, device: str) -> Limits:
        """The limits of a test case. A card's driver keeps hundreds of megabytes by itself."""
        return cls(memory=4 << 30) if device == "gpu" else cls()


@dataclass
class Ended:
    """How a process ended: `how` is '' for an ordinary exit, else time, busy (other programs left
    it no processor), memory, output or processes. `seconds` by the clock, of which it was `starved`
    so many; `used` seconds of processors.
    """

    code: int
    how: str
    output: str
    seconds: float
    peak_memory: int
    process: int = 0  # its number, by which it was known
    starved: float = 0.0
    used: float = 0.0

    @property
    def own_seconds(self) -> float:
        """Without what it waited for a processor."""
        return max(0.0, self.seconds - self.starved)

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


def _out_of_time(own: OwnTime, limits: Limits, until: Callable[[], float]) -> str:
    """`time` or `busy` once a program has to end, else ''."""
    if own.seconds > limits.seconds or own.used > limits.seconds * cores() or own.now() > until():
        return "time"
    return "busy" if own.seconds + own.starved > _PATIENCE * limits.seconds else ""


# How long a program has to say where it was; the emulated device needs a few milliseconds.
_LAST_WORDS = 0.5


def _ask_to_end(
    process: subprocess.Popen[bytes], own: OwnTime, boxed: bool, ranks: list[int]
) -> None:
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
    until = own.now() + _LAST_WORDS
    latest = time.monotonic() + _PATIENCE * _LAST_WORDS
    while own.now() < until and time.monotonic() < latest:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
            return
        own.look()


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


class _Started:
    """A program that runs: what it printed so far, what it uses, and how it has to end."""

    def __init__(
        self, process: subprocess.Popen[bytes], limits: Limits, channel: Reports | None, boxed: bool
    ) -> None:
        self.process, self._limits, self._channel, self._boxed = process, limits, channel, boxed
        self.own = OwnTime(process.pid)
        self.printed = bytearray()
        self.peak = 0
        self._ticks, self._is_open = 0, True
        assert process.stdout is not None
        self._stdout = process.stdout
        os.set_blocking(self._stdout.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        if channel:
            channel.started()
            self._selector.register(channel, selectors.EVENT_READ)
        self._end = _end_of(process.pid)
        if self._end is not None:
            self._selector.register(self._end, selectors.EVENT_READ)

    def watch(self, until: Callable[[], float]) -> str:
        """Until it ends, or has to: returns how, as Ended.how has it."""
        while True:
            self._take()
            if len(self.printed) > self._limits.output:
                return "output"
            if self.process.poll() is not None:
                return ""
            self._ticks += 1
            if how := self._uses_too_much():
                return how
            if self._ticks % 16 == 0:
                self.own.look()
            if how := _out_of_time(self.own, self._limits, until):
                self.own.look()  # what was seen last may be a while ago
                how = _out_of_time(self.own, self._limits, until)
            if how:
                ranks = self._channel.processes if self._channel else []
                _ask_to_end(self.process, self.own, self._boxed, ranks)
                return how

    def _take(self) -> None:
        """Waits a hundredth of a second for something to come, and takes it."""
        happened = [key.fileobj for key, _ in self._selector.select(0.01)]
        if self._channel in happened and not self._channel.take():
            self._selector.unregister(self._channel)
        if self._stdout in happened:
            chunk = self._stdout.read(1 << 16)
            if chunk:
                self.printed += chunk
            elif chunk == b"":
                self._is_open = False
                self._selector.unregister(self._stdout)

    def _uses_too_much(self) -> str:
        """`memory` or `processes`, else ''. In a box all that is in there is looked at."""
        if self._boxed and self._ticks % 4 == 0:
            inside = processes.below(self.process.pid)
            used = sum(map(processes.own_memory, inside))
            if len(inside) > _MOST_PROCESSES:
                return "processes"
        elif self._ticks % 16 == 0 and not self._boxed:
            used = processes.session_memory(self.process.pid)
        else:
            used = processes.own_memory(self.process.pid)
        self.peak = max(self.peak, used)
        return "memory" if used > self._limits.memory else ""

    def kill(self) -> None:
        """Ends everything that it started, ranks in groups of their own among it."""
        if self._channel and self._channel.processes:
            for pid in processes.below(self.process.pid):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
        processes.kill_group(self.process.pid)

    def close(self, how: str) -> str:
        """Takes what was still in the pipe after an ordinary end; returns how it ended after that.
        A stray child may hold the pipe open: nothing waits for it.
        """
        if self._channel:
            self._channel.take()
        while not how and self._is_open and (chunk := self._stdout.read(1 << 16)):
            self.printed += chunk
            if len(self.printed) > self._limits.output:
                how = "output"
        self._stdout.close()
        self._selector.close()
        if self._end is not None:
            os.close(self._end)
        return how


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

    `until` gives the time of the program's own clock (OwnTime.now) at which it ends at the latest,
    and may change it. What it reports over `channel` is taken meanwhile. In a box it sees only what
    is in there.
    """
    if not shutil.which(command[0]):
        raise FileNotFoundError(errno.ENOENT, "there is no such program", command[0])
    if box:
        command, folder = box.around(command), Path("/")
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
    running = _Started(process, limits, channel, box is not None and box.process is not None)
    how = ""
    try:
        how = running.watch(until)
    finally:  # also after Ctrl-C
        running.kill()
    process.wait()
    how = running.close(how)
    text = files.printable(bytes(running.printed[: limits.output]).decode("utf-8", "replace"))
    code, number = process.returncode, process.pid
    if box and box.process is not None:
        number = box.process
        code = 128 - code if 128 < code < 192 else code  # of a signal: as the shell says it
    seconds, own = time.monotonic() - started, running.own
    return Ended(code, how, text, seconds, running.peak, number, own.starved, own.used)
