# SPDX-License-Identifier: MIT
"""Every finding code has seeded bugs of different shape, and correct programs that look alike.

Counts the cases in tests/emulator/cases, which run as tests of their own: lines with an `expect` of
the code, and `twin` directives (tests/emulator/run_cases.py has both).
"""

import collections
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "emulator"))
import mutate_checkers  # noqa: E402
import run_cases  # noqa: E402

WANTED = 3


def codes():
    """The codes that the checkers are registered with: the one list of them is in the code."""
    text = (ROOT / "common/emulator/checks/checkers.cpp").read_text()
    lists = re.findall(r"\{\"[a-z-]+\",\s*\{([^{}]*)\},\s*[\w\[]", text)
    return {code for words in lists for code in re.findall(r'"([a-z-]+)"', words)}


def emitted():
    """Codes that the checkers put into findings, whether they are registered with them or not."""
    found = set()
    for source in (ROOT / "common/emulator/checks").rglob("*.cpp"):
        if source.name == "checkers.cpp":
            continue
        for words in re.findall(r"code = ([^;]*);", source.read_text()):
            found |= set(re.findall(r'"([a-z-]+)"', words))
    return found


class EveryCode(unittest.TestCase):
    """One test for each promise; a failure names the codes that are short of cases."""

    @classmethod
    def setUpClass(cls):
        cls.bugs = collections.defaultdict(set)
        cls.twins = collections.Counter()
        cls.unknown = set()
        for case in sorted(run_cases.CASES.glob("*.cu")):
            text = case.read_text()
            lines = text.splitlines()
            for one in run_cases.expectations(text):
                # The same words twice in one program are the same shape.
                words = re.sub(r"\s+|//.*", "", lines[one.line - 1])
                cls.bugs[one.code].add((case.stem, words))
            cls.twins.update(run_cases.twins(text))

    def test_each_mutation_breaks_a_line_that_is_there(self):
        for one in mutate_checkers.mutations():
            text = (mutate_checkers.EMULATOR / one.file).read_text()
            self.assertEqual(text.count(one.old), 1, f"{one.file}: {one.what}")

    def test_the_list_of_codes_is_read(self):
        self.assertIn("race-shared", codes())
        self.assertIn("uninitialized-local", codes())
        self.assertEqual(emitted() - codes(), set())

    def test_each_code_has_a_page(self):
        pages = (ROOT / "common/emulator/checks/explain").glob("*.md")
        self.assertEqual(codes(), {page.stem for page in pages})

    def test_each_code_has_seeded_bugs_of_different_shape(self):
        short = {code: len(self.bugs[code]) for code in codes() if len(self.bugs[code]) < WANTED}
        self.assertEqual(short, {})

    def test_each_code_has_clean_twins(self):
        short = {code: self.twins[code] for code in codes() if self.twins[code] < WANTED}
        self.assertEqual(short, {})

    def test_cases_name_codes_that_exist(self):
        self.assertEqual((set(self.bugs) | set(self.twins)) - codes(), set())


if __name__ == "__main__":
    unittest.main()
