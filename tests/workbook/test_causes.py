# SPDX-License-Identifier: MIT
"""The likely cause of a failed test case: from its findings, its values and how it ended."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import numpy as np

from diagnose_lab import floats, made
from workbook import diagnose
from workbook.diagnose import stopped
from workbook.facts.findings import Finding


def finding(code: str, facts: dict | None = None, **more: object) -> Finding:
    return Finding({"code": code, "severity": "error", "line": 12, "facts": facts or {}, **more})


BOTH_WRITE = {"access": "write", "other_access": "write"}


class Causes(unittest.TestCase):
    def cause(self, *found: Finding) -> str:
        return diagnose.likely_cause([], list(found))

    def test_a_race_says_between_which_lines(self) -> None:
        other = {"line": 9, "block": [0, 0, 0], "thread": [1, 0, 0]}
        straight = self.cause(finding("race-shared", other=other))
        self.assertIn("barrier between line 9 and line 12", straight)
        loop = self.cause(finding("race-shared", other={**other, "line": 12}))
        self.assertIn("between one round and the next", loop)
        stores = finding("race-global", BOTH_WRITE, other={**other, "line": 12})
        self.assertIn("two threads store", self.cause(stores))
        blocks = finding("race-global", block=[1, 0, 0], thread=[1, 0, 0],
                         other={**other, "line": 12})  # fmt: skip
        self.assertIn("several blocks", self.cause(blocks))
        neighbours = finding("race-global", block=[1, 0, 0], thread=[4, 0, 0],
                             other={**other, "line": 12})  # fmt: skip
        self.assertNotIn("block's number", self.cause(neighbours))
        apart = finding("race-global", block=[1, 0, 0], thread=[0, 0, 0], other=other)
        self.assertIn("one block reads what another", self.cause(apart))
        both = finding("race-global", BOTH_WRITE, block=[1, 0, 0],
                       thread=[1, 0, 0], other={**other, "line": 12})  # fmt: skip
        self.assertIn("block's number", self.cause(apart, both))
        within = finding("race-global", {"access": "write"}, block=[0, 0, 0], thread=[0, 0, 0],
                         other=other)  # fmt: skip
        self.assertIn("meet on one element (line 9 and line 12)", self.cause(within))
        slot = finding("race-shared", BOTH_WRITE, other={**other, "line": 12})
        self.assertIn("store to one slot", self.cause(slot))

    def test_an_atomic_on_one_side_is_not_enough(self) -> None:
        other = {"line": 12, "block": [0, 0, 0], "thread": [1, 0, 0]}
        half = finding("race-global", {"one_atomic": True}, other=other)
        self.assertIn("every access", self.cause(half))
        scope = finding("race-global", {"clash": "scope"}, block=[1, 0, 0], other=other)
        self.assertIn("whole device", self.cause(scope))

    def test_the_host_must_wait(self) -> None:
        early = finding("race-global", {"relation": "host"}, other={"line": 5, "thread": [0, 0, 0]})
        self.assertIn("must wait first", self.cause(early))

    def test_streams_need_an_order(self) -> None:
        copy = finding("race-global", {"relation": "streams"})
        self.assertIn("two streams", self.cause(copy))

    def test_one_thread_alone_may_be_slow_and_not_endless(self) -> None:
        alone = finding("hang", {"threads": 1, "returned": 255})
        self.assertIn("does the work of all", self.cause(alone))
        many = finding("hang", {"threads": 256, "returned": 0})
        self.assertIn("a loop that never ends", self.cause(many))

    def test_who_leaves_the_array_meets_others_on_the_way(self) -> None:
        race = finding("race-global", line=9, block=[1, 0, 0], thread=[4, 0, 0],
                       other={"block": [1, 0, 0], "thread": [5, 0, 0], "line": 9})  # fmt: skip
        bounds = finding("out-of-bounds-global", {"index": 9, "elements": 8}, line=9)
        self.assertIn("bounds check", self.cause(race, bounds))
        elsewhere = finding("out-of-bounds-global", {"index": 9, "elements": 8}, line=11)
        self.assertIn("does the index", self.cause(race, elsewhere))

    def test_a_missing_barrier_and_a_missing_check_are_two_faults(self) -> None:
        past = {"index": 8, "elements": 8, "first_index": 8, "last_index": 8}
        race = finding("race-shared", other={"line": 9})
        both = self.cause(finding("out-of-bounds-global", past), race)
        self.assertIn("between line 9 and line 12; and exactly one element too far", both)
        self.assertNotIn("; and", self.cause(race, finding("out-of-bounds-global", past)))

    def test_bounds_say_how_far(self) -> None:
        code = "out-of-bounds-global"
        past = {"index": 8, "elements": 8, "first_index": 8, "last_index": 8}
        self.assertIn("exactly one element too far", self.cause(finding(code, past)))
        many = finding(code, {**past, "last_index": 9})
        self.assertIn("bounds check", self.cause(many))
        # The facts are those of one launch: others may have gone further.
        past = {**past, "other_launches": 4}
        self.assertIn("one element", self.cause(finding(code, past, count=5)))
        self.assertIn("bounds check", self.cause(finding(code, past, count=6)))
        shared = "out-of-bounds-shared"
        one = finding(shared, {"index": -1, "elements": 8, "first_index": -1, "last_index": -1})
        self.assertIn("the slot before the first", self.cause(one))
        keys = finding(shared, {"index": -1, "elements": 8, "first_index": -9, "last_index": -1})
        self.assertIn("nothing checks", self.cause(keys))
        wrapped = finding(code, {"index": -(2**31), "elements": 8})
        self.assertIn("computed in 32 bits", self.cause(wrapped))
        empty = finding(code, {"index": 0, "elements": 0})
        self.assertIn("without elements", self.cause(empty))
        low = finding(code, {"index": -1, "elements": 8})
        self.assertIn("the subtraction goes too far", self.cause(low))
        slot = finding("out-of-bounds-shared", {"index": -1, "elements": 8})
        self.assertIn("below 0", self.cause(slot))
        far = {"past_end": 2**34 - 12, "elements": 2, "element_bytes": 4}
        self.assertIn("below 2^32", self.cause(finding(code, far)))
        farther = {**far, "past_end": 2**34 - 100012}
        self.assertIn("bounds check", self.cause(finding(code, farther)))
        none = finding("out-of-bounds-shared", {"index": 0, "elements": 0, "dynamic": True})
        self.assertIn("no dynamic shared memory", self.cause(none))

    def test_an_index_that_wrapped_in_an_int_is_not_a_subtraction(self) -> None:
        code, many = "out-of-bounds-global", {"elements": 3 * 2**30, "element_bytes": 4}
        wrapped = finding(code, {**many, "index": 2**31 + 5 - 2**32})
        self.assertIn("the index is 2147483653, computed in an int", self.cause(wrapped))
        bytes_wrapped = finding(code, {**many, "index": (2**31 + 20 - 2**32) // 4})
        self.assertIn("offset in bytes is 2147483668", self.cause(bytes_wrapped))
        below = finding(code, {**many, "index": -3})
        self.assertIn("the subtraction goes too far", self.cause(below))
        nowhere = {**many, "elements": 2**30, "index": 2**31 + 5 - 2**32}
        self.assertIn("an index far below 0", self.cause(finding(code, nowhere)))

    def test_threads_that_returned_too_early_explain_what_they_did_not_write(self) -> None:
        read = finding("uninitialized-shared")
        barrier = finding("barrier-divergence", {"returned": 27}, severity="warning")
        self.assertIn("before the block is done", self.cause(barrier, read))
        self.assertIn("before it is written", self.cause(read))
        for kernel, words in (
            ("    if (i >= n) return;  // no element", "before the block is done"),
            ("    if (i < n) {  // return is another matter", "only some of the threads reach"),
        ):
            with self.subTest(kernel), tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "a.cu"
                path.write_text(f"int f() {{ return 1; }}\n__global__ void k() {{\n{kernel}\n"
                                "        __syncthreads();\n")  # fmt: skip
                where = {**barrier.data, "path": str(path), "line": 4}
                self.assertIn(words, self.cause(Finding(where), read))

    def test_a_barrier_in_between_that_not_all_reach_is_no_missing_one(self) -> None:
        race = finding("race-shared", other={"line": 9})
        for line, words in ((11, "only some of the threads reach"), (14, "missing barrier")):
            barrier = Finding({"code": "barrier-divergence", "severity": "warning", "line": line,
                               "message": "barrier reached by 8 of 64 threads"})  # fmt: skip
            self.assertIn(words, self.cause(race, barrier))

    def test_a_plain_increment_needs_an_atomic_and_no_barrier(self) -> None:
        other = {"line": 1, "block": [0, 0, 0], "thread": [1, 0, 0]}
        for text, words in (
            ("if (own) ++own[key];", "without an atomic"),
            ("own[key] = own[key] + 1;", "without an atomic"),
            ("own[key] = own[key + 1] + 1;", "missing barrier"),
            ("++mine[key];  // through another pointer", "without an atomic"),
            ("mine[t] += other[t];", "missing barrier"),  # both may point into the array
            ("mine[t] = other[t];", "missing barrier"),
            ("if (own[t] == own[t + 1]) ++n;", "missing barrier"),
            ("    ++own[key];  // own", "without an atomic"),
            ("    own[k / 2] += 1;", "without an atomic"),
            ("    ++own[digit(keys[i], 8)];", "without an atomic"),
            ("    ++mine[digit(keys[i])];", "without an atomic"),
            ("    own[keys[t]] = own[keys[t]] + own[t];", "missing barrier"),
            ("    own[t] += own[t + half];", "missing barrier"),
            ("    own[t] = x;", "missing barrier"),
        ):
            with self.subTest(text), tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "a.cu"
                path.write_text(text + "\n")
                race = finding("race-shared", {"array": "own"}, line=1, path=str(path), other=other)
                self.assertIn(words, self.cause(race))
        gone = finding("race-shared", {"array": "own"}, path="/nowhere/a.cu", other=other)
        self.assertIn("missing barrier", self.cause(gone))

    def in_file(self, text: str, code: str, facts: dict, **where: object) -> str:
        """The cause of a finding in a file of this text; on line 1, where nothing else is said."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.cu"
            path.write_text(text + "\n")
            return self.cause(finding(code, facts, **{"line": 1, "path": str(path), **where}))

    def test_a_loop_that_waits_for_another_block(self) -> None:
        other = {"line": 9, "thread": [0, 0, 0], "block": [0, 0, 0]}
        where = {"thread": [0, 0, 0], "block": [1, 0, 0], "other": other}
        facts = {"array": "state", "access": "read", "other_access": "write"}
        for text, words in (
            ("while (state[b - 1] == 0) {}", "must be atomic, or volatile"),
            ("x = state[b - 1];", "blocks run in any order"),
        ):
            self.assertIn(words, self.in_file(text, "race-global", facts, **where))

    def test_threads_that_miss_one_another_come_before_values(self) -> None:
        wrong = [("sum == 512", "0 == 512")]
        for code in ("warp-mask", "barrier-divergence"):
            found = finding(code, {}, severity="warning")
            said = diagnose.likely_cause([], [found], checks=wrong)
            self.assertIn(diagnose.by_code[code], said)
        leak = finding("leak", {}, severity="warning")
        said = diagnose.likely_cause([], [leak], checks=wrong)
        self.assertIn("0 instead of a value", said)

    def test_a_missed_barrier_comes_before_a_wrong_mask(self) -> None:
        said = self.cause(finding("warp-mask", {}), finding("barrier-divergence", {}))
        self.assertIn("barrier", said)

    def test_one_number_that_all_threads_update_is_named(self) -> None:
        other = {"line": 1, "thread": [1, 0, 0], "block": [0, 0, 0]}
        for text, words in (
            ("*count += 1;", "the same number, `*count`"),
            ("if (x[i] > 0) count[0]++;", "the same number, `count[0]`"),
            ("count[0] = count[0] + 1;", "the same number, `count[0]`"),
            ("++count[bin];", "several threads work on one element"),
            ("*count = other[i];", "several threads work on one element"),
        ):
            with self.subTest(text):
                facts = {"array": "count", "access": "write", "other_access": "read"}
                where = {"thread": [0, 0, 0], "block": [0, 0, 0], "other": other}
                self.assertIn(words, self.in_file(text, "race-global", facts, **where))

    def test_a_warp_barrier_is_no_barrier_of_the_block(self) -> None:
        for between, named in (
            ("__syncwarp();", True),
            ("// __syncwarp();", False),
            ("__syncwarp();\n__syncthreads();", False),
            ("", False),
        ):
            with self.subTest(between):
                text = f"tile[t] = 1;\n{between}\nx = tile[t + 1];\n"
                last = text.count("\n")
                cause = self.in_file(text, "race-shared", {}, line=last, other={"line": 1})
                self.assertIn("missing barrier", cause)
                self.assertEqual("holds back one warp" in cause, named)

    def test_one_thread_may_be_meant_to_store_the_result_of_a_block(self) -> None:
        for text, named in (
            ("out[blockIdx.x] = tile[0];", True),
            ("if (t == 0) out[blockIdx.x] = tile[0];", False),
            ("if (t == 0)\n    out[blockIdx.x] = tile[0];", False),
            ("out[blockIdx.x * blockDim.x + t] = tile[0];", False),
            ("tile[t] = out[blockIdx.x];", False),
        ):
            with self.subTest(text):
                full = f"tile[t] += 1;\n\n{text}"
                last = full.count("\n") + 1
                cause = self.in_file(full, "race-shared", {}, line=last, other={"line": 1})
                self.assertIn(f"missing barrier between line 1 and line {last}", cause)
                self.assertEqual("one thread alone" in cause, named)

    def test_a_warp_operation_in_a_loop_is_seen(self) -> None:
        for text, named in (
            ("for (int i = lane; i < n; i += 32) sum += warp_sum(x[i]);", True),
            ("while (i < n) all += __shfl_down_sync(~0u, all, i++);", True),
            ("for (int i = 0; i < n; ++i) sum += x[i];", False),
            ("all += __shfl_down_sync(~0u, all, 1);", False),
        ):
            with self.subTest(text):
                cause = self.in_file(text, "warp-mask", {})
                self.assertEqual("leave earlier than others" in cause, named)

    def test_a_mistake_that_explains_every_value_outranks_a_race_that_follows(self) -> None:
        race = finding("race-global", {"access": "read", "other_access": "write"})
        shared = finding("race-shared", {"access": "read", "other_access": "write"})
        said = [diagnose.likely_cause([], [f], mistake="i is lost") for f in (race, shared)]
        self.assertEqual(said[0], "i is lost")
        self.assertNotEqual(said[1], "i is lost")

    def test_swapped_numbers_of_a_launch_are_seen_by_their_names(self) -> None:
        for text, words in (
            ("k<<<threads, blocks>>>(x);", "`threads` stands there"),
            ("k<<<kThreads, blocks_of_x>>>(x);", "`kThreads` stands there"),
            ("k<<<block_size, grid>>>(x);", "`block_size` stands there"),
            ("k<<<blocks, threads>>>(x);", "no GPU accepts"),
            ("k<<<threads, n>>>(x);", "no GPU accepts"),
        ):
            with self.subTest(text):
                self.assertIn(words, self.in_file(text, "invalid-launch", {}))

    def test_shared_memory_of_less_than_an_element_is_not_none(self) -> None:
        facts = {"index": 0, "elements": 0, "element_bytes": 4, "dynamic": True}
        for size, words in ((0, "asks for no dynamic"), (3, "less dynamic shared memory than one")):
            self.assertIn(
                words, self.cause(finding("out-of-bounds-shared", {**facts, "bytes": size}))
            )

    def test_several_threads_of_a_block_that_go_one_too_far_tell(self) -> None:
        facts = {"index": 6, "elements": 6, "element_bytes": 4, "first_index": 6, "last_index": 6,
                 "other_launches": 2}  # fmt: skip
        for threads, last, expected in ((2, 6, True), (1, 6, False), (2, 7, False)):
            found = finding("out-of-bounds-global",
                            {**facts, "threads_of_block": threads, "last_index": last},
                            count=320)  # fmt: skip
            self.assertEqual("exactly one element too far" in self.cause(found), expected)

    def test_lanes_that_mean_different_matrices_are_no_wide_access(self) -> None:
        self.assertIn("a wide access", self.cause(finding("misaligned", {})))
        lanes = self.cause(finding("misaligned", {"reason": "lanes-differ"}))
        self.assertIn("lanes of one warp that mean different matrices", lanes)

    def test_each_array_may_have_a_mistake_of_its_own(self) -> None:
        py, pz = ({"mistakes": [f"{a} holds {b}"], "wrong": 9} for a, b in ("yz", "zy"))
        self.assertEqual(diagnose.of_mistakes([py, pz]), "y holds z; and z holds y")
        self.assertEqual(diagnose.of_mistakes([py, {**pz, "wrong": 2}]), "")  # by chance?
        small = {"mistakes": ["z holds x", "z holds y"], "wrong": 1}
        self.assertEqual(diagnose.of_mistakes([small, py, pz]), "y holds z; and z holds y")
        self.assertEqual(diagnose.of_mistakes([py, {**pz, "mistakes": []}]), "")
        many = [{"mistakes": [str(k)], "wrong": 9} for k in range(4)]
        self.assertEqual(diagnose.of_mistakes(many), "")

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
        outside = finding("out-of-bounds-global", {"index": 9, "elements": 9})
        self.assertEqual(diagnose.likely_cause(values, [outside], mistake="backwards"), "backwards")
        slot = finding("uninitialized-shared")
        self.assertEqual(diagnose.likely_cause(values, [slot], mistake="backwards"), "backwards")
        race = finding("race-shared", other={"line": 9})
        self.assertIn("barrier", diagnose.likely_cause(values, [race], mistake="backwards"))

    def test_values_that_explain_an_index_weigh_more_than_where_it_leads(self) -> None:
        want = floats(np.random.default_rng(1), 24 * 50)
        got = np.ascontiguousarray(want.reshape(24, 50).T).ravel()
        found = [
            finding("out-of-bounds-global", {"elements": 8, "first_index": 8, "last_index": 8})
        ]
        self.assertIn("transposed", diagnose.likely_cause([made(got, want, columns=50)], found))
        plain = diagnose.likely_cause([made(want + 1, want)], found)
        self.assertIn("one element too far", plain)

    def test_copies(self) -> None:
        for words, code, reason in (
            ("no quotes", "invalid-copy", "no-variable"),
            ("after it was freed", "invalid-copy", "freed"),
            ("wrong direction", "invalid-copy", "wrong-direction"),
            ("in bytes", "invalid-copy", "out-of-range"),
            ("cudaFree", "host-dereference", "host-free"),
            ("cudaMalloc did not return", "double-free", "no-allocation"),
        ):
            with self.subTest(reason):
                self.assertIn(words, self.cause(finding(code, {"reason": reason})))

    def test_a_race_of_two_streams_is_told_by_its_other_party(self) -> None:
        fill = {"line": 27, "block": None, "thread": None, "file": "main.cu"}
        found = finding("race-global", {**BOTH_WRITE, "relation": "streams"}, other=fill)
        self.assertIn("two streams", self.cause(found))
        found = finding("race-global", {**BOTH_WRITE, "relation": "graph"}, other=fill)
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


class Stopped(unittest.TestCase):
    def test_what_the_failed_call_says(self) -> None:
        for words, exception in (
            ("the legacy default stream cannot",
             "x.cu:5: cudaStreamBeginCapture(nullptr, mode): cudaErrorStreamCaptureUnsupported"),
            ("no graph can hold",
             "x.cu:9: cudaStreamSynchronize(s): cudaErrorStreamCaptureUnsupported"),
            ("a node that is not a kernel",
             "x.cu:9: cudaGraphKernelNodeGetParams(node, &p): cudaErrorInvalidValue"),
            ("the runtime rejects", "x.cu:9: cudaMemcpy(a, b, n): cudaErrorInvalidValue"),
        ):  # fmt: skip
            with self.subTest(words):
                self.assertIn(words, stopped.of_cuda_error(exception))
        self.assertEqual(stopped.of_cuda_error("x.cu:9: cudaMalloc(): cudaErrorUnknown"), "")


if __name__ == "__main__":
    unittest.main()
