# SPDX-License-Identifier: MIT
"""Recognises the pattern behind a wrong answer. Says nothing where there is no clear pattern."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .findings import Finding

_ELEMENT = re.compile(
    r"^\s*(.+?) (\d+)(?: \(row \d+, column \d+\))?: got (\S+), want (\S+)\s*$", re.MULTILINE
)
_MORE = re.compile(r"^\s*and (\d+) more of (\d+) wrong", re.MULTILINE)

# What a byte pattern of 0xFF, with which outputs are filled, looks like as a number.
_POISON = {"nan", "-nan", "-1", "255", "65535", "4294967295", "18446744073709551615"}

_BY_CODE = {
    "out-of-bounds-global": "a missing or wrong bounds check",
    "out-of-bounds-shared": "an index larger than the shared array, or launched with too little",
    "out-of-bounds-local": "an index past the end of a local array",
    "race-shared": "a missing barrier between one thread's write and another's access",
    "race-global": "threads that update one address without an atomic or an order between them",
    "barrier-divergence": "a barrier that only some of the threads reach",
    "deadlock": "threads that wait for one another for ever",
    "hang": "a loop whose end never comes",
    "uninitialized-shared": "shared memory that is read before anyone wrote it",
    "uninitialized-global": "memory that is read before anyone wrote it",
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
    "unchecked-error": "an error code that nobody looked at",
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
            [f[2] for f in found],
            [f[3] for f in found],
            len(found) + (int(more.group(1)) if more else 0),
            int(more.group(2)) if more else 0,
        )
    return None


def most_telling(texts: list[str]) -> Mismatch | None:
    """Of several mismatches (a case may try many sizes) the one that shows the most elements."""
    found = [m for text in texts if (m := parse_mismatch([text]))]
    return max(found, key=lambda m: (len(m.index), m.size), default=None)


def _numbers(values: list[str]) -> list[float]:
    try:
        return [float(value) for value in values]
    except ValueError:
        return []


def _is_integer_like(values: list[str]) -> bool:
    return all(re.fullmatch(r"-?\d+", value) for value in values)


def value_pattern(m: Mismatch) -> str:
    """The pattern in the values alone, or ''."""
    got, want = _numbers(m.got), _numbers(m.want)
    unwritten = [g in _POISON and w not in _POISON for g, w in zip(m.got, m.want, strict=False)]
    run = all(b == a + 1 for a, b in zip(m.index, m.index[1:], strict=False))
    whole = m.size and m.wrong == m.size
    if all(unwritten) and unwritten:
        first = m.index[0]
        if whole or (first == 0 and not m.size and run and m.wrong > 1):
            return "nothing was written: the output still holds its filling"
        if m.size and run and m.wrong == m.size - first:
            if first % 32 == 0 and first in (32, 64, 128, 256, 512, 1024) and m.wrong >= first:
                return f"only the first {first} elements were written: the work of one block"
            return f"the last {m.wrong} elements were never written"
        if m.wrong == 1:
            return f"{m.what} {first} was never written"
        return "some elements were never written"
    if len(got) != len(m.got) or not got:
        return ""
    if any(g != g for g in got):
        return "NaN: a value that was never set, 0/0, or the root of a negative number"
    if all(g == 0 for g in got) and all(w != 0 for w in want):
        if len(got) > 1 or m.size == 1:
            return "zero instead of a value: it was cleared, and nothing was added after that"
    if len(got) > 1:
        if (
            run
            and all(g == w for g, w in zip(got[:-1], want[1:], strict=False))
            and got[:-1] != want[:-1]
        ):
            return "shifted: every element holds its right neighbour's value"
        if (
            run
            and all(g == w for g, w in zip(got[1:], want[:-1], strict=False))
            and got[1:] != want[1:]
        ):
            return "shifted: every element holds its left neighbour's value"
        if whole and len(got) == m.size and got == want[::-1]:
            return "reversed: the right values in the opposite order"
        if all(g == 2 * w and w != 0 for g, w in zip(got, want, strict=False)):
            return "exactly twice the value: counted twice, or done twice"
        steps = {g - w for g, w in zip(got, want, strict=False)}
        if len(steps) == 1 and abs(next(iter(steps))) == 1 and _is_integer_like(m.got + m.want):
            return "off by one: every value is 1 too " + ("large" if 1 in steps else "small")
        if len(set(got)) == 1 and len(set(want)) > 1 and got[0] != 0:
            return "the same value everywhere"
    return ""


def likely_cause(texts: list[str], findings: list[Finding], exception: str = "") -> str:
    """One line for the student, or '' where nothing is clear. Findings weigh more than values."""
    for finding in findings:
        if finding.severity == "error" and finding.code in _BY_CODE:
            cause = _BY_CODE[finding.code]
            if finding.code == "race-global":
                mismatch = most_telling(texts)
                values = _numbers(mismatch.got + mismatch.want) if mismatch else []
                half = len(values) // 2
                if values and all(
                    g < w for g, w in zip(values[:half], values[half:], strict=False)
                ):
                    return "lost updates: " + cause
            return cause
    if "cudaErrorInvalidConfiguration" in exception:
        return "a launch with no blocks or no threads, or with more than a block may have (1024)"
    if "cudaErrorInvalidResourceHandle" in exception or "cudaErrorInvalidValue" in exception:
        return "an argument of a CUDA call that the runtime rejects"
    mismatch = most_telling(texts)
    if mismatch and (pattern := value_pattern(mismatch)):
        return pattern
    for finding in findings:
        if finding.severity == "warning" and finding.code in _BY_CODE:
            return _BY_CODE[finding.code]
    return ""
