# SPDX-License-Identifier: MIT
"""The lists of wrong and unusual answers: how they are read, when they are stale, how written."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from workbook.answers import catalog, edits
from workbook.answers.catalog import MUTANT, UNUSUAL
from workbook.answers.verdicts import Verdicts
from workbook.author import answer_drafts
from workbook.base.project import Lesson, WorkbookError, lessons
from workbook.lesson import skeletons

ID = "00_double_all"
FIXTURE = Path(__file__).resolve().parent / "fixture"
LESSON = Lesson(ID, FIXTURE)
HEAD = "== name\nIt is wrong.\nfails all\n"
GUARD = "-     if (i < n) data[i] *= 2.0f;\n+     data[i] *= 2.0f;\n"


def parsed(edit: str, head: str = HEAD) -> catalog.Answer:
    return next(iter(catalog.parse(LESSON, head + edit, "m.txt").values()))


def solution() -> list[str]:
    return skeletons.solved(LESSON.solution_file.read_text()).splitlines()


class Expanding(unittest.TestCase):
    def test_an_edit_is_made_and_everything_else_stays(self) -> None:
        text, marks = parsed(GUARD).expand()
        want = solution()
        want[want.index("    if (i < n) data[i] *= 2.0f;")] = "    data[i] *= 2.0f;"
        self.assertEqual(text, "\n".join(want) + "\n")
        self.assertEqual(marks, {})
        self.assertIn("    // TODO 1 (about 2 lines): double", text)
        self.assertNotIn("//|", text)

    def test_lines_that_come_stay_in_their_place(self) -> None:
        edit = (
            "      if (n == 0) return;\n+     // more\n      double_all_kernel<<<(n + 255) / 256, "
        )
        text, _ = parsed(edit + "256>>>(d_data, n);\n").expand()
        self.assertIn("    if (n == 0) return;\n    // more\n    double_all_kernel<<<", text)
        self.assertEqual(len(text.splitlines()), len(solution()) + 1)

    def test_skips_go_down(self) -> None:
        first, second = GUARD, "-     if (i < n) out[i] = i;\n"
        text, _ = parsed(first + "  @@\n" + second).expand()
        self.assertEqual(len(text.splitlines()), len(solution()) - 1)
        with self.assertRaisesRegex(catalog.BadAnswer, r"m\.txt:6: .*stale: it stands above"):
            parsed(second + "  @@\n" + first).expand()

    def test_parts_that_overlap_are_refused(self) -> None:
        line = "      const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        with self.assertRaisesRegex(catalog.BadAnswer, "stands above or in"):
            parsed(line + GUARD + "  @@\n" + GUARD).expand()

    def test_a_mark_is_a_line_and_no_text(self) -> None:
        edit = GUARD.replace("2.0f;\n+", "2.0f;\n+").rstrip("\n") + "  // <- here\n"
        edit += "  @@\n      if (i < n) out[i] = i;  // <- there\n"
        text, marks = parsed(edit).expand()
        lines = text.splitlines()
        self.assertNotIn("<-", text)
        self.assertEqual(lines[marks["here"] - 1], "    data[i] *= 2.0f;")
        self.assertEqual(lines[marks["there"] - 1], "    if (i < n) out[i] = i;")
        with self.assertRaisesRegex(catalog.BadAnswer, "two lines are marked"):
            parsed(edit.replace("there", "here")).expand()

    def test_a_line_that_is_gone_is_stale_and_named(self) -> None:
        with self.assertRaises(catalog.BadAnswer) as caught:
            parsed("-     if (i < n) data[i] *= 3.0f;\n").expand()
        said = str(caught.exception)
        self.assertIn("m.txt:4: the edit of name is stale", said)
        self.assertIn("this line is not in the solution:\n        if (i < n) data[i] *= 3", said)
        self.assertIn("make mutant-00 NAME=name", caught.exception.to_do)

    def test_a_line_of_the_skeleton_is_not_the_solutions(self) -> None:
        with self.assertRaisesRegex(catalog.BadAnswer, "not in the solution"):
            parsed("-     //| if (i < n) out[i] = 7;\n").expand()

    def test_lines_in_another_order_are_stale(self) -> None:
        edit = GUARD + "      const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        with self.assertRaisesRegex(catalog.BadAnswer, "in this order"):
            parsed(edit).expand()

    def test_a_place_that_is_not_the_only_one_is_refused(self) -> None:
        edit = "-     if (n == 0) return;\n"
        with self.assertRaisesRegex(catalog.BadAnswer, r"found 2 times, from lines 13, 26 on"):
            parsed(edit).expand()
        edit += "      double_all_kernel<<<(n + 255) / 256, 256>>>(d_data, n);\n"
        self.assertEqual(len(parsed(edit).expand()[0].splitlines()), len(solution()) - 1)


class Reading(unittest.TestCase):
    def refused(self, words: str, edit: str = GUARD, head: str = HEAD) -> None:
        with self.assertRaisesRegex(catalog.BadAnswer, words):
            parsed(edit, head)

    def test_the_head(self) -> None:
        head = "== name\nIt is\nwrong. Twice, even.\nlimit 2 seconds\nfails task 1\nfails task 2\n"
        made = parsed(GUARD, head)
        self.assertEqual(made.summary, "It is wrong. Twice, even.")
        self.assertEqual(str(made.verdicts), "limit 2 seconds\nfails task 1\nfails task 2")

    def test_what_is_missing_or_unknown_is_named(self) -> None:
        self.refused("m.txt:1: name: a text", head="== name\nfails all\n")
        self.refused("at least one verdict", head="== name\nIt is wrong.\n")
        self.refused("`failz all`: no such verdict", head="== name\nIt is wrong.\nfailz all\n")
        self.refused("name has no edit", edit="")
        self.refused("changes nothing", edit="      if (n == 0) return;\n")
        self.refused("nothing says where", edit="+     int x;\n")
        self.refused(r"m\.txt:6: in an edit a line starts", edit=GUARD + "oops\n")
        self.refused("a name is of lower-case", head="== Two words\nIt is wrong.\nfails all\n")
        self.refused("an entry starts with", head="It is wrong.\n" + HEAD)

    def test_one_name_once(self) -> None:
        with self.assertRaisesRegex(catalog.BadAnswer, "m.txt:7: there are two called name"):
            catalog.parse(LESSON, HEAD + GUARD + "\n" + HEAD + GUARD, "m.txt")

    def test_a_whole_file(self) -> None:
        head = "// Mutant: it is\n// wrong.\n// verdict: fails all\n"
        text = head + "// SPDX-License\nint x;  // <- here\n"
        made = catalog.parse_whole(LESSON, "whole", text, "whole.cu")
        self.assertEqual((made.summary, str(made.verdicts)), ("it is wrong.", "fails all"))
        self.assertEqual(made.expand(), ("// SPDX-License\nint x;\n", {"here": 2}))
        with self.assertRaisesRegex(catalog.BadAnswer, "whole.cu: `x`: no such verdict"):
            catalog.parse_whole(LESSON, "w", text.replace("fails all", "x"), "whole.cu")
        with self.assertRaisesRegex(catalog.BadAnswer, "the first line reads"):
            catalog.parse_whole(LESSON, "w", text[3:], "whole.cu")


class Unusual(unittest.TestCase):
    """Right answers: edits of finished code, without verdicts."""

    HEAD = "== name\nIt is different.\n"
    RUNG = "variants/1_four_each"

    def parsed(self, text: str) -> catalog.Answer:
        return catalog.parse(LESSON, text, "u.txt", UNUSUAL)["name"]

    def test_the_base_has_no_comments_of_tasks(self) -> None:
        text, _ = self.parsed(self.HEAD + GUARD).expand()
        self.assertNotIn("TODO", text)
        self.assertNotIn("END", text)
        with self.assertRaisesRegex(catalog.BadAnswer, "not in the solution"):
            self.parsed(self.HEAD + "-     // END 1\n").expand()

    def test_a_verdict_is_refused(self) -> None:
        with self.assertRaisesRegex(catalog.BadAnswer, "u.txt:1: name: `fails all`: an unusual"):
            self.parsed(self.HEAD + "fails all\n" + GUARD)

    def test_an_edit_of_a_rung(self) -> None:
        rung = catalog.text_of_base(LESSON, UNUSUAL, self.RUNG)
        lines = rung.splitlines()
        self.assertTrue(lines[0].startswith("// SPDX"), "a rung's announcement is no part of it")
        at = next(i for i, line in enumerate(lines) if lines.count(line) == 1 and line.strip())
        edit = f"edit of {self.RUNG}\n- {lines[at]}\n"
        made = self.parsed(self.HEAD + edit)
        self.assertEqual(made.expand()[0].splitlines(), lines[:at] + lines[at + 1 :])
        self.assertEqual(catalog.as_entry(made), self.HEAD + edit)
        with self.assertRaisesRegex(catalog.BadAnswer, f"stale: this line is not in {self.RUNG}"):
            self.parsed(f"{self.HEAD}edit of {self.RUNG}\n- int gone;\n").expand()

    def test_a_rung_that_there_is_not_is_named(self) -> None:
        for rung in ("variants/9_none", "mutants/race", "../double_all"):
            with self.assertRaisesRegex(catalog.BadAnswer, f"the lesson has no {rung}.cu"):
                self.parsed(f"{self.HEAD}edit of {rung}\n{GUARD}")

    def test_a_whole_file(self) -> None:
        text = "// Unusual: it is\n// different.\n// SPDX-License\nint x;\n"
        made = catalog.parse_whole(LESSON, "whole", text, "whole.cu", UNUSUAL)
        self.assertEqual(
            (made.summary, made.whole), ("it is different.", "// SPDX-License\nint x;\n")
        )
        with self.assertRaisesRegex(catalog.BadAnswer, "the first line reads `// Unusual: `"):
            catalog.parse_whole(LESSON, "w", text.replace("Unu", "Mu"), "whole.cu", UNUSUAL)


class Making(unittest.TestCase):
    """Edits that are worked out from a whole text."""

    def test_what_is_made_is_read_as_the_same(self) -> None:
        base = solution()
        for at in range(len(base)):
            for made, marks in (
                (base[:at] + base[at + 1 :], {}),
                ([*base[:at], "    // new", *base[at:]], {"here": at + 1}),
                ([*base[:at], "    // new", *base[at + 1 :]], {"here": 2, "there": at + 1}),
            ):
                marks = {} if len({*marks.values()}) < len(marks) else marks
                hunks = edits.edit(base, made, marks)
                one = catalog.Answer(LESSON, MUTANT, "name", "It is wrong.", hunks=hunks)
                text = catalog.as_entry(one).replace("wrong.\n", "wrong.\nfails all\n")
                again = catalog.parse(LESSON, text, "m.txt")["name"]
                self.assertEqual(again.expand(), ("\n".join(made) + "\n", marks), text)

    def test_the_context_is_as_small_as_it_can_be(self) -> None:
        base = solution()
        made = [line for line in base if "out[i] = i" not in line]
        (hunk,) = edits.edit(base, made, {})
        self.assertEqual(hunk.lines, [("-", "    if (i < n) out[i] = i;")])

    def test_changes_that_are_close_are_shown_together(self) -> None:
        base = [f"line {number};" for number in range(20)]
        for apart, parts in ((2, 1), (3, 1), (4, 2)):
            made = [*base]
            made[5] = made[5 + apart] = "new;"
            self.assertEqual(len(edits.edit(base, made, {})), parts, apart)

    def test_every_entry_of_the_repository_is_as_it_would_be_written(self) -> None:
        for lesson in (*lessons(), LESSON):
            for kind in catalog.KINDS:
                path = kind.list_of(lesson)
                found = [one for one in catalog.of_lesson(lesson, kind).values() if not one.whole]
                found.sort(key=lambda one: one.name)
                text = "\n".join(catalog.as_entry(one) for one in found)
                self.assertEqual(text, path.read_text() if path.exists() else "", path)


class Authors(unittest.TestCase):
    """make mutant-NN: without the run, which the grader's tests are about."""

    def setUp(self) -> None:
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for part in ("lessons", "solutions"):
            shutil.copytree(FIXTURE / part / ID, folder / part / ID)
        self.lesson = Lesson(ID, folder)
        self.draft = folder / "draft.cu"

    def test_a_known_answer_comes_out_and_goes_back_as_it_was(self) -> None:
        before = MUTANT.list_of(self.lesson).read_text()
        for name, known in catalog.of_lesson(self.lesson).items():
            answer_drafts.begin(self.lesson, name, self.draft)
            summary, said, body = catalog.split_whole(
                self.draft.read_text().splitlines(), MUTANT.title, ""
            )
            self.assertEqual((summary, "\n".join(said)), (known.summary, str(known.verdicts)))
            self.assertEqual(edits.without_marks(body), known.expand())
            answer_drafts.store(known)
        self.assertEqual(MUTANT.list_of(self.lesson).read_text(), before)

    def test_a_stale_one_is_shown_and_starts_from_the_solution(self) -> None:
        path = MUTANT.list_of(self.lesson)
        path.write_text(path.read_text().replace("- ", "- int gone; ", 1))
        name = next(iter(catalog.of_lesson(self.lesson)))
        with contextlib.redirect_stdout(io.StringIO()) as out:
            answer_drafts.begin(self.lesson, name, self.draft)
        self.assertIn("is stale", out.getvalue())
        self.assertIn("- int gone;", out.getvalue())
        self.assertTrue(self.draft.read_text().endswith("\n".join(solution()) + "\n"))

    def test_a_new_one_starts_from_the_solution(self) -> None:
        answer_drafts.begin(self.lesson, "new", self.draft)
        lines = self.draft.read_text().splitlines()
        self.assertTrue(lines[0].startswith("// Mutant: "))
        self.assertEqual(lines[1:], solution())

    def test_a_whole_file_takes_the_place_of_the_edit(self) -> None:
        known = catalog.find(self.lesson, "race")
        known.whole, known.hunks = "int x;\n", []
        path = answer_drafts.store(known)
        self.assertEqual(path.name, "race.cu")
        self.assertEqual(catalog.find(self.lesson, "race").whole, "int x;\n")
        self.assertNotIn("== race", MUTANT.list_of(self.lesson).read_text())

    def test_an_unusual_answer_comes_out_and_goes_back_as_it_was(self) -> None:
        before = UNUSUAL.list_of(self.lesson).read_text()
        for name, known in catalog.of_lesson(self.lesson, UNUSUAL).items():
            made, passed = self.read_back(name)
            self.assertTrue(passed)
            self.assertEqual(catalog.as_entry(made), catalog.as_entry(known))
            answer_drafts.store(made)
        self.assertEqual(UNUSUAL.list_of(self.lesson).read_text(), before)

    def read_back(self, name: str) -> tuple[catalog.Answer, bool]:
        """The file of that name, or `draft` if there is one, as if it had passed all cases."""
        if not self.draft.exists():
            answer_drafts.begin(self.lesson, name, self.draft)
        with mock.patch.object(answer_drafts, "_happened", return_value=(Verdicts(), {}, True)):
            made = answer_drafts.read_back(self.lesson, name, self.draft)
        self.draft.unlink()
        return made

    def test_an_edit_of_what_is_nearest(self) -> None:
        solution = catalog.text_of_base(self.lesson, UNUSUAL)
        rung = catalog.text_of_base(self.lesson, UNUSUAL, Unusual.RUNG)
        for text, nearest in ((solution, ""), (rung, Unusual.RUNG), ("int y;\n" * 50, None)):
            self.draft.write_text(f"// Unusual: It is different.\n{text}int x;\n")
            made, _ = self.read_back("new")
            self.assertEqual(made.expand()[0], f"{text}int x;\n")
            self.assertEqual(None if made.whole else made.base, nearest)
            self.assertIs(made.kind, UNUSUAL)

    def test_a_wrong_answer_is_an_edit_of_the_solution_where_it_can_be(self) -> None:
        folder = UNUSUAL.folder_of(self.lesson)
        folder.mkdir()
        changed = "\n".join(solution()).replace("2.0f", "2.5f") + "\n"
        far = "".join(f"int y{number};\n" for number in range(50))
        for text, base in ((changed, ""), (far, "unusual/near")):
            (folder / "near.cu").write_text(f"// Unusual: It is near.\n{text}")
            self.draft.write_text(f"// Mutant: It is different.\n{text}int x;\n")
            made, _ = self.read_back("new")
            self.assertEqual((made.kind, made.whole, made.base), (MUTANT, "", base))
            self.assertEqual(made.expand()[0], f"{text}int x;\n")

    def test_comments_of_tasks_stay_out_of_an_unusual_answer(self) -> None:
        text = "\n".join(solution())
        self.draft.write_text(f"// Unusual: It is different.\n{text}\nint x;\n")
        made, _ = self.read_back("new")
        self.assertEqual(made.expand()[0], catalog.text_of_base(self.lesson, UNUSUAL) + "int x;\n")

    def test_a_list_without_entries_is_no_file(self) -> None:
        for known in catalog.of_lesson(self.lesson, UNUSUAL).values():
            text, _ = known.expand()
            answer_drafts.store(dataclasses.replace(known, hunks=[], whole=text))
        self.assertFalse(UNUSUAL.list_of(self.lesson).exists())
        self.assertEqual({*catalog.of_lesson(self.lesson, UNUSUAL)}, {"chatty", "grid_stride"})

    def test_one_name_is_one_answer(self) -> None:
        whole = self.lesson.solution_folder / "mutants" / "race.cu"
        whole.parent.mkdir(exist_ok=True)
        whole.write_text("// Mutant: a race.\n// verdict: fails all\nint x;\n")
        with self.assertRaisesRegex(catalog.BadAnswer, "mutants.txt has a race too"):
            catalog.of_lesson(self.lesson)

    def test_the_solution_is_no_wrong_answer(self) -> None:
        answer_drafts.begin(self.lesson, "new", self.draft)
        text = self.draft.read_text()
        with self.assertRaisesRegex(WorkbookError, "full stop"):
            self.draft.write_text(text.replace("wrong with it.", "wrong with it"))
            answer_drafts.read_back(self.lesson, "new", self.draft)
        self.draft.write_text(text)
        with self.assertRaisesRegex(WorkbookError, "is the solution"):
            answer_drafts.read_back(self.lesson, "new", self.draft)


if __name__ == "__main__":
    unittest.main()
