# SPDX-License-Identifier: MIT
"""What a page shows of the grade of the untouched lesson."""

from __future__ import annotations

import unittest

from fill_outputs import cut


def screen(*cases: str) -> str:
    return "\n".join(["Lesson 01", *cases, "  – efficient  2 tests", "  correct ✗", "  0 passed"])


WRONG = "  ✗ task 1  adds\n      element 0: got 1, want 2"


class Cut(unittest.TestCase):
    def test_a_fourth_failure_and_what_follows_are_counted(self) -> None:
        alike = "  ✗ 5 more tests fail for the same reason (task 1)"
        text = cut(screen("  ✓ task 1  a", WRONG, WRONG, WRONG, WRONG, "  ✓ task 2  b", alike))
        expected = screen("  ✓ task 1  a", WRONG, WRONG, WRONG, "  ... 7 more tests ...")
        self.assertEqual(text, expected)

    def test_three_failures_are_shown_whole(self) -> None:
        text = screen(WRONG, WRONG, WRONG, "  ✓ task 2  b")
        self.assertEqual(cut(text), text)

    def test_one_test_left_out_is_one(self) -> None:
        text = cut(screen(WRONG, WRONG, WRONG, WRONG))
        self.assertIn("\n  ... 1 more test ...\n  – efficient", text)


if __name__ == "__main__":
    unittest.main()
