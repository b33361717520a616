# SPDX-License-Identifier: MIT
"""The diagnosis of wrong values: every corruption is named on random data, and noise is not."""

from __future__ import annotations

import unittest
from collections.abc import Callable

import numpy as np

from diagnose_lab import FILLING, blank, floats, grouped, made, told
from workbook.diagnose import arrays, numbers, summary
from workbook.diagnose.arrays import Launch

Corrupt = Callable[[np.ndarray, np.random.Generator], np.ndarray]

# Words that the diagnosis must hold, and the corruption of 1000 random floats, blocks of 256.
CORRUPTIONS: list[tuple[str, Corrupt]] = [
    ("nothing was written", lambda w, r: blank(w, slice(None))),
    ("as many elements as one block", lambda w, r: blank(w, slice(256, None))),
    ("only the first warp wrote", lambda w, r: blank(w, slice(32, None))),
    ("only element 0", lambda w, r: blank(w, slice(1, None))),
    ("the last 232 elements were never written: they are the part of the last block",
     lambda w, r: blank(w, slice(768, None))),
    ("the last element was never written", lambda w, r: blank(w, -1)),
    ("the first element was never written", lambda w, r: blank(w, 0)),
    ("every second element, beginning with 1", lambda w, r: blank(w, slice(1, None, 2))),
    ("all but the first element of each block of 256 were never written",
     lambda w, r: np.where(np.arange(len(w)) % 256 == 0, w, FILLING)),
    ("the first element of each warp", lambda w, r: blank(w, slice(0, None, 32))),
    ("right neighbour", lambda w, r: np.roll(w, -1)),
    ("left neighbour", lambda w, r: np.roll(w, 1)),
    ("7 places after it", lambda w, r: np.roll(w, -7)),
    ("reversed", lambda w, r: w[::-1].copy()),
    ("mirror image within its block of 256",
     lambda w, r: np.concatenate([w[:768].reshape(3, 256)[:, ::-1].ravel(), w[768:]])),
    ("belongs to the first block of 256: the block's number is missing",
     lambda w, r: w[np.arange(len(w)) % 256]),
    ("first element of its warp", lambda w, r: grouped(w, 32, 0)),
    ("last element of its warp", lambda w, r: grouped(w, 32, 31)),
    ("pairs are swapped", lambda w, r: w.reshape(-1, 2)[:, ::-1].ravel()),
    ("exactly twice", lambda w, r: 2 * w),
    ("exactly half", lambda w, r: w / 2),
    ("the sign is wrong", lambda w, r: -w),
    ("256 times the value, as many as there are threads of a block", lambda w, r: 256 * w),
    ("1 too large", lambda w, r: w + 1),
    ("0.25 too small", lambda w, r: w - 0.25),
    ("0 instead of a value", lambda w, r: np.zeros_like(w)),
    ("the same value everywhere, 0.125", lambda w, r: np.full_like(w, 0.125)),
    ("the index is the same everywhere", lambda w, r: np.full_like(w, w[0])),
    ("NaN, which was computed", lambda w, r: np.full_like(w, np.nan)),
    ("NaN in 2 of them, the first is element 5",
     lambda w, r: np.where(np.isin(np.arange(len(w)), [5, 9]), np.nan, r.uniform(2, 3, len(w)))),
    ("exactly twice", lambda w, r: np.where(np.isin(np.arange(len(w)), [5, 9]), np.nan, 2 * w)),
    ("infinity", lambda w, r: np.full_like(w, np.inf)),
    ("1.41421 times the value, which is the root of 2", lambda w, r: w * 2**0.5),
    ("the square of the value", lambda w, r: w * w),
    ("the root of the value", lambda w, r: np.sqrt(np.abs(w))),
    ("1 divided by the value", lambda w, r: 1 / w),
    ("nearly right", lambda w, r: w * (1 + 1e-4 * r.uniform(-1, 1, len(w)))),
    ("right values at wrong places", lambda w, r: r.permutation(w)),
    ("the values come again after every 100 elements",
     lambda w, r: np.tile(r.uniform(-1, 1, 100), 10)),
    ("4 neighbours each hold the same value",
     lambda w, r: np.repeat(r.uniform(-1, 1, len(w) // 4), 4)),
    ("the last 24 elements: 0 instead", lambda w, r: np.where(np.arange(len(w)) < 976, w, 0)),
    ("only elements 100 to 119 are wrong",
     lambda w, r: np.where(np.abs(np.arange(len(w)) - 109.5) < 10, r.uniform(-1, 1, len(w)), w)),
    ("the last element of each block of 256",
     lambda w, r: np.where(np.arange(len(w)) % 256 == 255, r.uniform(-1, 1, len(w)), w)),
    ("wanted value is negative", lambda w, r: np.where(w < 0, r.uniform(-1, 1, len(w)), w)),
    ("within each block of 256 all are off by the same amount",
     lambda w, r: w + np.repeat([0.0, 0.5, 0.9, -0.3], 256)[: len(w)]),
]  # fmt: skip


class Values(unittest.TestCase):
    def test_every_corruption_is_named(self) -> None:
        for seed in range(3):
            rng = np.random.default_rng(seed)
            for words, corrupt in CORRUPTIONS:
                want = floats(rng, 1000)
                with self.subTest(words, seed=seed):
                    self.assertIn(words, told(corrupt(want, rng), want))

    def test_noise_is_not_named(self) -> None:
        for seed in range(60):
            rng = np.random.default_rng(seed)
            n = int(rng.integers(64, 1500))
            want = floats(rng, n)
            everywhere = floats(rng, n)
            some = np.where(rng.random(n) < 0.3, floats(rng, n), want)
            ints = rng.integers(-50, 50, n)
            with self.subTest(seed=seed):
                for got, wanted, columns in (
                    (everywhere, want, 0),
                    (some, want, 0),
                    (rng.integers(-50, 50, n), ints, 0),
                    (np.where(rng.random(n) < 0.3, rng.integers(-50, 50, n), ints), ints, 0),
                    (floats(rng, 1024), floats(rng, 1024), 32),
                ):
                    self.assertEqual(told(got, wanted, columns=columns), "")

    def test_a_right_array_has_no_story(self) -> None:
        want = floats(np.random.default_rng(1), 100)
        self.assertEqual(told(want.copy(), want), "")

    def test_matrices(self) -> None:
        rng = np.random.default_rng(7)
        for rows, columns in ((40, 40), (24, 50)):
            want = floats(rng, rows * columns)
            m = want.reshape(rows, columns)
            noise = floats(rng, rows * columns).reshape(rows, columns)
            r, k = np.indices(m.shape)
            for words, got in (
                ("transposed", m.T),
                ("mirrored left to right", m[:, ::-1]),
                ("mirrored top to bottom", m[::-1]),
                ("from the row below", np.roll(m, -1, axis=0)),
                ("the last row", np.where(r == rows - 1, noise, m)),
                ("the last column", np.where(k == columns - 1, noise, m)),
                ("the last 8 columns were never written", np.where(k >= columns - 8, FILLING, m)),
                ("outside of the first 16 rows and 16 columns was never written: as many as one "
                 "block has", np.where((r >= 16) | (k >= 16), FILLING, m)),
                ("outside of the first 8 rows and 20 columns was never written",
                 np.where((r >= 8) | (k >= 20), FILLING, m)),
                ("the border", np.where((r == 0) | (k == 0) | (r == rows - 1) | (k == columns - 1),
                                        noise, m)),
                ("off the diagonal", np.where(r != k, noise, m)),
            ):  # fmt: skip
                with self.subTest(words, rows=rows):
                    tiles = Launch("kernel", (4, 4, 1), (16, 16, 1), 1)
                    text = told(np.ascontiguousarray(got).ravel(), want, columns=columns,
                                launches=[tiles])  # fmt: skip
                    self.assertIn(words, text)

    def test_whole_numbers(self) -> None:
        rng = np.random.default_rng(3)
        want = rng.integers(10, 500, 400)
        index = np.arange(1000)
        wide = rng.integers(2**33, 2**40, 400)
        lost = want - rng.integers(1, 9, 400)
        moved = want.copy()
        moved[10:390:20] += 3
        moved[11:391:20] -= 3
        for words, got, wanted in (
            ("1 too large", want + 1, want),
            ("too small everywhere", lost, want),
            ("too large everywhere", want + rng.integers(1, 9, 400), want),
            ("the total is right", moved, want),
            ("the block's number is missing", index % 256, index),
            ("32 bits are too few", wide % 2**32, wide),
            ("the last element is wrong, 1 too large", want + (np.arange(400) == 399), want),
        ):
            with self.subTest(words):
                self.assertIn(words, told(got, wanted))

    def test_one_value_nearly_everywhere_does_not_come_again(self) -> None:
        rng = np.random.default_rng(5)
        want, got = floats(rng, 129), np.zeros(129)
        got[0] = 0.5  # one element of an earlier call, and nothing after it
        self.assertNotIn("come again", told(got, want, block=32))

    def test_infinite_values_are_values(self) -> None:
        want = np.where(np.arange(40) % 2 == 0, np.inf, floats(np.random.default_rng(4), 40))
        self.assertIn("left neighbour", told(np.roll(want, 1), want))

    def test_counting_from_the_filling(self) -> None:
        want = np.random.default_rng(4).integers(1, 99, 100).astype(np.uint64)
        self.assertIn("not set to 0", told(want + np.uint64(2**32 - 1), want))

    def test_small_arrays_say_no_more_than_they_show(self) -> None:
        self.assertEqual(told(np.array([0.5]), np.array([0.7])), "")
        self.assertEqual(told(np.array([0.5, 0.1]), np.array([0.7, 0.9])), "")
        self.assertEqual(told(np.array([3, 1, 2]), np.array([1, 3, 4])), "")

    def test_floats_where_doubles_belong(self) -> None:
        rng = np.random.default_rng(13)
        want = rng.uniform(-1, 1, 100)
        rough = want + rng.uniform(-0.1, 0.1, 100)
        c = made(rough.astype(np.float32).astype(float), want)
        c.element_bytes = 8
        self.assertIn("a float can hold", summary.of(c).text)
        c = made(rough, want)
        c.element_bytes = 8
        self.assertNotIn("a float can hold", summary.of(c).text)

    def test_measures_are_no_counts(self) -> None:
        rng = np.random.default_rng(14)
        want = rng.uniform(5, 9, 100)
        self.assertEqual("too large everywhere", told(want + rng.uniform(0.1, 2, 100), want))
        self.assertIn("too small everywhere", told(want - rng.uniform(0.1, 2, 100), want))


class Numbers(unittest.TestCase):
    def test_an_output_that_was_not_written_is_no_wanted_nan(self) -> None:
        want = floats(np.random.default_rng(25), 64)
        self.assertIn("a number where NaN", told(want, np.where(np.arange(64) > 40, np.nan, want)))
        self.assertNotIn("where NaN", told(want, blank(want, slice(40, None))))

    def test_lost_bits_of_a_signed_number(self) -> None:
        want = np.arange(1000)
        self.assertIn("8 bits are too few", told(want.astype(np.int8).astype(int), want, block=32))

    def test_lost_bits_show_in_one_number(self) -> None:
        want = np.array([0, 140001, 0])
        self.assertIn("16 bits are too few", told(want % 65536, want))
        self.assertNotIn("bits", told(np.array([0, 141, 0]), np.array([0, 397, 0])))

    def test_a_place_that_is_nearly_everywhere_is_no_place(self) -> None:
        rng = np.random.default_rng(22)
        want, got = floats(rng, 1000), floats(rng, 1000)
        got[-1] = want[-1]
        self.assertNotIn("only the first", told(got, want))
        got[-40:] = want[-40:]
        self.assertIn("only the first 960", told(got, want))

    def test_where_few_are_right_they_are_named(self) -> None:
        rng = np.random.default_rng(22)
        want, got = floats(rng, 1024), floats(rng, 1024)
        some = np.where(np.arange(1024) < 3, want, got)
        self.assertIn("only the first 3 elements are right", told(some, want))
        self.assertTrue(told(np.where(np.arange(1024) < 3, want, 0), want).startswith("0 instead"))
        some = np.where(np.arange(1024) % 32 == 31, want, got)
        self.assertEqual("only the last element of each warp is right", told(some, want, block=256))
        some = np.where(np.arange(1024) % 64 == 0, want, got)
        self.assertIn("only the first column is right", told(some, want, columns=64))

    def test_counts_without_a_sign_are_added_up_in_full(self) -> None:
        want = np.array([3, 1, 2] * 20, np.uint32)
        got = (want + np.arange(1, 61) % 7 + 1).astype(np.uint32)
        self.assertIn(f"{int(got.sum()) - 120} more than the 120 in all", told(got, want))

    def test_keys_in_ascending_order_count_nothing(self) -> None:
        want = np.cumsum(np.random.default_rng(5).integers(1, 9, 60))
        said = told(want + np.arange(1, 61) ** 2 % 97 + 1, want)
        self.assertIn("too large everywhere", said)
        self.assertNotIn("more than once", said)

    def test_nan_may_be_what_the_output_held(self) -> None:
        want = floats(np.random.default_rng(6), 60)
        self.assertIn("what an output holds before is NaN", told(np.full_like(want, np.nan), want))

    def test_running_totals_are_not_added_up(self) -> None:
        want = np.cumsum(np.random.default_rng(5).integers(1, 9, 60))
        said = told(want + np.arange(1, 61) ** 2 % 97 + 1, want)
        self.assertIn("too large everywhere", said)
        self.assertNotIn("in all", said)

    def test_small_numbers_may_be_rounded_as_coarsely_as_large_ones(self) -> None:
        rng = np.random.default_rng(23)
        want = np.floor(rng.uniform(0, 1, 1000) * 2.0**24) / 2.0**24
        want[:10] = 2.0**-24
        self.assertIn("digits get lost", told(want + rng.uniform(1e-9, 6e-8, 1000), want))
        self.assertIn("too large everywhere", told(want + rng.uniform(1e-6, 1e-3, 1000), want))

    def test_rounding_is_said_where_the_error_fits(self) -> None:
        rng = np.random.default_rng(31)
        want = floats(rng, 1000)
        size, sign = np.abs(want), rng.choice([-1.0, 1.0], 1000)
        self.assertIn(": rounding", told(want * (1 + 6e-7 * rng.uniform(-1, 1, 1000)), want))
        self.assertIn("digits are lost", told(want * (1 + 1e-4 * rng.uniform(-1, 1, 1000)), want))
        # On one side of zero: a term is missing, small as it is.
        less = told(want * (1 - 1e-3 * rng.uniform(0.2, 1, 1000)) - 1e-3 * size, want)
        for words in ("rounding", "nearly", "approximate", "cancel"):
            self.assertNotIn(words, less)
        # Whole numbers are not rounded.
        whole = np.arange(1.0, 1001.0)
        self.assertNotIn("rounding", told(whole * 1000 + sign, whole * 1000))
        # An error of one size for large and small values; its twin grows with the value.
        decades = want * 10 ** rng.uniform(-3, 0, 1000)
        self.assertIn("nearly cancel", told(decades + 1e-7 * sign, decades))
        self.assertNotIn("cancel", told(decades * (1 + 1e-4 * sign), decades))
        half = want.astype(np.float16).astype(float)
        self.assertIn("a half lies on the way", told(half, want))
        self.assertNotIn("half", told(want * (1 + 2.0**-13 * sign), want))

    def test_numbers_are_shown_as_they_can_be_read(self) -> None:
        rng = np.random.default_rng(33)
        want = floats(rng, 64)
        c = made(want + 1, want)
        self.assertEqual(numbers.shown("1.23456789", "0.123456789", c, 0), ("1.23457", "0.123457"))
        same = ("0.123456781", "0.123456789")  # six digits would not tell them apart
        self.assertEqual(numbers.shown(*same, c, 0), same)
        self.assertEqual(numbers.shown("nan", "12", None, 0), ("nan", "12"))
        self.assertEqual(numbers.shown("123456789", "987654321", c, 0), ("123456789", "987654321"))
        keys = rng.integers(1 << 31, 1 << 32, 64).astype(np.uint64)
        got, wanted = numbers.shown("1", "2", made(keys + np.uint64(1), keys), 3)
        self.assertEqual((got, wanted), (f"0x{int(keys[3]) + 1:08x}", f"0x{int(keys[3]):08x}"))
        counts = np.arange(64).astype(np.uint64)
        self.assertEqual(
            numbers.shown("9", "3", made(counts + np.uint64(6), counts), 3), ("9", "3")
        )
        empty = made(np.full(64, -842150451), np.arange(64))
        self.assertIn("nothing has written", numbers.shown("-842150451", "0", empty, 0)[0])
        self.assertNotIn(
            "nothing", numbers.shown("7", "0", made(np.full(64, 7), np.arange(64)), 0)[0]
        )

    def test_counts_that_begin_again(self) -> None:
        rng = np.random.default_rng(32)
        want = rng.integers(5, 60, 64)
        self.assertIn("modulo 11: it begins again at 10", told(want % 11, want))
        lost = want - rng.integers(1, 5, 64)
        self.assertNotIn("modulo", told(lost, want))
        fewer = f"{want.sum() - lost.sum()} less than the {want.sum()} in all"
        self.assertIn(fewer, told(lost, want))
        self.assertNotIn("modulo", told(np.zeros(64, int), want))  # cleared, as likely

    def test_two_groups_that_change_places_are_shifted(self) -> None:
        want = floats(np.random.default_rng(24), 64)
        swapped = told(np.roll(want, 32), want, block=32)
        self.assertNotIn("mirrored", swapped)
        self.assertIn("32", swapped)


class Notes(unittest.TestCase):
    def test_notes_that_do_not_fit_together_are_left_out(self) -> None:
        good = {
            "what": "element",
            "size": 2,
            "columns": 0,
            "wrong": 1,
            "ranges": [[0, 1]],
            "kept": 2,
            "type": "f8",
            "element_bytes": 4,
            "launches": [],
            "writers": [],
        }
        raw = np.array([1.0, 2.0, 3.0, 2.0]).tobytes() + b"\1\0"
        self.assertEqual(len(arrays.compared([{"array": good, "raw": raw}])), 1)
        for change in ({"kept": 3}, {"kept": -1}, {"type": "x"}, {"ranges": [1]}, {"writers": [0]},
                       {"size": None}):  # fmt: skip
            self.assertEqual(arrays.compared([{"array": {**good, **change}, "raw": raw}]), [])
        self.assertEqual(arrays.compared([{"array": good, "raw": raw[:-1]}, {"count": {}}]), [])

    def test_the_width_of_a_matrix_is_taken_from_what_was_captured(self) -> None:
        want = floats(np.random.default_rng(3), 60)
        for info, columns in (
            ("shape.height := 5\nshape.width := 12", 12), ("width := 12 (0xc)", 12),
            ("width := 7", 0), ("bandwidth := 12", 0), ("n := 12", 0),
        ):  # fmt: skip
            c = made(want + 1, want)
            arrays.guess_columns(c, [info])
            self.assertEqual(c.columns, columns, info)

    def test_the_largest_comparison_with_a_cause_is_told(self) -> None:
        rng = np.random.default_rng(2)
        short, long = floats(rng, 1), floats(rng, 900)
        told_of = summary.most_telling(
            [made(short + 1, short), made(floats(rng, 900), long), made(np.roll(long, 1), long)]
        )
        self.assertEqual(told_of[0], 2)


class Filling(unittest.TestCase):
    def test_minus_one_is_a_filling_only_in_what_came_from_the_device(self) -> None:
        want = np.arange(100, dtype=np.int64) % 7
        got = np.where(want == 3, -1, want)
        self.assertIn("never written", told(got, want))
        self.assertNotIn("never written", told(got, want, downloaded=False))

    def test_counted_on_from_the_filling_is_wrong_everywhere(self) -> None:
        want = (np.arange(100) % 7).astype(np.uint64)
        self.assertIn("counted on from the filling", told(want + np.uint64(0xFFFFFFFF), want))
        few = want.copy()
        few[[13, 27]] -= np.uint64(1)
        self.assertNotIn("filling", told(few, want))


if __name__ == "__main__":
    unittest.main()
