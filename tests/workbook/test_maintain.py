# SPDX-License-Identifier: MIT
"""What `make test TESTS=...` builds before it runs the chosen tests."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from workbook import maintain

TESTS = """
add_test(mutant.one "true")
set_tests_properties(mutant.one PROPERTIES LABELS "all")
add_test(workload.one "true")
set_tests_properties(workload.one PROPERTIES LABELS "all;needs_workloads")
"""


class Chosen(unittest.TestCase):
    def test_only_tests_that_need_workloads_have_them_built(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "CTestTestfile.cmake").write_text(TESTS)
            for chosen, needed in (("^mutant", False), ("one", True), ("nothing", False)):
                with self.subTest(chosen):
                    self.assertEqual(maintain.needs_workloads(Path(name), ["-R", chosen]), needed)


if __name__ == "__main__":
    unittest.main()
