# SPDX-License-Identifier: MIT
"""Measuring on several cards, without one: what is run, the table, and the emulated device."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
import unittest
from pathlib import Path

from workbook.base.project import ROOT, find_lesson
from workbook.bench import scaling, timed_programs
from workbook.running import timing

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
DATA = ROOT / "plots" / "data"
HEAD = ["2 x Card, driver 1, CUDA 13.0, 2026-01-01, commit abc", "nvidia-smi topo -m", "GPU0 NV18"]


def job(name: str = "solution", cards: int = 2, lesson: str = "37") -> scaling.Job:
    program = timed_programs.Program(name, "solution" if name == "solution" else "rung")
    return scaling.Job(program, lesson, cards, ())


def work(digest: str = "1f", median: float = 2.0) -> timing.Timed:
    return timing.Timed(
        scaling.ROD, 1000, 8e6, 0, "", median, 0.9 * median, 1.1 * median, 9, (median, median),
        digest=digest, library="Open MPI v4",
    )  # fmt: skip


def some_rows() -> scaling.Table:
    table = scaling.Table(list(HEAD))
    table.add(job(cards=2), work(median=1.0))
    table.add(job(cards=1), work())
    return table


class Plan(unittest.TestCase):
    def test_the_numbers_of_cards_double_up_to_all(self) -> None:
        for there, counts in {
            1: [1],
            2: [1, 2],
            3: [1, 2, 3],
            4: [1, 2, 4],
            8: [1, 2, 4, 8],
        }.items():
            self.assertEqual(scaling.numbers_of_cards(there), counts)

    def test_rods_are_as_long_for_all_cards_or_for_each(self) -> None:
        self.assertEqual(max(scaling.cells_for(1)), 1 << 28)
        self.assertTrue({1 << 28, 1 << 30} <= set(scaling.cells_for(4)))
        self.assertEqual(max(scaling.cells_for(8)), scaling.MOST_CELLS)  # an int holds no more

    def test_every_rung_runs_on_each_number_of_cards(self) -> None:
        wanted = timed_programs.programs_of(list(scaling.LESSONS))
        peers = [one for one in timed_programs.peers() if one.name == scaling.PEER]
        todo = list(scaling.jobs(wanted, peers, [1, 4], Path("/mpi")))
        for one in wanted:
            self.assertIn(4, {j.cards for j in todo if j.program is one}, one.title)
        reduces = [j for j in todo if "all-reduces" in " ".join(j.options)]
        self.assertEqual({j.cards for j in reduces}, {4})  # one card has nobody to send to
        self.assertIn(scaling.PEER, {j.program.name for j in reduces})
        other = [(j.program.kind, j.lesson, j.cards) for j in todo if j.mpi]
        self.assertEqual(other, [("solution", "37", 1), ("solution", "37", 4)])


class Table(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "scaling.csv"

    def test_rows_keep_the_schema(self) -> None:
        some_rows().write(self.path)
        self.assertEqual(scaling.problems(self.path), [])
        found = scaling.read(self.path)
        self.assertEqual(found.head, HEAD)
        self.assertEqual([row["cards"] for row in found.rows], ["1", "2"])
        text = self.path.read_text()
        for broken in (
            text.replace("# ", ""), text.replace("1.000000", "9.000000", 1),
            text.replace("elements", "size", 1), text.replace(",1000,", ",many,", 1),
            text.replace(",yes", ",perhaps", 1), text.replace(",8000000,", ",9000000,", 1),
            text + text.splitlines()[-1] + "\n", text.replace(",1f,", ",2f,", 1),
        ):  # fmt: skip
            self.assertNotEqual(broken, text)
            self.path.write_text(broken)
            self.assertNotEqual(scaling.problems(self.path), [], broken)

    def test_results_that_depend_on_the_number_of_cards_are_told(self) -> None:
        table = some_rows()
        self.assertEqual(scaling.different_bits(table.rows), [])
        table.add(job(cards=4), work(digest="2f"))
        self.assertEqual(
            scaling.different_bits(table.rows), [f"{scaling.ROD} (1000): 2 different results"]
        )

    def test_another_lesson_stays_only_where_everything_else_is_the_same(self) -> None:
        some_rows().write(self.path)
        for head, lessons, kept in (
            (HEAD, ["36"], 2), (HEAD, ["36", "37"], 0), (["another day"], ["36"], 0),
        ):  # fmt: skip
            table = scaling.Table(list(head))
            table.keep(self.path, lessons)
            self.assertEqual(len(table.rows), kept)

    def test_the_recorded_tables_keep_it_too(self) -> None:
        for name in ("scaling.csv", "scaling_model.csv"):
            self.assertEqual(scaling.problems(DATA / name), [], name)
        self.assertIn("GPU0", " ".join(scaling.read(DATA / "scaling.csv").head))


class OnTheEmulator(unittest.TestCase):
    def run_on(self, number: str, cards: int, *options: str) -> scaling.Table:
        lesson = find_lesson(number)
        program = timed_programs.Program("solution", "solution", lesson, lesson.solution_file)
        program.path = BUILD / "lessons" / f"bench_solution_{lesson.id}"
        if not program.path.is_file():
            self.skipTest(f"{program.path.name} is not built")
        table, out = scaling.Table(list(HEAD)), io.StringIO()
        todo = [scaling.Job(program, number, count, options) for count in (1, cards)]
        with contextlib.redirect_stdout(out):
            self.assertEqual(scaling.measure("emulator", BUILD, todo, table), 0, out.getvalue())
        return table

    def test_a_rod_has_the_same_bits_on_three_ranks_as_on_one(self) -> None:
        table = self.run_on("37", 3, "--elements", "1003,4001", "--model")
        self.assertEqual(len(table.rows), 4)
        self.assertEqual(len({row["digest"] for row in table.rows}), 2)
        self.assertTrue(all(row["library"].startswith("Open MPI") for row in table.rows))

    def test_more_devices_sum_in_less_time_on_the_model_timeline(self) -> None:
        table = self.run_on("36", 4, "--only", "sums", "--elements", "4000003", "--model")
        one, four = (float(row["median_ms"]) for row in table.rows)
        self.assertLess(four, one / 3)
        self.assertEqual(len({row["digest"] for row in table.rows}), 1)

    def test_the_clock_runs_for_each_size(self) -> None:
        table = self.run_on(
            "36", 2, "--only", scaling.LOCAL, "--elements", "3,1001", "--seconds", "0"
        )
        self.assertEqual([row["elements"] for row in table.rows], ["3", "1001"] * 2)
        self.assertTrue(all(int(row["runs"]) >= 6 for row in table.rows))


if __name__ == "__main__":
    unittest.main()
