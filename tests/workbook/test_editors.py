# SPDX-License-Identifier: MIT
# In make test MORE=1: programs are compiled and clangd reads every lesson.
"""What editors read: problems as lines and the tasks that match them, clangd's commands, the
container.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from rich.console import Console

from workbook.answers import catalog
from workbook.base.project import ROOT, Lesson, find_lesson, lessons
from workbook.build import build, editors, programs
from workbook.judge.grade import Grade, grade_program
from workbook.setup import install
from workbook.show import demo, grade_screen

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
LESSON = Lesson("00_double_all", Path(__file__).resolve().parent / "fixture")
TASKS = json.loads((ROOT / ".vscode" / "tasks.json").read_text())["tasks"]
MATCHERS = [t["problemMatcher"] for t in TASKS if isinstance(t["problemMatcher"], dict)]


def printed(grade: Grade) -> str:
    """The screen and the lines for editors, as a task sees them."""
    out = io.StringIO()
    with mock.patch.dict(os.environ, {"PROBLEMS": "1"}), contextlib.redirect_stdout(out):
        grade_screen.show_grade(grade, Console(file=out, width=80, highlight=False, emoji=False))
    return out.getvalue()


def matched(text: str) -> list[dict[str, str]]:
    """What the tasks' problem matcher makes of `text`, line by line as VS Code applies it."""
    pattern = dict(MATCHERS[0]["pattern"])
    regexp = re.compile(pattern.pop("regexp"))
    found = [regexp.search(line) for line in text.splitlines()]
    return [{name: m.group(at) or "" for name, at in pattern.items()} for m in found if m]


class Problems(unittest.TestCase):
    def test_a_finding_is_on_its_line_and_nothing_else_matches(self) -> None:
        for mutant, code in (("race", "race-global"), ("no_guard", "out-of-bounds-global")):
            with self.subTest(mutant):
                grade, _ = demo.grade_as_student(BUILD, catalog.find(LESSON, mutant))
                text = printed(grade)
                found = matched(text)
                told = {(f.code, f.line, f.severity) for f in grade.merged_findings() if f.unsafe}
                self.assertIn(code, {of for of, _, _ in told})
                self.assertEqual(
                    {(p["code"], int(p["line"]), p["severity"]) for p in found}, told, text
                )
                for problem in found:
                    self.assertTrue((ROOT / problem["file"]).is_file(), problem["file"])
                self.assertRegex(text, rf"(?m)^problems: {len(found)}$")

    def test_a_compiler_error_is_on_its_line(self) -> None:
        right = LESSON.solution_file.read_text()
        source = BUILD / "tests" / "workbook" / "student" / "double_all.cu"
        self.addCleanup(source.write_text, right)
        line = 1 + right[: right.index("out[i] = i;")].count("\n")
        for wrong, word in (
            ("out[i] = j;", '"j" is undefined'),
            ("{ int unused_here; out[i] = i; }", "unused_here"),
        ):
            with self.subTest(wrong):
                source.write_text(right.replace("out[i] = i;", wrong))
                made = build.build_student_file(BUILD, "lesson_00_double_all", source)
                grade = Grade(LESSON, "emulator", build_stage=made.stage)
                setattr(grade, "compiler_warnings" if made.ok else "build_error", made.text)
                found = matched(printed(grade))
                self.assertEqual([int(p["line"]) for p in found], [line])
                self.assertEqual(found[0]["severity"], "warning" if made.ok else "error")
                self.assertIn(word, found[0]["message"])
                self.assertTrue((ROOT / found[0]["file"]).is_file(), found[0]["file"])

    def test_a_report_of_the_emulator_is_matched_too(self) -> None:
        mutant = catalog.find(LESSON, "race")
        file, _ = catalog.written(BUILD, mutant)
        program, _ = programs.compiled(BUILD, LESSON, file)
        done = subprocess.run(
            [BUILD / "emulator" / "emulate", program], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, cwd=ROOT,
        )  # fmt: skip
        head, place = next(m["pattern"] for m in MATCHERS if isinstance(m["pattern"], list))
        lines = done.stdout.splitlines()
        found = [
            (first.group(head["code"]), at.group(place["file"]), int(at.group(place["line"])))
            for line, following in zip(lines, lines[1:], strict=False)
            if (first := re.search(head["regexp"], line))
            and (at := re.search(place["regexp"], following))
        ]
        grade, _ = demo.grade_as_student(BUILD, mutant)
        told = {(f.code, f.line) for f in grade.merged_findings() if f.unsafe}
        self.assertEqual({(code, line) for code, _, line in found}, told, done.stdout)
        self.assertTrue(all((ROOT / path).is_file() for _, path, _ in found), found)

    def test_a_right_answer_has_none(self) -> None:
        program, _ = programs.compiled(BUILD, LESSON, LESSON.solution_file)
        self.assertTrue(program.is_file())
        grade = grade_program(LESSON, program, "emulator", BUILD)
        self.assertEqual(matched(printed(grade)), [])

    def test_without_an_editor_nothing_is_added(self) -> None:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            grade_screen.show_grade(Grade(LESSON, "emulator", build_error="x.cu(1): error: y"),
                              Console(file=out, width=80))  # fmt: skip
        self.assertNotIn("problems:", out.getvalue())


class Files(unittest.TestCase):
    def test_tasks_call_what_there_is(self) -> None:
        known = subprocess.run(
            ["sh", "common/workbook/run", "--help"], cwd=ROOT, capture_output=True, text=True
        ).stdout
        for task in TASKS:
            with self.subTest(task["label"]):
                words = task["command"].removeprefix("sh common/workbook/run ").split()
                if not words[0].startswith("PATH="):
                    self.assertIn(words[1] if words[0] == "make" else words[0], known)
        of_grades = [m["pattern"] for m in MATCHERS if isinstance(m["pattern"], dict)]
        self.assertEqual(of_grades, [of_grades[0]] * 2)

    def test_the_folder_of_an_open_file_names_its_lesson(self) -> None:
        for path in ("lessons/02_boundary_checks", "solutions/02_boundary_checks/", "2"):
            self.assertEqual(find_lesson(path).number, "02")

    def test_watch_begins_and_ends(self) -> None:
        background = next(m["background"] for m in MATCHERS if "background" in m)
        self.assertRegex("Lesson 02: building and running ...", background["beginsPattern"])
        self.assertRegex("problems: 12", background["endsPattern"])

    def test_the_container_has_what_set_up_would_install(self) -> None:
        settings = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
        dockerfile = ROOT / ".devcontainer" / settings["build"]["dockerfile"]
        text = dockerfile.read_text()
        needs = [install._GXX, install._CATCH2, install._VENV, *install._HEADERS.values()]
        for package in [need.package for need in needs] + ["make", "git", "python3"]:
            self.assertRegex(text, rf"\s{re.escape(package)}\s")
        self.assertRegex(text, rf"RUN useradd .* {settings['remoteUser']} ")
        self.assertEqual(settings["onCreateCommand"], "make prepare")


class Clangd(unittest.TestCase):
    def test_nvcc_s_options_become_clang_s(self) -> None:
        nvcc = ["/opt/cuda/bin/nvcc", "-forward-unknown-to-host-compiler", "-DX=1", "-Ia b"]
        nvcc += ["-isystem=/opt/cuda/include", "--generate-code=arch=compute_75,code=[compute_75]"]
        nvcc += [
            "-lineinfo",
            "-Xcompiler=-g,-Wall",
            "-std=c++17",
            "-x",
            "cu",
            "-c",
            "a.cu",
            "-o",
            "a",
        ]
        words = editors.for_clang(nvcc, Path("/stand-ins"))
        self.assertEqual(words[:3], ["clang++", "-x", "cuda"])
        self.assertEqual(words[-7:], ["-DX=1", "-Ia b", "-isystem", "/opt/cuda/include",
                                      "-std=c++17", "-c", "a.cu"])  # fmt: skip
        self.assertIn("--cuda-path=/opt/cuda", words)
        cpp = ["/usr/bin/c++", "-O1", "-c", "a.cpp"]
        self.assertEqual(editors.for_clang(cpp, Path("/stand-ins")), cpp)

    def test_clangd_finds_nothing_in_what_students_open_and_what_is_wrong(self) -> None:
        names = ["clangd", *(f"clangd-{version}" for version in range(30, 13, -1))]
        clangd = next(filter(None, map(shutil.which, names)), None)
        if not clangd:
            self.skipTest("clangd is not installed (apt-get install clangd)")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            editors.write_commands(BUILD, folder)
            known = {lesson.number: lesson for lesson in lessons()}
            for number in ("02", "05", "18"):
                with self.subTest(number):
                    self.assertEqual(self.said(clangd, known[number].solution_file, folder), [])
            source = known["02"].solution_file
            commands = json.loads((folder / "compile_commands.json").read_text())
            entry = next(e for e in commands if e["file"] == str(source))
            wrong = folder / "wrong.cu"
            wrong.write_text(
                source.read_text() + "\n__global__ void k() { int i = threadIdx.q; }\n"
            )
            entry["file"] = entry["arguments"][-1] = str(wrong)
            (folder / "compile_commands.json").write_text(json.dumps([entry]))
            self.assertIn("no member named 'q'", "\n".join(self.said(clangd, wrong, folder)))

    def said(self, clangd: str, source: Path, commands: Path) -> list[str]:
        done = subprocess.run(
            [clangd, f"--check={source}", f"--compile-commands-dir={commands}", "--tweaks=none"],
            cwd=ROOT, capture_output=True, text=True,
        )  # fmt: skip
        self.assertIn("Building AST", done.stderr)
        return re.findall(r"^[EW]\[[^\]]*\] (\[[\w-]+\] Line \d+: .*)$", done.stderr, re.MULTILINE)


if __name__ == "__main__":
    unittest.main()
