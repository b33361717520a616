# SPDX-License-Identifier: MIT
"""The book without a browser: its pages and links, what is not in it, and the views' data."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import tempfile
import unittest
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from workbook.base import phases
from workbook.base.project import ROOT, WorkbookError, lessons
from workbook.book import book, pages, views
from workbook.lesson import skeletons
from workbook.pictures import trace
from workbook.setup import pypi
from workbook.show import present

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
_FOLD = re.compile(r'^\?\?\? question "(.+?)"\n\n((?:    .*\n|\n)+)', re.MULTILINE)


@contextlib.contextmanager
def staged(with_solutions: bool = False) -> Iterator[tuple[Path, dict[str, list[pages.Page]]]]:
    """The pages as MkDocs gets them."""
    with tempfile.TemporaryDirectory() as scratch:
        docs = Path(scratch)
        parts = pages.pages(ROOT, with_solutions)
        pages.copy(parts, docs)
        pages.convert(parts, docs, {}, with_solutions)
        yield docs, parts


def words(text: str) -> str:
    return " ".join(text.split())


def answers() -> list[tuple[str, str]]:
    """What the solutions have between TODO and END, in pieces of three lines of code and more.

    Pages quote single lines in the messages of wrong answers; whole answers they must not have.
    """
    found = []
    for lesson in lessons():
        source = lesson.solution_file.read_text()
        public = skeletons.generate(source).text.splitlines()
        for body in re.findall(r"// TODO \d.*?// END", source, re.DOTALL):
            code = [line for line in body.splitlines()[1:-1] if line not in public]
            code = [line for line in code if not line.strip().startswith("//")]
            if len(code) >= 3:
                found.append((lesson.id, words("\n".join(code))))
    return found


class Pages(unittest.TestCase):
    def test_every_lesson_and_explanation_is_in_the_navigation_once(self) -> None:
        text = json.dumps(pages.navigation(pages.pages(ROOT, False)))
        for lesson in lessons():
            self.assertEqual(text.count(f'"lessons/{lesson.id}/README.md"'), 1)
        for page in (ROOT / pages.EXPLANATIONS).glob("*.md"):
            self.assertEqual(text.count(f"/{page.name}"), 1, page.name)
        for path in ("README.md", "lessons/README.md", "plots/README.md", "CONTRIBUTING.md",
                     "common/emulator/LIMITS.md"):  # fmt: skip
            self.assertEqual(text.count(f'"{path}"'), 1, path)
        self.assertNotIn("solutions/", text)

    def test_links_and_pictures_lead_to_what_is_in_the_book(self) -> None:
        with staged() as (docs, parts):
            pictures = 0
            for page in (page for part in parts.values() for page in part):
                text = (docs / page.path).read_text()
                text = re.sub(r"^( *```).*?^\1|`[^`]*`", "", text, flags=re.M | re.S)
                for target in re.findall(r"\]\(([^()\s#]+)", text):
                    if not re.match(r"[a-z]+:", target):
                        pictures += target.endswith(".svg")
                        self.assertTrue(((docs / page.path).parent / target).is_file(), target)
            self.assertGreater(pictures, len(lessons()))

    def test_hints_are_folded_and_nowhere_else(self) -> None:
        with staged() as (docs, _):
            for lesson in lessons():
                text = (docs / "lessons" / lesson.id / "README.md").read_text()
                folds = _FOLD.findall(text)
                tasks = len(skeletons.of_lesson(lesson).tasks)
                titles = ["1 A question", "2 A fact", "3 The shape"] * tasks
                self.assertEqual([title for title, _ in folds], titles, lesson.id)
                without = _FOLD.sub("", text)
                hints = (lesson.folder / "HINTS.md").read_text()
                for line in hints.splitlines():
                    if len(line) > 60:
                        self.assertNotIn(line, without)
                        self.assertIn(f"    {line}", text)
            self.assertEqual(list(docs.rglob("HINTS.md")), [])

    def test_no_answer_is_in_it_unless_asked_for(self) -> None:
        wanted = answers()
        self.assertGreater(len({lesson for lesson, _ in wanted}), len(lessons()) / 2)
        for with_solutions in (False, True):
            with staged(with_solutions) as (docs, _):
                everything = words("\n".join(path.read_text() for path in docs.rglob("*.md")))
            # Comments that stand between the lines of an answer are no difference.
            told = words(re.sub(r"//.*", "", everything))
            found = [lesson for lesson, answer in wanted if answer in everything or answer in told]
            if with_solutions:
                self.assertGreater(len(found), len(wanted) / 3)
            else:
                self.assertEqual(found, [])

    def test_a_link_to_a_file_that_is_no_page_becomes_text(self) -> None:
        page = pages.Page(Path("README.md"))
        text = "[the [MIT] licence](LICENSE), [`run`](common/workbook/run), `[a](b)`, [x](#y)\n"
        with tempfile.TemporaryDirectory() as scratch:
            got = pages.with_links(text, page, set(), Path(scratch))
        self.assertEqual(got, "the [MIT] licence, `run`, `[a](b)`, [x](#y)\n")

    def test_a_broken_link_is_named(self) -> None:
        page = pages.Page(Path("common/README.md"))
        with self.assertRaisesRegex(WorkbookError, r"common/README.md links to missing.md"):
            pages.with_links("[a](missing.md)", page, set(), Path("/nowhere"))

    def test_links_to_hints_lead_to_the_folds(self) -> None:
        lesson = lessons()[0]
        path = Path("lessons", lesson.id, "README.md")
        got = pages.with_links(
            "[hints](HINTS.md)", pages.Page(path, lesson), {path}, Path("/nowhere")
        )
        self.assertEqual(got, "[hints](README.md#hints)")

    def test_the_readme_has_the_right_numbers(self) -> None:
        text = words((ROOT / "README.md").read_text())
        self.assertIn(f"{book.DOWNLOAD_MIB} MB, {book.DISK_MIB} MB on disk", text)
        self.assertIn(f"<http://127.0.0.1:{present.PORT}/>", text)

    def test_other_files_are_not_replaced(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            (Path(scratch) / "thesis.txt").write_text("mine")
            with mock.patch.dict(os.environ, OUT=scratch):
                self.assertRaisesRegex(WorkbookError, "holds files", book.out_folder)
                (Path(scratch) / ".workbook-book").write_text("")
                self.assertEqual(book.out_folder(), Path(scratch).resolve())


class Environment(unittest.TestCase):
    """What MkDocs needs, fetched when it is first asked for."""

    def fetch(self, folder: Path, said: str, packages: tuple[str, ...] = ("a==1",)) -> str:
        out = io.StringIO()
        with (
            mock.patch.object(pypi, "install", return_value=said) as install,
            mock.patch.object(phases.Phase, "__enter__", lambda self: self),
            mock.patch.object(phases.Phase, "__exit__", lambda *_: None),
            contextlib.redirect_stdout(out),
        ):
            made = pypi.ensure_optional(folder, packages, "Pages have", 28, 180, "make book")
        self.assertEqual(install.called, made)
        return out.getvalue()

    def test_it_says_the_size_first_and_is_made_once(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            said = self.fetch(Path(scratch), "")
            self.assertIn("28 MB to download from PyPI, 180 MB on disk", said)
            self.assertIn("a==1", said)
            self.assertEqual(self.fetch(Path(scratch), ""), "")
            self.assertIn("b==2", self.fetch(Path(scratch), "", ("a==1", "b==2")))

    def test_what_failed_is_said_and_tried_again(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            with self.assertRaisesRegex(WorkbookError, "no route to pypi.org"):
                self.fetch(Path(scratch), "no route to pypi.org")
            self.assertIn("28 MB", self.fetch(Path(scratch), ""))


def access(at: int, warp: int, kind: str, elements: list[int], line: int = 1) -> trace.Access:
    """Lanes 0 and on, at elements of 4 bytes."""
    lanes = list(range(len(elements)))
    return trace.Access(at, 0, warp, trace.Line("a.cu", line), "shared", kind, 4, lanes,
                        [4 * element for element in elements], set(), 0)  # fmt: skip


def launch(*events: trace.Access | trace.Barrier) -> trace.Launch:
    made = trace.Launch(1, "k", (1, 1, 1), (64, 1, 1), [trace.Shared("tile", 0, 256)])
    made.accesses = [one for one in events if isinstance(one, trace.Access)]
    made.barriers = [one for one in events if isinstance(one, trace.Barrier)]
    return made


class Barriers(unittest.TestCase):
    WRITES = (access(1, 0, "store", [0, 1]), access(2, 1, "store", [2, 3]))

    def test_what_another_warp_has_written_is_a_conflict(self) -> None:
        steps = views.barriers(launch(*self.WRITES, access(3, 0, "load", [1, 2], 2)))
        self.assertEqual([step["conflicts"] for step in steps], [[], [2]])
        self.assertEqual([step["writes"] for step in steps], [[0, 1, 2, 3], []])

    def test_with_a_barrier_between_it_is_none(self) -> None:
        steps = views.barriers(
            launch(*self.WRITES, trace.Barrier(3, 0, []), access(4, 0, "load", [1, 2], 2))
        )
        self.assertEqual([step["conflicts"] for step in steps], [[], []])
        self.assertEqual([step["passed"] for step in steps], [0, 1])

    def test_what_two_warps_only_read_is_none(self) -> None:
        steps = views.barriers(launch(access(1, 0, "load", [0]), access(2, 1, "load", [0])))
        self.assertEqual([step["conflicts"] for step in steps], [[]])

    def test_a_read_after_a_write_on_one_line_is_the_next_round(self) -> None:
        rounds = [("load", [1]), ("store", [0]), ("load", [2]), ("store", [0])]
        steps = views.barriers(
            launch(*[access(at, 0, kind, where) for at, (kind, where) in enumerate(rounds)])
        )
        self.assertEqual([step["reads"] for step in steps], [[1], [2]])


if __name__ == "__main__":
    unittest.main()
