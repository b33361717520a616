# SPDX-License-Identifier: MIT
"""The likely cause of a failed check: from the two numbers that it compares, and from counters."""

from __future__ import annotations

import unittest

from workbook import diagnose
from workbook.diagnose import checks, counts, scalars
from workbook.facts import comparisons, counters
from workbook.facts.comparisons import Comparison


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


def check(left: object, relation: str, want: float, got: float, right: object = None) -> Comparison:
    """What a failed check reports. Tests count in whole numbers."""
    record = {"left": left, "relation": relation, "right": want if right is None else right}
    made = comparisons.of({**record, "got": got, "want": want})
    assert made
    return made


def said(one: Comparison, *counted: dict, launched: bool = True, lines: list | None = None) -> str:
    """The cause, where a kernel was launched and this was counted."""
    details = [{"count": {"launches": int(launched)}}, *({"count": count} for count in counted)]
    if lines:
        details[-1]["lines"] = lines
    return diagnose.of_counter(one, details)


CONFLICTS = ["+", "shared_load_conflicts", "shared_store_conflicts"]
USEFUL = ["useful", ["/", "global_load_bytes", ["*", 32.0, "global_load_sectors"]]]


class Counters(unittest.TestCase):
    def test_one_counter(self) -> None:
        for words, one in (
            ("small pieces", check("global_load_requests", "<=", 9, 12)),
            ("by atomics", check("global_load_bytes", "==", 4, 0)),
            ("the host does the work", check("launches", "==", 1, 0)),
            ("the host does the work", check("host_launches", ">", 0, 0)),
            ("not coalesced", check("global_load_sectors", "<=", 6251, 50000)),
            ("not coalesced", check(USEFUL, ">=", 0.95, 0.25)),
            ("one bank", check(CONFLICTS, "==", 0, 4)),
            ("shuffles and votes", check("warp_syncs", "<=", 12512, 37536, ["*", 2, "warps"])),
            ("more barriers", check("block_barriers", "<=", 3546, 6304, ["*", 9, "blocks"])),
            ("too few threads", check("threads", ">=", 16384, 256)),
            ("too few threads", check("threads", "==", 3840, 128)),
            ("too few threads", check(["*", 4, "blocks"], ">=", 128, 4)),
            ("more threads", check("threads", "<=", 16384, 26624)),
            ("few lanes of a warp", check(["active_lanes", "threads"], ">=", 16, 1.5)),
            ("one warp has too much to do", check("busiest_warp_instructions", "<=", 9, 90)),
            ("fewer launches", check("launches", "==", 2, 1)),
            ("by atomics", check("global_store_bytes", ">", 0, 0)),
            ("do atomics store", check("global_store_bytes", "==", 8, 4)),
            ("local memory", check("local_load_requests", "==", 0, 6400)),
            ("double arithmetic", check("double_instructions", "==", 0, 63410)),
            ("idle", check(["lanes_at_work", "threads"], ">=", 0.95, 0.6)),
            ("a loop in the loop", check(["efficiency", "threads"], ">=", 0.9, 0.1)),
            ("copied to or from the host", check("device_to_host_bytes", "==", 0, 1564)),
            ("in every call", check("device_frees", "==", 3, 1, "device_allocations")),
        ):
            with self.subTest(words, check=one):
                self.assertIn(words, said(one))
        none = check("global_load_bytes", "==", 4, 0)
        self.assertIn("the host does the work", said(none, launched=False))

    def test_nothing_is_said_of_what_has_no_row(self) -> None:
        for one in (
            check("stream_waits", "==", 0, 3),
            check("written_by_kernels", "==", 9, 0),
            check("shared_store_requests", ">=", 9, 3),  # fewer, and no results
            check("warp_instructions", ">=", 9, 3),
            check(["active_lanes", "threads"], "<=", 16, 32),
        ):
            with self.subTest(one):
                self.assertEqual(said(one), "")

    def test_every_row_names_what_is_counted(self) -> None:
        known = {*counters.fields(), *counters.measures()}
        rows = (*counts._TOO_MUCH, *counts._TOO_FEW, *counts._WRONG)
        named = {name for names, _ in rows for name in names} | {*counts._TOO_SMALL}
        self.assertEqual(named - known, set())

    def test_conflicts_in_one_bank(self) -> None:
        one = check(CONFLICTS, "==", 0, 62)
        for count, words in (
            (62, "32 lanes of a warp meet in one bank"),
            (2, "2 lanes of a warp meet in one bank"),
            (63, "different words of one bank"),
            (4, "different words of one bank"),
        ):
            counted = {"shared_load_conflicts": count, "shared_load_requests": 2}
            self.assertIn(words, said(one, counted))
        first = {"shared_load_conflicts": 62, "shared_load_requests": 2}
        later = {"shared_load_conflicts": 7, "shared_load_requests": 3}
        one = check("shared_load_conflicts", "==", 0, 62)
        self.assertIn("32 lanes of a warp meet", said(one, first, later))

    def test_waits_of_the_host_are_told_with_their_line(self) -> None:
        rows = [
            {"file": "pools.cu", "line": 70, "host_waits": 300, "waits_for": "a stream"},
            {"file": "pools.cu", "line": 81, "host_waits": 2, "waits_for": "all streams"},
        ]
        details = [{"count": {"host_waits": 302}, "lines": rows}]
        one, fewer = check("host_waits", "==", 0, 302), check("host_waits", "==", 5, 1)
        self.assertEqual("the host waits for a stream on line 70, 300 times",
                         diagnose.of_counter(one, details))  # fmt: skip
        self.assertEqual("pools.cu:70", counts.line_of(one, details))
        # Too few waits, and waits whose line is not known.
        self.assertEqual("", diagnose.of_counter(fewer, details))
        details[0]["lines"] = []
        self.assertEqual("", diagnose.of_counter(one, details))
        details[0]["waits"] = {"cudaStreamSynchronize": 300, "cudaFree": 2}
        self.assertEqual("the host waits in cudaFree and cudaStreamSynchronize",
                         diagnose.of_counter(one, details))  # fmt: skip
        self.assertEqual("", diagnose.of_counter(check("host_waits", "==", 400, 302), details))

    def test_counters_of_a_launch_tell_width_and_step(self) -> None:
        n = 38400
        shape = {"launches": 1, "blocks": 30, "threads": 3840}

        def loaded(size: int, want: int) -> str:
            counted = {**shape, "global_load_bytes": size, "global_load_requests": 9}
            return said(check("global_load_bytes", "==", want, size), counted)

        visits = n * 30 - 128 * 30 * 29 // 2
        self.assertIn("the step of the loop is blockDim.x, 128", loaded(8 * visits, 8 * n))
        self.assertIn("loaded more often", loaded(16 * n, 8 * n))
        self.assertIn("each of the 30 blocks", loaded(120 * n, 4 * n))
        narrow = check("global_load_requests", "<=", 256, 1024)
        for size, told in ((4, True), (16, False)):
            counted = {**shape, "global_load_requests": 1024, "global_load_bytes": size * 32 * 1024}
            self.assertEqual(f"{size} bytes a lane" in said(narrow, counted), told)

    def test_sectors_that_are_used_whole_are_too_many_elements(self) -> None:
        missed = check("global_load_sectors", "<=", 512, 4096)
        counted = {"launches": 1, "global_load_requests": 1024, "global_load_sectors": 4096}
        whole = said(missed, {**counted, "global_load_bytes": 32 * 4096})
        self.assertIn("loaded more often than needed", whole)
        apart = said(missed, {**counted, "global_load_bytes": 8 * 4096})
        self.assertIn("not coalesced", apart)

    def test_counters_of_few_threads(self) -> None:
        missed = check("global_load_sectors", "<=", 512, 4096)
        alone = {"launches": 1, "global_load_requests": 4096, "global_load_bytes": 4 * 4096}
        self.assertIn("one thread", said(missed, alone))
        whole = dict(alone, global_load_requests=128)  # all lanes, far apart
        self.assertIn("not coalesced", said(missed, whole))
        alone["global_load_sectors"], whole["global_load_sectors"] = 4096, 512
        self.assertIn("one thread", said(missed, alone, whole))
        none = check("global_load_bytes", "==", 2400000, 0)
        copied = {"launches": 1, "device_to_host_bytes": 2400000}
        self.assertIn("copied to the host", said(none, copied))
        self.assertIn("by atomics", said(none, {"launches": 1}))

    def test_copies_on_the_device_are_none_to_the_host(self) -> None:
        none = check("global_load_bytes", "==", 2400000, 0)
        both = {"launches": 0, "device_to_device_bytes": 2400000, "device_to_host_bytes": 400}
        words = said(none, both, launched=False)
        self.assertIn("copied on the device", words)
        self.assertNotIn("to the host", words)
        host = {**both, "device_to_device_bytes": 0}
        self.assertNotIn("on the device, as", said(none, host, launched=False))
        one = check("device_to_device_bytes", "==", 0, 400)
        self.assertIn("from one array of the device", said(one))
        # One check may add up both kinds.
        one = check(["+", "device_to_device_bytes", "device_to_host_bytes"], "==", 0, 400)
        within = {"device_to_device_bytes": 400, "device_to_host_bytes": 0}
        self.assertIn("from one array", said(one, within))
        outside = {"device_to_device_bytes": 0, "device_to_host_bytes": 400}
        self.assertIn("or from the host", said(one, outside))

    def test_the_line_that_costs_most_is_named(self) -> None:
        def row(line: int, sectors: int, size: int) -> dict:
            return {"file": "x.cu", "line": line, "kernel": "k", "global_load_sectors": sectors,
                    "global_load_bytes": size}  # fmt: skip

        count = {"global_load_sectors": 1300}
        details = [{"count": {}, "lines": []},
                   {"count": count, "lines": [row(7, 1024, 4096), row(9, 276, 8832)]}]  # fmt: skip
        sectors = check("global_load_sectors", "<=", 400, 1300)
        self.assertEqual(counts.line_of(sectors, details), "x.cu:7")
        enough = check("global_load_sectors", ">=", 1400, 1300)
        self.assertEqual(counts.line_of(enough, details), "")
        self.assertEqual(counts.line_of(check(USEFUL, ">=", 0.9, 0.3), details), "x.cu:7")
        self.assertEqual(counts.line_of(check("launches", "==", 1, 2), details), "")
        even = [{"count": count, "lines": [row(n, 300, 0) for n in range(1, 5)]}]
        self.assertEqual(counts.line_of(sectors, even), "")

    def test_a_line_of_one_lane_is_one_thread_at_work(self) -> None:
        sectors = check("global_load_sectors", "<=", 400, 1300)
        for lanes, alone in ((2000, True), (64000, False)):
            row = {"file": "x.cu", "line": 7, "kernel": "k", "global_load_sectors": 1024,
                   "global_load_bytes": 4096, "warp_instructions": 2000,
                   "thread_instructions": lanes}  # fmt: skip
            words = said(sectors, {"global_load_sectors": 1300}, lines=[row])
            self.assertEqual("line 7 runs with a lane or two" in words, alone)
            self.assertEqual("not coalesced" in words, not alone)


class Comparisons(unittest.TestCase):
    def test_words(self) -> None:
        for words, one in (
            ("global store bytes: got 4096, want 1024",
             check("global_store_bytes", "==", 1024, 4096)),
            ("global store sectors: got 8192, want at most 1024 (4 * global store requests)",
             check("global_store_sectors", "<=", 1024, 8192, ["*", 4, "global_store_requests"])),
            ("2 * (blocks launched + barriers of a block): got 8, want less than 3",
             check(["*", 2, ["+", "blocks", "block_barriers"]], "<", 3, 8)),
            ("global atomics - (global atomics - 1): got 1, want 0.25",
             check(["-", "global_atomics", ["-", "global_atomics", 1]], "==", 0.25, 1)),
            ("useful share of what global loads move: got 0.25, want at least 1.0",
             check(USEFUL, ">=", 1.0, 0.25)),
            ("share of the lanes that work: got 0.6, want at least 0.95",
             check(["lanes_at_work", ["/", "threads", 2]], ">=", 0.95, 0.6)),
        ):  # fmt: skip
            with self.subTest(words):
                self.assertEqual(one.words, words)

    def test_a_damaged_record_is_none(self) -> None:
        whole = {"left": "branches", "relation": "==", "right": 1, "got": 2, "want": 1}
        self.assertTrue(comparisons.of(whole))
        deep: object = "branches"
        for _ in range(99):
            deep = ["+", deep, 1]
        for damage in (
            None,
            {**whole, "relation": "is"},
            {**whole, "left": 2},
            {**whole, "left": []},
            {**whole, "left": [["+"], 1]},
            {**whole, "right": {}},
            {**whole, "right": deep},
            {**whole, "got": "2"},
            {**whole, "want": True},
        ):
            with self.subTest(damage):
                self.assertIsNone(comparisons.of(damage))


class Words(unittest.TestCase):
    def test_a_failed_check_says_what_it_got_and_wants(self) -> None:
        for words, expression, expansion in (
            ("`now[tile]`: got 0, want 127", "now[tile] == after[tile]", "0 == 127 (0x7f)"),
            ("is_sorted: got false, want true", "is_sorted", "false"),
            ("`cudaGetLastError()`: got error 9, want cudaSuccess",
             "cudaGetLastError() == cudaSuccess", "9 == 0"),
            ("past the end of `d_out`", "sum.d_out.intact()", "false"),
            ('`text`: got "a", want "b == c"', "text == expected", '"a" == "b == c"'),
        ):  # fmt: skip
            with self.subTest(words):
                self.assertIn(words, checks.in_words(expression, expansion))
        self.assertEqual(checks.in_words("FAIL()", ""), "")
        self.assertEqual(checks.in_words("a == b && c == d", "1 == 2 && 3 == 3"), "")


if __name__ == "__main__":
    unittest.main()
