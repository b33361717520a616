# SPDX-License-Identifier: MIT
# In make test MORE=1: the level for AVX-512 takes a minute to compile.
"""The level that this processor may not have compiles, and defines no weak symbol either."""

from __future__ import annotations

import platform
import unittest

import test_levels
from workbook.build import build

LEVEL = "emulator_x86_64_v4"


@unittest.skipUnless(platform.machine() in ("x86_64", "AMD64"), "other processors have one level")
class Newest(unittest.TestCase):
    def test_it_compiles_and_defines_no_weak_symbol(self) -> None:
        # Tests beside this one build in the same folder: this takes turns with them.
        built = build.build(test_levels.BUILD, [LEVEL])
        self.assertTrue(built.ok, built.text[-2000:])
        found = test_levels.weak_definitions(test_levels.OBJECTS / f"{LEVEL}.dir")
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
