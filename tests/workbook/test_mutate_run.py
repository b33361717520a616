# SPDX-License-Identifier: MIT
# In make test MORE=1: some thirty programs are compiled and run.
"""make mutate-NN on the tests' own lesson: each edit of it is compiled and run."""

from __future__ import annotations

import os
import unittest
from pathlib import Path

from workbook.answers import catalog
from workbook.answers.catalog import EQUIVALENT
from workbook.author import mutate
from workbook.author.mutate import NOT_BUILT, SURVIVES
from workbook.base import processes
from workbook.base.project import Lesson

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
LESSON = Lesson("00_double_all", Path(__file__).resolve().parent / "fixture")
STORE, CASE = "if (i < n) out[i] = i;", "task 2: counts up"


class Real(unittest.TestCase):
    def setUp(self) -> None:
        self.addCleanup(processes.end_orphans, processes.adopt_orphans())
        self.trials = self.enterContext(mutate.Trials(BUILD, LESSON))

    def test_every_edit_of_the_fixture(self) -> None:
        score = mutate.score_of(LESSON, self.trials, 2)
        # Its test has no array that is too large for a short.
        found = [(one.operator, one.line, one.new) for one in score.survivors]
        self.assertEqual(found, [("width", 7, "short")])
        self.assertGreater(score.caught, 15)

    def test_each_outcome(self) -> None:
        text = catalog.text_of_base(LESSON, EQUIVALENT)
        self.assertEqual(self.trials(text.replace(STORE, f"{STORE}  // the same")), SURVIVES)
        self.assertEqual(self.trials(text.replace(STORE, "if (i < n) out[i] = j;")), NOT_BUILT)
        self.assertEqual(self.trials(text.replace(STORE, "if (i < n) out[i] = n;")), CASE)

    def test_an_endless_loop_is_noticed(self) -> None:
        text = catalog.text_of_base(LESSON, EQUIVALENT)
        self.assertTrue(self.trials(text.replace(STORE, f"while (i < n) {STORE[11:]}")))


if __name__ == "__main__":
    unittest.main()
