# SPDX-License-Identifier: MIT
"""The grader's end of the socket over which a lesson's program reports (common/harness/grader).

Records arrive while the program runs, and stay here whatever it does later. Each carries a token
that only this run of the program was given; a record without it was made by somebody else.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import socket
from dataclasses import dataclass, field
from typing import Any

from ..base import files
from ..facts.findings import Finding, finding_of, printable
from ..lesson.test_cases import Failure, Outcome, TestCase

_TOKEN = 16  # bytes
_LARGEST = 1 << 20  # of one record: more than a socket takes


@dataclass
class Told:
    """What a run has reported. `tampered` completes "your code ...", and '' is no tampering."""

    outcome: Outcome = field(default_factory=Outcome)
    findings: list[Finding] = field(default_factory=list)
    tampered: str = ""
    lost: bool = False  # a record is missing
    waits: dict[str, Any] | None = None  # the MPI call that it was waiting in at the end
    waiting: list[str] = field(default_factory=list)  # where each of several ranks was
    rank: int | None = None  # the one of several that this is
    program_ended: bool = False  # main reached its end
    device_began: bool = False
    device_ended: bool = False


class Channel:
    """One run's socket; close() it."""

    def __init__(self, device: str, case: TestCase, connected: socket.socket | None = None) -> None:
        """`device`: emulator, gpu, or imitated: the emulator on a processor that is imitated.
        `connected`: our end, where the program has connected itself.
        """
        if connected:
            self._ours, self.theirs = connected, None
        else:
            self._ours, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._token = secrets.token_bytes(_TOKEN)
        self._case = case
        self._records: list[tuple[int, bytes]] = []
        self._bytes = 0
        self._foreign = self._too_much = False
        self._ours.send(self._token + f"{device}\n{case.spec}".encode())
        self._ours.shutdown(socket.SHUT_WR)
        self._ours.setblocking(False)

    def fileno(self) -> int:
        """For a selector."""
        return self._ours.fileno()

    def close(self) -> None:
        self._ours.close()
        self.started()

    @property
    def inherited(self) -> tuple[int, ...]:
        """The files that the program gets."""
        return (self.theirs.fileno(),) if self.theirs else ()

    @property
    def address(self) -> str:
        """What the program finds it by."""
        return str(self.inherited[0])

    @property
    def processes(self) -> list[int]:
        """Those that report, where the program that was started is not the one."""
        return []

    def started(self) -> None:
        """The program has been started and has its own end."""
        if self.theirs:
            self.theirs.close()

    def take(self) -> bool:
        """Takes what has arrived; False once nothing more can come."""
        with contextlib.suppress(BlockingIOError, InterruptedError):
            while True:
                try:
                    record = self._ours.recv(_LARGEST)
                except ConnectionError:
                    return False
                if not record:
                    return False
                self._bytes += len(record)
                if self._bytes > files.REPORT_BYTES:
                    self._too_much = True
                elif secrets.compare_digest(record[:_TOKEN], self._token):
                    process = int.from_bytes(record[_TOKEN : _TOKEN + 4], "little")
                    self._records.append((process, record[_TOKEN + 4 :]))
                else:
                    self._foreign = True
        return True

    def told(self, process: int) -> Told:
        """All of it; of other processes than `process` only what the device found counts."""
        told = Told(lost=self._too_much)
        found: dict[tuple[int, int], Finding] = {}
        cases: list[dict[str, Any]] = []
        run_ended = False
        for sender, text in self._records:
            try:
                record = printable(json.loads(text.decode("utf-8", "replace")))
            except ValueError:
                told.lost = True
                continue
            event = record.get("event")
            if event == "finding":
                found[sender, int(record["index"])] = finding_of(record["finding"])
            elif event == "tampered":
                told.tampered = told.tampered or str(record["what"])
            elif sender != process:
                continue
            elif event == "failure":
                told.outcome.failures.append(_failure(record))
            elif event == "waits":
                told.waits = record
            elif event == "goes-on":
                told.waits = None
            elif event == "warning":
                told.outcome.warnings.append(record["text"].strip())
            elif event == "case":
                cases.append(record)
            elif event == "run":
                run_ended = True
            elif event == "end":
                told.program_ended = True
            elif event == "device":
                told.device_began = True
            elif event == "device-end":
                told.device_ended = True
            else:
                told.lost = True
        told.findings = list(found.values())
        if self._foreign:
            told.tampered = told.tampered or "wrote to the grader's own channel"
        if run_ended and len(cases) == 1 and cases[0]["name"] == self._case.name:
            self._conclude(cases[0], told)
        return told

    @staticmethod
    def _conclude(case: dict[str, Any], told: Told) -> None:
        outcome = told.outcome
        outcome.complete = True
        failed = int(case["failed"])
        outcome.assertions = failed + int(case["passed"])
        outcome.success = failed == 0 and not outcome.failures
        # Only an exception leaves a body early, and Catch2 counts each as a failure but its own.
        if outcome.success and (case["begun"] == 0 or case["begun"] != case["ended"]):
            told.tampered = told.tampered or "ended the test with an exception of Catch2's"


def _failure(record: dict[str, Any]) -> Failure:
    expression = record["expression"].strip()
    exception, fatal = record.get("exception"), record.get("fatal")
    if not expression and "failure" in record:
        expression = record["failure"].strip() or "FAIL()"
    return Failure(
        infos=[info.strip() for info in record["infos"]],
        expression=expression,
        expansion=record.get("expansion", "").strip(),
        exception="" if exception is None else exception.strip() or "an exception",
        fatal="" if fatal is None else fatal.strip() or "a fatal error",
        line=int(record["line"]),
        compared=record.get("compared"),
    )
