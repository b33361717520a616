# SPDX-License-Identifier: MIT
# In make test MORE=1: every program that a page shows is compiled and traced.
"""The views of the book's pages, from traces of the real programs."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from workbook.base.project import ROOT, WorkbookError, find_lesson
from workbook.book import pages as book_pages
from workbook.book import views

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])


class Views(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.views = {}
        cls.html = {}
        pages = [page for part in book_pages.pages(ROOT, False).values() for page in part]
        for page in pages:  # those that explain marks as well
            with contextlib.redirect_stdout(io.StringIO()):
                found = views.of_pages([page], BUILD)
            for mark, html in found.items():
                text = re.search(r"<script.*?>(.*)</script>", html).group(1)
                cls.views[mark.split()[2]] = json.loads(text)
                cls.html[page.lesson.number] = (mark, html)

    def steps(self, kind: str) -> tuple[list, list]:
        right, wrong = self.views[kind]["programs"]
        self.assertEqual(right["name"], "solution")
        return right["steps"], wrong["steps"]

    def test_there_is_one_of_each_kind(self) -> None:
        self.assertEqual({*self.views}, {*views.KINDS})

    def test_a_tree_halves_from_barrier_to_barrier(self) -> None:
        right, wrong = self.steps("barriers")
        self.assertEqual([len(step["writes"]) for step in right[:9]],
                         [256, 128, 64, 32, 16, 8, 4, 2, 1])  # fmt: skip
        self.assertEqual([step["passed"] for step in right[:9]], list(range(9)))
        self.assertEqual([step for step in right if step["conflicts"]], [])
        self.assertTrue(any(step["conflicts"] for step in wrong))

    def test_padding_takes_one_pass_and_a_row_too_many_thirty_two(self) -> None:
        right, wrong = self.steps("banks")
        self.assertEqual({step["passes"] for step in right}, {1})
        self.assertEqual({step["passes"] for step in wrong}, {1, 32})

    def test_chunks_move_eight_times_the_sectors(self) -> None:
        right, wrong = self.steps("sectors")
        self.assertEqual({len(step["sectors"]) for step in right}, {4})
        self.assertEqual({len(step["sectors"]) for step in wrong}, {32})
        self.assertEqual({used for step in right for _, used in step["sectors"]}, {32})
        self.assertEqual({used for step in wrong for _, used in step["sectors"]}, {4})

    def test_a_view_replaces_its_mark(self) -> None:
        mark, html = self.html["18"]
        parts = {"Lessons": [book_pages.Page(Path("lessons/18_tree_reduction/README.md"),
                                             find_lesson("18"))]}  # fmt: skip
        with tempfile.TemporaryDirectory() as scratch:
            book_pages.copy(parts, Path(scratch))
            (Path(scratch) / parts["Lessons"][0].path).write_text(f"## Run it\n\n{mark}\n\nend\n")
            with mock.patch.object(book_pages, "with_hints", lambda text, _: text):
                book_pages.convert(parts, Path(scratch), {mark: html}, False)
            text = (Path(scratch) / parts["Lessons"][0].path).read_text()
        self.assertIn(html, text)
        self.assertNotIn("<!--", text)

    def test_a_mark_that_is_no_view_is_named(self) -> None:
        for mark, words_of in (
            ("<!-- view: tides missing_barrier \"task 3\" -->", "is no view"),
            ("<!-- view: banks -->", "is no view"),
            ('<!-- view: banks no_such_answer "task 3: transposes square" -->', "no wrong answer"),
            ('<!-- view: banks padded_by_two "task 3" -->', "test cases of lesson 16 begin with"),
            ('<!-- view: barriers all_or_nothing "task 2: counts the passes of any" -->', "no "),
        ):  # fmt: skip
            with self.subTest(mark=mark), tempfile.TemporaryDirectory() as scratch:
                (Path(scratch) / "page.md").write_text(mark)
                page = book_pages.Page(Path("page.md"), find_lesson("16"), Path(scratch))
                with contextlib.redirect_stdout(io.StringIO()):
                    self.assertRaisesRegex(WorkbookError, words_of, views.of_pages, [page], BUILD)


if __name__ == "__main__":
    unittest.main()
