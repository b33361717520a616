# SPDX-License-Identifier: MIT
"""What a likely cause claims must follow from what was seen: near misses stay silent or hedge."""

from __future__ import annotations

import unittest

import numpy as np

from diagnose_lab import blank, floats, made, told
from workbook import diagnose
from workbook.diagnose import summary
from workbook.diagnose.arrays import Launch
from workbook.facts.findings import Finding


def cause(code: str, facts: dict | None = None, **more: object) -> str:
    found = Finding({"code": code, "severity": "error", "line": 12, "facts": facts or {}, **more})
    return diagnose.likely_cause([], [found])


class Indexes(unittest.TestCase):
    def test_a_far_negative_index_comes_from_a_narrow_type(self) -> None:
        for words, first in (
            ("in 32 bits", -(2**31)),
            ("a short", -(2**15)),
            ("the subtraction goes too far", -1),
            ("the subtraction goes too far", -(2**15) - 1),
        ):
            facts = {"index": first, "first_index": first, "elements": 100}
            self.assertIn(words, cause("out-of-bounds-global", facts))

    def test_one_too_far_is_a_bound_only_for_a_thread_that_is_next_to_its_own_element(self) -> None:
        facts = {"index": 2, "first_index": 2, "last_index": 2, "elements": 2}
        for thread, block, hedged in (
            ([2, 0, 0], [8, 1, 1], False),
            ([1, 0, 0], [8, 1, 1], False),
            ([0, 0, 0], [8, 1, 1], False),
            ([5, 0, 0], [8, 1, 1], True),
            ([1, 0, 0], [8, 8, 1], True),
        ):
            shape = {"grid": [2, 1, 1], "block_size": block}
            text = cause("out-of-bounds-global", {**facts, **shape}, block=[0, 0, 0], thread=thread)
            self.assertIn("one element too far", text)
            self.assertEqual("or a wrong index" in text, hedged, thread)

    def test_a_bounds_check_is_missing_where_threads_leave_at_their_own_elements(self) -> None:
        facts = {"index": 10, "first_index": 10, "last_index": 15, "elements": 10}
        shape = {"grid": [2, 1, 1], "block_size": [8, 1, 1]}
        for thread, hedged in (([2, 0, 0], False), ([3, 0, 0], True)):
            text = cause("out-of-bounds-global", {**facts, **shape}, block=[1, 0, 0], thread=thread)
            self.assertIn("a missing or wrong bounds check", text)
            self.assertEqual("or a wrong index" in text, hedged, thread)


class Copies(unittest.TestCase):
    def test_sizes_that_say_more_than_too_large(self) -> None:
        for words, asked, available, host, address in (
            ("without sizeof", 40, 10, False, "0x7f0000000000"),
            ("without sizeof", 8, 1, False, "0x7f0000000000"),
            ("in bytes", 40, 36, False, "0x7f0000000000"),
            ("in bytes", 40, 0, False, "0x7f0000000000"),
            ("x.data()", 400012, 13968, True, "0x7ffd4551a970"),
            ("in bytes", 400012, 13968, True, "0x55d0aa51a970"),
            ("in bytes", 40, 10, True, "0x55d0aa51a970"),
        ):
            with self.subTest(words, asked=asked, available=available):
                facts = {"asked": asked, "available": available, "host": host}
                facts["reason"] = "out-of-range"
                text = cause("invalid-copy", facts, address=address)
                self.assertIn(words, text)

    def test_as_many_bytes_as_an_object_has(self) -> None:
        want = floats(np.random.default_rng(6), 1000)
        for first, words in ((2, "a pointer"), (6, "a std::vector")):
            got = np.where(np.arange(1000) < first, want, 0.0)
            self.assertIn(words, told(got, want))
            some_zeros = np.where(np.arange(1000) % 9 == 8, 0.0, want)
            self.assertIn(words, told(np.where(np.arange(1000) < first, want, 0.0), some_zeros))
        self.assertNotIn("sizeof", told(np.where(np.arange(1000) < 5, want, 0.0), want))


class Values(unittest.TestCase):
    def test_one_value_everywhere_was_there_before_where_gaps_hold_it_too(self) -> None:
        want = floats(np.random.default_rng(3), 12 * 10).reshape(12, 10)
        want[:, 8:] = -7  # a gap after each row, where nothing may be written
        got = np.full_like(want, -7)
        self.assertIn("nothing was written", told(got.ravel(), want.ravel(), columns=10))
        got[0, 9] = want[0, 9] = 3
        text = told(got.ravel(), want.ravel(), columns=10)
        self.assertIn("the same value everywhere, -7", text)
        one_is_right = np.arange(200.0)
        text = told(np.full_like(one_is_right, 5), one_is_right)
        self.assertIn("the same value everywhere, 5", text)

    def test_values_that_fill_their_range_are_met_by_chance(self) -> None:
        rng = np.random.default_rng(3)
        x = rng.integers(-1000, 1000, 30000)
        first, all_steps = 4.0 * x - 8, -4.0 * x + 16
        self.assertNotIn("some other element", told(first, all_steps))
        want = rng.integers(-(10**6), 10**6, 1000).astype(float)
        got = want[rng.integers(0, 1000, 1000)]
        self.assertIn("some other element", told(got, want))

    def test_pairs_are_swapped_where_both_are_wrong(self) -> None:
        want = floats(np.random.default_rng(4), 400)
        self.assertIn("pairs are swapped", told(want.reshape(-1, 2)[:, ::-1].ravel(), want))
        got = want.copy()
        got[3::4] = want[2::4]
        self.assertIn("left neighbour's", told(got, want))

    def test_doubles_that_cancel_did_not_pass_through_a_float(self) -> None:
        rng = np.random.default_rng(5)
        want = rng.uniform(1, 2, 1000)
        lost = want * (1 + 2.0**-52 * rng.choice([-3, 3], 1000) * 10 ** rng.uniform(0, 5, 1000))
        floated = want.astype(np.float32).astype(float) * (1 + 2.0**-50)
        for got, expected in ((lost, False), (floated, True)):
            c = made(got, want)
            c.element_bytes = 8
            self.assertEqual("as a float has" in summary.of(c).text, expected)

    def test_a_root_in_float_shows_in_doubles_that_cancel(self) -> None:
        rng = np.random.default_rng(6)
        want = 10.0 ** rng.uniform(-6, 3, 1000)
        c = made(want + 1000 * 2.0**-24 * rng.uniform(-1, 1, 1000), want)
        c.element_bytes = 8
        self.assertIn("a float lies on the way", summary.of(c).text)

    def test_updates_get_lost_where_threads_share_an_element(self) -> None:
        rng = np.random.default_rng(7)
        want = rng.uniform(1, 2, 1000)
        got = want * rng.uniform(0.3, 0.9, 1000)
        self.assertNotIn("lost", told(got, want))
        self.assertIn("updates got lost", told(got, want, blocks=64))

    def test_whole_numbers_below_zero_are_no_counts(self) -> None:
        rng = np.random.default_rng(10)
        want = np.concatenate([[-7], rng.integers(9, 20, 400)])
        for by, words in ((-1, "too small everywhere"), (1, "too large everywhere")):
            got = want + by * np.concatenate([[0], rng.integers(1, 9, 400)])
            text = told(got, want)
            self.assertIn(words, text)
            self.assertNotIn("in all", text)

    def test_one_nan_is_no_plural(self) -> None:
        rng = np.random.default_rng(8)
        want = floats(rng, 100)
        got = rng.uniform(2, 3, 100)
        got[7] = np.nan
        self.assertIn("NaN in one of them, element 7", told(got, want))

    def test_many_elements_each_hold(self) -> None:
        want = floats(np.random.default_rng(9), 1000)
        got = np.where(np.arange(1000) < 500, want, want[0])
        self.assertIn("the last 500 elements: each holds", told(got, want))


class Untouched(unittest.TestCase):
    def test_bytes_for_elements_even_if_the_last_elements_are_right_by_chance(self) -> None:
        want = floats(np.random.default_rng(4), 5000)
        words = "a size in bytes, where the number of elements was given"
        for end, claimed in ((5000, True), (4999, True), (4996, True), (4900, False)):
            with self.subTest(end):
                text = told(blank(want, slice(1250, end)), want)
                self.assertEqual(claimed, words in text, text)
        self.assertNotIn(words, told(blank(want, slice(1251, 4999)), want))

    def test_the_part_of_the_last_block_is_that_of_a_grid_with_a_thread_for_each(self) -> None:
        want = floats(np.random.default_rng(1), 1027)
        got = blank(want, slice(1024, None))
        self.assertIn("last block", told(got, want, blocks=5))
        quarter = told(got, want, blocks=2)
        self.assertIn("the last 3 elements were never written", quarter)
        self.assertNotIn("last block", quarter)

    def test_numbers_of_blocks_that_are_exchanged(self) -> None:
        want = floats(np.random.default_rng(2), 31 * 257)
        column = np.arange(31 * 257) % 257
        for grid, words in (
            ((4, 9, 1), "as many blocks along x as it needs along y"),
            ((4, 4, 1), "128 threads along x"),
        ):
            launch = Launch("kernel", grid, (32, 8, 1), 1)
            text = told(blank(want, column >= 128), want, columns=257, launches=[launch])
            self.assertIn("the last 129 columns were never written", text)
            self.assertIn(words, text)

    def test_one_warp_is_not_named_in_a_grid_of_rows(self) -> None:
        want = floats(np.random.default_rng(3), 2 * 700)
        launch = Launch("kernel", (1, 22, 1), (32, 8, 1), 1)
        got = blank(want, slice(32, None))
        self.assertNotIn("warp", told(got, want, columns=700, launches=[launch]))
        line = Launch("kernel", (1, 1, 1), (64, 1, 1), 1)
        self.assertIn("warp", told(got, want, launches=[line]))


if __name__ == "__main__":
    unittest.main()
