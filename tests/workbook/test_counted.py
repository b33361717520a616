# SPDX-License-Identifier: MIT
"""What an [efficient] case checks of counters reaches the grader by name.

Numbers of counters keep their names in the compiler (common/harness/report/counted.h). What could
take a name away, or give one that the diagnosis does not know, is looked for here.
"""

from __future__ import annotations

import re
import unittest
from pathlib import Path

from workbook.facts import counters
from workbook.lesson.test_cases import case_bodies

ROOT = Path(__file__).resolve().parents[2]
TESTS = sorted((ROOT / "tests" / "lessons").glob("*/*.[ch]*"))
HARNESS = sorted((ROOT / "common" / "harness").rglob("*.[ch]*"))
NAME = re.compile(r'\bmeasured\(\s*"(\w+)"')
# The C interface's counters are plain numbers, and plain_number() makes one of a counter.
PLAIN = re.compile(r"\bEmulatorCounters\b|\bemulatorCountersGet\b|\.plain_number\(\)")
# A check of a bool that was a comparison of counters has lost what it compared.
COUNTER = r"(?:->|\.)(?:" + "|".join(counters.fields()) + r")\b(?!\()"
AS_BOOL = re.compile(r"\bbool\b\s*\w*\s*[({][^;]*" + COUNTER)


def lost(text: str) -> list[str]:
    """Where a test makes plain numbers of counters, or a bool of a comparison."""
    found = [match.group(0) for match in PLAIN.finditer(text)]
    for case, body in case_bodies(text):
        if case.efficient:
            found += [match.group(0) for match in AS_BOOL.finditer(body)]
    return found


class Names(unittest.TestCase):
    def test_no_check_loses_the_counter_that_it_compares(self) -> None:
        for path in TESTS:
            with self.subTest(path.name, lesson=path.parent.name):
                self.assertEqual(lost(path.read_text(encoding="utf-8")), [])

    def test_a_lost_name_is_found(self) -> None:
        head = 'TEST_CASE("efficient: x", "[efficient]") {\n'
        for line in (
            "CHECK(counters->launches.plain_number() == 1);",
            "EmulatorCounters counted{}; get(&counted); CHECK(counted.launches == 1);",
            "const bool one(counters->launches == 1); CHECK(one);",
            "CHECK(bool(counters->launches == 1));",
        ):
            self.assertEqual(len(lost(head + line + "\n}\n")), 1, line)
        self.assertEqual(lost(head + "CHECK(counters->launches == 1);\n}\n"), [])

    def test_what_is_measured_has_a_name_that_the_diagnosis_knows(self) -> None:
        text = "\n".join(path.read_text(encoding="utf-8") for path in (*TESTS, *HARNESS))
        self.assertEqual(set(NAME.findall(text)) - {*counters.fields()}, counters.measures())


if __name__ == "__main__":
    unittest.main()
