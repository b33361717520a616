# SPDX-License-Identifier: MIT
"""The likely cause of a failed test case: from numbers, findings and counters."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import numpy as np

from diagnose_lab import floats, made
from workbook import diagnose
from workbook.diagnose import scalars
from workbook.findings import Finding


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


def finding(code: str, message: str = "", **more: object) -> Finding:
    return Finding({"code": code, "severity": "error", "message": message, "line": 12, **more})


class Causes(unittest.TestCase):
    def cause(self, *found: Finding) -> str:
        return diagnose.likely_cause([], list(found))

    def test_a_race_says_between_which_lines(self) -> None:
        other = {"line": 9, "block": [0, 0, 0], "thread": [1, 0, 0]}
        straight = self.cause(finding("race-shared", "`t[1]` is read", other=other))
        self.assertIn("barrier between line 9 and line 12", straight)
        loop = self.cause(finding("race-shared", "`t[1]` is read", other={**other, "line": 12}))
        self.assertIn("between one round and the next", loop)
        stores = finding("race-global", "`t[1]` is written while another thread may still be "
                         "writing it", other={**other, "line": 12})  # fmt: skip
        self.assertIn("two threads store", self.cause(stores))
        blocks = finding("race-global", block=[1, 0, 0], thread=[1, 0, 0],
                         other={**other, "line": 12})  # fmt: skip
        self.assertIn("several blocks", self.cause(blocks))
        neighbours = finding("race-global", block=[1, 0, 0], thread=[4, 0, 0],
                             other={**other, "line": 12})  # fmt: skip
        self.assertNotIn("block's number", self.cause(neighbours))
        apart = finding("race-global", block=[1, 0, 0], thread=[0, 0, 0], other=other)
        self.assertIn("one block reads what another", self.cause(apart))
        both = finding("race-global", str(stores.data["message"]), block=[1, 0, 0],
                       thread=[1, 0, 0], other={**other, "line": 12})  # fmt: skip
        self.assertIn("block's number", self.cause(apart, both))
        within = finding("race-global", "`a[1]` is written", block=[0, 0, 0], thread=[0, 0, 0],
                         other=other)  # fmt: skip
        self.assertIn("meet on one element (line 9 and line 12)", self.cause(within))
        slot = finding("race-shared", "`t[1]` is written while another thread may still be "
                       "writing it", other={**other, "line": 12})  # fmt: skip
        self.assertIn("store to one slot", self.cause(slot))

    def test_an_atomic_on_one_side_is_not_enough(self) -> None:
        other = {"line": 12, "block": [0, 0, 0], "thread": [1, 0, 0]}
        half = finding("race-global", "`count[0]` is written without an atomic while another "
                       "thread may still be updating it", other=other)  # fmt: skip
        self.assertIn("every access", self.cause(half))
        scope = finding("race-global", "`count[0]` is updated by two blocks, but one of them only "
                        "with block scope", block=[1, 0, 0], other=other)  # fmt: skip
        self.assertIn("whole device", self.cause(scope))

    def test_the_host_must_wait(self) -> None:
        early = finding("race-global", "`out[0]` is read by the host while a kernel may still be "
                        "writing it", other={"line": 5, "thread": [0, 0, 0]})  # fmt: skip
        self.assertIn("must wait first", self.cause(early))

    def test_streams_need_an_order(self) -> None:
        copy = finding("race-global", "the array is read by `cudaMemcpyAsync` while a kernel in "
                       "another stream may still be updating it")  # fmt: skip
        self.assertIn("two streams", self.cause(copy))

    def test_one_thread_alone_may_be_slow_and_not_endless(self) -> None:
        alone = finding("hang", "the kernel does not finish: 1 thread is on line 3 and 255 threads "
                        "have returned")  # fmt: skip
        self.assertIn("does the work of all", self.cause(alone))
        many = finding("hang", "the kernel does not finish: 256 threads are on line 3")
        self.assertIn("a loop whose end never comes", self.cause(many))

    def test_who_leaves_the_array_meets_others_on_the_way(self) -> None:
        race = finding("race-global", line=9, block=[1, 0, 0], thread=[4, 0, 0],
                       other={"block": [1, 0, 0], "thread": [5, 0, 0], "line": 9})  # fmt: skip
        bounds = finding("out-of-bounds-global", "`a[9]` is read, but `a` has 8 elements", line=9)
        self.assertIn("bounds check", self.cause(race, bounds))
        elsewhere = finding("out-of-bounds-global", "`a[9]` is read, but `a` has 8", line=11)
        self.assertIn("does the index", self.cause(race, elsewhere))

    def test_bounds_say_how_far(self) -> None:
        code = "out-of-bounds-global"
        one = finding(code, "`a[8]` is read, but `a` has 8 elements (0 to 7)")
        self.assertIn("exactly one element too far", self.cause(one))
        many = finding(code, "`a[8]` is read, but `a` has 8 elements (0 to 7)",
                       notes=["in all, `a[8]` to `a[9]`"])  # fmt: skip
        self.assertIn("bounds check", self.cause(many))
        empty = finding(code, "`a[0]` is read, but `a` has 0 elements")
        self.assertIn("without elements", self.cause(empty))
        low = finding(code, "`a[-1]` is read, but `a` begins at element 0")
        self.assertIn("subtracted from is too small", self.cause(low))
        slot = finding("out-of-bounds-shared", "`t[-1]` is read, but `t` begins at element 0")
        self.assertIn("below 0", self.cause(slot))
        far = "`out` is written 17179869172 bytes past its end, and has only 8 bytes"
        self.assertIn("below 2^32", self.cause(finding(code, far)))
        farther = far.replace("17179869172", "17179769172")
        self.assertIn("bounds check", self.cause(finding(code, farther)))
        none = finding("out-of-bounds-shared", "`t[0]` is written, but `t` has 0 elements")
        self.assertIn("no dynamic shared memory", self.cause(none))

    def test_threads_that_returned_too_early_explain_what_they_did_not_write(self) -> None:
        read = finding("uninitialized-shared", "`t[5]` is read, but no thread wrote it")
        barrier = finding("barrier-divergence", "barrier reached by 5 of 32 threads, the other 27 "
                          "had returned on line 3", severity="warning")  # fmt: skip
        self.assertIn("share for the block", self.cause(barrier, read))
        self.assertIn("before anyone wrote it", self.cause(read))
        for kernel, words in (
            ("    if (i >= n) return;  // no element", "share for the block"),
            ("    if (i < n) {  // return is another matter", "only some of the threads reach"),
        ):
            with self.subTest(kernel), tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "a.cu"
                path.write_text(f"int f() {{ return 1; }}\n__global__ void k() {{\n{kernel}\n"
                                "        __syncthreads();\n")  # fmt: skip
                where = {**barrier.data, "path": str(path), "line": 4}
                self.assertIn(words, self.cause(Finding(where), read))

    def test_a_barrier_in_between_that_not_all_reach_is_no_missing_one(self) -> None:
        race = finding("race-shared", "`t[1]` is read", other={"line": 9})
        for line, words in ((11, "only some of the threads reach"), (14, "missing barrier")):
            barrier = Finding({"code": "barrier-divergence", "severity": "warning", "line": line,
                               "message": "barrier reached by 8 of 64 threads"})  # fmt: skip
            self.assertIn(words, self.cause(race, barrier))

    def test_a_plain_increment_needs_an_atomic_and_no_barrier(self) -> None:
        other = {"line": 1, "block": [0, 0, 0], "thread": [1, 0, 0]}
        for text, words in (
            ("if (own) ++own[key];", "missing barrier"),  # named twice: not only an update
            ("    ++own[key];  // own", "without an atomic"),
            ("    own[k / 2] += 1;", "without an atomic"),
            ("    own[t] += own[t + half];", "missing barrier"),
            ("    own[t] = x;", "missing barrier"),
        ):
            with self.subTest(text), tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "a.cu"
                path.write_text(text + "\n")
                race = Finding({"code": "race-shared", "severity": "error", "line": 1,
                                "message": "`own[0]` is written while another thread may still be "
                                "reading it", "path": str(path), "other": other})  # fmt: skip
                self.assertIn(words, self.cause(race))
        gone = finding("race-shared", "`own[0]` is read", path="/nowhere/a.cu", other=other)
        self.assertIn("missing barrier", self.cause(gone))

    def test_a_known_mistake_must_explain_every_comparison(self) -> None:
        one = {"mistakes": ["backwards", "shifted"], "wrong": 2}
        self.assertEqual(diagnose.of_mistakes([one]), "")  # two numbers may agree by chance
        self.assertEqual(diagnose.of_mistakes([{**one, "wrong": 3}]), "backwards; or shifted")
        other = {"mistakes": ["shifted"], "wrong": 1}
        self.assertEqual(diagnose.of_mistakes([one, other, {"count": {}}]), "shifted")
        self.assertEqual(diagnose.of_mistakes([one, {"mistakes": [], "wrong": 9}]), "")
        self.assertEqual(diagnose.of_mistakes([{**one, "wrong": 0}] * 2), "")  # no evidence
        self.assertEqual(diagnose.of_mistakes([]), "")
        values = [made(np.arange(9.0) + 1, np.arange(9.0))]
        self.assertIn("backwards", diagnose.likely_cause(values, [], mistake="backwards"))
        outside = finding("out-of-bounds-global", "`a[9]` is read, but `a` has 9 elements")
        self.assertEqual(diagnose.likely_cause(values, [outside], mistake="backwards"), "backwards")
        slot = finding("uninitialized-shared", "`t[5]` is read, but no thread wrote it")
        self.assertEqual(diagnose.likely_cause(values, [slot], mistake="backwards"), "backwards")
        race = finding("race-shared", "`t[1]` is read", other={"line": 9})
        self.assertIn("barrier", diagnose.likely_cause(values, [race], mistake="backwards"))

    def test_values_that_explain_an_index_weigh_more_than_where_it_leads(self) -> None:
        want = floats(np.random.default_rng(1), 24 * 50)
        got = np.ascontiguousarray(want.reshape(24, 50).T).ravel()
        found = [finding("out-of-bounds-global", "`a[8]` is read, but `a` has 8 elements")]
        self.assertIn("transposed", diagnose.likely_cause([made(got, want, columns=50)], found))
        plain = diagnose.likely_cause([made(want + 1, want)], found)
        self.assertIn("one element too far", plain)

    def test_copies(self) -> None:
        for words, message in (
            ("no quotes", "`cudaMemcpyToSymbol` gets something that is not a __device__ or "
                          "__constant__ variable"),
            ("after it was freed", "`cudaMemcpy` reads from an allocation of 4 bytes that has been "
                                   "freed"),
            ("wrong direction", "`cudaMemcpy` writes to an allocation of 4 bytes as host memory, "
                                "but it is device memory; the direction given is x"),
            ("in bytes", "`cudaMemcpy` copies 24 bytes into an allocation of 4 bytes"),
        ):  # fmt: skip
            self.assertIn(words, self.cause(finding("invalid-copy", message)))
        free = "host code reads the bytes in front of device memory, as `free` and `realloc` do"
        self.assertIn("cudaFree", self.cause(finding("host-dereference", free)))
        wild = "`cudaFree` gets 0x7fff039b0600, which is not an allocation of CUDA"
        self.assertIn("cudaMalloc did not give", self.cause(finding("double-free", wild)))

    def test_a_race_of_two_streams_is_told_by_its_other_party(self) -> None:
        written = "`c[0]` is written while another thread may still be writing it"
        fill = {"line": 27, "block": None, "thread": None, "file": "main.cu"}
        text = "`cudaMemset` in another stream wrote it on line 27"
        found = finding("race-global", written, other=fill, other_text=text)
        self.assertIn("two streams", self.cause(found))
        text = text.replace("in another stream", "in another branch of a graph")
        found = finding("race-global", written, other=fill, other_text=text)
        self.assertIn("branches of a graph", self.cause(found))

    def test_crashes_of_the_host(self) -> None:
        for words, ended, output in (
            ("joined", "crashed: Abort", "terminate called without an active exception"),
            ("freed twice", "crashed: Abort", "free(): double free detected in tcache 2"),
            ("x.data()", "crashed: segmentation fault on the host", ""),
        ):
            self.assertIn(words, diagnose.of_crash(ended, output))
        self.assertEqual(diagnose.of_crash("did not finish within 20 s", ""), "")
        self.assertEqual(diagnose.of_crash("crashed: killed", "mine"), "")

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
            ("more barriers", "c->block_barriers <= 9 * c->blocks", "6304 <= 3546"),
            ("too few threads", "c->threads >= 16384", "256 >= 16384"),
            ("too few threads", "c->threads == 3840", "128 == 3840 (0xf00)"),
            ("more threads", "c->threads <= 16384", "26624 <= 16384"),
            ("fewer launches", "c->launches == 2", "1 == 2"),
            ("do atomics store", "c->global_store_bytes > 0", "0 > 0"),
            ("local memory", "c->local_load_requests == 0", "6400 == 0"),
            ("double arithmetic", "c->double_instructions == 0", "63410 == 0"),
            ("idle", "double(c->thread_instructions) / (32 * n) >= 0.95", "0.6 >= 0.95"),
            ("copied to or from the host", "c->device_to_host_bytes == 0", "1564 == 0"),
        ):
            with self.subTest(words):
                self.assertIn(words, diagnose.of_counter(expression, expansion))
        self.assertEqual(diagnose.of_counter("x == 1", "2 == 1"), "")

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


if __name__ == "__main__":
    unittest.main()
