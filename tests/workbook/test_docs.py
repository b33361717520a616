# SPDX-License-Identifier: MIT
"""Pages: every lesson's files and headings, every finding's explanation, no broken link."""

from __future__ import annotations

import io
import re
import unittest
from pathlib import Path

from rich.console import Console

from workbook.answers import catalog
from workbook.base import commands
from workbook.base.project import ROOT, lessons
from workbook.lesson import skeletons
from workbook.lesson.hints import read_hints
from workbook.lesson.test_cases import cases_of
from workbook.show import explain, screen

HEADINGS = [
    "Idea",
    "Your task",
    "Run it",
    "How good is it",
    "Break it",
    "In Python",
    "Going further",
]
CODES = """out-of-bounds-global out-of-bounds-shared out-of-bounds-local race-shared race-global
barrier-divergence deadlock hang uninitialized-shared uninitialized-global uninitialized-local
host-dereference invalid-address use-after-free double-free leak misaligned warp-mask invalid-launch
invalid-copy library-misuse collective-deadlock collective-mismatch stack-overflow unchecked-error
assert""".split()
SECTIONS = ["What it means", "A minimal bug", "Usual causes", "On a real GPU", "Where it is taught"]


def headings(text: str, level: int = 2) -> list[str]:
    """Headings of one level, code blocks left out."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    found = re.findall(rf"^{'#' * level} +(.+?)\s*$", text, re.MULTILINE)
    return [heading.rstrip("?") for heading in found]


def code_of(text: str) -> str:
    """A source without its comments and white space."""
    return re.sub(r"//.*|\s", "", text)


class Lessons(unittest.TestCase):
    def test_every_lesson_has_its_files(self) -> None:
        for lesson in lessons():
            with self.subTest(lesson=lesson.id):
                for name in ("README.md", "HINTS.md", f"{lesson.slug}.h", f"{lesson.slug}.cu"):
                    self.assertTrue((lesson.folder / name).is_file(), f"{name} is missing")
                names = {p.name for p in lesson.solution_folder.iterdir()}
                names -= {"variants", "mutants", "unusual", "unusual.txt", "equivalent.txt"}
                self.assertEqual(names, {"NOTES.md", f"{lesson.slug}.cu", "mutants.txt"})
                wrong = catalog.of_lesson(lesson)
                self.assertGreaterEqual(len(wrong), 4, "fewer than four mutants")
                unusual = catalog.of_lesson(lesson, catalog.UNUSUAL)
                self.assertGreaterEqual(len(unusual), 2, "fewer than two unusual answers")
                self.assertEqual({*wrong} & {*unusual}, set(), "one name for two answers")
                for variant in (lesson.solution_folder / "variants").glob("*"):
                    self.assertRegex(variant.name, r"^[1-9]_[a-z0-9_]+\.cu$")
                    self.assertRegex(variant.read_text(), r"^// Variant: \S")
                for whole in lesson.solution_folder.glob("*/*.cu"):
                    self.assertIn("\n// SPDX-License-Identifier: MIT\n", whole.read_text(), whole)

    def test_no_answer_is_there_twice(self) -> None:
        """Comments and white space aside. A rung may be the solution, or a wrong answer that does
        too much, but no unusual answer.
        """
        for lesson in lessons():
            texts = {"the solution": catalog.text_of_base(lesson, catalog.UNUSUAL)}
            for kind in catalog.KINDS:
                for name, answer in catalog.of_lesson(lesson, kind).items():
                    texts[f"the {kind.words} {name}"] = answer.expand()[0]
            unusual = {name: text for name, text in texts.items() if name.startswith("the unusual")}
            rungs = (lesson.solution_folder / "variants").glob("*.cu")
            for group in (texts, unusual | {f"the rung {p.stem}": p.read_text() for p in rungs}):
                seen: dict[str, str] = {}
                for name, text in group.items():
                    with self.subTest(lesson=lesson.id, name=name):
                        self.assertEqual(seen.setdefault(code_of(text), name), name)

    def test_readme_headings_are_in_order(self) -> None:
        for lesson in lessons():
            with self.subTest(lesson=lesson.id):
                text = (lesson.folder / "README.md").read_text()
                self.assertRegex(
                    text, r"(?s)^# [^\n]+\n+\*\*Goal\*\* .+\n\*\*Before you start\*\* "
                )
                self.assertEqual(headings(text), HEADINGS)
                self.assertRegex(headings(text, 1)[0], rf"^{lesson.number} · \S")

    def test_hints_have_three_rungs_for_every_task(self) -> None:
        for lesson in lessons():
            with self.subTest(lesson=lesson.id):
                hints = read_hints((lesson.folder / "HINTS.md").read_text())
                self.assertEqual(tuple(hints), skeletons.of_lesson(lesson).tasks)
                for task, rungs in hints.items():
                    titles = [title for title, _ in rungs]
                    self.assertEqual(
                        titles, ["1 A question", "2 A fact", "3 The shape"], f"task {task}"
                    )
                    self.assertTrue(all(body for _, body in rungs), f"task {task}: an empty rung")

    def test_hints_do_not_give_the_solution_away(self) -> None:
        for lesson in lessons():
            solution = lesson.solution_file.read_text()
            for block in re.findall(r"// TODO (.*?)// END", solution, re.DOTALL):
                lines = [line.strip() for line in block.splitlines()[1:]]
                secret = {
                    line
                    for line in lines
                    if len(line) > 24 and not line.startswith(("//", "CUDA_CHECK", "__global__"))
                }
                hints = (lesson.folder / "HINTS.md").read_text()
                for line in secret:
                    self.assertNotIn(
                        line, hints, f"{lesson.id}: HINTS.md holds a line of the solution"
                    )

    def test_every_case_has_one_kind_of_tag(self) -> None:
        for lesson in lessons():
            for case in cases_of(lesson):
                with self.subTest(lesson=lesson.id, case=case.name):
                    self.assertTrue(case.task, "neither [taskN] nor [efficient]")


class Explanations(unittest.TestCase):
    def test_every_code_has_a_page_with_the_same_sections(self) -> None:
        self.assertEqual(explain.codes(), sorted(CODES))
        for code in CODES:
            with self.subTest(code=code):
                text = (explain.FOLDER / f"{code}.md").read_text()
                self.assertEqual(headings(text, 1), [code])
                self.assertEqual(headings(text), SECTIONS)
                self.assertIn("```cuda", text)

    def test_nothing_is_cut_at_80_columns(self) -> None:
        for code in CODES:
            page = (explain.FOLDER / f"{code}.md").read_text()
            for terminal in (False, True):
                out = io.StringIO()
                screen.show_page(page, Console(file=out, width=80, force_terminal=terminal))
                shown = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())
                self.assertTrue(all(len(line.rstrip()) <= 80 for line in shown.splitlines()), code)
                whole = re.sub(r"\W", "", shown)
                for word in re.findall(r"\w+", re.sub(r"```\w+", "", page)):
                    self.assertIn(word, whole, f"{code}, terminal: {terminal}")

    def test_lessons_that_pages_name_exist_or_are_marked(self) -> None:
        known = {lesson.number for lesson in lessons()}
        for code in CODES:
            text = (explain.FOLDER / f"{code}.md").read_text()
            for number in re.findall(r"`make (\d\d)`", text):
                self.assertIn(number, known, f"{code}.md names lesson {number}")

    def test_codes_in_the_sources_are_known(self) -> None:
        pattern = re.compile(r'"((?:[a-z]+-)+[a-z]+)"')
        known = set(CODES)
        shapes = tuple(code.split("-")[0] + "-" for code in CODES if "-" in code)
        for path in (ROOT / "common" / "emulator").rglob("*.cpp"):
            for word in pattern.findall(path.read_text()):
                if word.startswith(("out-of-bounds-", "race-", "uninitialized-")):
                    self.assertIn(word, known, str(path))
        self.assertTrue(shapes)


class Links(unittest.TestCase):
    def test_relative_links_lead_to_files(self) -> None:
        pages = [*ROOT.glob("*.md"), *(ROOT / "lessons").rglob("*.md")]
        pages += [*(ROOT / "solutions").rglob("*.md"), *(ROOT / "common").rglob("*.md")]
        pages += (ROOT / "tests").rglob("*.md")
        for page in pages:
            text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
                if "://" in target or target.startswith("mailto:"):
                    continue
                self.assertTrue(
                    (page.parent / target).exists(), f"{page.relative_to(ROOT)}: {target}"
                )

    def test_lessons_that_pages_name_exist(self) -> None:
        known = {lesson.number for lesson in lessons()}
        pages = [*(ROOT / "lessons").rglob("*.md"), *(ROOT / "solutions").rglob("*.md")]
        pages += [*(ROOT / "common").rglob("*.md"), *(ROOT / "plots").rglob("*.md")]
        for page in pages:
            for named in re.findall(r"[Ll]essons? ((?:\d\d(?:, | and | to )?)+)", page.read_text()):
                for number in re.findall(r"\d\d", named):
                    self.assertIn(number, known, str(page.relative_to(ROOT)))

    def test_commands_that_pages_name_exist(self) -> None:
        known = {command.name for command in commands.COMMANDS}
        for page in (
            ROOT / "README.md",
            ROOT / "CONTRIBUTING.md",
            ROOT / "tests" / "lessons" / "README.md",
        ):
            for command in re.findall(r"`make ([a-z][a-z-]*)", page.read_text()):
                stem = re.sub(r"-(?:CODE|NN|race-.*|out-of-.*)?$", "", command)
                stems = {stem, stem.split("-")[0], command}
                self.assertTrue(stems & known, f"{page.name}: make {command}")


def main() -> None:
    Path.cwd()
    unittest.main()


if __name__ == "__main__":
    main()
