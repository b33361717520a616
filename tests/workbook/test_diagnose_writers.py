# SPDX-License-Identifier: MIT
"""The diagnosis of wrong values by who wrote them: which threads, blocks and grids."""

from __future__ import annotations

import dataclasses
import unittest

import numpy as np

from diagnose_lab import FILLING, blank, floats, made, told
from workbook.diagnose import summary
from workbook.diagnose.arrays import Launch, Writer


class Writers(unittest.TestCase):
    def test_data_in_place_that_nobody_wrote_is_seen(self) -> None:
        rng = np.random.default_rng(5)
        want, before = floats(rng, 600), floats(rng, 600)
        writers = {i: Writer("kernel" if i < 256 else "host", 7, launch=1) for i in range(600)}
        got = np.where(np.arange(600) < 256, want, before)
        self.assertIn("as many elements as one block", told(got, want, writers=writers))
        writers = {i: Writer("host") for i in range(600)}
        chance = np.where(np.arange(600) == 77, want, before)
        self.assertIn("no thread wrote any", told(chance, want, writers=writers))

    def test_untouched_and_wrong_elements_are_told_apart(self) -> None:
        rng = np.random.default_rng(12)
        want = floats(rng, 300)
        got = np.where(rng.random(300) < 0.4, want, floats(rng, 300))
        bad = np.flatnonzero(got != want)
        writers = {int(i): Writer("kernel" if i in bad[:20] else "host", 7) for i in range(300)}
        writers.update({int(i): Writer("kernel", 7) for i in np.flatnonzero(got == want)})
        text = told(got, want, writers=writers)
        self.assertEqual(
            text, f"{len(bad) - 20} elements were never written, and 20 hold wrong values"
        )

    def test_as_many_bytes_as_elements(self) -> None:
        want = floats(np.random.default_rng(6), 1000)
        for got in (np.where(np.arange(1000) < 250, want, 0.0), blank(want, slice(250, None))):
            self.assertIn("the first quarter", told(got, want))
        by_threads = told(blank(want, slice(250, None)), want, block=125, blocks=2)
        self.assertIn("the grid has 250 threads", by_threads)

    def test_a_grid_that_is_too_small(self) -> None:
        want = floats(np.random.default_rng(6), 1000)
        text = told(blank(want, slice(512, None)), want, blocks=2)
        self.assertIn("the grid has 512 threads (2 blocks of 256 threads)", text)

    def test_all_blocks_of_a_grid_stride_loop_at_the_same_elements(self) -> None:
        want = floats(np.random.default_rng(6), 5000)
        i = np.arange(5000)
        text = told(np.where(i % 1024 < 256, want, FILLING), want, blocks=4)
        self.assertIn("the block's number is missing", text)
        self.assertIn("of every 1024 elements", text)
        text = told(np.where(i % 1024 < 200, want, FILLING), want, blocks=4)
        self.assertNotIn("block's number", text)

    def test_a_grid_that_is_too_small_for_an_array_that_is_kept_in_part(self) -> None:
        want = floats(np.random.default_rng(6), 1000)
        c = made(want, want, blocks=8)
        c.size, c.wrong, c.ranges = 5000, 2952, [(2048, 5000)]
        c.bad = np.zeros(1000, bool)
        c.writers = {2048: Writer("host"), 4999: Writer("host"), 0: Writer("kernel", 3)}
        self.assertIn("the grid has 2048 threads", summary.of(c).text)
        c.writers = {2048: Writer("kernel"), 0: Writer("kernel", 3)}
        self.assertEqual(summary.of(c).text, "")

    def test_a_grid_that_is_too_small_on_one_axis_is_named(self) -> None:
        want = floats(np.random.default_rng(3), 20 * 50)
        row, column = np.divmod(np.arange(1000), 50)
        for words, hit, grid in (
            ("has 32 threads along x, one for each of the first 32 columns, and there are 50",
             column >= 32, (2, 2)),
            ("has 16 threads along y, one for each of the first 16 rows, and there are 20",
             row >= 16, (4, 1)),
            ("x and y are swapped", column >= 32, (4, 2)),
            ("the last 4 rows were never written", row >= 16, (4, 3)),
        ):  # fmt: skip
            launch = Launch("kernel", (*grid, 1), (16, 16, 1), 1)
            text = told(blank(want, hit), want, columns=50, launches=[launch])
            self.assertIn(words, text)
        self.assertNotIn("swapped", text)

    def test_a_grid_for_the_transposed_matrix_has_its_axes_swapped(self) -> None:
        want = np.random.default_rng(43).uniform(1, 2, (31, 257))
        for grid, words in (
            ((1, 33, 1), "blocks for the rows along x, and for the columns along y"),
            ((4, 9, 1), "as many blocks along x as it needs along y"),
            ((1, 4, 1), "the grid has 32 threads along x"),
        ):
            reach = grid[0] * 32
            got = want.copy()
            got[:, reach:] = FILLING
            said = told(got.ravel(), want.ravel(), columns=257,
                        launches=[Launch("kernel", grid, (32, 8, 1), 1)])  # fmt: skip
            self.assertIn(words, said)

    def test_the_rows_of_a_tile_that_no_thread_stores_are_counted(self) -> None:
        want = np.random.default_rng(42).uniform(1, 2, (96, 64))
        launches = [Launch("kernel", (2, 3, 1), (32, 8, 1), 1)]

        def said(rows: np.ndarray) -> str:
            got = np.where(rows[:, None], FILLING, want).ravel()
            return told(got, want.ravel(), columns=64, launches=launches)

        r = np.arange(96)
        self.assertIn("of every 32 rows only the first 8 were written", said(r % 32 >= 8))
        self.assertIn("of every 16 rows only the first 8 were written", said(r % 16 >= 8))
        for rows in (r % 32 >= 9, r % 24 >= 8, (r % 32 >= 8) & (r != 90)):
            self.assertNotIn("of every", said(rows))

    def test_an_index_of_16_bits_ends(self) -> None:
        want = np.random.default_rng(41).uniform(1, 2, 100000)
        for written, words in ((2**16, "an index of 16 bits"), (2**15, "an index of 16 bits"),
                               (2**16 - 1, "never written"), (50000, "never written")):  # fmt: skip
            said = told(blank(want, slice(written, None)), want)
            self.assertIn(words, said)
            self.assertEqual("16 bits" in said, written in (2**15, 2**16))
        whole = want[: 2**16 + 9]  # as many threads as were right: the grid ends there
        said = told(blank(whole, slice(2**16, None)), whole, blocks=256)
        self.assertIn("the grid has 65536 threads", said)

    def test_what_one_block_wrote(self) -> None:
        rng = np.random.default_rng(8)
        want = floats(rng, 64)
        order = rng.permutation(64)
        writers = {int(i): Writer("kernel", 7, (int(at) // 16, 0, 0)) for at, i in enumerate(order)}
        mask = np.array([writers[i].block == (2, 0, 0) for i in range(64)])
        wrong = told(np.where(mask, floats(rng, 64), want), want, writers=writers)
        self.assertIn("what block (2,0,0) wrote", wrong)
        wrong = told(np.where(mask, want, floats(rng, 64)), want, writers=writers)
        self.assertIn("only what block (2,0,0) wrote is right", wrong)

    def test_why_a_value_is_zero_is_not_guessed(self) -> None:
        want = floats(np.random.default_rng(21), 64)
        stored = {i: Writer("kernel", 7, (0, 0, 0), (i, 0, 0)) for i in range(64)}
        cleared = {i: Writer("host") for i in range(64)}
        wrote = "0 instead of a value, and a thread wrote it last"
        self.assertEqual(told(np.zeros(64), want, writers=stored), wrote)
        counts = told(np.zeros(64, int), np.arange(1, 65), writers=stored)
        self.assertEqual(counts, wrote)
        self.assertNotIn("computed", told(np.zeros(64), want, writers=cleared))
        self.assertEqual(told(np.zeros(64), want), "0 instead of a value")
        some = np.where(np.arange(64) % 5 == 0, 0.0, want)
        self.assertNotIn("cleared", told(some, want, writers=stored))

    def test_the_owner_in_words(self) -> None:
        want = floats(np.random.default_rng(9), 8)
        one = made(want + 9, want, writers={
            0: Writer("kernel", 12, (3, 0, 0), (5, 0, 0)), 1: Writer("host"), 2: Writer("nobody"),
        })  # fmt: skip
        self.assertEqual(
            summary.owner(one, 0), ("thread (5,0,0) of block (3,0,0) wrote it", "line 12")
        )
        one.writers[0] = dataclasses.replace(one.writers[0], file="roots.cu")
        self.assertEqual(summary.owner(one, 0)[1], "roots.cu:12")
        self.assertIn("no thread wrote it", summary.owner(one, 1)[0])
        self.assertIn("nothing", summary.owner(one, 2)[0])
        self.assertEqual(summary.owner(one, 3), ("", ""))


if __name__ == "__main__":
    unittest.main()
