# SPDX-License-Identifier: MIT
"""A full disk and a used-up quota are reported as such, and no other error is."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from workbook.base import disk
from workbook.base.project import ROOT, WorkbookError
from workbook.build import build, compile_commands, refusals
from workbook.running import runner
from workbook.teach import sandboxed_build

# What binutils' ar says when the disk is full.
_SILENT = "ar: unable to copy file 'libemulator_ptx.a'; reason: Success"


class Disk(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def told(self, said: str, *folders: Path) -> str:
        with self.assertRaises(WorkbookError) as caught:
            disk.stop_if_full(said, *folders)
        return str(caught.exception)

    def test_what_a_tool_says_is_understood(self) -> None:
        self.assertEqual(self.told("x.s: No space left on device"), "the disk is full")
        self.assertEqual(self.told("OSError: [Errno 28] ..."), "the disk is full")
        self.assertEqual(self.told("x.o: Disk quota exceeded"), "your disk quota is used up")
        self.assertEqual(self.told("OSError: [Errno 122] ..."), "your disk quota is used up")

    def test_a_full_folder_is_found_where_the_tool_says_nothing_of_it(self) -> None:
        """On a file system of 1 MiB, and not on one of 100."""
        program = "import sys; from pathlib import Path; from workbook.base import disk\n"
        program += f"disk.stop_if_full({_SILENT!r}, Path(sys.argv[1]))"
        mount = 'mount -t tmpfs -o "size=$1" tmpfs "$2" && exec "$3" -c "$4" "$2"'
        alone = ["unshare", "--map-root-user", "--mount"]
        if subprocess.run([*alone, "true"], capture_output=True).returncode:
            self.skipTest("nothing can be mounted here: unshare --map-root-user fails")
        for size, ended in (("1m", 1), ("100m", 0)):
            run = subprocess.run(
                [*alone, "sh", "-c", mount, "sh", size, str(self.folder), sys.executable, program],
                env={**os.environ, "PYTHONPATH": str(ROOT / "common")},
                capture_output=True,
                text=True,
            )
            self.assertEqual(run.returncode, ended, run.stderr)
            told = f"WorkbookError: the disk is full: {self.folder} does not take 32 MiB more"
            self.assertEqual(told in run.stderr, ended == 1, run.stderr)

    def test_a_used_up_quota_is_found_by_trying(self) -> None:
        refusal = OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
        with mock.patch.object(os, "posix_fallocate", side_effect=refusal):
            told = self.told(_SILENT, self.folder)
        self.assertEqual(
            told, f"your disk quota is used up: {self.folder} does not take 32 MiB more"
        )

    def test_a_submission_is_not_blamed_for_it(self) -> None:
        failed = mock.Mock(spec=runner.Ended, code=1, how="", output=_SILENT)
        sandboxed_build._stop_if_ours(failed, self.folder)
        refusal = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        with mock.patch.object(os, "posix_fallocate", side_effect=refusal):
            with self.assertRaises(WorkbookError):
                sandboxed_build._stop_if_ours(failed, self.folder)

    def test_an_error_in_a_students_file_comes_first(self) -> None:
        """With a build folder that is full: a file that compiles is not to blame, another is."""

        def built_with(compiler: str, said: str = _SILENT) -> build.Built:
            full = {self.folder: errno.ENOSPC} if said == _SILENT else {}
            with (
                mock.patch.object(refusals, "of_names_in_source", return_value=[]),
                mock.patch.object(build, "build", return_value=build.Built(False, said)),
                mock.patch.object(compile_commands, "of", return_value=([compiler], self.folder)),
                mock.patch.object(disk, "_refused", lambda place: full.get(place, 0)),
            ):
                return build.build_student_file(self.folder, "lesson_00", self.folder / "x.cu")

        self.assertEqual(built_with("false").stage, "compile")
        for said in (_SILENT, "x.o: No space left on device"):
            with self.assertRaises(WorkbookError) as caught:
                built_with("true", said)
            self.assertIn("the disk is full", str(caught.exception))
        self.assertEqual(built_with("false", "#warning No space left on device").stage, "compile")

    def test_trying_leaves_nothing(self) -> None:
        disk.stop_if_full(_SILENT, self.folder)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_folder_that_cannot_be_written_is_not_told_as_a_full_disk(self) -> None:
        disk.stop_if_full(_SILENT, self.folder / "missing")

    def test_too_little_for_setting_up_is_said_before(self) -> None:
        with mock.patch.object(shutil, "disk_usage", lambda path: mock.Mock(free=200 << 20)):
            with self.assertRaises(WorkbookError) as caught:
                disk.check()
        self.assertIn("200 MiB are free", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
