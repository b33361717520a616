# SPDX-License-Identifier: MIT
"""make mutate-NN: which edits survive, what records say of them, and when a record is stale."""

from __future__ import annotations

import contextlib
import io
import shutil
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path

from workbook.answers import catalog
from workbook.answers.catalog import EQUIVALENT
from workbook.author import mutate
from workbook.author.mutate import NOT_BUILT, SURVIVES
from workbook.base.project import NOT_PASSED, PASSED, Lesson, lessons

ID = "00_double_all"
FIXTURE = Path(__file__).resolve().parent / "fixture"
GUARD, WEAKER = "if (i < n) out[i] = i;", "if (i <= n) out[i] = i;"
CASE = "task 2: counts up"


def survives(*lines: str) -> Callable[[str], str]:
    """A trial that notices each edit but those that make one of these lines."""
    return lambda text: SURVIVES if any(line in text for line in lines) else CASE


class Mutate(unittest.TestCase):
    def setUp(self) -> None:
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for part in ("lessons", "solutions"):
            shutil.copytree(FIXTURE / part / ID, folder / part / ID)
        EQUIVALENT.list_of(Lesson(ID, folder)).unlink(missing_ok=True)
        self.lesson = Lesson(ID, folder)

    def record(self, edit: str, name: str = "weaker") -> None:
        text = f"== {name}\nNothing changes.\n{edit}"
        EQUIVALENT.list_of(self.lesson).write_text(text)

    def record_weaker(self) -> None:
        self.record(f"-     {GUARD}\n+     {WEAKER}\n")

    def score(self, trial: Callable[[str], str]) -> tuple[mutate.Score, int, str]:
        """The score, and the exit code and the words of the command."""
        score = mutate.score_of(self.lesson, trial, 2)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            code = mutate.show(score)
        return score, code, out.getvalue()

    def test_only_tasks_are_edited(self) -> None:
        base = catalog.text_of_base(self.lesson, EQUIVALENT).splitlines()
        for mutation in mutate.mutations_of(self.lesson):
            made = mutation.text.splitlines()
            self.assertEqual(len(made), len(base))
            changed = [at for at, line in enumerate(made, 1) if line != base[at - 1]]
            self.assertEqual(changed, [mutation.line])
            self.assertIn("i", base[mutation.line - 1])
            self.assertNotIn("<<<", base[mutation.line - 1])

    def test_every_edit_is_noticed(self) -> None:
        score, code, said = self.score(survives())
        whole = len(mutate.mutations_of(self.lesson))
        self.assertEqual((score.caught, code), (whole, PASSED))
        self.assertEqual(said, f"lesson 00: {whole} of {whole} caught, 0 equivalent, 0 survive\n")

    def test_a_survivor_is_shown_and_fails(self) -> None:
        score, code, said = self.score(survives(WEAKER))
        self.assertEqual(code, NOT_PASSED)
        (one,) = score.survivors
        self.assertIn(f"line {one.line}, relational: `<` becomes `<=`\n", said)
        self.assertIn(f"    -     {GUARD}\n    +     {WEAKER}\n", said)
        whole = len(mutate.mutations_of(self.lesson))
        self.assertIn(f"{whole - 1} of {whole} caught, 0 equivalent, 1 survives\n", said)

    def test_what_is_shown_is_a_record(self) -> None:
        """The lines of a survivor, below a name and a reason."""
        _, _, said = self.score(survives(WEAKER))
        edit = [line[4:] for line in said.splitlines() if line.startswith("    ")]
        self.record("\n".join(edit) + "\n")
        self.assertEqual(self.score(survives(WEAKER))[1], PASSED)

    def test_a_record_says_that_nothing_changes(self) -> None:
        self.record_weaker()
        score, code, said = self.score(survives(WEAKER))
        self.assertEqual((score.equivalent, score.survivors, code), (1, [], PASSED))
        self.assertIn("1 equivalent, 0 survive", said)

    def test_a_record_is_stale_if_a_test_notices_its_edit(self) -> None:
        self.record_weaker()
        _, code, said = self.score(survives())
        self.assertEqual(code, NOT_PASSED)
        self.assertRegex(
            said, f'stale: .*equivalent.txt: the edit of weaker is noticed by "{CASE}"'
        )

    def test_a_record_is_stale_if_its_edit_does_not_compile(self) -> None:
        self.record_weaker()
        _, code, said = self.score(lambda text: NOT_BUILT if WEAKER in text else CASE)
        self.assertEqual(code, NOT_PASSED)
        self.assertRegex(said, r"the edit of weaker does not build\n")

    def test_a_record_is_stale_if_its_line_is_gone(self) -> None:
        self.record(f"-     {GUARD} // once\n+     {WEAKER}\n")
        _, code, said = self.score(survives(WEAKER))
        self.assertEqual(code, NOT_PASSED)
        self.assertIn("the edit of weaker is stale: this line is not in the solution", said)

    def test_a_record_is_stale_if_no_operator_makes_it(self) -> None:
        self.record(f"-     {GUARD}\n+     if (n > i) out[i] = i;\n")
        _, code, said = self.score(survives())
        self.assertEqual(code, NOT_PASSED)
        self.assertIn("no operator makes the edit of weaker", said)

    def test_what_does_not_compile_is_no_edit(self) -> None:
        score, code, said = self.score(lambda text: NOT_BUILT if WEAKER in text else CASE)
        self.assertEqual((score.not_built, code), (1, PASSED))
        whole = len(mutate.mutations_of(self.lesson)) - 1
        self.assertIn(f"{whole} of {whole} caught", said)
        self.assertIn("(1 did not compile)", said)


class Records(unittest.TestCase):
    def test_an_operator_makes_each_of_the_repositorys(self) -> None:
        for lesson in lessons():
            if EQUIVALENT.list_of(lesson).exists():
                with self.subTest(lesson=lesson.id):
                    _, stale = mutate.records_of(lesson, mutate.mutations_of(lesson))
                    self.assertEqual(stale, [])


if __name__ == "__main__":
    unittest.main()
