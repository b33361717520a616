# SPDX-License-Identifier: MIT
"""The likely cause of a failed check: from the two numbers that it compares, and from counters."""

from __future__ import annotations

import unittest

from workbook import diagnose
from workbook.diagnose import checks, counts, scalars


class Scalars(unittest.TestCase):
    def test_patterns(self) -> None:
        for words, pairs in (
            ("NaN", ["nanf == 25.0f", "nan == 3.0"]),
            ("0 instead", ["0.0f == 25.0f"]),
            ("0 where a negative", ["0.0f == -8.5f", "0.0f == -2.0f"]),
            ("twice", ["50.0f == 25.0f", "8 == 4"]),
            ("1 too small", ["3 == 4", "6 (0x6) == 7 (0x7)"]),
            ("largest power of two", ["512.0f == 1000.0f (0x3e8)", "2.0f == 3.0f"]),
            ("too small every time", ["1.0f == 5.0f", "20.0f == 28.0f", "7.0f == 9.0f"]),
            ("24 bits", ["8388609024 == 8388609001"]),
            ("1 too small", ["2147483903 == 2147483904"]),
            ("lowest 32 bits", ["7 == 4294967303 (0x100000007)"]),
            ("lowest 32 bits", ["0 == 4294967296", "4294966272 == 2199023254528"]),
            ("an int is too small", ["-8388606 == 8388609 (0x800001)"]),
            ("sign", ["-1.5 == 1.5"]),
            ("too large for an int", ["18446744071914584327 == 2500000007"]),
            ("too large for an int", ["-1794967289 == 2500000007"]),
        ):
            with self.subTest(words):
                got = [pair for text in pairs if (pair := scalars.compared(text))]
                self.assertEqual(len(got), len(pairs))
                self.assertIn(words, scalars.pattern(got))
        self.assertEqual(scalars.pattern([(3.0, 7.0), (9.0, 2.0)]), "")
        self.assertNotIn("half", scalars.pattern([(1.0, 2.0)]))
        self.assertNotIn("twice", scalars.pattern([(2.0, 1.0)]))
        near = scalars.pattern([(4294967611.0, 4294967301.0)])  # near, and no float
        self.assertNotIn("24 bits", near)
        for weak in ([(0.0, 3.0)], [(3.0, 4.0)], [(1.0, 5.0), (20.0, 28.0), (7.0, 9.0)]):
            self.assertTrue(scalars.pattern(weak))
            self.assertEqual(scalars.pattern(weak, explained=True), "")
        self.assertIn("twice", scalars.pattern([(50.0, 25.0)], explained=True))

    def test_a_function_of_numbers_is_not_called_cleared_or_counted_twice(self) -> None:
        for words, expression, expansion in (
            ("", "passes(32) == 32", "0 == 32"),
            ("", "passes(16) == 16", "32 == 16"),
            ("off by one", "escape_time(2.0, -0.5f) == 0", "1 == 0"),
            ("lowest 32 bits", "index(4194304, 1024, 7) == 9", "7 == 4294967303 (0x100000007)"),
            ("a double lies", "up(2, 1) == 9", "9007199254740992 == 9007199254740993"),
            ("0 instead", "sum_of(x) == 32", "0 == 32"),
        ):
            with self.subTest(expression):
                cause = diagnose.likely_cause([], [], "", [(expression, expansion)])
                self.assertIn(words, cause)
                self.assertEqual(bool(words), bool(cause))
        self.assertIsNone(scalars.compared("a == b"))


class Counters(unittest.TestCase):
    def test_counters(self) -> None:
        self.assertIn(
            "small pieces", diagnose.of_counter("c->global_load_requests <= 9", "12 <= 9")
        )
        none = ("c->global_load_bytes == 4", "0 == 4")
        self.assertIn("the host does the work", diagnose.of_counter(*none, launched=False))
        self.assertIn("by atomics", diagnose.of_counter(*none, launched=True))
        self.assertIn(
            "double arithmetic", diagnose.of_counter("c->double_instructions == 0", "5 == 0")
        )

        for words, expression, expansion in (
            ("the host does the work", "counters->launches == 1", "0 == 1"),
            ("not coalesced", "c->global_load_sectors <= n / 8", "50000 <= 6251"),
            (
                "not coalesced",
                "useful(c->global_load_bytes, c->global_load_sectors) >= 0.95",
                "0.25 >= 0.95",
            ),
            ("one bank", "c->shared_load_conflicts + c->shared_store_conflicts == 0", "4 == 0"),
            ("shuffles and votes", "c->warp_syncs <= 2 * c->warps", "37536 <= 12512"),
            ("more barriers", "c->block_barriers <= 9 * c->blocks", "6304 <= 3546"),
            ("too few threads", "c->threads >= 16384", "256 >= 16384"),
            ("too few threads", "c->threads == 3840", "128 == 3840 (0xf00)"),
            ("more threads", "c->threads <= 16384", "26624 <= 16384"),
            ("too few threads", "enough_threads", "false"),
            ("few lanes of a warp", "lanes_work_together", "false"),
            ("one warp has too much to do", "warps_share_the_work", "false"),
            ("fewer launches", "c->launches == 2", "1 == 2"),
            ("do atomics store", "c->global_store_bytes > 0", "0 > 0"),
            ("local memory", "c->local_load_requests == 0", "6400 == 0"),
            ("double arithmetic", "c->double_instructions == 0", "63410 == 0"),
            ("idle", "double(c->thread_instructions) / (32 * n) >= 0.95", "0.6 >= 0.95"),
            ("copied to or from the host", "c->device_to_host_bytes == 0", "1564 == 0"),
        ):
            with self.subTest(words):
                self.assertIn(words, diagnose.of_counter(expression, expansion))
        conflicts = ("c->shared_load_conflicts + c->shared_store_conflicts == 0", "62 == 0", True)
        for count, words in (
            (62, "32 lanes of a warp meet in one bank"),
            (2, "2 lanes of a warp meet in one bank"),
            (63, "different words of one bank"),
            (4, "different words of one bank"),
        ):
            counted = [{"shared_load_conflicts": count, "shared_load_requests": 2}]
            self.assertIn(words, diagnose.of_counter(*conflicts, counted))
        other = {"shared_load_conflicts": 7, "shared_load_requests": 3}  # a later call
        one = ("c->shared_load_conflicts == 0", "62 == 0", True, [*counted, other])
        counted[0]["shared_load_conflicts"] = 62
        self.assertIn("32 lanes of a warp meet", diagnose.of_counter(*one))
        self.assertEqual(diagnose.of_counter("x == 1", "2 == 1"), "")

    def test_waits_of_the_host_are_told_with_their_line(self) -> None:
        rows = [
            {"file": "pools.cu", "line": 70, "host_waits": 300, "waits_for": "a stream"},
            {"file": "pools.cu", "line": 81, "host_waits": 2, "waits_for": "all streams"},
        ]
        details = [{"count": {"host_waits": 302}, "lines": rows}]
        check = ("calls.host_waits == 0", "302 (0x12e) == 0")
        counted = [details[0]["count"]]
        self.assertEqual("the host waits for a stream on line 70, 300 times",
                         diagnose.of_counter(*check, True, counted, details))  # fmt: skip
        self.assertEqual("pools.cu:70", counts.line_of(*check, details))
        # Too few waits, and waits whose line is not known.
        self.assertEqual("", diagnose.of_counter(check[0], "1 == 5", True, counted, details))
        details[0]["lines"] = []
        self.assertEqual("", diagnose.of_counter(*check, True, counted, details))
        details[0]["waits"] = {"cudaStreamSynchronize": 300, "cudaFree": 2}
        self.assertEqual("the host waits in cudaFree and cudaStreamSynchronize",
                         diagnose.of_counter(*check, True, counted, details))  # fmt: skip
        self.assertEqual("", diagnose.of_counter(check[0], "302 == 400", True, counted, details))

    def test_counters_of_a_launch_tell_width_and_step(self) -> None:
        n = 38400
        shape = {"launches": 1, "blocks": 30, "threads": 3840}
        visits = n * 30 - 128 * 30 * 29 // 2
        loaded = ("c->global_load_bytes == 2 * sizeof(float) * kCount", f"{8 * visits} == {8 * n}")
        counted = [{**shape, "global_load_bytes": 8 * visits, "global_load_requests": 9}]
        self.assertIn("the step of the loop is blockDim.x, 128",
                      diagnose.of_counter(*loaded, True, counted))  # fmt: skip
        twin = ("c->global_load_bytes == 2 * sizeof(float) * kCount", f"{16 * n} == {8 * n}")
        counted = [{**shape, "global_load_bytes": 16 * n, "global_load_requests": 9}]
        self.assertIn("loaded more often", diagnose.of_counter(*twin, True, counted))
        all_of_it = ("c->global_load_bytes == 4 * n", f"{120 * n} == {4 * n}")
        counted = [{**shape, "global_load_bytes": 120 * n, "global_load_requests": 9}]
        self.assertIn("each of the 30 blocks", diagnose.of_counter(*all_of_it, True, counted))
        narrow = ("c->global_load_requests <= 256", "1024 <= 256")
        counted = [{**shape, "global_load_requests": 1024, "global_load_bytes": 4 * 32 * 1024}]
        self.assertIn("4 bytes a lane", diagnose.of_counter(*narrow, True, counted))
        again = [{**shape, "global_load_requests": 1024, "global_load_bytes": 16 * 32 * 1024}]
        self.assertNotIn("a lane", diagnose.of_counter(*narrow, True, again))

    def test_sectors_that_are_used_whole_are_too_many_elements(self) -> None:
        missed = ("c->global_load_sectors <= n / 8", "4096 <= 512")
        counts = {"launches": 1, "global_load_requests": 1024, "global_load_sectors": 4096}
        whole = {**counts, "global_load_bytes": 32 * 4096}
        words = diagnose.of_counter(*missed, launched=True, counted=[whole])
        self.assertIn("loaded more often than needed", words)
        apart = {**counts, "global_load_bytes": 8 * 4096}
        words = diagnose.of_counter(*missed, launched=True, counted=[apart])
        self.assertIn("not coalesced", words)

    def test_counters_of_few_threads(self) -> None:
        missed = ("c->global_load_sectors <= n / 8", "4096 <= 512")
        alone = {"launches": 1, "global_load_requests": 4096, "global_load_bytes": 4 * 4096}
        self.assertIn("one thread", diagnose.of_counter(*missed, launched=True, counted=[alone]))
        whole = dict(alone, global_load_requests=128)  # all lanes, far apart
        self.assertIn("not coalesced", diagnose.of_counter(*missed, launched=True, counted=[whole]))
        alone["global_load_sectors"], whole["global_load_sectors"] = 4096, 512
        self.assertIn("one thread", diagnose.of_counter(*missed, counted=[alone, whole]))
        none = ("c->global_load_bytes == 24 * n", "0 == 2400000")
        copied = {"launches": 1, "device_to_host_bytes": 2400000}
        self.assertIn("copied to the host", diagnose.of_counter(*none, True, [copied]))
        self.assertIn("by atomics", diagnose.of_counter(*none, True, [{"launches": 1}]))

    def test_copies_on_the_device_are_none_to_the_host(self) -> None:
        none = ("c->global_load_bytes == 24 * n", "0 == 2400000")
        both = {"launches": 0, "device_to_device_bytes": 2400000, "device_to_host_bytes": 400}
        words = diagnose.of_counter(*none, False, [both])
        self.assertIn("copied on the device", words)
        self.assertNotIn("to the host", words)
        host = {**both, "device_to_device_bytes": 0}
        self.assertNotIn("on the device, as", diagnose.of_counter(*none, False, [host]))
        check = ("c->device_to_device_bytes == 0", "400 == 0")
        self.assertIn("from one array of the device", diagnose.of_counter(*check))
        # One check may add up both kinds.
        check = ("c->device_to_device_bytes + c->device_to_host_bytes == 0", "400 == 0")
        within = {"device_to_device_bytes": 400, "device_to_host_bytes": 0}
        self.assertIn("from one array", diagnose.of_counter(*check, True, [within]))
        outside = {"device_to_device_bytes": 0, "device_to_host_bytes": 400}
        self.assertIn("or from the host", diagnose.of_counter(*check, True, [outside]))

    def test_the_line_that_costs_most_is_named(self) -> None:
        def row(line: int, sectors: int, size: int) -> dict:
            return {"file": "x.cu", "line": line, "kernel": "k", "global_load_sectors": sectors,
                    "global_load_bytes": size}  # fmt: skip

        count = {"global_load_sectors": 1300}
        details = [{"count": {}, "lines": []},
                   {"count": count, "lines": [row(7, 1024, 4096), row(9, 276, 8832)]}]  # fmt: skip
        sectors = ("c->global_load_sectors <= 400", "1300 <= 400")
        self.assertEqual(counts.line_of(*sectors, details), "x.cu:7")
        enough = ("c->global_load_sectors >= 1400", "1300 >= 1400")
        self.assertEqual(counts.line_of(*enough, details), "")
        useful = ("useful(c->global_load_bytes, c->global_load_sectors) >= 0.9", "0.3 >= 0.9")
        self.assertEqual(counts.line_of(*useful, details), "x.cu:7")
        self.assertEqual(counts.line_of("c->launches == 1", "2 == 1", details), "")
        even = [{"count": count, "lines": [row(n, 300, 0) for n in range(1, 5)]}]
        self.assertEqual(counts.line_of(*sectors, even), "")

    def test_a_line_of_one_lane_is_one_thread_at_work(self) -> None:
        sectors = ("c->global_load_sectors <= 400", "1300 <= 400")
        for lanes, alone in ((2000, True), (64000, False)):
            row = {"file": "x.cu", "line": 7, "kernel": "k", "global_load_sectors": 1024,
                   "global_load_bytes": 4096, "warp_instructions": 2000,
                   "thread_instructions": lanes}  # fmt: skip
            details = [{"count": {"global_load_sectors": 1300}, "lines": [row]}]
            words = diagnose.of_counter(*sectors, True, [], details)
            self.assertEqual("line 7 runs with a lane or two" in words, alone)
            self.assertEqual("not coalesced" in words, not alone)

    def test_a_failed_check_says_what_it_got_and_wants(self) -> None:
        for words, expression, expansion in (
            ("global store bytes: got 4096, want 1024", "c->global_store_bytes == 4 * n",
             "4096 (0x1000) == 1024 (0x400)"),
            ("want at most 1024 (4 * global store requests)",
             "c->global_store_sectors <= 4 * c->global_store_requests", "8192 <= 1024"),
            ("`now[tile]`: got 0, want 127", "now[tile] == after[tile]", "0 == 127 (0x7f)"),
            ("is_sorted: got false, want true", "is_sorted", "false"),
            ("`cudaGetLastError()`: got error 9, want cudaSuccess",
             "cudaGetLastError() == cudaSuccess", "9 == 0"),
            ("past the end of `d_out`", "sum.d_out.intact()", "false"),
            ('`text`: got "a", want "b == c"', "text == expected", '"a" == "b == c"'),
            ("threads launched: got 7, want 3840",
             "c->threads == uint64_t(kClassic.blocks) * kClassic.threads", "7 == 3840"),
        ):  # fmt: skip
            with self.subTest(words):
                self.assertIn(words, checks.in_words(expression, expansion))
        self.assertEqual(checks.in_words("FAIL()", ""), "")
        self.assertEqual(checks.in_words("a == b && c == d", "1 == 2 && 3 == 3"), "")


if __name__ == "__main__":
    unittest.main()
