# SPDX-License-Identifier: MIT
# In make test MORE=1: one file is compiled several times.
"""Answers whose headers are read once are compiled as nvcc compiles them, or left to nvcc."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from workbook.answers import catalog
from workbook.author import shared_headers
from workbook.author.shared_headers import Compiler, NotShared, lines_with_includes
from workbook.base.project import Lesson
from workbook.build import programs
from workbook.lesson import skeletons

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
LESSON = Lesson("00_double_all", Path(__file__).resolve().parent / "fixture")
HOST_COMPILERS = ("gcc", "g++")  # which of them, depends on the version of nvcc
DOUBLED, TRIPLED = "data[i] *= 2.0f;", "data[i] *= 3.0f;"


def plain(text: str) -> str:
    """PTX without the columns of macros, the name of the module and the paths of files."""
    text = re.sub(r"(\.loc\t\d+ \d+) \d+", r"\1", text)
    text = re.sub(r"(?m)^(\.b8 |\t\.file\t).*\n", "", text)
    return re.sub(r"_INTERNAL_[0-9a-f]{8}_", "_INTERNAL_", text)


def section(made: Path, name: str) -> bytes:
    """The content of an object's section."""
    copy = made.with_suffix(name)
    subprocess.run(["objcopy", "-O", "binary", "-j", name, str(made), str(copy)], check=True)
    return copy.read_bytes()


class Includes(unittest.TestCase):
    def test_they_end_with_the_last_one(self) -> None:
        text = '// why\n#include "a.h"\n\n#include <b>\nint x;\n'
        self.assertEqual(lines_with_includes(text), text.splitlines()[:4])

    def test_a_condition_is_not_cut(self) -> None:
        text = "#if A\n#include <a>\n#else\n#  include <b>\n#endif\nint x;\n"
        self.assertEqual(lines_with_includes(text), text.splitlines()[:5])

    def test_there_may_be_none(self) -> None:
        self.assertEqual(lines_with_includes("int x;\n"), [])
        self.assertEqual(lines_with_includes("#if A\n#include <a>\nint x;\n"), [])


class Compiled(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.solution = skeletons.solved(LESSON.solution_file.read_text())
        self.compiler = self.enterContext(Compiler(BUILD, LESSON))

    def source(self, text: str, name: str = "answer") -> Path:
        return catalog.write_as_student(self.folder / name, LESSON, text)

    def test_the_ptx_is_nvccs(self) -> None:
        for name, text in (
            ("right", self.solution),
            ("wrong", self.solution.replace(DOUBLED, TRIPLED)),
        ):
            source = self.source(text, name)
            made = self.compiler.object_of(source)
            ours = made.with_suffix(".ptx").read_text()
            command, folder = programs.compile_command(BUILD, LESSON, quick=True)
            nvcc = programs.compile_arguments(
                command, LESSON.solution_file, source, source.with_suffix(".o")
            )
            subprocess.run(
                [*nvcc, "--keep", "--keep-dir", str(source.parent)], cwd=folder, check=True
            )
            theirs = source.with_suffix(".ptx").read_text()
            self.assertEqual(plain(ours), plain(theirs))
            self.assertEqual(ours.count("mul.f32"), theirs.count("mul.f32"))
            self.assertRegex(ours, rf'\.file\t\d+ "{re.escape(str(source))}"')
            self.assertEqual("0f40400000" in ours, name == "wrong")  # 3.0f

    def steps_for(self, text: str, name: str) -> tuple[Path, list[str]]:
        """The object, and the programs that were started for it."""
        with mock.patch.object(shared_headers, "_run", wraps=shared_headers._run) as run:
            made = self.compiler.object_of(self.source(text, name))
        return made, [Path(call.args[0][0]).name for call in run.call_args_list]

    def test_what_differs_on_the_device_alone_is_embedded_anew(self) -> None:
        first, steps = self.steps_for(self.solution, "right")
        self.assertIn(steps[-1], HOST_COMPILERS)
        second, steps = self.steps_for(self.solution.replace(DOUBLED, TRIPLED), "wrong")
        self.assertEqual(steps[-1], "objcopy")
        self.assertEqual(section(second, ".text"), section(first, ".text"))
        embedded = section(second, ".nv_fatbin")
        self.assertEqual(embedded, second.with_suffix(".fatbin").read_bytes())
        self.assertNotEqual(embedded, section(first, ".nv_fatbin"))

    def test_what_differs_for_the_host_is_compiled(self) -> None:
        self.steps_for(self.solution, "right")
        for name, text in (
            ("wrong", self.solution.replace("if (n == 0)", "if (n == 1)")),
            ("moved", self.solution.replace(DOUBLED, f"\n{DOUBLED}")),  # CUDA_CHECK names a line
        ):
            made, steps = self.steps_for(text, name)
            self.assertIn(steps[-1], HOST_COMPILERS, name)
            self.assertTrue(made.is_file())

    def test_an_answer_with_its_own_headers_is_left_to_nvcc(self) -> None:
        with self.assertRaisesRegex(NotShared, "includes something else"):
            self.compiler.object_of(self.source("#include <cmath>\n" + self.solution))
        with self.assertRaisesRegex(NotShared, "includes something else"):
            self.compiler.object_of(self.source(self.solution + "#include <cmath>\n"))

    def test_after_one_that_does_not_compile_the_next_does(self) -> None:
        with self.assertRaisesRegex(NotShared, r"double_all\.cu\(\d+\): error: .*datum"):
            self.compiler.object_of(self.source(self.solution.replace("data[i]", "datum[i]")))
        self.assertTrue(self.compiler.object_of(self.source(self.solution, "next")).is_file())

    def test_nothing_is_left(self) -> None:
        made = self.compiler.object_of(self.source(self.solution))
        waiting = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
        self.assertEqual(len(waiting.read_text().split()), 2)
        self.compiler.__exit__()
        self.assertFalse(made.exists())
        self.assertEqual(waiting.read_text().split(), [])


if __name__ == "__main__":
    unittest.main()
