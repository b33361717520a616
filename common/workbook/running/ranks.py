# SPDX-License-Identifier: MIT
"""Test cases that mpirun starts in several processes, the ranks: [ranks:1,2,7] in their tags.

Each rank has a socket of its own to the grader, and reports like a program that is alone. mpirun
passes no open files on, so a rank connects to a path, before the student's code runs; it says which
rank it is, and is given its settings and a token. As soon as all have connected, nothing can any
more: the path is gone. One of the ranks' results is that of the case: that of the one to blame.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import select
import shutil
import signal
import socket
import struct
from pathlib import Path

from ..base.project import WorkbookError
from ..facts.findings import Finding
from ..lesson.test_cases import Failure, TestCase
from . import runner
from .channel import Channel, Told

_HELLO = struct.Struct("ii")  # the rank and its process, as common/harness/grader/channel.cpp sends
_PEER = struct.Struct("iii")  # SO_PEERCRED of socket(7)

# Open MPI within one machine: shared memory, no network beyond loopback, no other machines. Cores
# are shared, signals are left to the device, and the C library's code is left as it is.
_OPTIONS = {
    "btl": "self,vader",
    "btl_vader_single_copy_mechanism": "none",  # the others would read this process's memory
    "pml": "ob1",
    "plm": "isolated",
    "oob_tcp_if_include": "lo",
    "memory": "^patcher",
    "osc": "^ucx",  # UCX changes the C library's code, too
    "mpi_yield_when_idle": "1",
    "opal_signal": "6",  # only that of abort(), after which nothing follows
    "orte_abort_print_stack": "0",
    "mpi_abort_print_stack": "0",
}


def command(
    ranks: int,
    program: list[str],
    settings: list[dict[str, str]],
    folder: Path | None = None,
    mpi: Path | None = None,
) -> list[str]:
    """The command line that starts `program` in so many ranks, with variables for each of them.

    mpirun's own files lie in `folder`. By default all runs of a user share one, which the run that
    ends first removes, also where another one is about to begin there. `mpi`: the folder of an
    Open MPI that passes data between cards, to be used in place of the system's.
    """
    mpirun = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    mpirun = str(mpi / "bin" / "mpirun") if mpi else mpirun
    if not mpirun:
        raise WorkbookError(
            "this test runs in several processes, and mpirun is not installed",
            "sudo apt-get install openmpi-bin",
        )
    words = [mpirun, "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--quiet"]
    own = {"orte_tmpdir_base": str(folder)} if folder else {}
    between_cards = {"btl": "self,smcuda"} if mpi else {}
    for name, value in {**_OPTIONS, **between_cards, **own}.items():
        words += ["--mca", name, value]
    for rank in range(ranks):
        variables = [f"{name}={value}" for name, value in settings[rank].items()]
        words += [":"] * (rank > 0) + ["-np", "1", "env", *variables, *program]
    return words


class RankChannels:
    """The sockets of all ranks of one run; close() it. What runner.run needs is as Channel has."""

    def __init__(self, device: str, case: TestCase, ranks: int, folder: Path) -> None:
        self._device, self._case, self._count = device, case, ranks
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.path = folder / "grader"
        self._listener.bind(str(self.path))
        self.path.chmod(0o666)  # in a box they run as another user
        self._listener.listen(ranks)
        self._listener.setblocking(False)
        self._poll = select.epoll()
        self._poll.register(self._listener, select.EPOLLIN)
        self._greeting: list[tuple[socket.socket, int]] = []
        self._ranks: dict[int, tuple[Channel, int]] = {}  # by rank: also its process's own number
        self._open: dict[int, int] = {}  # ranks by the number of their socket
        self._outside: list[int] = []
        self.ended: list[int] = []  # ranks in the order in which they ended
        self._tampered = ""

    def fileno(self) -> int:
        """For a selector."""
        return self._poll.fileno()

    def close(self) -> None:
        for channel, _ in self._ranks.values():
            channel.close()
        for connection, _ in self._greeting:
            connection.close()
        self._poll.close()
        self._stop_listening()

    @property
    def inherited(self) -> tuple[int, ...]:
        return ()

    @property
    def address(self) -> str:
        return str(self.path)

    @property
    def processes(self) -> list[int]:
        return self._outside

    def started(self) -> None:
        """mpirun has been started."""

    def _stop_listening(self) -> None:
        self._listener.close()
        with contextlib.suppress(OSError):
            self.path.unlink()

    def take(self) -> bool:
        """Takes what has arrived."""
        self._accept()
        for connection, process in list(self._greeting):
            self._greet(connection, process)
        for number, rank in list(self._open.items()):
            channel = self._ranks[rank][0]
            if not channel.take():
                self._poll.unregister(number)
                del self._open[number]
                self.ended.append(rank)
        return True

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _PEER.size)
                process = _PEER.unpack(peer)[0]
                if process in self._outside:
                    self._tampered = "connected to the grader a second time"
                    connection.close()
                    continue
                self._outside.append(process)
                connection.setblocking(False)
                self._greeting.append((connection, process))
                self._poll.register(connection, select.EPOLLIN)

    def _greet(self, connection: socket.socket, process: int) -> None:
        try:
            said = connection.recv(_HELLO.size)
        except BlockingIOError:
            return
        except OSError:
            said = b""
        self._greeting.remove((connection, process))
        rank, own = _HELLO.unpack(said) if len(said) == _HELLO.size else (-1, 0)
        if rank not in range(self._count) or rank in self._ranks:
            self._tampered = self._tampered or "connected to the grader as another rank"
            self._poll.unregister(connection)
            connection.close()
            return
        self._ranks[rank] = (Channel(self._device, self._case, connection), own)
        self._open[connection.fileno()] = rank
        if len(self._ranks) == self._count:
            self._poll.unregister(self._listener)
            self._stop_listening()

    def told(self) -> list[Told]:
        """What each rank has reported."""
        found = []
        for rank in range(self._count):
            channel, own = self._ranks.get(rank, (None, 0))
            found.append(channel.told(own) if channel else Told())
        if self._tampered and found:
            found[0].tampered = found[0].tampered or self._tampered
        return found


@dataclasses.dataclass
class Blamed:
    """The rank whose result is the case's."""

    rank: int
    told: Told
    ended: runner.Ended


def stop_if_none_started(ended: runner.Ended, channels: RankChannels) -> None:
    """Raises WorkbookError where mpirun gave up. A rank connects before any code of the student's
    runs, so what happens earlier is not the file's fault.
    """
    if channels.processes or ended.how:
        return
    said = [line for line in ended.output.splitlines() if line.strip(" -")]
    raise WorkbookError(
        f"mpirun ended with code {ended.code} and started no rank, which is not your file's fault"
        + "".join(f"\n  mpirun: {line}" for line in said[:6]),
        "run it again; if it stays, Open MPI itself does not work here",
    )


def blame(ended: runner.Ended, channels: RankChannels) -> Blamed:
    """Which rank's report is the case's, with the findings of all and how this one ended.

    A rank that fails ends the others: mpirun stops them as soon as it is gone.
    """
    told = channels.told()
    complete = [one.program_ended and one.outcome.complete for one in told]
    failed = [
        rank for rank, one in enumerate(told)
        if any(not _stopped(failure) for failure in one.outcome.failures)
    ]  # fmt: skip
    # One that has failed may have been stopped before its end, because another one has failed too.
    failed.sort(key=lambda rank: not complete[rank])
    broken = [rank for rank in channels.ended if not complete[rank]]
    broken += [rank for rank in range(len(told)) if not complete[rank] and rank not in broken]
    lost = [rank for rank, one in enumerate(told) if not one.device_ended]
    tampered = [rank for rank, one in enumerate(told) if one.tampered]
    found = [rank for rank, one in enumerate(told) if one.findings]
    rank = (*tampered, *failed, *broken, *lost, *found, 0)[0]
    own = told[rank]
    if rank in failed and own.outcome.complete:
        own.program_ended = own.device_ended = own.device_began = True
    own.outcome.failures = [f for f in own.outcome.failures if len(told) == 1 or not _stopped(f)]
    where = _listed(sorted(failed)) if rank in failed else str(rank)
    for failure in own.outcome.failures:
        if len(told) > 1:
            several = "ranks" if rank in failed and len(failed) > 1 else "rank"
            failure.infos.insert(0, f"{several} := {where} of {len(told)}")
    own.findings = _of_all(told)
    own.rank = rank
    code = 0 if complete[rank] else _code(ended.code)
    return Blamed(rank, own, dataclasses.replace(ended, code=code))


def _stopped(failure: Failure) -> bool:
    """Whether mpirun has ended the process, or the grader: Catch2 tells of it as of a crash."""
    return failure.fatal.startswith("SIGTERM")


def _code(code: int) -> int:
    """mpirun's, which is that of the first rank to fail: of a signal as the shell says it."""
    return 128 - code if 128 < code < 192 and code != 128 + signal.SIGKILL else code


def _listed(ranks: list[int]) -> str:
    words = [str(rank) for rank in ranks]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _of_all(told: list[Told]) -> list[Finding]:
    """The findings of all ranks. One that several ranks have is listed once, with their numbers."""
    merged: dict[tuple[object, ...], tuple[Finding, list[int]]] = {}
    for rank, one in enumerate(told):
        for finding in one.findings:
            _, ranks = merged.setdefault((finding.line, *finding.key), (finding, []))
            if rank not in ranks:
                ranks.append(rank)
    for finding, ranks in merged.values():
        several = "ranks" if len(ranks) > 1 else "rank"
        note = f"found on {several} {_listed(ranks)} of {len(told)}"
        if len(told) > 1:
            finding.data["notes"] = [*finding.notes(), note]
        finding.data["ranks"] = ranks
    return [finding for finding, _ in merged.values()]


def where_they_wait(channels: RankChannels) -> list[str]:
    """Which rank waits where, for a run that did not finish."""
    lines = []
    for rank, one in enumerate(channels.told()):
        if waits := one.waits:
            line = int(waits.get("line") or 0)
            place = f" ({Path(str(waits.get('file'))).name}:{line})" if line else ""
            lines.append(f"rank {rank} waits in {waits['call']}{place} for {waits['on']}")
        elif one.program_ended:
            lines.append(f"rank {rank} has finished")
        else:
            lines.append(f"rank {rank} does not wait in a call of MPI")
    return lines


def details_of(folder: Path, rank: int) -> Path:
    """The file for a rank's own details."""
    return folder / f"details.{rank}"


def settings(folder: Path, ranks: int, trace: Path | None) -> list[dict[str, str]]:
    """The variables that differ between ranks. Only the first one records what it touches."""
    found = []
    for rank in range(ranks):
        own = {
            "WORKBOOK_DETAILS": str(details_of(folder, rank)),
            "HWLOC_HIDE_ERRORS": "2",  # a box has no /sys
            "UCX_MEM_MMAP_HOOK_MODE": "none",
        }
        if trace and rank == 0:
            own["EMULATOR_TRACE"] = str(trace)
        found.append(own)
    return found


def prepare(folder: Path, ranks: int) -> tuple[Path, ...]:
    """Makes each rank's file anew and empty; returns them."""
    files = tuple(details_of(folder, rank) for rank in range(ranks))
    for path in files:
        with contextlib.suppress(OSError):
            os.unlink(path)
        path.touch()
    return files
