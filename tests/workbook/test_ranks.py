# SPDX-License-Identifier: MIT
"""Test cases of several ranks: how they connect to the grader, and which one is to blame.

The ranks here are children of this process that do what common/harness/grader does.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import sys
import tempfile
import time
import unittest
import warnings
from collections.abc import Callable
from pathlib import Path
from unittest import mock

from workbook.base.project import WorkbookError
from workbook.lesson.test_cases import TestCase, case_bodies
from workbook.running import ranks, runner

CASE = TestCase("task 1: adds", ("task1", "ranks:3"))
FINDING = {"code": "race-global", "severity": "error", "file": "a.cu", "line": 7, "message": "m"}


class Rank:
    """One rank's end of its connection."""

    def __init__(self, path: str, rank: int) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.connect(path)
        self._socket.send(struct.pack("ii", rank, os.getpid()))
        self._token = self._socket.recv(4096)[:16]

    def tell(self, **record: object) -> None:
        head = self._token + struct.pack("i", os.getpid())
        self._socket.send(head + json.dumps(record).encode())

    def fail(self, **more: object) -> None:
        self.tell(event="failure", line=3, infos=[], expression="a == b", **more)

    def end(self, failed: int = 0) -> None:
        self.tell(event="device")
        self.tell(
            event="case", name=CASE.name, passed=1, failed=failed, begun=1, ended=1
        )  # fmt: skip
        self.tell(event="run")
        self.tell(event="end")
        self.tell(event="device-end")

    def finding(self) -> None:
        self.tell(event="finding", index=0, finding=FINDING)


Work = Callable[[str], None]


def as_rank(number: int, work: Callable[[Rank], None]) -> Work:
    return lambda path: work(Rank(path, number))


def run(
    *works: Work, count: int = 3, code: int = 0, how: str = ""
) -> tuple[ranks.Blamed, list[str]]:
    """Lets the children run one after another, as far as they can; what comes of it."""
    with tempfile.TemporaryDirectory() as folder:
        channels = ranks.RankChannels("emulator", CASE, count, Path(folder))
        children = []
        for work in works:
            child = os.fork()
            if child == 0:
                warnings.simplefilter("ignore")  # sockets are closed by its end
                status = 1
                try:
                    work(channels.address)
                    status = 0
                except OSError:
                    status = 2
                finally:
                    os._exit(status)
            children.append(child)
            until = time.monotonic() + 20
            while os.waitpid(child, os.WNOHANG)[0] == 0 and time.monotonic() < until:
                channels.take()
                time.sleep(0.002)
        channels.take()
        ended = runner.Ended(code, how, "", 1.0, 0)
        found = ranks.blame(ended, channels), ranks.where_they_wait(channels)
        channels.close()
        return found


def good(number: int) -> Work:
    return as_rank(number, lambda rank: rank.end())


class Tags(unittest.TestCase):
    def test_numbers_of_ranks(self) -> None:
        self.assertEqual(TestCase("a", ("task1", "ranks:1,2,7")).ranks, (1, 2, 7))

    def test_an_ordinary_case_has_none(self) -> None:
        self.assertEqual(TestCase("a", ("task1", "ranks")).ranks, ())

    def test_they_are_read_from_the_source(self) -> None:
        [(case, _)] = case_bodies('TEST_CASE("a", "[task1][ranks:3,4]") {}\n')
        self.assertEqual(case.ranks, (3, 4))


class Reports(unittest.TestCase):
    def test_all_pass(self) -> None:
        blamed, _ = run(good(2), good(0), good(1))
        self.assertTrue(blamed.told.outcome.success)
        self.assertTrue(blamed.told.program_ended and blamed.told.device_ended)
        self.assertEqual(blamed.ended.code, 0)

    def test_the_rank_with_wrong_values_is_blamed(self) -> None:
        def wrong(rank: Rank) -> None:
            rank.fail()
            rank.end(failed=1)

        blamed, _ = run(good(0), as_rank(1, wrong), as_rank(2, wrong))
        self.assertEqual(blamed.rank, 1)
        self.assertEqual(blamed.told.outcome.failures[0].infos[0], "ranks := 1 and 2 of 3")

    def test_the_one_that_ended_first_is_blamed(self) -> None:
        silent = as_rank(2, lambda rank: None)

        def ended_by_mpirun(rank: Rank) -> None:
            rank.fail(fatal="SIGTERM - Termination request signal")

        blamed, _ = run(silent, as_rank(0, ended_by_mpirun), as_rank(1, ended_by_mpirun), code=3)
        self.assertEqual(blamed.rank, 2)
        self.assertEqual(blamed.ended.code, 3)
        self.assertEqual(blamed.told.outcome.failures, [])

    def test_a_signal_is_known_by_the_code_of_mpirun(self) -> None:
        blamed, _ = run(as_rank(0, lambda rank: None), count=1, code=139)
        self.assertEqual(blamed.ended.code, -11)

    def test_a_finding_names_its_ranks(self) -> None:
        def unsafe(rank: Rank) -> None:
            rank.finding()
            rank.end()

        blamed, _ = run(good(0), as_rank(1, unsafe), as_rank(2, unsafe))
        self.assertEqual(len(blamed.told.findings), 1)
        self.assertEqual(blamed.told.findings[0].notes(), ["found on ranks 1 and 2 of 3"])

    def test_where_they_wait(self) -> None:
        def waits(rank: Rank) -> None:
            rank.tell(event="waits", call="MPI_Recv", on="x", file="a.cu", line=3)
            rank.tell(event="goes-on")
            rank.tell(
                event="waits", call="MPI_Recv", on="a message from rank 2", file="a.cu", line=9
            )

        _, words = run(as_rank(0, waits), good(1), as_rank(2, lambda rank: None), how="time")
        self.assertEqual(
            words,
            [
                "rank 0 waits in MPI_Recv (a.cu:9) for a message from rank 2",
                "rank 1 has finished",
                "rank 2 does not wait in a call of MPI",
            ],
        )


class Starting(unittest.TestCase):
    def test_a_run_has_its_own_folder(self) -> None:
        # Two runs that end and begin at the same moment would remove each other's.
        with mock.patch("shutil.which", lambda name: name):
            words = ranks.command(1, ["program"], [{}], Path("scratch"))
        at = words.index("orte_tmpdir_base")
        self.assertEqual(words[at - 1 : at + 2], ["--mca", "orte_tmpdir_base", "scratch"])

    def test_where_mpirun_starts_none_the_file_is_not_blamed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            channels = ranks.RankChannels("emulator", CASE, 2, Path(folder))
            with contextlib.closing(channels):
                ended = runner.Ended(1, "", "ORTE_ERROR_LOG: Error in file session_dir.c", 0.1, 0)
                with self.assertRaises(WorkbookError) as raised:
                    ranks.stop_if_none_started(ended, channels)
        self.assertIn("not your file's fault\n  mpirun: ORTE_ERROR_LOG", str(raised.exception))

    def test_a_rank_that_has_started_may_be_at_fault(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            channels = ranks.RankChannels("emulator", CASE, 2, Path(folder))
            with (
                contextlib.closing(channels),
                socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as rank,
            ):
                rank.connect(channels.address)
                channels.take()
                ended = runner.Ended(1, "", "", 0.1, 0)
                self.assertIsNone(ranks.stop_if_none_started(ended, channels))


class Strangers(unittest.TestCase):
    def test_a_rank_that_there_is_already(self) -> None:
        blamed, _ = run(good(0), good(0), good(1))
        self.assertIn("as another rank", blamed.told.tampered)

    def test_a_rank_that_there_is_not(self) -> None:
        blamed, _ = run(good(0), good(3), good(1))
        self.assertIn("as another rank", blamed.told.tampered)

    def test_a_process_connects_twice(self) -> None:
        def twice(path: str) -> None:
            Rank(path, 1).end()
            other = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            other.connect(path)
            time.sleep(0.2)

        blamed, _ = run(good(0), twice, good(2))
        self.assertIn("second time", blamed.told.tampered)

    def test_nobody_connects_after_the_last_rank(self) -> None:
        blamed, _ = run(good(0), good(1), good(2), good(1))
        self.assertEqual(blamed.told.tampered, "")
        self.assertTrue(blamed.told.outcome.success)

    def test_a_record_without_the_token(self) -> None:
        def forged(rank: Rank) -> None:
            rank._token = bytes(16)
            rank.end()

        blamed, _ = run(good(0), as_rank(1, forged), good(2))
        self.assertIn("the grader's own channel", blamed.told.tampered)


if __name__ == "__main__":
    sys.exit(unittest.main())
