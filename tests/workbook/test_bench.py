# SPDX-License-Identifier: MIT
"""Measuring and drawing, without a card: programs, tables, what `make bench` says, figures."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from workbook.base.project import NOT_ABLE, ROOT, find_lesson, lessons
from workbook.bench import cost, measure, python_peers, results
from workbook.build import programs
from workbook.running import timing
from workbook.setup import cards

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
PLOTS = ROOT / "plots"


def work(name: str = "adds", median: float = 2.0, **more: object) -> timing.Timed:
    return timing.Timed(
        name, 1000, 8e6, 0, "", median, 0.9 * median, 1.1 * median, 9,
        (median, 1.02 * median), **more,
    )  # fmt: skip


MACHINE = {"gpu": "Card", "driver": "1", "toolkit": "13.0", "date": "2026-01-01", "commit": "abc"}


def some_rows() -> results.Rows:
    rows = results.Rows(dict(MACHINE), ceilings=[4000.0, 4100.0, 4200.0])
    rows.add("02", "rung", "1_first", "", work())
    rows.add("02", "solution", "solution", "", work(median=1.0))
    rows.add("", "peer", "CUB", "3.0", work(median=1.25))
    return rows


class Without(unittest.TestCase):
    def test_make_bench_says_what_it_would_do_and_fails(self) -> None:
        out = io.StringIO()
        with mock.patch.object(cards, "present", lambda: False):
            with contextlib.redirect_stdout(out):
                self.assertEqual(measure.run(), NOT_ABLE)
        text = out.getvalue()
        self.assertIn("needs an NVIDIA card", text)
        for lesson in lessons():
            if programs.has_workload(lesson):
                self.assertIn(lesson.id, text)
        for name in (
            "4_pieces_in_registers",
            "CUB",
            "cuRAND Philox",
            "JAX",
            "plots/data/bench.csv",
        ):
            self.assertIn(name, text)

    def test_the_command_needs_no_module_that_a_bare_machine_lacks(self) -> None:
        code = (
            "import sys; sys.modules['rich'] = sys.modules['numpy'] = None\n"
            "from workbook.bench import measure, python_peers, results; print(len(measure.plan()))"
        )
        env = dict(os.environ, PYTHONPATH=str(ROOT / "common"))
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_library_that_is_absent_is_named(self) -> None:
        out = io.StringIO()
        with mock.patch.object(python_peers, "python_with", lambda module: None):
            with contextlib.redirect_stdout(out):
                self.assertEqual(python_peers.measure(some_rows(), 10), 0)
        self.assertEqual(len(re.findall(r"skipped: not installed", out.getvalue())), 5)


class Table(unittest.TestCase):
    def test_rows_keep_the_schema(self) -> None:
        rows = some_rows()
        done = rows.complete()
        self.assertEqual({row["copy_gb_per_s"] for row in done}, {"4100.0"})
        peer = next(row for row in done if row["kind"] == "peer")
        self.assertEqual((peer["lesson"], peer["library"]), ("02", "3.0"))  # of the same work
        self.assertAlmostEqual(float(peer["share_of_copy"]), 6.4 / 4100, places=4)
        self.assertAlmostEqual(float(peer["noise"]), 0.02)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bench.csv"
            results.write(path, rows)
            self.assertEqual(results.problems(path), [])
            text = path.read_text()
            for broken in (
                text.replace("solution", "solution,1", 1), text.replace("Card", "", 1),
                text.replace("2.000000", "9.000000", 1), text.replace(",yes,", ",perhaps,", 1),
                text.replace("elements", "size", 1), text.partition("\n")[0] + "\n",
            ):  # fmt: skip
                path.write_text(broken)
                self.assertNotEqual(results.problems(path), [], broken)

    def test_the_second_measurement_takes_the_place_of_the_first(self) -> None:
        rows = some_rows()
        rows.add("02", "rung", "1_first", "", work(median=3.0))
        self.assertEqual(len(rows.rows), 3)
        self.assertEqual(rows.rows[-1]["median_ms"], "3.000000")

    def test_chosen_lessons_leave_the_rows_of_an_earlier_run(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bench.csv"
            results.write(path, some_rows())
            rows = results.Rows(MACHINE | {"commit": "def"}, ceilings=[4000.0])
            rows.keep(path)
            rows.add("02", "solution", "solution", "", work(median=0.5))
            results.write(path, rows)
            self.assertEqual(results.problems(path), [])
            found = {row["version"]: row["commit"] for row in rows.complete()}
            self.assertEqual(found, {"1_first": "abc", "solution": "def", "CUB": "abc"})
            other = results.Rows(MACHINE | {"gpu": "another"})
            other.keep(path)
            self.assertEqual(other.earlier, [])

    def test_chosen_lessons_run_the_libraries_that_do_their_work(self) -> None:
        def names(*chosen: str) -> list[str]:
            wanted = measure.programs_of(list(chosen))
            return [one.name for one, _ in measure.jobs(wanted, measure.peers(), part=True)]

        self.assertEqual(names("16")[0], "cublas")
        self.assertEqual(names("10"), ["solution"])
        self.assertEqual(names("21").count("cub"), 2)  # the works, and the curves

    def test_the_last_table_compares_with_the_best_library(self) -> None:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            results.show(some_rows())
        self.assertRegex(out.getvalue(), r"adds +solution +8 GB/s +0.2% of copy +1.25 x CUB")

    def test_the_recorded_tables_keep_it_too(self) -> None:
        data = PLOTS / "data"
        self.assertEqual(results.problems(data / "bench.csv"), [])
        for name, columns in {
            "counters.csv": "what,pattern,counter,card,emulator,gpu",
            "pi.csv": "kind,stream,points,inside",
            "cost.csv": ",".join(cost.COLUMNS),
        }.items():
            with (data / name).open(newline="") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual(",".join(rows[0]), columns)
            for row in rows:
                self.assertNotIn("", row.values())
                self.assertNotIn(None, row.values())


class Programs(unittest.TestCase):
    def test_noise_and_the_cost_of_a_core_are_read(self) -> None:
        entry = {"name": "a", "median_ms": 2.0, "halves_ms": [2.0, 2.2], "one_core_ms": 5.0}
        made = timing.workload_of(entry)
        self.assertAlmostEqual(made.noise, 0.1)
        self.assertEqual(made.one_core, 5.0)

    def test_peers_are_right_on_the_emulator(self) -> None:
        for name in ("access", "cub", "host", "transfers"):
            made = timing.run(BUILD / "peers" / f"peer_{name}", "emulator", BUILD, tiny=True)
            self.assertEqual(made.trouble, "", name)
            self.assertEqual([w.wrong for w in made.workloads if w.wrong], [], name)
            self.assertGreaterEqual(len(made.workloads), 3)
        for name in ("cub_allocator", "cudamalloc"):
            made = timing.run(BUILD / "peers" / f"peer_{name}", "emulator", BUILD, tiny=True)
            self.assertEqual((made.trouble, [w.wrong for w in made.workloads]), ("", [""]), name)

    def test_a_peer_has_the_name_of_a_lessons_work(self) -> None:
        sources = (ROOT / "tests" / "lessons").glob("*/workload.cpp")
        ours = " ".join(" ".join(path.read_text().split()) for path in sources)
        for name in ("cub", "cublas", "curand_philox", "curand_xorwow", "cusparse",
                     "cub_allocator", "cudamalloc", "nccl"):  # fmt: skip
            text = " ".join((ROOT / "tests" / "peers" / f"{name}.cu").read_text().split())
            found = re.findall(r'(?:WORKLOAD|HISTOGRAM)\([^";]*"([^"]+)"', text)
            self.assertTrue(found, name)
            for work_name in found:
                self.assertIn(f'"{work_name}"', ours)

    def test_measuring_goes_through_on_the_emulator(self) -> None:
        lesson = find_lesson("02")
        rung = measure.Program("solution", "solution", lesson, lesson.solution_file)
        rung.path = BUILD / "lessons" / f"bench_solution_{lesson.id}"
        absent = measure.Program("cublas", "peer", trouble="not built: why")
        rows, out = results.Rows(dict(MACHINE)), io.StringIO()
        options = ["--elements", "3000", "--seconds", "0.02"]
        todo = iter([(rung, options), (absent, options)])
        with contextlib.redirect_stdout(out):
            self.assertEqual(measure.measure("emulator", BUILD, todo, rows, 60), (0, []))
            late = measure.measure("emulator", BUILD, iter([(rung, options)]), rows, -1)
        self.assertEqual(late, (0, ["02 solution"]))
        self.assertIn("skipped: not built: why", out.getvalue())
        with tempfile.TemporaryDirectory() as folder:
            results.write(Path(folder) / "bench.csv", rows)
            self.assertEqual(results.problems(Path(folder) / "bench.csv"), [])
        self.assertEqual([row["workload"] for row in rows.rows][0], "adds two vectors")

    def test_the_cost_of_a_lesson_is_measured(self) -> None:
        costs = cost.of_lesson(find_lesson("02"), BUILD, 3000)
        self.assertEqual(len(costs), 2)
        for one in costs:
            self.assertGreater(min(one.checked, one.unchecked, one.one_core), 0)

    def test_a_python_library_prints_what_the_programs_print(self) -> None:
        script = ROOT / "tests" / "peers" / "python_peers.py"
        done = subprocess.run(
            [sys.executable, str(script), "numpy", "--tiny"], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual({line["workload"]["wrong"] for line in lines}, {""})
        self.assertTrue(all(timing.workload_of(line["workload"]).median > 0 for line in lines))


def has_matplotlib() -> bool:
    with contextlib.suppress(ImportError):
        import matplotlib  # noqa: F401

        return True
    return False


def words_in(svg: str) -> list[str]:
    """What a figure's labels say, in order of the alphabet."""
    return sorted(filter(None, map(str.strip, re.findall(r"<text [^>]*>([^<]*)", svg))))


@unittest.skipUnless(has_matplotlib(), "drawing needs matplotlib")
class Figures(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        sys.path.insert(0, str(PLOTS))
        import draw
        import measured

        cls.draw, cls.measured = draw, measured
        cls.charts = {
            name: function
            for name, function in draw.figures().items()
            if function.__module__.startswith("chart_")
        }

    def test_every_chart_is_drawn_whole_and_not_empty(self) -> None:
        import matplotlib.pyplot as plt
        from style import STYLE

        self.assertGreaterEqual(len(self.charts), 18)
        for name, function in self.charts.items():
            with self.subTest(name), plt.rc_context(STYLE):
                if not self.has_data(name):
                    with self.assertRaises(self.measured.NoData):
                        function()
                    continue
                figure = function()
                self.check_committed(name, figure)
                figure.draw_without_rendering()
                self.assertTrue(any(axes.has_data() for axes in figure.axes))
                self.check_units_and_edges(figure)
                plt.close(figure)

    def test_every_picture_of_an_idea_is_committed_as_drawn(self) -> None:
        import matplotlib.pyplot as plt
        from style import STYLE

        pictures = {k: draw for k, draw in self.draw.figures().items() if k not in self.charts}
        self.assertGreaterEqual(len(pictures), len(lessons()))
        for name, function in pictures.items():
            with self.subTest(name), plt.rc_context(STYLE):
                figure = function()
                self.check_committed(name, figure)
                plt.close(figure)

    def check_committed(self, name: str, figure) -> None:
        """The same file as the one in the repository, if the same Matplotlib drew that; another
        version places things a fraction of a pixel away, but writes the same words and numbers."""
        committed = (PLOTS / "figures" / f"{name}.svg").read_text(encoding="utf-8")
        drawn = self.draw.svg_of(figure)
        versions = [re.search(r"Matplotlib v([\d.]+)", one)[1] for one in (committed, drawn)]
        if versions[0] != versions[1]:
            committed, drawn = words_in(committed), words_in(drawn)
        self.assertTrue(committed == drawn, f"out of date: run python3 plots/draw.py {name}")

    def has_data(self, name: str) -> bool:
        """A figure stands in the repository exactly where its numbers have been measured."""
        return (PLOTS / "figures" / f"{name}.svg").is_file()

    def check_units_and_edges(self, figure) -> None:
        renderer = figure.canvas.get_renderer()
        paper = figure.bbox
        for axes in figure.axes:
            self.assertTrue(axes.get_xlabel(), "no label on an axis")
            named = axes.get_ylabel() or any(t.get_text() for t in axes.get_yticklabels())
            self.assertTrue(named, "no label on an axis")
            low, high = sorted(axes.get_ylim())
            ticks = zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
            seen = [label for place, label in ticks if low <= place <= high]
            texts = [axes.xaxis.label, axes.yaxis.label, axes.title, *seen]
            for text in texts:
                if not text.get_text() or not text.get_visible():
                    continue
                box = text.get_window_extent(renderer)
                inside = box.x0 >= -1 and box.y0 >= -1 and box.x1 <= paper.x1 + 1
                self.assertTrue(inside and box.y1 <= paper.y1 + 1, f"clipped: {text.get_text()}")

    def test_every_chart_stands_in_the_index_and_in_its_lesson(self) -> None:
        index = (PLOTS / "README.md").read_text()
        pages = {lesson.number: (lesson.folder / "README.md").read_text() for lesson in lessons()}
        for name in filter(self.has_data, self.charts):
            path = PLOTS / "figures" / f"{name}.svg"
            self.assertGreater(path.stat().st_size, 5000, name)
            self.assertIn(f"figures/{name}.svg", index)
            if page := pages.get(name[:2]):
                self.assertIn(f"figures/{name}.svg", page)

    def test_a_chart_without_its_data_is_left_out(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch.object(self.measured, "DATA", Path(folder)):
                for name, function in self.charts.items():
                    with self.subTest(name), self.assertRaises(self.measured.NoData):
                        function()


if __name__ == "__main__":
    unittest.main()
