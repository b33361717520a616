# SPDX-License-Identifier: MIT
"""What `make test` runs of TESTS=... and SHARE=..., and what it builds before."""

from __future__ import annotations

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from workbook.author import maintain
from workbook.base.project import WorkbookError

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

    def test_shares_are_disjoint_and_make_up_the_whole(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            lines = "".join(f'add_test(test.{k} "true")\n' for k in range(10))
            (Path(name) / "CTestTestfile.cmake").write_text(lines)
            seen = []
            for share in ("1/3", "2/3", "3/3"):
                command = ["ctest", "--test-dir", name, "-N", *maintain.share_of(share)]
                said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
                seen.append(re.findall(r"test\.(\d+)", said.stdout))
            self.assertEqual([len(part) for part in seen], [4, 3, 3])
            self.assertEqual(sorted(int(k) for part in seen for k in part), list(range(10)))

    def test_no_share_is_all_and_a_bad_one_is_named(self) -> None:
        self.assertEqual(maintain.share_of(""), [])
        for bad in ("0/2", "3/2", "half", "1/0", "1/2/3", "-1/2"):
            with self.subTest(bad), self.assertRaisesRegex(WorkbookError, f"SHARE={bad}"):
                maintain.share_of(bad)


if __name__ == "__main__":
    unittest.main()
