# SPDX-License-Identifier: MIT
"""What a program reports over its socket, and what the grader makes of records that do not fit."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path

from workbook.base import files
from workbook.base.project import ROOT, Lesson
from workbook.lesson.test_cases import TestCase, cases_of
from workbook.running import runner
from workbook.running.case_run import run_case
from workbook.running.channel import Channel, Told

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
LESSON = Lesson("00_double_all", Path(__file__).resolve().parent / "fixture")
PROGRAM = BUILD / "lessons" / "solution_00_double_all"
CASE = TestCase("task 1: adds, [n]", ("task1",))
WHOLE = [
    {"event": "device"},
    {"event": "case", "name": CASE.name, "passed": 5, "failed": 0, "begun": 2, "ended": 2},
    {"event": "run"},
    {"event": "end"},
    {"event": "device-end", "findings": 0, "launches": 3},
]
FAILURE = {
    "event": "failure", "line": 9, "infos": ["n := 33", "element 0: got nan, want 3"],
    "expression": "text.empty()", "expansion": "false",
}  # fmt: skip
WORKS = 77  # a process that is none


class Program:
    """The other end: what common/harness/grader does."""

    def __init__(self, channel: Channel) -> None:
        self._socket = channel.theirs
        settings = self._socket.recv(4096)
        self.token, self.settings = settings[:16], settings[16:].decode()

    def send(self, record: object, process: int = WORKS, token: bytes | None = None) -> None:
        text = record if isinstance(record, bytes) else json.dumps(record).encode()
        head = (self.token if token is None else token) + process.to_bytes(4, "little")
        self._socket.send(head + text)


@contextlib.contextmanager
def open_channel() -> Iterator[tuple[Channel, Program]]:
    with contextlib.closing(Channel("emulator", CASE)) as channel:
        yield channel, Program(channel)


def told(*records: object, process: int = WORKS) -> Told:
    with open_channel() as (channel, program):
        for record in records:
            program.send(record, process)
        channel.take()
        return channel.told(WORKS)


class Records(unittest.TestCase):
    def test_the_settings_are_a_token_the_device_and_the_case(self) -> None:
        with open_channel() as (_, one), open_channel() as (_, other):
            self.assertEqual(one.settings, "emulator\ntask 1: adds\\, \\[n\\]")
            self.assertNotEqual(one.token, other.token)

    def test_a_whole_report(self) -> None:
        result = told(*WHOLE)
        self.assertTrue(result.outcome.complete and result.outcome.success)
        self.assertEqual(result.outcome.assertions, 5)
        self.assertTrue(result.program_ended and result.device_began and result.device_ended)
        self.assertEqual((result.tampered, result.lost, result.findings), ("", False, []))

    def test_a_failure_stays_whatever_follows(self) -> None:
        result = told(WHOLE[0], FAILURE, *WHOLE[1:])
        self.assertTrue(result.outcome.complete)
        self.assertFalse(result.outcome.success)
        (failure,) = result.outcome.failures
        self.assertEqual((failure.infos[0], failure.line), ("n := 33", 9))

    def test_what_was_thrown_and_what_ended_it(self) -> None:
        thrown = {**FAILURE, "expression": "", "exception": " "}
        fatal = {**FAILURE, "fatal": "SIGSEGV - Segmentation violation signal"}
        explicit = {**FAILURE, "expression": "", "failure": ""}
        first, second, third = told(thrown, fatal, explicit).outcome.failures
        self.assertEqual(first.exception, "an exception")
        self.assertIn("SIGSEGV", second.fatal)
        self.assertEqual(third.expression, "FAIL()")

    def test_what_a_check_of_counters_compares(self) -> None:
        compared = {"left": ["*", 4, "blocks"], "relation": ">=", "right": 9, "got": 8, "want": 9}
        with_names, without = told({**FAILURE, "compared": compared}, FAILURE).outcome.failures
        self.assertEqual((with_names.compared, without.compared), (compared, None))

    def test_less_than_a_whole_report_is_no_success(self) -> None:
        for left_out in range(len(WHOLE)):
            result = told(*WHOLE[:left_out], *WHOLE[left_out + 1 :])
            ends = result.program_ended and result.device_began and result.device_ended
            self.assertFalse(result.outcome.complete and ends, WHOLE[left_out])

    def test_another_case_or_two_are_not_complete(self) -> None:
        other = {**WHOLE[1], "name": "task 2"}
        self.assertFalse(told(WHOLE[0], other, *WHOLE[2:]).outcome.complete)
        self.assertFalse(told(*WHOLE[:2], WHOLE[1], *WHOLE[2:]).outcome.complete)

    def test_a_record_without_the_token_was_made_by_somebody_else(self) -> None:
        with open_channel() as (channel, program):
            for record in WHOLE:
                program.send(record, token=bytes(16))
            channel.take()
            result = channel.told(WORKS)
        self.assertFalse(result.outcome.complete)
        self.assertIn("channel", result.tampered)

    def test_of_other_processes_only_findings_count(self) -> None:
        found = {"event": "finding", "index": 0, "finding": {"code": "race-shared"}}
        result = told(*WHOLE, found, process=WORKS + 1)
        self.assertFalse(result.outcome.complete or result.program_ended)
        self.assertEqual([one.code for one in result.findings], ["race-shared"])

    def test_a_finding_that_grows_is_one(self) -> None:
        records = [
            {"event": "finding", "index": index, "finding": {"code": code, "count": count}}
            for index, code, count in ((0, "leak", 1), (1, "hang", 1), (0, "leak", 9))
        ]
        found = told(*records).findings
        self.assertEqual([(f.code, f.data["count"]) for f in found], [("leak", 9), ("hang", 1)])

    def test_a_body_that_is_left_early_without_a_failure(self) -> None:
        early = {**WHOLE[1], "ended": 1}
        self.assertIn("Catch2", told(WHOLE[0], early, *WHOLE[2:]).tampered)
        none = {**WHOLE[1], "begun": 0, "ended": 0}
        self.assertIn("Catch2", told(WHOLE[0], none, *WHOLE[2:]).tampered)
        failed = {**early, "failed": 1}
        self.assertEqual(told(WHOLE[0], FAILURE, failed, *WHOLE[2:]).tampered, "")

    def test_what_is_lost_is_told(self) -> None:
        self.assertTrue(told({"event": "lost"}, *WHOLE).lost)
        self.assertTrue(told(b"{", *WHOLE).lost)

    def test_the_whole_is_bounded(self) -> None:
        with open_channel() as (channel, program):
            text = b" " * (100 << 10)
            for _ in range(files.REPORT_BYTES // len(text) + 1):
                program.send(text)
                channel.take()
            self.assertTrue(channel.told(WORKS).lost)

    def test_text_is_as_a_terminal_may_show_it(self) -> None:
        result = told(
            {**FAILURE, "infos": ["\x1b[2Ja\x07"]}, {"event": "warning", "text": "\x9bw "}
        )
        self.assertEqual(result.outcome.failures[0].infos, ["a?"])
        self.assertEqual(result.outcome.warnings, ["?w"])


class Programs(unittest.TestCase):
    def test_a_process_that_closes_its_end_does_not_keep_the_grader_busy(self) -> None:
        with contextlib.closing(Channel("emulator", CASE)) as channel:
            code = "import os, time; os.closerange(3, 99); time.sleep(0.3)"
            before = os.times()
            ended = runner.run([sys.executable, "-c", code], dict(os.environ), ROOT,
                               channel=channel)  # fmt: skip
            used = os.times().user - before.user + os.times().system - before.system
        self.assertEqual(ended.code, 0)
        self.assertLess(used, 0.25)

    def test_one_that_is_started_by_hand_is_an_ordinary_catch2_program(self) -> None:
        env = dict(os.environ, LD_LIBRARY_PATH=str(BUILD / "emulator"))
        done = subprocess.run([str(PROGRAM)], env=env, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"All tests passed|test cases")

    def test_one_that_gets_no_settings_stops(self) -> None:
        for value in ("3", "99", "x"):
            env = dict(os.environ, LD_LIBRARY_PATH=str(BUILD / "emulator"), WORKBOOK_GRADER=value)
            done = subprocess.run([str(PROGRAM)], env=env, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 87)

    def test_each_case_of_a_right_program_is_whole(self) -> None:
        for case in cases_of(LESSON):
            result = run_case(PROGRAM, case, "emulator", BUILD)
            self.assertTrue(result.passed, (case.name, result.ended))

    def test_on_a_card_there_is_no_report_of_the_device(self) -> None:
        # The emulated device stands in for the card: it does not know that it is graded.
        cases = [c for c in cases_of(LESSON) if not c.efficient]
        self.assertTrue(all(run_case(PROGRAM, c, "gpu", BUILD).passed for c in cases))

    def test_both_sides_know_the_same_exit_codes(self) -> None:
        def codes(path: str, pattern: str) -> list[str]:
            return re.findall(pattern, (ROOT / path).read_text(encoding="utf-8"))

        ours = codes(
            "common/workbook/running/case_run.py", r"_EXIT_CALLED, _TAMPERED = (\d+), (\d+)"
        )[0]
        self.assertEqual([ours[0]], codes("common/harness/grader/main.cpp", r"kExitCalled = (\d+)"))
        theirs = codes("common/harness/grader/channel.cpp", r"kTampered = (\d+)")
        self.assertEqual([ours[1]], theirs)
        # 87 failed checks are not 87, the code of a program that tampers with the grading.
        ended = codes("common/harness/grader/main.cpp", r"    return (failed.*);")
        self.assertEqual(ended, ["failed == 0 ? 0 : 1"])


if __name__ == "__main__":
    unittest.main()
