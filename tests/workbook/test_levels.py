# SPDX-License-Identifier: MIT
"""No code of a processor level can stand in for another's: its objects define no weak symbol.

The linker keeps one of several weak definitions (an inline function, a template's instance), and
then the one for AVX-512 could run on a processor without it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

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


if __name__ == "__main__":
    unittest.main()
