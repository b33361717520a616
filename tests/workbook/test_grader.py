# SPDX-License-Identifier: MIT
"""The grader's parts: names from sources, Catch2's reports, limits, findings, the diagnosis."""

from __future__ import annotations

import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from rich.console import Console

from workbook import diagnose
from workbook.base import processes
from workbook.base.project import ROOT, Lesson, WorkbookError
from workbook.facts import findings
from workbook.facts.findings import Finding
from workbook.judge import grade
from workbook.lesson import test_cases
from workbook.lesson.test_cases import Failure, Outcome, TestCase
from workbook.pictures import picture
from workbook.running import runner
from workbook.show import grade_screen

FIXTURE = Path(__file__).resolve().parent / "fixture"


class Names(unittest.TestCase):
    def cases(self, text: str) -> list[TestCase]:
        return [case for case, _ in test_cases.case_bodies(text)]

    def test_reads_names_over_lines_and_leaves_comments_out(self) -> None:
        found = self.cases(
            '// TEST_CASE("no", "[task1]")\n/* TEST_CASE("no", "") */\n'
            'TEST_CASE("a (n = 1000), \\"b\\" "\n'
            '          "and c", "[lesson][task2]") { f("TEST_CASE"); }\n'
            'TEST_CASE("d", "[efficient]") {}\nTEST_CASE("hidden", "[.slow]") {}\n'
        )
        self.assertEqual([case.name for case in found], ['a (n = 1000), "b" and c', "d"])
        self.assertEqual([case.task for case in found], ["task 2", "efficient"])

    def test_digit_separators_hide_no_case(self) -> None:
        found = self.cases(
            "TEST_CASE(\"a\", \"[task1]\") { f(1'000, 0x1'F, '\"', 1e+6, 2'000.5f); }\n"
            'TEST_CASE("b", "[task2]") { g(\'1\'); }\n'
        )
        self.assertEqual([case.name for case in found], ["a", "b"])

    def test_several_files_are_read_in_the_order_of_their_names(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            lesson = Lesson("09_made", Path(folder))
            lesson.test_folder.mkdir(parents=True)
            for name in ("test_2_b.cpp", "test_1_a.cpp", "workload.cpp"):
                (lesson.test_folder / name).write_text(f'TEST_CASE("{name}", "[task1]") {{}}\n')
            found = test_cases.cases_of(lesson)
        self.assertEqual([case.name for case in found], ["test_1_a.cpp", "test_2_b.cpp"])

    def test_escapes_what_a_test_specification_gives_a_meaning(self) -> None:
        self.assertEqual(TestCase("a, [b]", ()).spec, "a\\, \\[b\\]")


class Runs(unittest.TestCase):
    def run_python(self, code: str, **limits: float) -> runner.Ended:
        chosen = runner.Limits(**limits)  # type: ignore[arg-type]
        return runner.run([sys.executable, "-c", code], dict(os.environ), Path.cwd(), chosen)

    def test_an_ordinary_end(self) -> None:
        ended = self.run_python("import sys; print('x'); sys.exit(3)")
        self.assertEqual((ended.code, ended.how, ended.output), (3, "", "x\n"))

    def test_output_written_just_before_the_end_is_kept(self) -> None:
        ended = self.run_python("print('x' * 60000)")
        self.assertEqual(len(ended.output), 60001)

    def test_limits_have_names(self) -> None:
        self.assertEqual(self.run_python("while True: pass", seconds=0.5).how, "time")
        flood = self.run_python("while True: print('x' * 1000)", output=100_000)
        self.assertEqual(flood.how, "output")
        self.assertLessEqual(len(flood.output), 100_000)
        hog = "k = []\nwhile True: k.append(bytearray(b'x' * (1 << 20)))"
        self.assertEqual(self.run_python(hog, memory=200 << 20).how, "memory")

    def test_children_are_gone_and_their_open_output_is_not_waited_for(self) -> None:
        started = time.monotonic()
        ended = self.run_python(
            "import subprocess; print(subprocess.Popen(['sleep', '60']).pid, flush=True)"
        )
        self.assertLess(time.monotonic() - started, 10)
        child = int(ended.output)
        for _ in range(50):
            try:
                state = Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0]
            except OSError:
                return
            if state == "Z":
                return
            time.sleep(0.05)
        self.fail("the child still runs")

    def test_a_daemon_is_found_and_ended(self) -> None:
        own = processes.adopt_orphans()
        ended = self.run_python(
            "import os, time\n"
            "if os.fork() == 0:\n"
            "    os.setsid()\n"
            "    if os.fork() == 0:\n"
            "        time.sleep(60)\n"
            "    os._exit(0)\n"
            "os.wait()\n"
        )
        self.assertEqual(ended.code, 0)
        self.assertEqual(processes.end_orphans(own), 1)

    def test_a_child_of_the_graders_own_goes_on(self) -> None:
        with subprocess.Popen(["sleep", "60"]) as helper:
            own = processes.adopt_orphans()
            self.assertEqual(processes.end_orphans(own), 0)
            self.assertIsNone(helper.poll())
            helper.kill()

    def test_a_signal_is_put_into_words(self) -> None:
        ended = self.run_python("import os; os.kill(os.getpid(), 11)")
        self.assertEqual(ended.signal_name, "segmentation fault")


def result(name: str = "task 1: adds", **keys: object) -> grade.CaseResult:
    tags = ("efficient",) if name.startswith("efficient") else ("task1",)
    outcome = keys.pop("outcome", Outcome(True, True, 3))
    found = keys.pop("findings", [])
    ended = keys.pop("ended", "")
    return grade.CaseResult(TestCase(name, tags), outcome, ended, found, **keys)  # type: ignore


def finding(code: str = "race-shared", severity: str = "error", **more: object) -> Finding:
    data = {"code": code, "severity": severity, "message": "`tile[1]` is read", "file": "a/b.cu"}
    return Finding({**data, "line": 7, "block": [0, 0, 0], "thread": [1, 0, 0], "count": 4, **more})


def array_note(got: list[float], want: list[float]) -> dict[str, object]:
    """What report/details.h notes of an array; thread 5 wrote element 0 on line 12."""
    bad = bytes(g != w for g, w in zip(got, want, strict=True))
    array = {
        "what": "element", "size": len(got), "columns": 0, "wrong": sum(bad),
        "ranges": [[0, len(got)]], "kept": len(got), "type": "f8", "element_bytes": 4,
        "launches": [], "writers": [[0, 1, 12, [0, 0, 0], [5, 0, 0], "kernel", 1, ""]],
    }  # fmt: skip
    return {"array": array, "raw": struct.pack(f"<{2 * len(got)}d", *got, *want) + bad}


class Grades(unittest.TestCase):
    def graded(self, *results: grade.CaseResult, device: str = "emulator") -> grade.Grade:
        return grade.Grade(Lesson("00_double_all", FIXTURE), device, list(results))

    def test_all_three_are_needed(self) -> None:
        wrong = Outcome(True, False, 3, [Failure([])])
        self.assertTrue(self.graded(result(), result("efficient: x")).passed)
        for bad in (
            self.graded(),
            self.graded(result(outcome=wrong), result("efficient: x")),
            self.graded(result(findings=[finding()]), result("efficient: x")),
            self.graded(result(findings=[finding(severity="warning")]), result("efficient: x")),
            self.graded(result(), result("efficient: x", outcome=wrong)),
            self.graded(result(), result("efficient: x", findings=[finding()])),
            self.graded(result(ended="crashed: killed"), result("efficient: x")),
            self.graded(result(outcome=Outcome(False)), result("efficient: x")),
            self.graded(result("efficient: x")),
        ):
            self.assertFalse(bad.passed)

    def test_a_hint_from_the_counters_does_not_make_it_unsafe(self) -> None:
        self.assertTrue(self.graded(result(findings=[finding(severity="perf")])).passed)

    def test_a_card_is_not_asked_for_efficiency(self) -> None:
        self.assertIsNone(self.graded(result(), device="gpu").efficient)

    def test_findings_merge_over_cases(self) -> None:
        both = self.graded(
            result("a", findings=[finding()]), result("b", findings=[finding(), finding(line=9)])
        )
        merged = both.merged_findings()
        self.assertEqual([(f.line, f.cases) for f in merged], [(7, ["a", "b"]), (9, ["b"])])

    def test_json_holds_the_verdict(self) -> None:
        text = json.dumps(self.graded(result(findings=[finding()])).as_json())
        self.assertIn('"safe": false', text)

    def test_the_screen_fits_80_columns_and_names_place_and_cause(self) -> None:
        details = [array_note([float("nan")] * 33, [3.0 + i for i in range(33)])]
        wrong = Failure(
            ["n := 33 (0x21)", "element 0: got nan, want 3\nand 32 more of 33 wrong"], "x", "y"
        )
        shown = self.graded(
            result(outcome=Outcome(True, False, 3, [wrong]), details=details),
            result("task 1: " + "long words " * 12, findings=[finding(message="far " * 40)]),
            result("task 1: b", findings=[finding(message="far " * 40)]),
            result("efficient: x", ended="did not finish within 20 s"),
        )
        out = io.StringIO()
        grade_screen.show_grade(shown, Console(file=out, width=80, highlight=False))
        text = out.getvalue()
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
        for words in (
            "element 0: got nan, want 3, and 32 more of 33 wrong (n = 33)",
            "thread (5,0,0) of block (0,0,0) wrote it",
            "line 12",
            "looks like: NaN, which was computed",
            "b.cu:7",
            "4 times, first by thread (1,0,0) of block (0,0,0)",
            "1 more test fails for the same reason (task 1)",
            "did not finish within 20 s",
            "0 of 4 passed · hint: make hint-00",
            "make explain-race-shared",
        ):
            self.assertIn(words, text)
        self.assertNotIn("\x1b", text)

    def test_the_screen_of_a_skeleton_says_that_failures_are_expected(self) -> None:
        said = "This file is still the skeleton"
        for untouched, right in ((True, False), (False, False), (True, True)):
            whole = self.graded(result() if right else self.failed())
            whole.untouched = untouched
            out = io.StringIO()
            grade_screen.show_grade(whole, Console(file=out, width=80, highlight=False))
            self.assertEqual(said in out.getvalue(), untouched and not right)

    def shown(self, *results: grade.CaseResult, lesson: Lesson | None = None) -> str:
        out = io.StringIO()
        whole = self.graded(*results)
        whole.lesson = lesson or whole.lesson
        grade_screen.show_grade(whole, Console(file=out, width=72, highlight=False))
        return out.getvalue()

    def failed(self, *infos: str, expansion: str = "", **keys: object) -> grade.CaseResult:
        failure = Failure(list(infos), "a == b", expansion)
        return result(outcome=Outcome(True, False, 1, [failure]), **keys)

    def test_a_mistake_that_explains_all_comes_before_what_follows_from_it(self) -> None:
        slots = finding("uninitialized-shared", message="`tile[1]` is read, but no thread wrote it")
        mistake = {"mistakes": ["the tiles have changed places"], "wrong": 9}
        for details, first in (([mistake], "changed places"), ([], "no thread wrote it")):
            text = self.shown(self.failed(findings=[slots], details=details))
            places = [text.index("looks like"), text.index("`tile[1]` is read")]
            self.assertEqual(places[0] < places[1], first == "changed places", text)
            self.assertEqual(text.count("looks like"), 1)

    def test_a_line_that_was_compiled_at_run_time_is_shown(self) -> None:
        # No file of that name exists, in which it could be looked up.
        one = finding(file="roots.cu", compiled_line="    _out[_i] = a + b;")
        text = self.shown(result(findings=[one]))
        self.assertRegex(text, r"(?m) roots\.cu:7$")
        self.assertRegex(text, r"(?m)^ +_out\[_i\] = a \+ b;$")

    def test_a_function_of_newer_cards_is_told(self) -> None:
        whole = self.graded()
        whole.build_stage = "compile"
        whole.build_error = 'a.cu(3): error: identifier "__reduce_add_sync" is undefined'
        out = io.StringIO()
        grade_screen.show_grade(whole, Console(file=out, width=80, highlight=False))
        self.assertIn("compute capability 8.0", out.getvalue())

    def test_numbers_are_shown_as_people_write_them(self) -> None:
        text = self.shown(
            self.failed(expansion="5000 (0x1388)\n==\n4999 (0x1387)"),
            self.failed(expansion="0.5f == -nanf"),
            self.failed(expansion="-inff == 2.0f"),
            self.failed("n := 33 (0x21)", "row sum 2: got -nan, want 1.5e3"),
        )
        self.assertIn("`a`: got 5000, want 4999", text)
        self.assertIn("got 0.5, want nan", text)
        self.assertIn("got -inf, want 2.0", text)
        self.assertIn("row sum 2: got nan, want 1500 (n = 33)", text)

    def test_a_matrix_has_rows_and_columns(self) -> None:
        text = self.shown(self.failed("element 257 (row 1, column 0): got 2, want 3"))
        self.assertIn("element 257 (row 1, column 0): got 2, want 3", text)

    def test_files_are_shown_without_their_folders(self) -> None:
        for text, shown in {
            "/home/me/my book/lessons/a.cu:12: cudaGetLastError()": "a.cu:12: cudaGetLastError()",
            "n / 2 in (/a/b c/d.h:3) and /x.cpp:4:": "n / 2 in (d.h:3) and x.cpp:4:",
            "lessons/a.cu:12: 1/2": "lessons/a.cu:12: 1/2",
        }.items():
            self.assertEqual(grade_screen._short_paths(text), shown)

    def test_commands_are_not_broken_over_lines(self) -> None:
        far = finding("out-of-bounds-global")
        text = self.shown(self.failed(findings=[far]), *[result(f"task 1: {i}") for i in range(9)])
        self.assertIn("\n  why: make explain-out-of-bounds-global", text)
        self.assertTrue(all(len(line) <= 72 for line in text.splitlines()), text)

    def test_a_lesson_without_a_kernel_has_no_picture(self) -> None:
        with_kernel = Lesson("06_timing_and_bandwidth")
        without = Lesson("07_cpu_baseline")
        self.assertIn("make picture-06", self.shown(self.failed(), lesson=with_kernel))
        self.assertNotIn("picture", self.shown(self.failed(), lesson=without))
        with self.assertRaisesRegex(WorkbookError, "has no kernel"):
            picture.make(without)

    def test_the_report_of_the_emulator_is_not_shown_twice(self) -> None:
        printed = (
            "mine\nerror[host-dereference]: host code reads\n  --> a.cu:3\n   |\n   = help:  make "
            "explain-host-dereference\n\nemulator: 1 error in 0 launches (cut)\n"
        )
        text = self.shown(result(ended="crashed", output=printed))
        self.assertIn("your code printed:\n        mine\n", text)
        text = self.shown(result(ended="crashed", output=printed.removeprefix("mine\n")))
        self.assertNotIn("printed", text)


class Findings(unittest.TestCase):
    def test_a_cut_line_is_left_out(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "f.jsonl"
            path.write_text(json.dumps(finding().data) + "\n[1]\n\n" + '{"code": "le')
            self.assertEqual([f.code for f in findings.read_report(path)], ["race-shared"])
            with self.assertRaises(OSError):
                findings.read_report(Path(folder) / "none")


class Causes(unittest.TestCase):
    def test_a_rejected_launch(self) -> None:
        cause = diagnose.likely_cause([], [], "f: cudaErrorInvalidConfiguration, invalid")
        self.assertIn("1024", cause)

    def test_every_code_has_a_cause(self) -> None:
        pages = (ROOT / "common" / "emulator" / "checks" / "explain").glob("*.md")
        self.assertEqual({page.stem for page in pages}, set(diagnose.by_code))


if __name__ == "__main__":
    unittest.main()
