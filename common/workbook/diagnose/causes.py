# SPDX-License-Identifier: MIT
"""The likely cause of a failed test case in one line: from findings, exceptions and values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ..findings import Finding
from . import copies, geometry, narrow, scalars, source, summary
from .arrays import Compared

_ELEMENT = re.compile(
    r"^\s*(.+?) (\d+)( \(row \d+, column \d+\))?: got (\S+), want (\S+)\s*$", re.MULTILINE
)
_MORE = re.compile(r"^\s*and (\d+) more of (\d+) wrong", re.MULTILINE)

by_code = {
    "out-of-bounds-global": "a missing or wrong bounds check, or a wrong index",
    "out-of-bounds-shared": "an index larger than the shared array, or launched with too little",
    "out-of-bounds-local": "an index past the end of a local array",
    "race-shared": "a missing barrier between one thread's write and another's access",
    "race-global": "threads that update one address without an atomic or an order between them",
    "barrier-divergence": "a barrier that only some of the threads reach",
    "deadlock": "threads that wait for one another forever",
    "hang": "a loop that never ends, or far more iterations or threads than there is work for",
    "uninitialized-shared": "shared memory that is read before it is written",
    "uninitialized-global": "memory that is read before it is written",
    "uninitialized-local": "a local variable that is read before it has a value",
    "host-dereference": "host code that reads or writes device memory through its pointer",
    "invalid-address": "a pointer that does not point to device memory",
    "use-after-free": "memory that is used after it was freed",
    "double-free": "memory that is freed twice",
    "leak": "a cudaMalloc without its cudaFree",
    "misaligned": "a wide access at an address that is not a multiple of its width",
    "warp-mask": "a warp operation whose mask does not name exactly the threads that take part",
    "invalid-launch": "a launch configuration that no GPU accepts",
    "invalid-copy": "a copy of the wrong size, direction or address",
    "stack-overflow": "recursion without an end",
    "library-misuse": "a function of a library, used for what it is not made for",
    "collective-deadlock": "a collective that not all ranks call",
    "collective-mismatch": "a collective that the ranks call with different arguments",
    "unchecked-error": "an error code that was never checked",
    "assert": "a device assert() that did not hold",
}


@dataclass(frozen=True)
class Mismatch:
    """The wrong elements that a check listed, how many there were, and the array's size or 0."""

    what: str
    index: list[int]
    got: list[str]
    want: list[str]
    wrong: int
    size: int
    place: str = ""  # of the first, in a matrix: ` (row 3, column 0)`


def parse_mismatch(texts: list[str]) -> Mismatch | None:
    """Reads the form that tests/support/lesson_test.h writes: the first such text."""
    for text in texts:
        found = _ELEMENT.findall(text)
        if not found:
            continue
        more = _MORE.search(text)
        return Mismatch(
            found[0][0],
            [int(f[1]) for f in found],
            [f[3] for f in found],
            [f[4] for f in found],
            len(found) + (int(more.group(1)) if more else 0),
            int(more.group(2)) if more else 0,
            found[0][2],
        )
    return None


def most_telling(texts: list[str]) -> Mismatch | None:
    """Of several mismatches (a case may try many sizes) the one that shows the most elements."""
    found = [m for text in texts if (m := parse_mismatch([text]))]
    return max(found, key=lambda m: (len(m.index), m.size), default=None)


# A check such as `passes(32) == 32`: a function of plain numbers, which nothing was added to.
_FUNCTION = re.compile(r"^\w+\((?:\s*-?[\d.]+[a-zA-Z]*\s*,?)+\) ==")


def of_values(found: list[Compared], checks: list[tuple[str, str]], explained: bool = False) -> str:
    """The pattern in the values of one test case: its arrays, else its single numbers."""
    with_formula = [text for c in found if (text := geometry.of_writers(c))]
    if with_formula:
        return with_formula[0]
    told = summary.most_telling(found)
    if told and told[1].text:
        return told[1].text
    pairs = [pair for _, text in checks if (pair := scalars.compared(text))]
    functions = bool(checks) and all(_FUNCTION.match(expression) for expression, _ in checks)
    return scalars.of_functions(pairs) if functions else scalars.pattern(pairs, explained)


def of_mistakes(details: list[dict[str, Any]]) -> str:
    """The mistakes that a test's author knew, each explaining all that the test case found wrong.

    Two wrong numbers may agree by chance: three are asked for, or several comparisons.
    """
    told = [entry for entry in details if isinstance(entry.get("mistakes"), list)]
    wrong = sum(int(entry.get("wrong", 0)) for entry in told)
    if not wrong or (len(told) < 2 and wrong < 3):
        return ""
    common = [
        words
        for words in dict.fromkeys(told[0]["mistakes"])
        if isinstance(words, str) and all(words in entry["mistakes"] for entry in told)
    ]
    return "; or ".join(common[:2])


# Patterns that say what is wrong with the index itself.
_INDEX = re.compile(r"transposed|block's number is missing|swapped|reversed|the index (multi|adds)")


def _place_of(finding: Finding) -> tuple[str, str]:
    """The two lines of a race: `line 39`, with the file where they are in different ones."""
    other = finding.data.get("other") or {}
    here = f"line {finding.line}" if finding.line else ""
    there = f"line {other['line']}" if other.get("line") else ""
    return here, there


def _two_stores(finding: Finding) -> bool:
    facts = finding.facts
    both = facts.get("access") == facts.get("other_access") == "write"
    return finding.code == "race-global" and both


def _blocks_meet(finding: Finding) -> bool:
    """Whether threads of one number, of two blocks, store to one element."""
    other = finding.data.get("other") or {}
    apart = bool(other.get("block")) and other.get("block") != finding.data.get("block")
    return _two_stores(finding) and apart and other.get("thread") == finding.data.get("thread")


def _of_race(finding: Finding, lost: bool) -> str:
    here, there = _place_of(finding)
    other = finding.data.get("other") or {}
    other_block = other.get("block")
    same_thread = other.get("thread") == finding.data.get("thread")
    blocks_differ = bool(other_block) and other_block != finding.data.get("block")
    facts = finding.facts
    relation, clash = facts.get("relation"), facts.get("clash")
    both_write = facts.get("access") == facts.get("other_access") == "write"
    if clash == "same-store":
        return "several threads store to one element, each its own value: only one may, or each " \
               "needs an element of its own"  # fmt: skip
    if relation == "host":
        return "the host uses an array while a kernel or a copy may still be at work on it: it " \
               "must wait first"  # fmt: skip
    if relation == "streams":
        return "two streams use one array, and nothing orders them: an event, or a synchronisation"
    if relation == "graph":
        return "two branches of a graph use one array, and none of them depends on the other"
    if clash == "scope":
        return "an atomic of block scope, where several blocks use one number: it must reach the " \
               "whole device"  # fmt: skip
    if finding.code == "race-shared":
        if here == there and source.only_updates(finding):
            return "several threads of a block update one element without an atomic"
        if here and here == there and both_write:
            return "several threads store to one slot: does the index give each its own, or is a " \
                   "barrier missing between two rounds?"  # fmt: skip
        if here and here == there:
            return (
                f"a missing barrier between one round and the next: {here} reads what {here} wrote"
            )
        if here and there:
            return f"a missing barrier between {there} and {here}"
        return by_code[finding.code]
    if facts.get("one_atomic"):
        return "an atomic on one side, a plain access on the other: every access to a number " \
               "that threads share must be atomic"  # fmt: skip
    if words := geometry.of_race(finding):
        return words
    prefix = "lost updates: " if lost else ""
    if blocks_differ and same_thread and here == there:
        return prefix + "several blocks work on the same element: is the block's number missing " \
               "from the index, or an atomic from the update?"  # fmt: skip
    if here and here == there and _two_stores(finding):
        return "two threads store to one element: have both the same index, or should a guard " \
               "have stopped one of them?"  # fmt: skip
    if here and here == there and lost:
        return prefix + "several threads update one element without an atomic, or read what " \
               "another one of them writes"  # fmt: skip
    if here and here == there:
        return "several threads work on one element: does the index, or a missing guard, send " \
               "two of them to one place? If it is meant, the update needs an atomic"  # fmt: skip
    if blocks_differ:
        return f"one block reads what another one writes ({there} and {here}): blocks run in any " \
               "order, and a barrier does not hold them together"  # fmt: skip
    if here and there and not same_thread:
        return f"threads of one block meet on one element ({there} and {here}): is a barrier " \
               "missing between the two, is the index wrong, or must one atomic do " \
               "both?"  # fmt: skip
    return prefix + by_code[finding.code]


def _wrapped_below_zero(facts: dict) -> bool:
    """Whether the address is 2^32 elements past the start, less a few."""
    past_end, elements, size = (facts.get(key) for key in ("past_end", "elements", "element_bytes"))
    if not isinstance(past_end, int) or not size:
        return False
    past_start = past_end + int(elements or 0) * size
    return 0 < size * 2**32 - past_start <= size * 4096


def _as_bytes(facts: dict, elements: int, size: int) -> bool:
    """Whether the elements that are used, from 0 on, are as many as the array has bytes."""
    last, first = facts.get("last_index"), facts.get("first_index")
    if not isinstance(last, int) or first is None or last + 1 < 2 * elements or elements < 4:
        return False
    return 0 <= last + 1 - elements * size < size


def _alike(finding: Finding) -> bool:
    """Whether the facts, which are those of one launch, hold for the others that did the same: each
    has one thread that left the array.
    """
    others = finding.facts.get("other_launches", 0)
    return not others or int(finding.data.get("count") or 1) <= 1 + others


def _of_bounds(finding: Finding) -> str:
    """How far outside, and how many: what that says about the index."""
    facts = finding.facts
    index, elements = facts.get("index"), facts.get("elements")
    below = isinstance(index, int) and index < 0
    if _wrapped_below_zero(facts):
        return (
            "an index just below 2^32: an unsigned number went below 0, or a counter was not set "
            "to 0 at first"
        )
    if finding.code == "out-of-bounds-shared":
        if below:
            if facts.get("first_index", -1) == -1:
                return "an index below 0: the slot before the first"
            return "an index below 0, and nothing checks for that"
        if elements == 0:
            return "the launch asks for no dynamic shared memory: the third number in <<< >>>"
        if facts.get("dynamic"):
            return (
                "an index past the tile, or a launch that asks for too few bytes of shared memory"
            )
    if finding.code != "out-of-bounds-global":
        return by_code[finding.code]
    if below:
        return narrow.of_negative_index(facts)
    if words := geometry.of_bounds(finding):
        return words
    size = facts.get("element_bytes")
    if elements and size and size > 1 and _as_bytes(facts, int(elements), int(size)):
        return (
            f"as many elements are used as the array has bytes, {facts['last_index'] + 1}: was it "
            "allocated without sizeof?"
        )
    if elements == 0:
        return "an array without elements, and nothing checks whether there is one"
    if geometry.of_results(finding):
        return "each block stores an element of its own, and there are more blocks than elements"
    first, last = facts.get("first_index"), facts.get("last_index")
    if elements is not None and first == last == elements and _alike(finding):
        too_far = "exactly one element too far: a bound that is off by one"
        return too_far + ("" if geometry.may_be_own(finding) else ", or a wrong index")
    if geometry.is_own(finding):
        return "a missing or wrong bounds check"
    return by_code[finding.code]


def _of_operand(finding: Finding, operand: str) -> str:
    """An array that a library was given: what is wrong with it."""
    if finding.code != "out-of-bounds-global":
        return by_code[finding.code]
    if operand.lower() in ("work", "workspace"):
        return "a workspace that is smaller than what _bufferSize asks for: it counts elements, " \
               "not bytes"  # fmt: skip
    return f"`{operand}` is smaller than the sizes of the call say: is one of them wrong, or in " \
           "another's place?"  # fmt: skip


# What the status that a lesson's exception names says about the call.
_STATUS = (
    (r"CUBLAS_STATUS_INVALID_VALUE",
     "an argument that cuBLAS refuses: a negative size, or a leading dimension smaller than a "
     "column, as cuBLAS sees the matrix"),
    (r"CUSOLVER_STATUS_INVALID_VALUE",
     "an argument that cuSOLVER refuses: a negative size, a leading dimension smaller than a "
     "column, or a workspace that is too small"),
    (r"(?:CUBLAS|CUSOLVER)_STATUS_NOT_INITIALIZED",
     "a handle that was never made, or is destroyed"),
    (r"CUFFT_INVALID_PLAN", "a plan that was never made, or is destroyed"),
    (r"CUFFT_INVALID_TYPE", "a plan of another kind: R2C, C2R and C2C each need their own"),
    (r"CUFFT_INVALID_SIZE", "a transform of a size that cuFFT refuses"),
)  # fmt: skip


def _of_finding(finding: Finding, lost: bool) -> str:
    if operand := finding.facts.get("operand"):
        return _of_operand(finding, str(operand))
    if finding.code.startswith("race-"):
        return _of_race(finding, lost)
    if finding.code.startswith("out-of-bounds-"):
        return _of_bounds(finding)
    if finding.code == "invalid-copy" and (
        words := copies.of_sizes(finding.facts, str(finding.data.get("address", "")))
    ):
        return words
    reason = str(finding.facts.get("reason") or finding.facts.get("misuse", ""))
    if words := _BY_REASON.get((finding.code, reason)):
        return words
    alone = finding.facts.get("threads") == 1 and finding.facts.get("returned")
    if finding.code == "hang" and alone:
        return "one thread is still working alone: it does the work of all, or its loop never ends"
    return by_code[finding.code]


# Findings for which a library refuses the call.
_REFUSED_FOR = {"library-misuse", "collective-deadlock", "collective-mismatch"}
_BY_REASON = {
    ("invalid-copy", "no-variable"): "the name of a __device__ or __constant__ variable belongs "
    "there: no quotes, no &, no index",
    ("invalid-copy", "variable-name"): "a __device__ variable where a pointer belongs: on the host "
    "its name is a symbol",
    ("invalid-copy", "freed"): "memory that is used after it was freed",
    ("invalid-copy", "wrong-direction"): "a copy in the wrong direction, or with source and "
    "destination swapped",
    ("invalid-copy", "out-of-range"): "a copy of the wrong size: it is in bytes, and must fit "
    "both sides",
    ("invalid-launch", "empty-grid"): "a grid of 0 blocks, which CUDA refuses: a launch for no "
    "elements, or a division that cut off what should have been rounded up",
    ("invalid-launch", "too-much-shared"): "more shared memory than a block may have: split the "
    "work into smaller parts",
    ("library-misuse", "workspace"): "a workspace that is smaller than what _bufferSize asks for",
    ("library-misuse", "created-often"): "a handle or a plan that is made again and again: make it "
    "once",
    ("library-misuse", "not-symmetric"): "a function for symmetric matrices, and a matrix that is "
    "not symmetric",
    ("library-misuse", "pivots"): "a system that is solved before its matrix is factorised",
    ("library-misuse", "same-device"): "two ranks on one device: cudaSetDevice comes before "
    "ncclCommInitRank",
    ("library-misuse", "not-destroyed"): "a communicator without its ncclCommDestroy",
    ("library-misuse", "group-open"): "an ncclGroupStart without its ncclGroupEnd",
    ("library-misuse", "overlap"): "a collective whose buffers overlap, and are not the same",
    ("collective-deadlock", "no-group"): "a thread that calls for several ranks without "
    "ncclGroupStart and ncclGroupEnd",
    ("collective-deadlock", "missing-rank"): "a collective that not all ranks call",
    ("collective-mismatch", "count"): "ranks that pass different counts to one collective",
    ("collective-mismatch", "type"): "ranks that pass different data types to one collective",
    ("collective-mismatch", "op"): "ranks that pass different operators to one collective",
    ("collective-mismatch", "root"): "ranks that name different roots for one collective",
    ("collective-mismatch", "call"): "ranks that call different collectives",
    ("host-dereference", "host-free"): "device memory passed to free() or delete: use cudaFree()",
    ("double-free", "no-allocation"): "cudaFree of an address that cudaMalloc did not return: "
    "host memory, or the address of the pointer itself",
}


def _barrier_between(findings: list[Finding]) -> bool:
    """Whether a barrier that some threads miss stands between the two lines of a race."""
    races = [f for f in findings if f.code == "race-shared" and all(_place_of(f))]
    barriers = [f.line for f in findings if f.code == "barrier-divergence"]
    lines = [sorted((f.line, int((f.data.get("other") or {})["line"]))) for f in races]
    return any(first < at < last for first, last in lines for at in barriers)


_CRASHES = (
    (r"terminate called without an active exception",
     "a std::thread that was destroyed before it was joined"),
    (r"terminate called after throwing", "an uncaught exception: from a thread, a "
                                         "destructor or a noexcept function"),
    (r"free\(\): |double free or corruption|malloc\(\): |corrupted size",
     "host memory that was freed twice, or written past its end"),
    (r"stack smashing detected", "a local array of the host that was written past its end"),
)  # fmt: skip


def of_crash(ended: str, output: str) -> str:
    """The likely cause of a crash of host code without a finding, or empty."""
    if not ended.startswith("crashed"):
        return ""
    for pattern, words in _CRASHES:
        if re.search(pattern, output):
            return words
    if "segmentation fault" in ended:
        return "host code at a wrong address: an index past the end of a vector, a null pointer, " \
               "&x where x.data() is meant, or a function that calls itself forever"  # fmt: skip
    return ""


def likely_cause(
    found: list[Compared],
    findings: list[Finding],
    exception: str = "",
    checks: list[tuple[str, str]] | None = None,
    mistake: str = "",
    explained: bool = False,
) -> str:
    """One line for the student, or '' where nothing is clear. Findings weigh more than values.

    `checks`: expression and expansion of the checks that failed; `mistake`: what of_mistakes found;
    `explained`: the test itself said in words what was wrong.
    """
    values = mistake or of_values(found, checks or [], explained)
    missed = [f for f in findings if f.code == "barrier-divergence" and f.facts.get("returned")]
    # They left by a `return` above the barrier, or went round a branch that holds it.
    absent = (
        "threads return before the block is done with them: every thread must stay"
        if any(not f.facts.get("passed_by") and source.returns_above(f) for f in missed)
        else by_code["barrier-divergence"]
    )
    if missed and any(f.code == "uninitialized-shared" for f in findings):
        return absent
    outside = {f.line for f in findings if f.code == "out-of-bounds-global"}
    if _barrier_between(findings):
        return by_code["barrier-divergence"]
    for finding in findings:
        if finding.severity == "error" and finding.code in by_code:
            # Threads that leave the array, or the row, also meet the owners of other elements.
            if finding.code == "race-global" and finding.line in outside:
                continue
            if finding.code.startswith("out-of-bounds") and _INDEX.search(values):
                return values  # it says why the index leaves the array
            follows = finding.code in ("out-of-bounds-global", "uninitialized-shared")
            if mistake and (follows or _two_stores(finding)):
                return mistake  # it explains every value: the finding follows from it
            if finding.code == "race-global":  # of several, the one that says which index is wrong
                finding = next((f for f in findings if _blocks_meet(f)), finding)
            words = _of_finding(finding, values.startswith("too small"))
            # What leaves an array of the device races with nobody in shared memory.
            race = next(
                (f for f in findings if f.code == "race-shared" and all(_place_of(f))), None
            )
            if race and finding.code == "out-of-bounds-global":
                return f"{_of_finding(race, False)}; and {words}"
            return words
    if "cudaErrorInvalidConfiguration" in exception:
        return "a launch with no blocks or no threads, or with more than a block may have (1024)"
    if "cudaErrorInvalidResourceHandle" in exception:
        return (
            "a stream or an event that was destroyed, or that belongs to another device than the "
            "current one"
        )
    if "cudaErrorInvalidValue" in exception:
        return "an argument of a CUDA call that the runtime rejects"
    if exception and (misuse := [f for f in findings if f.code in _REFUSED_FOR]):
        return _of_finding(misuse[0], False)  # the call was refused for this
    for pattern, words in _STATUS:
        if re.search(pattern, exception):
            return words
    if missed and "never written" in values and not mistake:
        return absent
    if values:
        return values
    for finding in findings:
        if finding.severity == "warning" and finding.code in by_code:
            return _of_finding(finding, False)
    return ""
