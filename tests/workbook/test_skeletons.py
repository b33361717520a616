# SPDX-License-Identifier: MIT
"""The generator of skeletons, and that lessons/ holds what solutions/ generate."""

from __future__ import annotations

import unittest

from workbook.base.project import ROOT, WorkbookError, lessons
from workbook.lesson import index, skeletons, student_files

SOURCE = """// head
void f() {
    // TODO 1 (about 2 lines): do it.
    // More about it.
    //| int x = 0;
    //|     deeper(x);
    //|
    // a comment of the solution
    solve();
    // END 1
    keep();
    // TODO 2 (1 line): again.
    //|
    // a comment of the solution
    again();
    // END 2
}
"""

SKELETON = """// head
void f() {
    // TODO 1 (about 2 lines): do it.
    // More about it.
    int x = 0;
        deeper(x);
    // END 1
    keep();
    // TODO 2 (1 line): again.
    // END 2
}
"""


class Generator(unittest.TestCase):
    def test_keeps_markers_and_placeholders_only(self) -> None:
        made = skeletons.generate(SOURCE)
        self.assertEqual(made.text, SKELETON)
        self.assertEqual(made.tasks, (1, 2))

    def test_finished_code_has_no_comments_of_tasks(self) -> None:
        comment = "    // a comment of the solution\n"
        head, tail = "// head\nvoid f() {\n", "    keep();\n"
        want = f"{head}{comment}    solve();\n{tail}{comment}    again();\n}}\n"
        self.assertEqual(skeletons.finished(SOURCE), want)
        self.assertEqual(skeletons.finished(want), want)

    def test_refuses_broken_markers_and_names_the_line(self) -> None:
        for source, line, word in (
            ("// TODO 1 (1 line): a.\n", 1, "no END"),
            ("// TODO 1: a.\n// END 1\n", 1, "reads"),
            ("// TODO 2 (1 line): a.\n// END 2\n", 1, "TODO 1 is next"),
            ("x\n// END 1\n", 2, "does not close"),
            ("// TODO 1 (1 line): a.\n// END 2\n", 2, "does not close"),
            ("// TODO 1 (1 line): a.\n// TODO 2 (1 line): b.\n// END 2\n", 2, "inside TODO 1"),
            ("//| x;\n", 1, "outside"),
            ("// TODO 1 (1 line): a.\ncode;\n//| x;\n// END 1\n", 3, "before them"),
            ("int x;\n", 1, "no TODO"),
        ):
            with self.subTest(source=source), self.assertRaises(WorkbookError) as caught:
                skeletons.generate(source, "file.cu")
            self.assertIn(f"file.cu:{line}: ", str(caught.exception))
            self.assertIn(word, str(caught.exception))


class Repository(unittest.TestCase):
    def test_lessons_hold_what_their_solutions_generate(self) -> None:
        for lesson in lessons():
            want = skeletons.of_lesson(lesson).text
            with self.subTest(lesson=lesson.id):
                committed = student_files.committed_text(lesson.student_file)
                if lesson.student_file.is_file() and lesson.student_file.read_text() == want:
                    continue
                if committed == want:
                    print(f"note: {lesson.id} has been edited (make reset-{lesson.number})")
                    continue
                self.fail(
                    f"lessons/{lesson.id}/{lesson.slug}.cu is not what its solution generates. "
                    f"Authors run make skeletons; after an edit, make reset-{lesson.number}"
                )

    def test_index_is_what_the_list_generates(self) -> None:
        text = (ROOT / "lessons" / "README.md").read_text()
        self.assertEqual(text, index.text(), "make skeletons writes lessons/README.md")

    def test_there_is_one_list_of_lessons(self) -> None:
        ids = sorted(lesson.id for lesson in lessons())
        self.assertEqual(ids, sorted(set(ids)))
        numbers = [lesson.number for lesson in lessons()]
        self.assertEqual(
            numbers, sorted(set(numbers)), "two lessons with one number, or out of order"
        )
        for folder in ("lessons", "solutions", "tests/lessons"):
            found = sorted(p.name for p in (ROOT / folder).iterdir() if p.is_dir())
            self.assertEqual(found, ids, f"{folder}/ and lessons/CMakeLists.txt differ")
        for lesson in lessons():
            self.assertTrue(lesson.test_files, f"{lesson.id} has no tests")


if __name__ == "__main__":
    unittest.main()
