# SPDX-License-Identifier: MIT
"""Verdicts come true in one way only (with a dead device in none: test_dead_device.py)."""

from __future__ import annotations

import os
import unittest
import unittest.mock
from pathlib import Path

from workbook.answers import verdicts, verdicts_proposed
from workbook.base.project import Lesson
from workbook.facts.findings import Finding
from workbook.judge import grade
from workbook.lesson.test_cases import Failure, Outcome, TestCase

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
LESSON = Lesson("00_double_all", Path(__file__).resolve().parent / "fixture")
FILE = "double_all.cu"
BY_VALUE = Outcome(True, False, 1, [Failure([], "CHECK(a == b)", "1 == 2")])
THROWN = Outcome(True, False, 1, [Failure([], exception="not today")])
NAMES = ("task 1: adds", "task 1: adds nothing", "task 2: doubles", "efficient: adds once")


def graded(*findings: Finding, **cases: object) -> grade.Grade:
    """A grade in which every case of NAMES passes, but for those named by first letters: `a`, `n`,
    `d`, `e`, with an Outcome or the word of an ending. Findings occur in `a`.
    """
    results = []
    for letter, name in zip("ande", NAMES, strict=True):
        tag = "efficient" if letter == "e" else f"task{name[5]}"
        how = cases.get(letter, Outcome(True, True, 1))
        ended = "" if isinstance(how, Outcome) else f"it {how}"
        outcome = how if isinstance(how, Outcome) else Outcome()
        found = list(findings) if letter == "a" else []
        case = TestCase(name, (tag,))
        results.append(
            grade.CaseResult(case, outcome, ended, found, ending=str(how) if ended else "")
        )
    return grade.Grade(LESSON, "emulator", results)


def finding(code: str = "race-shared", line: int = 7, file: str = FILE) -> Finding:
    return Finding({"code": code, "severity": "error", "file": f"a/{file}", "line": line})


class Judged(unittest.TestCase):
    def judge(self, lines: str, made: grade.Grade) -> str:
        """What is wrong, all of it; '' where the verdicts are what happened."""
        marks = {"here": 7, "there": 9}
        return "\n".join(verdicts.judge(verdicts.parse(lines.split("; ")), made, marks, FILE)[1])

    def assertTrueOf(self, lines: str, made: grade.Grade) -> None:
        self.assertEqual(self.judge(lines, made), "")

    def assertWrong(self, words: str, lines: str, made: grade.Grade) -> None:
        self.assertRegex(self.judge(lines, made), words)

    def test_what_its_author_is_told(self) -> None:
        told = Outcome(True, False, 1, [Failure(["the rows are swapped"], "a == b", "1 == 2")])
        lines = 'fails "task 2: doubles"; '
        self.assertTrueOf(lines + 'says "rows are swapped"', graded(d=told))
        self.assertWrong("nothing says so", lines + 'says "columns"', graded(d=told))
        self.assertTrueOf(lines + 'never-says "columns"', graded(d=told))
        self.assertWrong("said of", lines + 'never-says "rows"', graded(d=told))
        with self.assertRaises(verdicts.BadVerdict):
            verdicts.parse(['says "only words"'])  # and nothing that must happen
        with self.assertRaises(verdicts.BadVerdict):
            verdicts.parse(["fails all", "says words"])

    def test_each_way_to_fail_has_its_own_word(self) -> None:
        ways: dict[str, object] = {word: word for word in verdicts.ENDINGS}
        ways |= {"fails": BY_VALUE, "throws": THROWN}
        for happened, how in ways.items():
            for word in ways:
                made = graded(d=how)
                if word == happened:
                    self.assertTrueOf(f"{word} task 2", made)
                else:
                    self.assertWrong(
                        f'"task 2: doubles" {happened}, and no', f"{word} task 2", made
                    )

    def test_an_ending_that_is_our_own_fault_meets_no_verdict(self) -> None:
        for own in ("signal-4", "unheard-of", ""):
            made = graded(d=own)
            made.results[2].ended = "the emulated device crashed"
            for word in ("fails", "throws", *verdicts.ENDINGS):
                self.assertWrong('verdict .*"task 2: doubles"', f"{word} task 2", made)

    def test_a_failure_by_value_is_a_whole_run_without_exception(self) -> None:
        both = Outcome(True, False, 2, [*BY_VALUE.failures, *THROWN.failures])
        self.assertTrueOf("throws task 2", graded(d=both))
        self.assertWrong("throws", "fails task 2", graded(d=both))
        fatal = Outcome(True, False, 1, [Failure([], fatal="SIGILL")])
        self.assertWrong("failed-without-a-check", "fails task 2", graded(d=fatal))
        self.assertWrong("failed-without-a-check", "fails task 2", graded(d=Outcome(True, False)))

    def test_every_case_that_fails_is_named(self) -> None:
        made = graded(a=BY_VALUE, n=BY_VALUE, d=BY_VALUE, e=BY_VALUE)
        self.assertTrueOf("fails all", made)
        self.assertTrueOf('fails task 1; fails task 2; fails "eff"', made)
        self.assertWrong(
            '"efficient: adds once" fails, and no verdict', "fails task 1; fails task 2", made
        )
        self.assertWrong(
            '"task 2: doubles" passes', "fails all", graded(a=BY_VALUE, n=BY_VALUE, e=BY_VALUE)
        )
        self.assertWrong('"task 1: adds nothing" passes', "fails task 1", graded(a=BY_VALUE))

    def test_names_are_whole_or_a_start_that_only_one_has(self) -> None:
        self.assertTrueOf('fails "task 1: adds"', graded(a=BY_VALUE))
        self.assertTrueOf('fails "task 1: adds n"', graded(n=BY_VALUE))
        self.assertWrong("the start of 2 test cases", 'fails "task 1: a"', graded(a=BY_VALUE))
        self.assertWrong("no test case's name starts with", 'fails "doubles"', graded(d=BY_VALUE))
        self.assertTrueOf("fails task 2; fails efficient", graded(d=BY_VALUE, e=BY_VALUE))
        self.assertWrong("no test case belongs to task 3", "fails task 3", graded(d=BY_VALUE))

    def test_efficient_is_right_and_safe(self) -> None:
        self.assertTrueOf('efficient "efficient: adds once"', graded(e=BY_VALUE))
        self.assertWrong("does too much", 'fails "efficient: adds once"', graded(e=BY_VALUE))
        lines = 'efficient "efficient: adds once"; '
        self.assertWrong("fails", lines + "fails task 2", graded(e=BY_VALUE, d=BY_VALUE))
        made = graded(finding(), e=BY_VALUE)
        self.assertWrong("fails", lines + "finding race-shared @here", made)
        self.assertWrong("passes", 'efficient "task 2: doubles"; fails "eff"', graded(e=BY_VALUE))

    def test_every_finding_is_named_with_its_line(self) -> None:
        one, two = finding(), finding(line=9)
        self.assertTrueOf("finding race-shared @here", graded(one))
        self.assertTrueOf("finding race-shared line 7", graded(one))
        self.assertTrueOf("finding race-shared @here; finding race-shared @there", graded(one, two))
        self.assertWrong(
            "no verdict names race-shared at .*:9", "finding race-shared @here", graded(one, two)
        )
        self.assertWrong(
            "found on line 7, not on line 9", "finding race-shared @there", graded(one)
        )
        self.assertWrong("not without a line", "finding race-shared", graded(one))
        self.assertWrong(
            "there is no such finding", "finding leak; finding race-shared @here", graded(one)
        )
        self.assertWrong("no line ends with", "finding race-shared @nowhere", graded(one))

    def test_a_finding_elsewhere_has_no_line(self) -> None:
        self.assertTrueOf("finding leak", graded(finding("leak", 0)))
        self.assertTrueOf("finding leak", graded(finding("leak", 7, "device_buffer.h")))
        self.assertWrong(
            "without a line", "finding leak @here", graded(finding("leak", 7, "other.h"))
        )

    def test_a_refused_launch_is_a_finding_of_each_case_that_throws(self) -> None:
        made = graded(finding("invalid-launch"), a=THROWN)
        lines = 'finding invalid-launch @here; launch-error; throws "task 1: adds"'
        self.assertTrueOf(lines, made)
        made = graded(finding("invalid-launch"), a=THROWN, d=THROWN)
        self.assertWrong('"task 2: doubles" threw something else', lines + "; throws task 2", made)
        self.assertWrong("no exception left", "launch-error", graded(d=BY_VALUE))

    def test_maybe_allows_and_does_not_ask(self) -> None:
        lines = 'fails task 2; maybe throws "task 1: adds"; maybe finding race-shared @here'
        self.assertTrueOf(lines, graded(d=BY_VALUE))
        self.assertTrueOf(lines, graded(finding(), a=THROWN, d=BY_VALUE))
        self.assertWrong('"task 1: adds" fails', lines, graded(a=BY_VALUE, d=BY_VALUE))

    def test_one_way_or_another(self) -> None:
        for how in (BY_VALUE, "crashes"):
            self.assertTrueOf("fails|crashes task 2", graded(d=how))
        self.assertWrong('"task 2: doubles" aborts', "fails|crashes task 2", graded(d="aborts"))
        self.assertWrong('"task 2: doubles" passes', "fails|crashes task 2", graded(e=BY_VALUE))

    def test_a_right_answer_is_no_wrong_one(self) -> None:
        self.assertWrong("got all three grades", "fails task 2", graded())

    def test_what_the_grammar_does_not_know(self) -> None:
        for line in (
            "fails", "fails| task 2", "fails|finding task 2", "fail task 2", "fails task two",
            "fails everything", 'fails "a',
            "finding Race", "finding race here", "finding race @", "finding race line 0",
            "compile-error now", "limit 5", "limit 5 s", "maybe launch-error",
            "maybe limit 5 seconds", "internal-error all",
        ):  # fmt: skip
            with self.assertRaises(verdicts.BadVerdict, msg=line):
                verdicts.parse(["fails all", line])
        for lines in ([], ["maybe fails all"], ["limit 5 seconds"], ["compile-error", "fails all"]):
            with self.assertRaises(verdicts.BadVerdict, msg=str(lines)):
                verdicts.parse(lines)


class Proposed(unittest.TestCase):
    def test_what_is_proposed_is_what_happened(self) -> None:
        for made in (
            graded(e=BY_VALUE),
            graded(a=BY_VALUE, n=BY_VALUE, d="crashes"),
            graded(finding(), finding("leak", 0), finding("leak", 12), d=THROWN, e="floods"),
            graded(finding("invalid-launch"), a=THROWN),
            graded(a="times-out", n="times-out", d="times-out", e="times-out"),
        ):
            wanted, marks = verdicts_proposed.propose(made, {"here": 7}, FILE)
            again = verdicts.parse(str(wanted).splitlines())
            self.assertEqual(verdicts.judge(again, made, marks, FILE)[1], [], str(wanted))

    def test_short_forms(self) -> None:
        made = graded(finding(line=12), a=BY_VALUE, n=BY_VALUE)
        wanted, marks = verdicts_proposed.propose(made, {"here": 7}, FILE)
        self.assertEqual(str(wanted), "finding race-shared @here2\nfails task 1")
        self.assertEqual(marks, {"here": 7, "here2": 12})

    def test_a_long_name_is_cut_where_no_other_starts_so(self) -> None:
        long = "task 1: " + "sums the elements of every list " * 3
        cases = [TestCase(long + end, ("task1",)) for end in ("when all are there", "if none is")]
        for case in cases:
            short = verdicts_proposed.short_name(case, cases)
            self.assertLess(len(short), len(case.name))
            self.assertEqual(verdicts.named_cases(f'"{short}"', cases), [case])


if __name__ == "__main__":
    unittest.main()
