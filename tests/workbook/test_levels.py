# SPDX-License-Identifier: MIT
"""No code of a processor level can stand in for another's: its objects define no weak symbol.

The linker keeps one of several weak definitions (an inline function, a template's instance), and
then the one for AVX-512 could run on a processor without it. On a processor that the device was not
built for, it says so.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from workbook.base import processor

BUILD = Path(os.environ["WORKBOOK_TEST_BUILD"])
OBJECTS = BUILD / "common" / "emulator" / "CMakeFiles"
# Weak symbols, weak objects and unique globals, as nm names them. A pointer to the personality
# routine of exceptions is data, and the same in each.
WEAK = re.compile(r"^[0-9a-f]* *[WVu] (?!DW\.ref\.)(.+)$", re.MULTILINE)


def weak_definitions(folder: Path) -> list[str]:
    """The weak symbols that the objects in a target's folder define."""
    files = sorted(map(str, folder.rglob("*.o")))
    if not files:
        raise FileNotFoundError(f"no objects in {folder}")
    listed = subprocess.run(
        ["nm", "-C", "--defined-only", *files], capture_output=True, text=True, check=True
    )
    return sorted(set(WEAK.findall(listed.stdout)))


@unittest.skipUnless(shutil.which("nm"), "binutils' nm is missing")
class Levels(unittest.TestCase):
    def test_no_level_defines_a_weak_symbol(self) -> None:
        folders = [p for p in OBJECTS.glob("emulator_x86_64_v[34].dir") if any(p.rglob("*.o"))]
        if not folders:
            self.skipTest("this processor, or this build, has one level only")
        for folder in folders:
            with self.subTest(folder.name):
                self.assertEqual(weak_definitions(folder), [])

    def test_the_processor_is_asked_by_code_that_nothing_else_shares(self) -> None:
        objects = [
            p.parent
            for p in OBJECTS.glob("emulator_machine_*.dir/machine/platform/processor.cpp.o")
        ]
        self.assertEqual(len(objects), 1, "processor.cpp is compiled by itself, and once")
        self.assertEqual([s for s in weak_definitions(objects[0]) if "processor" in s], [])

    def test_weak_symbols_are_found_where_there_are_some(self) -> None:
        self.assertNotEqual(weak_definitions(OBJECTS / "emulator_checks_cold.dir"), [])


@unittest.skipUnless(shutil.which("qemu-x86_64"), "qemu-x86_64 is missing: apt install qemu-user")
@unittest.skipUnless(processor.name().startswith("x86-64-v"), "qemu imitates x86-64 here")
class OlderProcessors(unittest.TestCase):
    def ended(self, model: str) -> tuple[int, str]:
        """How a program ends on such a processor, and the last line that it writes to stderr."""
        emulator = BUILD / "emulator"
        env = dict(os.environ, LD_LIBRARY_PATH=str(emulator))
        done = subprocess.run(
            ["qemu-x86_64", "-cpu", model, str(emulator / "self_test")],
            env=env, capture_output=True, text=True, errors="replace", timeout=60,
        )  # fmt: skip
        return done.returncode, (done.stderr.splitlines() or [""])[-1]

    def test_one_that_no_device_runs_on(self) -> None:
        code, said = self.ended("core2duo")
        self.assertEqual(code, 126)
        self.assertIn("this processor is older than x86-64-v2", said)

    @unittest.skipIf(processor.name() == "x86-64-v2", "this processor has the lowest level itself")
    def test_one_below_that_of_the_build(self) -> None:
        cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
        if "EMULATOR_LEVELS:STRING=native" not in cache:
            self.skipTest("this build has other levels than the processor's")
        code, said = self.ended("Nehalem")
        self.assertEqual(code, 126)
        self.assertIn(f"it was built for {processor.name()}, and this processor is x86-64-v2", said)


if __name__ == "__main__":
    unittest.main()
