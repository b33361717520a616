# SPDX-License-Identifier: MIT
"""Index formulas: each wrong one is recognised by where threads went, and only then."""

from __future__ import annotations

import unittest
from collections.abc import Callable

import numpy as np

from diagnose_lab import made
from workbook import diagnose
from workbook.diagnose import geometry
from workbook.diagnose.arrays import Launch, Writer
from workbook.diagnose.geometry import Shape, Visit
from workbook.facts.findings import Finding

SHAPE = Shape(30, 128)
WHOLE = SHAPE.blocks * SHAPE.threads
Formula = Callable[[int, int], int]


def visits(of: Formula, blocks: range = range(30)) -> list[Visit]:
    return [Visit(b, t, of(b, t)) for b in blocks for t in range(128)]


def race(index: int, one: tuple[int, int], two: tuple[int, int]) -> Finding:
    """Two threads, each (block, thread), that met on an element."""
    facts = {"grid": [30, 1, 1], "block_size": [128, 1, 1], "index": index, "access": "write",
             "other_access": "write", "relation": "grid"}  # fmt: skip
    other = {"line": 12, "block": [two[0], 0, 0], "thread": [two[1], 0, 0]}
    return Finding({"code": "race-global", "severity": "error", "line": 12, "facts": facts,
                    "block": [one[0], 0, 0], "thread": [one[1], 0, 0], "other": other})  # fmt: skip


class Formulas(unittest.TestCase):
    def test_each_wrong_formula_is_named(self) -> None:
        for words, of in (
            ("multiplies the block's number by gridDim", lambda b, t: b * 30 + t),
            ("swapped", lambda b, t: t * 128 + b),
            ("nothing multiplies", lambda b, t: b + t),
        ):
            with self.subTest(words):
                self.assertIn(words, geometry.formula(visits(of), SHAPE))
                stray = [*visits(of), Visit(3, 3, 7)]
                self.assertEqual(geometry.formula(stray, SHAPE), "")

    def test_right_and_unknown_ones_are_not(self) -> None:
        for of in (
            lambda b, t: b * 128 + t,
            lambda b, t: b * 128 + t + WHOLE * (t % 3),  # a loop over the grid
            lambda b, t: b * 128 + t + 1,
            lambda b, t: t,
        ):
            self.assertEqual(geometry.formula(visits(of), SHAPE), "")
        # Of the first block alone any formula may be right, and of equal numbers either.
        self.assertEqual(geometry.formula(visits(lambda b, t: b * 30 + t, range(1)), SHAPE), "")
        square = Shape(128, 128)
        self.assertEqual(geometry.formula(visits(lambda b, t: b * 128 + t), square), "")

    def test_the_step_of_a_loop(self) -> None:
        one_block = [Visit(1, 5, 133), Visit(0, 5, 133)]
        self.assertIn("blockDim.x, 128", geometry.step(one_block, SHAPE))
        blocks = [Visit(0, 5, 5 + 4 * 30), Visit(1, 5, 1 * 128 + 5 + 30)]
        self.assertIn("gridDim.x, 30", geometry.step(blocks, SHAPE))
        missing = [Visit(1, 5, 5 + WHOLE), Visit(2, 5, 5 + WHOLE)]
        right = [Visit(1, 5, 133 + WHOLE), Visit(1, 5, 133)]
        behind, odd = [Visit(1, 5, 5), Visit(0, 5, 5)], [Visit(1, 5, 134), Visit(0, 5, 134)]
        for twin in (missing, right, behind, odd):
            self.assertEqual(geometry.step(twin, SHAPE), "")

    def test_a_race_tells_the_step(self) -> None:
        cause = diagnose.likely_cause([], [race(133, (1, 5), (0, 5))])
        self.assertIn("the step of the loop is blockDim.x", cause)
        cause = diagnose.likely_cause([], [race(5, (1, 5), (0, 5))])
        self.assertIn("the block's number missing", cause)
        cause = diagnose.likely_cause([], [race(60, (1, 30), (2, 0))])
        self.assertIn("by gridDim", cause)
        cause = diagnose.likely_cause([], [race(61, (1, 30), (2, 0))])
        self.assertNotIn("gridDim", cause)

    def test_who_wrote_an_array_tells_the_formula(self) -> None:
        want = np.random.default_rng(1).uniform(-1, 1, 3840)
        launch = Launch("k", (30, 1, 1), (128, 1, 1), 1)
        for words, of in (("by gridDim", lambda b, t: b * 30 + t), ("", lambda b, t: b * 128 + t)):
            writers = {
                of(b, t): Writer("kernel", 7, (b, 0, 0), (t, 0, 0), "k", 1)
                for b in range(30) for t in range(128)
            }  # fmt: skip
            c = made(want + 1, want, block=128, writers=writers, launches=[launch])
            self.assertIn(words, geometry.of_writers(c))
            self.assertEqual(bool(words), bool(geometry.of_writers(c)))

    def test_one_result_for_each_block_is_no_formula(self) -> None:
        # Thread 0 of each block stores its block's result: its element has the block's number.
        launch = Launch("k", (30, 1, 1), (128, 1, 1), 1)
        want = np.random.default_rng(1).uniform(-1, 1, 30)
        writers = {b: Writer("kernel", 7, (b, 0, 0), (0, 0, 0), "k", 1) for b in range(30)}
        c = made(want + 1, want, block=128, writers=writers, launches=[launch])
        self.assertEqual(geometry.of_writers(c), "")
        # Another block reads an element of what they have stored.
        cause = diagnose.likely_cause([], [race(1, (0, 1), (1, 0))])
        self.assertNotIn("nothing multiplies", cause)

    def test_how_far_threads_left_an_array_tells_the_formula(self) -> None:
        facts = {"grid": [1024, 1, 1], "block_size": [5, 1, 1], "index": 5120, "elements": 5120,
                 "element_bytes": 4, "first_index": 5120, "last_index": 1047556}  # fmt: skip
        data = {"code": "out-of-bounds-global", "severity": "error", "block": [5, 0, 0],
                "thread": [0, 0, 0], "facts": facts}  # fmt: skip
        self.assertIn("by gridDim", diagnose.likely_cause([], [Finding(data)]))
        data["facts"] = {**facts, "last_index": 5130}
        self.assertIn("bounds check", diagnose.likely_cause([], [Finding(data)]))

    def test_more_blocks_than_results(self) -> None:
        facts = {"grid": [8, 1, 1], "block_size": [256, 1, 1], "index": 3, "elements": 3,
                 "element_bytes": 4, "first_index": 3, "last_index": 7,
                 "access": "write"}  # fmt: skip
        data = {"code": "out-of-bounds-global", "severity": "error", "block": [3, 0, 0],
                "thread": [0, 0, 0], "facts": facts}  # fmt: skip
        self.assertIn("more blocks than elements", diagnose.likely_cause([], [Finding(data)]))
        data["facts"] = {**facts, "block_size": [1, 1, 1]}
        self.assertIn("bounds check", diagnose.likely_cause([], [Finding(data)]))

    def test_bytes_for_elements(self) -> None:
        facts = {"index": 250, "elements": 250, "element_bytes": 4, "first_index": 250,
                 "last_index": 999}  # fmt: skip
        data = {"code": "out-of-bounds-global", "severity": "error", "facts": facts}
        self.assertIn("without sizeof", diagnose.likely_cause([], [Finding(data)]))
        data["facts"] = {**facts, "last_index": 1003}
        self.assertIn("bounds check", diagnose.likely_cause([], [Finding(data)]))
        data["facts"] = {**facts, "element_bytes": 1, "last_index": 400}
        self.assertNotIn("sizeof", diagnose.likely_cause([], [Finding(data)]))


if __name__ == "__main__":
    unittest.main()
