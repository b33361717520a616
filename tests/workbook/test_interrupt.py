# SPDX-License-Identifier: MIT
"""Ctrl-C: one line, no traceback, and no line of make's."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from workbook.base.project import ROOT

# A package in the workbook's place, which says that it has begun and then takes long to load.
SLOW = "import os, time\nos.write(1, b'begun\\n')\ntime.sleep(60)\n"
# The same once it has its own handling: the real package's main() does this.
RUNS = """\
import os, signal, sys
from workbook.running import runner
runner.end_on_signals()
try:
    os.write(1, b'begun\\n')
    signal.pause()
except KeyboardInterrupt:
    print('\\nstopped', file=sys.stderr)
    sys.exit(130)
"""


class Interrupt(unittest.TestCase):
    def interrupted(self, main: str) -> str:
        """What `make 02` prints when Ctrl-C reaches it after it has begun."""
        with tempfile.TemporaryDirectory() as folder:
            package = Path(folder) / "common" / "workbook"
            package.mkdir(parents=True)
            shutil.copy(ROOT / "Makefile", folder)
            for name in ("run", "commands.mk"):
                shutil.copy(ROOT / "common" / "workbook" / name, package)
            for room in ("base", "running"):
                shutil.copytree(ROOT / "common" / "workbook" / room, package / room)
            (package / "__init__.py").write_text("")
            (package / "__main__.py").write_text(main)
            env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "PYTHONPATH")}
            process = subprocess.Popen(
                ["make", "02"], cwd=folder, env=env, start_new_session=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            assert process.stdout is not None
            try:
                ready, _, _ = select.select([process.stdout], [], [], 60)
                self.assertTrue(ready, "it never began")
                os.killpg(process.pid, signal.SIGINT)
                text = process.communicate(timeout=30)[0].decode()
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.communicate()
            self.assertNotEqual(process.returncode, 0)
            return text

    def test_while_modules_are_loaded(self) -> None:
        self.assertEqual(self.interrupted(SLOW), "begun\n\nstopped\n")

    def test_while_it_works(self) -> None:
        self.assertEqual(self.interrupted(RUNS), "begun\n\nstopped\n")


if __name__ == "__main__":
    unittest.main()
