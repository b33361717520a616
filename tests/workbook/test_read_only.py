# SPDX-License-Identifier: MIT
"""A checkout that its user may read and not write: reading works, the rest says what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from workbook.base.project import ROOT

# Somebody who owns nothing: root may write everywhere, so it becomes this user.
_NOBODY = 65534
_OWN = ("Makefile", "common", "lessons", "solutions", "tests")


class ReadOnly(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = Path(scratch.name) / "a checkout"
        cls.folder.mkdir()
        for name in _OWN:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, cls.folder / name)
            else:
                shutil.copy(ROOT / name, cls.folder / name)
        cls.prefix: list[str] = []
        if os.geteuid() == 0:
            if not shutil.which("setpriv"):
                raise unittest.SkipTest("root may write everywhere, and there is no setpriv")
            user = [f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
            cls.prefix = ["setpriv", *user]
        Path(scratch.name).chmod(0o755)
        for path in [cls.folder, *cls.folder.rglob("*")]:
            path.chmod(0o555 if path.is_dir() or os.access(path, os.X_OK) else 0o444)
        # What setting up has installed is there, as before the checkout became read-only.
        tools = ROOT / ".workbook" / "tools"
        if tools.is_dir():
            state = cls.folder / ".workbook"
            state.mkdir()
            (state / "tools").symlink_to(tools)
            state.chmod(0o555)

    @classmethod
    def tearDownClass(cls) -> None:
        for path in [cls.folder, *(p for p in cls.folder.rglob("*") if p.is_dir())]:
            path.chmod(0o755)

    def make(self, target: str) -> tuple[int, str]:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("WORKBOOK", "MAKE"))}
        done = subprocess.run(
            [*self.prefix, "make", target],
            cwd=self.folder, env={**env, "HOME": "/nonexistent"}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        return done.returncode, done.stdout

    def test_grading_says_to_copy_it(self) -> None:
        code, said = self.make("02")
        self.assertNotEqual(code, 0)
        self.assertIn("copy it to your own folder", said)
        self.assertNotIn("Traceback", said)

    def test_a_reset_says_to_copy_it_and_changes_nothing(self) -> None:
        file = self.folder / "lessons" / "02_boundary_checks" / "boundary_checks.cu"
        before = file.read_bytes()
        code, said = self.make("reset-02")
        self.assertNotEqual(code, 0)
        self.assertIn("copy it to your own folder", said)
        self.assertEqual(file.read_bytes(), before)

    def test_what_only_reads_works(self) -> None:
        for target, words in (
            ("explain-race-shared", "What it means"),
            ("hint-02", "task 1"),
            ("progress", "Boundary checks"),
            ("help", "make watch"),
        ):
            with self.subTest(target):
                code, said = self.make(target)
                self.assertEqual(code, 0, said)
                self.assertIn(words, said)


if __name__ == "__main__":
    unittest.main()
