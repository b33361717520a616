# SPDX-License-Identifier: MIT
"""Hints, solutions and resets through make, in a folder whose name has spaces and other letters."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from workbook.base.project import ROOT, Lesson, lessons
from workbook.lesson import skeletons


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.root = Path(scratch.name) / "my wörkbook (2)"
        cls.root.mkdir()
        shutil.copy(ROOT / "Makefile", cls.root)
        for folder in ("common/workbook", "common/emulator/checks/explain",
                       "common/emulator/machine/platform"):  # fmt: skip
            shutil.copytree(
                ROOT / folder, cls.root / folder, ignore=shutil.ignore_patterns("__pycache__")
            )

    def setUp(self) -> None:
        state = self.root / ".workbook"
        shutil.rmtree(state, ignore_errors=True)
        # What setting up has installed is there, or each command would install it again.
        if (ROOT / ".workbook" / "tools").is_dir():
            state.mkdir()
            (state / "tools").symlink_to(ROOT / ".workbook" / "tools")
        unused = shutil.ignore_patterns("mutants.txt", "unusual*", "variants", "*.svg")
        for folder in ("lessons", "solutions"):
            shutil.rmtree(self.root / folder, ignore_errors=True)
            shutil.copytree(ROOT / folder, self.root / folder, ignore=unused)
        known = [lesson for lesson in lessons() if lesson.solution_file.is_file()]
        self.lesson = Lesson(known[0].id, self.root)
        self.number = self.lesson.number
        self.skeleton = skeletons.of_lesson(self.lesson).text
        self.lesson.student_file.write_text(self.skeleton)

    def make(self, *arguments: str, code: int | None = 0, **variables: str) -> str:
        env = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("MAKE", "PYTHONPATH", "MFLAGS"))
        }
        env["PYTHONPYCACHEPREFIX"] = str(self.root / "pycache")
        done = subprocess.run(
            ["make", *arguments],
            cwd=self.root,
            env={**env, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if code is not None:
            self.assertEqual(done.returncode, code, done.stdout)
        self.assertNotIn("***", done.stdout)  # a verdict is no error of make's
        self.assertEqual(list((self.root / ".workbook").glob("went-well*")), [])
        return done.stdout

    def progress(self, **entry: object) -> None:
        folder = self.root / ".workbook"
        folder.mkdir(exist_ok=True)
        (folder / "progress.json").write_text(json.dumps({self.lesson.id: entry}))

    def test_a_mark_that_somebody_else_leaves_is_no_success(self) -> None:
        # As a student's program could: it knows the process above it.
        forged = "WORKBOOK=f() { : > .workbook/went-well-$$PPID; false; }; f"
        self.make(self.number, forged, code=1)

    def test_reset_never_loses_an_edit(self) -> None:
        mine = self.skeleton + "// my work, with ünïcode\n"
        self.lesson.student_file.write_text(mine)
        said = self.make(f"reset-{self.number}", code=1)
        self.assertIn("not overwritten", said)
        self.assertEqual(self.lesson.student_file.read_text(), mine)
        self.make(f"reset-{self.number}", "YES=1")
        self.assertEqual(self.lesson.student_file.read_text(), self.skeleton)
        copies = list((self.root / ".workbook" / "backups").rglob("*.cu"))
        self.assertEqual([copy.read_text() for copy in copies], [mine])

    def test_reset_without_edits_does_nothing(self) -> None:
        self.assertIn("already", self.make(f"reset-{self.number}"))
        self.assertFalse((self.root / ".workbook" / "backups").exists())

    def test_reset_brings_a_removed_file_back(self) -> None:
        self.lesson.student_file.unlink()
        self.make(f"reset-{self.number}")
        self.assertEqual(self.lesson.student_file.read_text(), self.skeleton)

    def test_skeletons_keep_an_edit(self) -> None:
        self.lesson.student_file.write_text("// mine\n")
        self.assertIn("not overwritten", self.make("skeletons", code=1))
        self.assertEqual(self.lesson.student_file.read_text(), "// mine\n")
        self.make("skeletons", "FORCE=1")
        self.assertEqual(self.lesson.student_file.read_text(), self.skeleton)
        self.assertTrue(list((self.root / ".workbook" / "backups").rglob("*.cu")))

    def test_skeletons_follow_a_changed_solution_without_asking(self) -> None:
        self.make("skeletons", "FORCE=1")
        source = self.lesson.solution_file.read_text()
        self.lesson.solution_file.write_text(source.replace("\n", "\n// one more line\n", 1))
        os.remove(self.lesson.student_file)
        self.make("skeletons")
        self.assertIn("// one more line", self.lesson.student_file.read_text())
        self.lesson.solution_file.write_text(source)
        self.make("skeletons")
        self.assertEqual(self.lesson.student_file.read_text(), self.skeleton)

    def test_the_solution_waits_for_a_pass(self) -> None:
        body = "// END 1"
        said = self.make(f"solution-{self.number}", code=1)
        self.assertIn("FORCE=1", said)
        self.assertNotIn(body, said)
        said = self.make(f"solution-{self.number}", "FORCE=1")
        self.assertIn(body, said)
        self.assertNotIn("//|", said)
        self.progress(best={"passed": True, "correct": True, "safe": True, "efficient": True})
        self.assertIn(body, self.make(f"solution-{self.number}"))

    def test_hints_come_one_by_one_for_the_failing_task(self) -> None:
        first = self.make(f"hint-{self.number}")
        self.assertIn("A question", first)
        self.assertNotIn("A fact", first)
        second = self.make(f"hint-{self.number}")
        self.assertIn("A fact", second)
        self.assertIn("The shape", self.make(f"hint-{self.number}"))
        self.progress(last={"failing_tasks": [2]})
        self.assertIn("task 2", self.make(f"hint-{self.number}"))
        self.assertIn("task 1", self.make(f"hint-{self.number}", "TASK=1"))
        self.assertIn("no task 77", self.make(f"hint-{self.number}", "TASK=77", code=1))

    def test_progress_lists_every_lesson(self) -> None:
        best = {"passed": True, "correct": True, "safe": True, "efficient": True, "cases": 5}
        self.progress(best={**best, "cases_passed": 5, "date": "2026-01-02T03:04:05"})
        said = self.make("progress")
        self.assertIn("5 of 5, 2026-01-02", said)
        self.assertIn(f"1 of {len(lessons())} lessons solved", said)
        self.assertTrue(all(len(line) <= 80 for line in said.splitlines()), said)

    def test_a_broken_progress_file_is_no_trouble(self) -> None:
        (self.root / ".workbook").mkdir(exist_ok=True)
        (self.root / ".workbook" / "progress.json").write_text('{"01')
        self.assertIn("0 of", self.make("progress"))

    def test_explain(self) -> None:
        self.assertIn("barrier", self.make("explain-race-shared"))
        said = self.make("explain-nonsense", code=1)
        self.assertIn("race-global", said)

    def test_reset_all_asks_once_and_keeps_copies(self) -> None:
        self.assertIn("already as it was", self.make("reset-all"))
        self.lesson.student_file.write_text("// mine\n")
        text = self.make("reset-all", code=1)
        self.assertIn("hello_device.cu", text)
        self.assertEqual(self.lesson.student_file.read_text(), "// mine\n")
        self.make("reset-all", YES="1")
        self.assertNotEqual(self.lesson.student_file.read_text(), "// mine\n")
        (copy,) = (self.root / ".workbook" / "backups").rglob("*.cu")
        self.assertEqual(copy.read_text(), "// mine\n")

    def test_hints_keep_the_lines_of_their_code(self) -> None:
        text = self.make("hint-02", TASK="1", RUNG="3")
        lines = [line.strip() for line in text.splitlines()]
        self.assertIn("if my index lies below n: one addition, one store", lines)

    def test_unknown_lesson(self) -> None:
        self.assertIn("there is no lesson 98", self.make("98", code=1))


if __name__ == "__main__":
    unittest.main()
