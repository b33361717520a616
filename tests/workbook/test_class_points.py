# SPDX-License-Identifier: MIT
"""Points of a graded file: the defaults, an instructor's file, and mistakes in it."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from workbook.base.project import ROOT, WorkbookError, find_lesson, lessons
from workbook.teach import scoring
from workbook.teach.grading import ClassLimits

KNOWN = lessons()


def case(task: int, right: bool, efficient: bool = False, passed: bool | None = None) -> dict:
    return {"task": task, "right": right, "efficient": efficient,
            "passed": right if passed is None else passed}  # fmt: skip


class PointsOfGrades(unittest.TestCase):
    CASES = (case(1, True), case(1, False), case(2, True), case(0, True, efficient=True))

    def of(self, rule: scoring.Rule, **how: bool) -> scoring.Points:
        return scoring.of_grade(rule, list(self.CASES), **{"safe": True, **how})

    def file(self, text: str) -> Path:
        place = tempfile.TemporaryDirectory(prefix="workbook-test-")
        self.addCleanup(place.cleanup)
        made = Path(place.name) / "points.toml"
        made.write_text(text)
        return made

    def test_the_defaults(self) -> None:
        made = self.of(scoring.Rule())
        self.assertEqual(made.tasks, ((17.5, 35.0), (35.0, 35.0)))
        self.assertEqual((made.safe, made.efficient), ((11.25, 15), (15, 15)))
        self.assertEqual((made.total, made.most), (78.75, 100))
        self.assertEqual(self.of(scoring.Rule(), void=True).total, 0)
        self.assertEqual(self.of(scoring.Rule(), safe=False).safe, (0, 15))

    def test_equal_parts_have_no_rest(self) -> None:
        for count in range(1, 8):
            cases = [case(number, True) for number in range(1, count + 1)]
            made = scoring.of_grade(scoring.Rule(efficient=30), cases, safe=True)
            self.assertEqual((made.total, made.most), (85, 85))

    def test_a_file_of_the_instructors(self) -> None:
        path = self.file(scoring.EXAMPLE)
        rules = scoring.read(path, KNOWN)
        self.assertEqual(rules.of(find_lesson("02")), scoring.Rule())
        self.assertEqual(rules.of(find_lesson("18")).tasks, (20, 20, 30))
        path.write_text("[lessons.2]\ntasks = [10, 1]\npartial = false\nsafe = 0\nefficient = 0\n")
        made = self.of(scoring.read(path, KNOWN).of(find_lesson("02")))
        self.assertEqual((made.tasks, made.most), (((0, 10), (1, 1)), 11))

    def test_readme_quotes_the_defaults(self) -> None:
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        self.assertIn(f"```toml\n{scoring.EXAMPLE}```", text)
        names = " ".join(f"{name}={value}" for name, value in vars(ClassLimits()).items())
        self.assertIn(f'LIMITS="{names}"', text)

    def test_mistakes_in_it_are_named(self) -> None:
        for text, words in {
            "[points]": "[points] is not known", "[lessons.99]": "no such lesson",
            "[default]\nsave = 3": "default.save is not known", "default = 3": "is no table",
            '[default]\nsafe = "much"': "points are numbers", "[default]\nsafe = -1": "numbers",
            "[default": "points.toml",
        }.items():  # fmt: skip
            with self.assertRaises(WorkbookError) as wrong:
                scoring.read(self.file(text), KNOWN)
            self.assertIn(words, str(wrong.exception) + wrong.exception.to_do)

    def test_limits(self) -> None:
        self.assertEqual(ClassLimits.of("seconds=3 memory=100").seconds, 3)
        for text in ("second=3", "seconds", "seconds=-1", "seconds=x", "seconds=inf"):
            with self.assertRaises(WorkbookError):
                ClassLimits.of(text)


if __name__ == "__main__":
    unittest.main()
