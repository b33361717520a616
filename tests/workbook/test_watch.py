# SPDX-License-Identifier: MIT
"""`make watch` on a pseudo-terminal: saves, keys, progress; without a terminal; plain output."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from workbook.base.project import ROOT, lessons
from workbook.show import side_by_side

# Grades without building: a file that holds `good` passes. Everything else is the real thing.
DRIVER = """
import sys
from workbook.judge import grade
from workbook.base import plain_output
from workbook.show import watch
from workbook.lesson.test_cases import Failure, Outcome, TestCase
from workbook.facts.findings import Finding

def graded(lesson):
    text = lesson.student_file.read_text()
    good = "good" in text
    failures = [] if good else [Failure([], "sum == 3", "2 == 3")]
    found = []
    if "race" in text:
        found = [Finding({"code": "race-shared", "severity": "error", "message": "`t` is read",
                          "file": "a.cu", "line": 7})]
    outcome = Outcome(True, good, 1, failures)
    return grade.Grade(lesson, "emulator", [
        grade.CaseResult(TestCase("task 1: adds", ("task1",)), outcome, "", found)])

if plain_output.is_plain():
    plain_output.use_plain_words()
sys.exit(watch.watch(graded))
"""


class Terminal:
    """A program on a pseudo-terminal of 80 columns, and what it has written since last asked."""

    def __init__(self, command: list[str], env: dict[str, str], folder: Path) -> None:
        import fcntl
        import struct
        import termios

        self.descriptor, inner = pty.openpty()
        fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
        self.process = subprocess.Popen(
            command, stdin=inner, stdout=inner, stderr=inner, env=env, cwd=folder,
            start_new_session=True,
        )  # fmt: skip
        os.close(inner)

    def until(self, words: str, seconds: float = 30) -> str:
        """Everything up to and with `words`."""
        seen, end = "", time.monotonic() + seconds
        while words not in seen:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.descriptor], [], [], left)[0]:
                raise AssertionError(f"`{words}` did not come; there was:\n{seen}")
            try:
                chunk = os.read(self.descriptor, 65536)
            except OSError:
                chunk = b""
            if not chunk:
                raise AssertionError(f"it ended before `{words}`:\n{seen}")
            seen += chunk.decode("utf-8", "replace")
        return seen

    def press(self, key: str) -> None:
        os.write(self.descriptor, key.encode())

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.descriptor)


class Watch(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name) / "wörk book"
        self.root.mkdir()
        for folder in ("lessons", "solutions", "common/workbook", "common/emulator/checks/explain"):
            shutil.copytree(
                ROOT / folder, self.root / folder,
                ignore=shutil.ignore_patterns("__pycache__", "mutants.txt", "unusual*"),
            )  # fmt: skip
        (self.root / "driver.py").write_text(DRIVER)
        self.known = [lesson for lesson in lessons() if lesson.student_file.is_file()]
        self.env = {
            k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "PLAIN", "COLUMNS")
        }
        self.env.update(PYTHONPATH=str(self.root / "common"), TERM="xterm-256color",
                        PYTHONDONTWRITEBYTECODE="1")  # fmt: skip

    def start(self, **variables: str) -> Terminal:
        command = [sys.executable, str(self.root / "driver.py")]
        terminal = Terminal(command, {**self.env, **variables}, self.root)
        self.addCleanup(terminal.close)
        return terminal

    def save(self, number: int, text: str) -> None:
        lesson = self.known[number]
        path = self.root / "lessons" / lesson.id / f"{lesson.slug}.cu"
        fresh = path.with_suffix(
            ".tmp"
        )  # as many editors save: a new file takes the old one's name
        fresh.write_text(text)
        os.replace(fresh, path)

    def test_a_save_is_graded_and_a_pass_moves_on(self) -> None:
        first, second = self.known[:2]
        terminal = self.start()
        seen = terminal.until("q quit")
        self.assertIn(f"Lesson {first.number}", seen)
        self.assertIn("`sum`: got 2, want 3", seen)
        self.save(1, "race")
        seen = terminal.until("q quit")
        self.assertIn(f"Lesson {second.number}", seen)
        self.assertIn("`t` is read", seen)
        self.save(0, "good")
        seen = terminal.until("q quit")
        self.assertIn(f"Solved. Next: lessons/{second.id}/README.md", seen)
        self.assertIn(f"1 of {len(self.known)} lessons solved", seen)
        progress = (self.root / ".workbook" / "progress.json").read_text()
        self.assertIn('"passed": true', progress)
        terminal.press("r")
        self.assertIn(f"Lesson {second.number}", terminal.until("q quit"))
        terminal.press("q")
        self.assertEqual(terminal.process.wait(timeout=20), 0)

    def test_keys(self) -> None:
        terminal = self.start()
        terminal.until("q quit")
        terminal.press("h")
        self.assertIn("A question", terminal.until("again for the next"))
        terminal.press("h")
        self.assertIn("A fact", terminal.until("again for the next"))
        terminal.press("e")
        terminal.until("nothing unsafe was seen")
        terminal.press("s")
        terminal.until("FORCE=1")
        terminal.press("l")
        seen = terminal.until(" below)")
        self.assertNotIn("lessons solved", seen)  # the table is longer than the screen
        terminal.press(" ")
        self.assertIn("lessons solved", terminal.until(" 0 below)"))
        terminal.press("\x1b[A")
        terminal.until(" 1 below)")
        self.save(0, "race")
        terminal.until("q quit")
        terminal.press("e")
        terminal.until("What it means")
        terminal.press("\x04")
        self.assertEqual(terminal.process.wait(timeout=20), 0)

    def test_the_screen_fits_and_the_terminal_is_given_back(self) -> None:
        import termios

        terminal = self.start()
        before = termios.tcgetattr(terminal.descriptor)
        seen = terminal.until("q quit")
        seen = re.sub(r"\x1b\[\d+;1H", "\n", seen)
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen)
        for line in plain.splitlines():
            self.assertLessEqual(len(line.rsplit("\r", 1)[-1]), 80, line)
        terminal.press("q")
        terminal.process.wait(timeout=20)
        after = termios.tcgetattr(terminal.descriptor)
        self.assertEqual(before[3] & termios.ICANON, after[3] & termios.ICANON)

    def test_no_color_and_plain(self) -> None:
        colours = re.compile(r"\x1b\[[0-9;]*m")
        self.assertRegex(self.start().until("q quit"), colours)
        self.assertNotRegex(self.start(NO_COLOR="1").until("q quit"), r"\x1b\[[0-9;]*3[0-9]m")
        plain = self.start(PLAIN="1").until("q quit")
        self.assertNotIn("\x1b", plain)
        self.assertNotRegex(plain, "[✓✗·█░]")
        self.assertIn("NO task 1", plain)

    def test_without_a_keyboard_it_still_grades(self) -> None:
        process = subprocess.Popen(
            [sys.executable, str(self.root / "driver.py")], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=self.root,
            env={**self.env, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        seen = ""
        while "no keyboard" not in seen:
            seen += process.stdout.readline()
        self.save(0, "good")
        seen = ""
        while "Solved" not in seen:
            line = process.stdout.readline()
            self.assertTrue(line, f"it ended:\n{seen}")
            seen += line
        self.assertNotIn("\x1b", seen)


class SideBySide(unittest.TestCase):
    LEFT = "same\nold line\nonly here\nend\n"
    RIGHT = "same\nnew line\nend\nand more\n"

    def test_wide(self) -> None:
        lines = side_by_side.render(self.LEFT, self.RIGHT, 120, ("yours", "solution"))
        self.assertTrue(all(len(line) <= 120 for line in lines))
        self.assertRegex(lines[0], r"^yours +solution$")
        self.assertRegex(lines[1], r"^ +1 same +1 same$")
        self.assertRegex(lines[2], r"^ +2 old line +\| +2 new line$")
        self.assertRegex(lines[3], r"^ +3 only here +-$")
        self.assertRegex(lines[5], r"^ +\+ +4 and more$")

    def test_long_lines_are_not_cut(self) -> None:
        long = "int x = " + " + ".join(f"term_{n}" for n in range(40)) + ";\n"
        for width in (80, 120):
            lines = side_by_side.render(long, "int y;\n", width, ("yours", "solution"))
            left = [
                re.sub(r"^ +1 |^ {5}| \|.*", "", line) if width == 120 else line for line in lines
            ]
            whole = "".join("".join(left).split())
            for n in range(40):
                self.assertIn(f"term_{n}", whole)
        self.assertTrue(all(len(x) <= 120 for x in side_by_side.render(long, "", 120, ("a", "b"))))

    def test_narrow(self) -> None:
        lines = side_by_side.render(self.LEFT, self.RIGHT, 80, ("yours", "solution"))
        self.assertIn("-old line", lines)
        self.assertIn("+new line", lines)
        self.assertEqual(side_by_side.render("a", "a", 80, ("x", "y")), ["(both are the same)"])


class Plain(unittest.TestCase):
    def test_symbols_are_spelt_out(self) -> None:
        env = {**os.environ, "PYTHONPATH": str(ROOT / "common"), "PLAIN": "1"}
        done = subprocess.run(
            [sys.executable, "-m", "workbook", "progress"], env=env, capture_output=True, text=True,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotRegex(done.stdout, "[✓✗█░·–]")
        self.assertIn("lessons solved", done.stdout)
        self.assertTrue(all(len(line) <= 80 for line in done.stdout.splitlines()), done.stdout)


if __name__ == "__main__":
    unittest.main()
