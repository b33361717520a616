# SPDX-License-Identifier: MIT
# In make test MORE=1: one file is compiled a dozen times.
"""Cached objects and programs of mutants are reused only while nothing has changed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from workbook.base.project import ROOT, Lesson
from workbook.build import build_cache, programs

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
FIXTURE = Path(__file__).resolve().parent / "fixture"
ID = "00_double_all"


def nvcc() -> str:
    """The compiler of the build."""
    found = re.search(r"CMAKE_CUDA_COMPILER:\w+=(.+)", (BUILD / "CMakeCache.txt").read_text())
    return found.group(1) if found else "nvcc"


class Kept(unittest.TestCase):
    """Compiles copies of the fixture's solution that include a header from somewhere else."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="workbook with ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for part in ("lessons", "solutions"):
            shutil.copytree(FIXTURE / part / ID, self.folder / part / ID)
        # The command is that of the fixture's solution; headers and sources are our copies.
        self.lesson = Lesson(ID, FIXTURE)
        self.header = self.folder / "away" / "constant.h"
        self.header.parent.mkdir()
        self.header.write_text("constexpr int kConstant = 1;\n")
        self.source = self.folder / "with header.cu"
        text = (FIXTURE / "solutions" / ID / "double_all.cu").read_text()
        use = "int used() { return kConstant; }\n"
        self.source.write_text(f'#include "{self.header}"\n{text}{use}')
        # Long ago: what changes while the compiler reads is not cached.
        for path in (self.header, self.source):
            os.utime(path, (1e9, 1e9))

    def compile(self) -> tuple[Path, int]:
        """The object, and a number that changes when it is made anew."""
        made, _ = programs.object_of(BUILD, self.lesson, self.source)
        for path in (made, made.with_suffix(".json")):
            self.addCleanup(path.unlink, missing_ok=True)
        return made, made.stat().st_ino

    def test_what_has_not_changed_is_compiled_once(self) -> None:
        first = self.compile()
        self.assertEqual(self.compile(), first)
        noted = json.loads(first[0].with_suffix(".json").read_text())
        read = [path for path, _, _ in noted["read"]]
        self.assertIn(str(self.header), read)
        for name in ("cicc", "cc1plus", "cuda_runtime.h"):
            self.assertTrue(any(os.path.basename(path) == name for path in read), name)
        self.assertFalse(any(path.startswith(str(ROOT / "common")) for path in read))

    def test_a_header_that_changes_counts(self) -> None:
        first, _ = self.compile()
        before = first.read_bytes()
        self.header.write_text("constexpr int kConstant = 2;\n")
        os.utime(self.header, (1e9 + 1, 1e9 + 1))
        second, _ = self.compile()
        self.assertNotEqual(second.read_bytes(), before)

    def test_what_changes_while_the_compiler_reads_is_not_kept(self) -> None:
        os.utime(self.header, (4e9, 4e9))  # changed after the compiler has started
        first, _ = self.compile()
        self.assertFalse(first.with_suffix(".json").exists())

    def test_the_source_counts(self) -> None:
        before, files = programs._inputs(["nvcc"], self.lesson, self.source)
        self.assertIn(str(self.source), files)
        self.source.write_text(self.source.read_text() + "// one more line\n")
        after, _ = programs._inputs(["nvcc"], self.lesson, self.source)
        self.assertNotEqual(after, before)

    def test_headers_beside_the_lesson_count(self) -> None:
        lesson = Lesson(ID, self.folder)
        before, files = programs._inputs(["nvcc"], lesson, self.source)
        self.assertIn(str(lesson.folder / "double_all.h"), files)
        (lesson.folder / "cstdio.h").write_text("// hides another one, perhaps\n")
        after, _ = programs._inputs(["nvcc"], lesson, self.source)
        self.assertNotEqual(after, before)

    def test_variables_that_nvcc_reads_count(self) -> None:
        before, _ = programs._inputs(["nvcc"], self.lesson, self.source)
        with unittest.mock.patch.dict(os.environ, {"NVCC_APPEND_FLAGS": "-G"}):
            self.assertNotEqual(programs._inputs(["nvcc"], self.lesson, self.source)[0], before)

    def test_a_record_that_is_cut_short_is_no_record(self) -> None:
        record = self.folder / "x.json"
        made = self.folder / "x.o"
        made.touch()
        good = {
            "said": "words",
            "read": [[str(self.header), *build_cache.size_and_time(str(self.header))]],
        }
        record.write_text(json.dumps(good))
        self.assertEqual(build_cache.cached_output(made, record), "words")
        for text in ("", json.dumps(good)[:-5], "[]", '{"said": ""}', '{"said": "", "read": [1]}'):
            record.write_text(text)
            self.assertIsNone(build_cache.cached_output(made, record), text)
        record.write_text(json.dumps(good))
        made.unlink()
        self.assertIsNone(build_cache.cached_output(made, record))


class Whole(unittest.TestCase):
    """build_cache.compile_cached, for programs in one file."""

    def test_a_program_is_made_anew_for_every_reason_and_for_no_other(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source, header, made = (Path(folder) / name for name in ("a.cu", "a.h", "a"))
            header.write_text("#define CODE 3\n")
            source.write_text('#include "a.h"\nint main() { return CODE; }\n')
            for path in (source, header):
                os.utime(path, (1e9, 1e9))
            command = [
                nvcc(),
                "-arch=compute_75",
                "-cudart",
                "shared",
                str(source),
                "-o",
                str(made),
            ]

            def code(*more: str) -> tuple[int, int]:
                self.assertEqual(build_cache.compile_cached([*command, *more], made), "")
                return subprocess.run([str(made)]).returncode, made.stat().st_mtime_ns

            first = code()
            self.assertEqual(code(), first)
            header.write_text("#define CODE 4\n")
            os.utime(header, (1e9 + 1, 1e9 + 1))
            second = code()
            self.assertEqual(second[0], 4)
            self.assertNotEqual(code("-DMORE"), second)
            source.write_text("int main() { return CODE }\n")
            self.assertIn("error", build_cache.compile_cached(command, made))
            self.assertFalse(made.exists())


class Unused(unittest.TestCase):
    def test_what_was_not_used_since_goes(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for stem in ("old", "used"):
                for suffix in (".o", ".json", ""):
                    (folder / (stem + suffix)).touch()
                    os.utime(folder / (stem + suffix), (1e9, 1e9))
            good = {"said": "", "read": []}
            for stem in ("old", "used"):
                (folder / f"{stem}.json").write_text(json.dumps(good))
                os.utime(folder / f"{stem}.json", (1e9, 1e9))
            build_cache.cached_output(folder / "used.o", folder / "used.json")
            build_cache.mark_used(folder / "used")
            build_cache.remove_unused(folder, 1e9 + 1)
            left = sorted(path.name for path in folder.iterdir())
            self.assertEqual(left, ["used", "used.json", "used.o"])
            build_cache.remove_unused(folder / "none", 1e9)


class Linked(unittest.TestCase):
    def test_a_test_that_was_built_anew_is_linked_anew(self) -> None:
        lesson = Lesson(ID, FIXTURE)
        first, _ = programs.compiled(BUILD, lesson, lesson.solution_file)
        self.assertEqual(programs.compiled(BUILD, lesson, lesson.solution_file)[0], first)
        listed = (BUILD / "lessons" / f"link_{ID}.txt").read_text().splitlines()[0]
        real = build_cache.size_and_time

        def later(path: str) -> list[int]:
            return [real(path)[0], real(path)[1] + (path == listed)]

        with unittest.mock.patch.object(build_cache, "size_and_time", later):
            second, _ = programs.compiled(BUILD, lesson, lesson.solution_file)
        self.assertNotEqual(second, first)
        second.unlink()


class NotBuilt(unittest.TestCase):
    """What CMake has not built yet is named, with the command that builds it."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="workbook with ")
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name)
        (self.build / "lessons").mkdir()
        self.lesson = Lesson(ID, FIXTURE)
        self.there = self.build / "lessons" / "there.o"
        self.there.touch()

    def inputs(self, *paths: Path, kind: str = programs.TEST) -> list[str]:
        text = "\n".join([*map(str, paths), "-fuse-ld=gold"])
        (self.build / "lessons" / f"{kind}_{ID}.txt").write_text(text)
        return programs.linked_with(self.build, self.lesson, kind)[1]

    def test_all_objects_are_there(self) -> None:
        self.assertEqual(self.inputs(self.there), [str(self.there)])

    def test_an_object_of_the_test(self) -> None:
        with self.assertRaises(programs.NotBuilt) as caught:
            self.inputs(self.there, self.build / "lessons" / "test.o")
        self.assertEqual(str(caught.exception), "lessons/test.o is missing")
        self.assertEqual(caught.exception.to_do, f"build it: ninja -C '{self.build}' solution_{ID}")

    def test_an_object_of_the_workload(self) -> None:
        with self.assertRaises(programs.NotBuilt) as caught:
            self.inputs(self.build / "lessons" / "workload.o", kind=programs.BENCH)
        self.assertIn(f"bench_solution_{ID}", caught.exception.to_do)

    def test_a_program(self) -> None:
        with self.assertRaises(programs.NotBuilt) as caught:
            programs.built(self.build, f"solution_{ID}")
        self.assertEqual(str(caught.exception), f"lessons/solution_{ID} is missing")
        program = self.build / "lessons" / f"solution_{ID}"
        program.touch()
        self.assertEqual(programs.built(self.build, f"solution_{ID}"), program)

    def test_the_check_of_a_mutant_says_so_in_one_sentence(self) -> None:
        check = Path(__file__).with_name("check_program.py")
        done = subprocess.run(
            [sys.executable, str(check), "mutant", ID, "any"],
            env=dict(os.environ, WORKBOOK_TEST_BUILD=str(self.build)),
            capture_output=True,
            text=True,
        )
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "")
        self.assertEqual(
            done.stdout,
            f"FAILED: lessons/solution_{ID} is missing; build it: "
            f"ninja -C '{self.build}' solution_{ID}\n",
        )


if __name__ == "__main__":
    unittest.main()
