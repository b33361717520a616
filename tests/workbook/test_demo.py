# SPDX-License-Identifier: MIT
# In make test MORE=1: the rungs of several lessons are compiled.
"""The ladder of a lesson side by side, its counters and its figure; wrong answers as seen."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
import unittest
from pathlib import Path

from rich.console import Console

from workbook.answers import catalog
from workbook.base.project import Lesson, lessons
from workbook.facts import counters
from workbook.lesson import test_cases
from workbook.running import timing
from workbook.show import demo

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
FIXTURE = Path(__file__).resolve().parent / "fixture"
LESSON = Lesson("00_double_all", FIXTURE)
CASE = "efficient: a warp stores its 32 numbers in four sectors"


class Ladder(unittest.TestCase):
    def test_rungs_are_graded_counted_and_drawn(self) -> None:
        rungs = demo.climb(LESSON, BUILD)
        self.assertEqual([rung.name for rung in rungs], ["four each", "solution"])
        self.assertTrue(all(rung.grade.correct and rung.grade.safe for rung in rungs))
        self.assertEqual([rung.grade.efficient for rung in rungs], [False, True])
        self.assertEqual(rungs[1].values[CASE, "global_store_requests"], 32)
        self.assertEqual(rungs[1].values[CASE, "global_store_sectors"], 128)
        self.assertEqual(rungs[0].values[CASE, "global_store_sectors"], 4 * 128)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            demo.show(LESSON, rungs)
        text = out.getvalue()
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
        self.assertRegex(text, r"global store sectors +512 +128\n")
        self.assertIn("the same in all: global store requests 32, global store bytes 4,096", text)
        self.assertRegex(text, r" 1  four each +✓ +✓ +0 of 1")
        with tempfile.TemporaryDirectory() as folder:
            files = demo.draw(LESSON, rungs, Path(folder))
            svg, png = (path.read_bytes() for path in files)
            self.assertTrue(png.startswith(b"\x89PNG") and len(png) > 5000)
            for words in (b"four each", b"global store sectors", b"512"):
                self.assertIn(words, svg)

    def test_times_are_shown_as_shares_of_the_copy(self) -> None:
        work = {"name": "adds", "elements": 9, "bytes": 8e9, "operations": 0, "wrong": ""}
        made = [
            timing.Timed(**work, median=4.0, fastest=3.9, slowest=4.25, runs=9),
            timing.Timed(**{**work, "wrong": "x"}, median=2.0, fastest=2.0, slowest=2.0, runs=9),
        ]
        rungs = [
            demo.Rung(name, "", Path(), timing=timing.Timing("Card", 4000.0, [one]))
            for name, one in zip(("first", "solution"), made, strict=True)
        ]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            demo.show_times(rungs)
        self.assertRegex(out.getvalue(), r"first +✓ +4 ms +3.9 ms to 4.25 ms +2000 GB/s +50%")
        self.assertRegex(out.getvalue(), r"solution +✗ +2 ms")

    def test_without_variants_the_skeleton_stands_against_the_solution(self) -> None:
        lesson = next(one for one in lessons() if not (one.solution_folder / "variants").is_dir())
        self.assertEqual([r.name for r in demo.ladder(lesson, BUILD)], ["skeleton", "solution"])


class Mutants(unittest.TestCase):
    def test_a_wrong_answer_has_the_students_file_name_and_its_line(self) -> None:
        mutant = catalog.find(LESSON, "no_guard")
        grade, source = demo.grade_as_student(BUILD, mutant)
        self.assertEqual(source.name, "double_all.cu")
        text = source.read_text()
        self.assertIn("// TODO 1", text)
        self.assertNotIn("// <- here", text)
        self.assertNotIn("//|", text)
        guilty = text.splitlines().index("    data[i] *= 2.0f;") + 1
        found = grade.merged_findings()[0]
        self.assertEqual(
            (found.place, found.code), (f"double_all.cu:{guilty}", "out-of-bounds-global")
        )

    def test_an_unknown_name_lists_the_known(self) -> None:
        with self.assertRaisesRegex(Exception, "no_guard"):
            demo.run_mutant(LESSON, "nonsense")

    def test_the_edit_is_a_diff_in_colours_on_a_terminal_only(self) -> None:
        mutant = catalog.find(LESSON, "no_guard")
        for terminal in (False, True):
            out = io.StringIO()
            # 40 columns: a line of code is never broken.
            demo.show_edit(mutant, Console(file=out, width=40, force_terminal=terminal))
            lines = out.getvalue().splitlines()
            self.assertEqual(any("\x1b[" in line for line in lines), terminal)
            if not terminal:
                self.assertIn("-    if (i < n) data[i] *= 2.0f;", lines)
                self.assertIn("+    data[i] *= 2.0f;", lines)
                self.assertIn("     const int i = blockIdx.x * blockDim.x + threadIdx.x;", lines)
                self.assertTrue(lines[0].startswith("--- solution/double_all.cu"))


class Counters(unittest.TestCase):
    def test_numbers_are_written_so_that_a_line_holds_them(self) -> None:
        few, many = [[400_008, 17, None]], [[27_975_646 + i for i in range(6)], [0] * 6]
        self.assertEqual(demo._number_format(few, 80)(400_008), "400,008")
        number = demo._number_format(many, 80)
        self.assertEqual([number(v) for v in (27_975_646, 9999, None)], ["28 M", "9,999", "–"])

    def test_a_table_that_is_too_wide_is_folded(self) -> None:
        for count in (2, 5, 6, 9):
            lines = [("warp_instructions", [10**7 + at for at in range(count)])]
            headings = [f"{at + 1} ✓" for at in range(count)]
            out = io.StringIO()
            console = Console(file=out, width=80)
            tables = demo._tables(lines, headings, 20, 80)
            for table in tables:
                console.print(table)
            text = out.getvalue()
            self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
            for heading in headings:
                self.assertIn(heading, text)
            self.assertEqual(len(tables), 1 if count < 6 else 2, count)

    def test_counters_come_from_the_body_of_each_case(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            lesson = Lesson("00_two_files", Path(folder))
            lesson.test_folder.mkdir(parents=True)
            (lesson.test_folder / "test_2_efficiency.cpp").write_text(
                'TEST_CASE("efficient: b", "[efficient]") { if (c) { CHECK(c->launches <= 2); }\n'
                "  CHECK(c->global_store_bytes < x.size()); /* c->warps */ }\n"
                'TEST_CASE("efficient: c", "[efficient]") { helper(); }\n'
            )
            (lesson.test_folder / "test_1_values.cpp").write_text(
                'TEST_CASE("task 1: a", "[task1]") { CHECK(c->branches == 1); }\n'
            )
            found = counters.looked_at(lesson)
            names = [case.name for case in test_cases.cases_of(lesson)]
        self.assertEqual(names, ["task 1: a", "efficient: b", "efficient: c"])
        self.assertEqual(found["efficient: b"][:2], ["launches", "global_store_bytes"])
        self.assertIn("branches", found["efficient: c"])
        self.assertNotIn("task 1: a", found)

    def test_every_lesson_names_counters_in_its_efficient_cases(self) -> None:
        for lesson in lessons():
            cases = test_cases.cases_of(lesson)
            found = counters.looked_at(lesson)
            self.assertEqual(set(found), {case.name for case in cases if case.efficient})
            for case, names in found.items():
                self.assertTrue(names, f"{lesson.id}: {case}")

    def test_details_are_read_up_to_where_they_are_damaged(self) -> None:
        raw = bytes(range(17))
        lines = [
            json.dumps({"count": {"launches": 2}}).encode(),
            json.dumps({"array": {"what": "element", "bytes": 17}}).encode() + b"\n" + raw,
            json.dumps({"count": {"launches": 3}}).encode(),
        ]
        whole = b"".join(line + b"\n" for line in lines)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "details"
            path.write_bytes(whole)
            entries = counters.read_details(path)
            self.assertEqual(entries[1]["raw"], raw)
            self.assertEqual(counters.measured(entries), {"launches": 5})
            for cut in range(0, len(whole), 5):
                path.write_bytes(whole[:cut])
                self.assertLessEqual(
                    counters.measured(counters.read_details(path)).get("launches", 0), 5
                )
            path.write_bytes(whole + b'{"array": {"bytes": 999}}\nshort')
            self.assertEqual(len(counters.read_details(path)), 3)
            path.write_bytes(b"\xff\xfe nonsense\n" + whole)
            self.assertEqual(counters.read_details(path), [])


if __name__ == "__main__":
    unittest.main()
