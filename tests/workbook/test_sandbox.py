# SPDX-License-Identifier: MIT
"""Submissions in a sandbox: hostile programs and sources pass, reach and leave nothing."""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

from test_forged import AT_RUN_TIME, CASES, LESSON
from workbook.base import processes
from workbook.base.project import ROOT, WorkbookError
from workbook.build import programs
from workbook.judge import grade
from workbook.running import runner, sandbox
from workbook.teach import sandboxed_build

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
HERE = Path(__file__).resolve().parent
RIGHT = LESSON.solution_file.read_text(encoding="utf-8")
_environment = sandbox.environment


def compiler(seconds: float = 60, memory: int = 3 << 30) -> sandboxed_build.Compiler:
    return sandboxed_build.Compiler(LESSON, BUILD, seconds, memory)


def left_running() -> list[int]:
    """What has been started here and still runs, a little later."""

    def runs(pid: int) -> bool:
        with contextlib.suppress(OSError):
            return Path(f"/proc/{pid}/stat").read_bytes().rsplit(b")", 1)[1].split()[0] != b"Z"
        return False

    for _ in range(50):
        if not (left := [pid for pid in processes.below(os.getpid()) if runs(pid)]):
            break
        time.sleep(0.1)
    return left


@unittest.skipIf(sandbox.missing(), f"no sandbox: {sandbox.missing()}")
class Boxed(unittest.TestCase):
    def setUp(self) -> None:
        place = tempfile.TemporaryDirectory(prefix="workbook-test-")
        self.addCleanup(place.cleanup)
        self.place = Path(place.name)
        kept = unittest.mock.patch.object(tempfile, "tempdir", place.name)
        kept.start()
        self.addCleanup(kept.stop)
        self.source = self.place / f"{LESSON.slug}.cu"

    def built(self, text: str, **limits: float) -> Path:
        self.source.write_text(text, encoding="utf-8")
        folder = Path(tempfile.mkdtemp())
        folder.chmod(0o755)
        return compiler(**limits).program_of(self.source, folder)[0]  # type: ignore[arg-type]


class AtRunTime(Boxed):
    """Programs that do what the variable HOSTILE says."""

    def program(self, name: str) -> Path:
        return self.built((HERE / "hostile" / f"{name}.cu").read_text(encoding="utf-8"))

    def graded(self, program: Path, how: str, **limits: float) -> grade.CaseResult:
        def environment(**settings: str) -> dict[str, str]:
            return _environment(HOSTILE=how, HOSTILE_PROGRAM=str(program), **settings)

        with unittest.mock.patch.object(sandbox, "environment", environment):
            graded = grade.grade_program(
                LESSON, program, "emulator", BUILD, cases=CASES,
                limits=runner.Limits(**{"seconds": 20, **limits}),  # type: ignore[arg-type]
                box=compiler().box_of(self.source),
            )  # fmt: skip
        return graded.results[0]

    def test_forging_is_as_hard_as_outside(self) -> None:
        program = self.program("at_run_time")
        self.assertTrue(self.graded(program, "right").passed)
        for how, ending, words in AT_RUN_TIME:
            with self.subTest(how):
                result = self.graded(program, how)
                self.assertFalse(result.passed)
                self.assertEqual(result.ending, ending, (result.ended, result.output[-500:]))
                self.assertIn(words, result.ended)

    def test_nothing_outside_is_reached(self) -> None:
        program = self.program("in_a_box")
        self.assertTrue(self.graded(program, "nothing").passed)
        secret = self.place / "secret"
        secret.write_text("of another submission")
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        pyc = ROOT / "common" / "workbook" / "__pycache__" / "grade.cpython.pyc"
        tries = [
            *(f"read {path}" for path in (
                LESSON.solution_file, ROOT / "solutions", LESSON.test_files[0], secret,
                "/etc/passwd", ROOT / "lessons" / "02_boundary_checks" / "boundary_checks.cu",
                Path.home(), f"/proc/{os.getpid()}/environ",
                BUILD / "lessons" / "solution_00_double_all",
            )),
            *(f"write {path}" for path in (
                ROOT / "common/workbook/judge/grade.py", pyc, BUILD / "emulator" / "libcudart.so",
                ROOT / "common" / "host" / "data.h", program, "/usr/x", "/x", "/dev/x",
            )),
            "environment SECRET", f"network {listener.getsockname()[1]}", "disk /tmp",
            "disk /dev/shm", "details", "memfd", "namespace", "limits",
        ]  # fmt: skip
        with unittest.mock.patch.dict(os.environ, SECRET="of the instructor"):
            for how in tries:
                with self.subTest(how):
                    result = self.graded(program, how)
                    self.assertNotIn("reached", result.output)
                    self.assertNotIn("reached", result.ended)
        self.assertFalse(pyc.exists())
        seen = self.graded(program, f"list {ROOT}").output.split("\n")
        self.assertEqual(
            {line for line in seen if line.startswith("seen ") and "." not in line},
            {"seen common", "seen lessons", "seen build", "seen tests"} & {*seen},
        )
        self.assertNotIn("seen solutions", seen)

    def test_nothing_goes_on_and_nothing_is_left(self) -> None:
        program = self.program("in_a_box")
        before = {*os.listdir(self.place)}
        processes.adopt_orphans()  # a daemon would become a child of this process
        for how, ending in (
            ("daemon", ""), ("forks", None), ("memory", "out-of-memory"),
        ):  # fmt: skip
            with self.subTest(how):
                started = time.monotonic()
                result = self.graded(program, how, seconds=6)
                if ending is not None:
                    self.assertEqual(result.ending, ending, result.ended)
                else:
                    self.assertFalse(result.passed)
                self.assertLess(time.monotonic() - started, 25)
                self.assertEqual(left_running(), [])
        self.assertEqual({*os.listdir(self.place)}, before)


class Sources(Boxed):
    """What a source may try while it is compiled."""

    def refused(self, text: str, stage: str, **limits: float) -> str:
        with self.assertRaises(programs.BuildFailed) as failed:
            self.built(text, **limits)
        self.assertEqual(failed.exception.stage, stage, failed.exception)
        return str(failed.exception)

    def test_what_the_compiler_cannot_read(self) -> None:
        own = LESSON.folder / f"{LESSON.slug}.cu"
        for path in (LESSON.solution_file, own, "/etc/passwd", "/proc/1/cwd/etc/shadow"):
            said = self.refused(f'#include "{path}"\n{RIGHT}', "compile")
            self.assertRegex(said, "No such file|cannot open|Permission denied")
        # By the assembler, which no preprocessor sees.
        here = BUILD / "lessons" / "solution_00_double_all"
        said = self.refused(f'asm(".incbin \\"{here}\\"");\n{RIGHT}', "compile")
        self.assertRegex(said, "file not found|can't open|No such file")

    def test_standard_input_is_not_the_instructors(self) -> None:
        reading, writing = os.pipe()
        os.write(writing, b"of the instructor\n")
        kept = os.dup(0)
        try:
            os.dup2(reading, 0)
            said = self.refused(f'#include "/dev/stdin"\n{RIGHT}', "refused")
            self.assertIn("includes /dev/stdin, which is a pipe", said)
            # By a name that only the preprocessor makes: it reads nothing.
            named = (
                "#define A /dev/std\n#define S(x) #x\n#define T(x) S(x)\n#include T(/dev/stdin)\n"
            )
            with contextlib.suppress(programs.BuildFailed):
                self.built(named + RIGHT)
            self.assertEqual(os.read(reading, 99), b"of the instructor\n")
        finally:
            os.dup2(kept, 0)
            for number in (reading, writing, kept):
                os.close(number)

    def test_the_compiler_has_limits(self) -> None:
        without_end = (
            "template <int n, int k> struct F { static constexpr long v = F<n - 1, 2 * k>::v + "
            "F<n - 1, 2 * k + 1>::v; };\n"
            "template <int k> struct F<0, k> { static constexpr long v = k; };\n"
            "long much = F<28, 1>::v;\n"
        )
        started = time.monotonic()
        said = self.refused(without_end + RIGHT, "compile", seconds=4)
        self.assertIn("the compiler was stopped: it needed more than 4 s", said)
        self.assertLess(time.monotonic() - started, 15)
        self.assertEqual(left_running(), [])

    def test_memory_of_the_compiler_is_limited(self) -> None:
        text = (
            "#define TEN(x) x, x, x, x, x, x, x, x, x, x\n"
            "int much[] = {TEN(TEN(TEN(TEN(TEN(TEN(TEN(1)))))))};\n"
            "int f(int i) { return much[i]; }\n"
        )
        said = self.refused(text + RIGHT, "compile", memory=200 << 20)
        self.assertIn("used more than 200 MiB", said)

    def test_a_compiler_that_writes_too_much(self) -> None:
        words = "gcc: internal compiler error: File size limit exceeded signal terminated program"
        said = compiler()._stopped(runner.Ended(4, "", words, 1, 0))
        self.assertEqual(said, "\nerror: the compiler was stopped: it wrote more than 256 MiB")

    def test_what_judges_stays_as_it_is(self) -> None:
        def digests() -> list[str]:
            _, inputs = programs.linked_with(BUILD, LESSON)
            made = [Path(path) for path in inputs] + [BUILD / "emulator" / "libcudart.so"]
            return [hashlib.sha256(path.read_bytes()).hexdigest() for path in made]

        before = digests()
        self.built(RIGHT)
        self.assertEqual(digests(), before)


class WithoutBubblewrap(unittest.TestCase):
    def setUp(self) -> None:
        sandbox._probe.cache_clear()
        self.addCleanup(sandbox._probe.cache_clear)

    def test_the_missing_protection_is_named(self) -> None:
        with unittest.mock.patch.dict(os.environ, WORKBOOK_BWRAP="/nowhere/bwrap"):
            self.assertEqual(sandbox.missing(), "bubblewrap is not installed")
            with self.assertRaises(WorkbookError) as refused:
                sandbox.require(trust=False)
            for words in ("not protected: files", "not protected: network", "not protected: proc"):
                self.assertIn(words, str(refused.exception))
            self.assertIn("TRUST=1", refused.exception.to_do)
            with contextlib.redirect_stdout(sys.stderr):
                sandbox.require(trust=True)
            box = sandbox.Box((Path("/x"),))
            self.assertIsNone(box.process)
            self.assertEqual(box.around(["true"])[-1], "true")

    def test_a_box_that_cannot_be_made(self) -> None:
        with unittest.mock.patch.dict(os.environ, WORKBOOK_BWRAP="false"):
            self.assertIn("older than 0.5", sandbox.missing())

    @unittest.skipIf(sandbox.missing(), "no sandbox")
    def test_with_a_namespace_of_users(self) -> None:
        with unittest.mock.patch.object(os, "geteuid", lambda: 1000):
            box = sandbox.Box((ROOT / "common" / "host",))
            command = box.around(["sh", "-c", f"id -u; ls {ROOT} {ROOT}/common"])
            self.assertIn("--unshare-user", command)
            ended = runner.run(command, _environment(), ROOT)
        self.assertIn("61000", ended.output)
        self.assertNotIn("solutions", ended.output)
        self.assertNotIn("emulator", ended.output)


if __name__ == "__main__":
    unittest.main()
