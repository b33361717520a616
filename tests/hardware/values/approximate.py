# SPDX-License-Identifier: MIT
"""Runs the approximate instructions on a device, and holds the results against PTX ISA's maximum
errors and against a card's.

The emulator must be within the documented error of the exact result, and within twice that of what
the card gave, as either may be off by it. A part of the card's results is kept, bit by bit.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Iterator
from pathlib import Path

import bounds
import device as devices
import generate
from device import Device, HardwareError, read_table, say, write_table
from forms import KINDS, Form
from ptx_kernel import SCRATCH_BYTES, SLOTS, THREADS
from random_kernels import findings, run_all
from splitmix import hash_of

PLACES = range(0, SLOTS, 4)  # where a thread's results stand, each before its operands
# Forms of which a card's own results are outside of PTX ISA's errors, and where. There the emulator
# follows PTX ISA; everywhere else these forms are compared like all others.
DEPARTURES: dict[str, str] = {
    "tanh.approx.bf16x2": "an H200 gives 0.62890625 for 0.74609375, 1.00007 times 2^-8 away",
}
KEPT = 1  # of these places, so many are kept in results/approximate.csv


@dataclasses.dataclass(frozen=True)
class Results:
    """What one kernel computed: for each place and thread, the result and its operands."""

    name: str
    form: Form
    words: list[tuple[int, ...]]

    def kept(self) -> list[tuple[int, ...]]:
        return self.words[: KEPT * THREADS]

    def key(self) -> str:
        """A hash of the operands: results of other operands are not to be compared."""
        words = " ".join(f"{x:x}" for _, *operands in self.words for x in operands)
        return f"{hash_of(words):016x}"

    def hexadecimal(self) -> str:
        digits = 2 * KINDS[self.form.results[0]][2]
        return " ".join(f"{word[0]:0{digits}x}" for word in self.kept())


def elements(form: Form, words: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The same words for each element: of a packed form the lower half, then the upper."""
    if not form.name.endswith("x2"):
        yield words
        return
    yield tuple(word & 0xFFFF for word in words)
    yield tuple(word >> 16 for word in words)


def read_raw(build: Path) -> Iterator[Results]:
    """The raw results that the harness left in `build`."""
    forms = {
        name: form
        for form in generate.all_forms()
        if form.group == "approximate"
        for name in generate.table_names(form)
    }
    size = 64 + THREADS * SLOTS * 8 + SCRATCH_BYTES
    for path in sorted(build.glob("raw*.bin")):
        data = path.read_bytes()
        for start in range(0, len(data), size):
            name = data[start : start + 64].rstrip(b"\0").decode()
            form = forms[name]
            out = struct.unpack_from(f"<{THREADS * SLOTS}Q", data, start + 64)
            mask = (1 << 8 * KINDS[form.results[0]][2]) - 1
            count = 1 + len(form.operands)
            words = [
                tuple(word & mask for word in out[t * SLOTS + p : t * SLOTS + p + count])
                for p in PLACES
                for t in range(THREADS)
            ]
            yield Results(name, form, words)


def run(build: Path, device: Device) -> list[Results]:
    """All approximate kernels' results, in the order of their names."""
    build = build / "approximate"
    hashes = run_all(build, device, made=generate.approximate_modules())
    refused = [f"{name}: {why}" for name, why in hashes.items() if why.startswith("refused")]
    if refused:
        raise HardwareError(f"{len(refused)} kernels were refused, the first: {refused[0]}")
    problems = findings(build)
    if problems:
        raise HardwareError(f"a finding on a correct kernel: {problems[0][:300]}")
    results = sorted(read_raw(build), key=lambda result: result.name)
    if not results or len(results) != len(hashes):
        raise HardwareError(f"{len(hashes)} kernels ran, and {len(results)} left their results")
    return results


@dataclasses.dataclass
class Worst:
    """The largest error among the results of one form, in units of the documented one."""

    count: int = 0
    open: int = 0  # where PTX ISA states no error
    outside: int = 0
    error: float = -1.0
    words: tuple[int, ...] = ()

    def add(self, error: float | None, words: tuple[int, ...]) -> None:
        self.count += 1
        if error is None:
            self.open += 1
            return
        self.outside += error > 1
        if error > self.error:
            self.error, self.words = error, words

    def show(self, form: str) -> str:
        """`ex2.approx.f32 of 3f800000: 40000001`."""
        digits = bounds.bound_of(form).format.width // 4
        got, *operands = (f"{word:0{digits}x}" for word in self.words)
        return f"{form} of {', '.join(operands)}: {got}"


def errors(results: list[Results]) -> dict[str, Worst]:
    """By form, how far the results are from the exact ones."""
    worst: dict[str, Worst] = {}
    for result in results:
        bound = bounds.bound_of(result.form.name)
        entry = worst.setdefault(result.form.name, Worst())
        for words in result.words:
            for one in elements(result.form, words):
                entry.add(bound.error(one[1:], one[0]), one)
    return worst


def measure(build: Path, device: Device) -> None:
    """Writes results/approximate.csv, the kept results, and results/approximate_errors.csv, the
    largest errors of all results."""
    results = run(build, device)
    rows = [(result.name, result.key(), result.hexadecimal()) for result in results]
    about = device.describe()
    write_table("approximate", about, ("kernel", "operands", "results"), rows)
    header = ("form", "results", "no_error_stated", "outside", "worst", "example", "stated_error")
    table = []
    for form, entry in errors(results).items():
        example, rule = entry.show(form).split(" of ")[1], bounds.bound_of(form).rule
        share = f"{entry.error:.3f}"
        table.append((form, entry.count, entry.open, entry.outside, share, example, rule.bound))
    write_table("approximate_errors", about, header, table)
    outside = sum(row[3] for row in table)
    say(f"approximate: {len(rows)} kernels recorded; {outside} results outside of PTX ISA's errors")


@dataclasses.dataclass
class Farthest:
    """The largest difference from a card among the results of one form, in units of twice the
    documented error."""

    beyond: int = 0
    apart: float = 0.0
    words: tuple[int, ...] = ()  # the emulator's result, the card's, the operands

    def add(self, apart: float | None, words: tuple[int, ...]) -> None:
        if apart is None:
            return
        self.beyond += apart > 1
        if apart > self.apart:
            self.apart, self.words = apart, words

    def show(self, form: str) -> str:
        bound = bounds.bound_of(form)
        digits = bound.format.width // 4
        mine, card, *operands = (f"{word:0{digits}x}" for word in self.words)
        errors_ = [bound.error(self.words[2:], word) or 0.0 for word in self.words[:2]]
        return (
            f"{form} of {', '.join(operands)}: {mine}, an error of {errors_[0]:.3g} times what "
            f"{bound.rule.section} states ({bound.rule.bound}); and the card gave {card}, "
            f"{errors_[1]:.3g} times; {self.beyond} results are as far apart"
        )


def differences(results: list[Results], rows: list[dict[str, str]]) -> tuple[list[str], float]:
    """Forms with results further from the recorded ones than twice the documented error; and the
    largest difference of all."""
    recorded = {row["kernel"]: row for row in rows}
    problems = []
    forms: dict[str, Farthest] = {}
    for result in results:
        row = recorded.pop(result.name, None)
        if row is None or row["operands"] != result.key():
            problems.append(
                f"{result.name}: no results of these operands are recorded; measure again on a card"
            )
            continue
        bound = bounds.bound_of(result.form.name)
        entry = forms.setdefault(result.form.name, Farthest())
        theirs = [int(word, 16) for word in row["results"].split()]
        for words, other in zip(result.kept(), theirs, strict=True):
            for both in elements(result.form, (words[0], other, *words[1:])):
                mine, card, *operands = both
                if result.form.name in DEPARTURES and (bound.error(operands, card) or 0) > 1:
                    continue
                entry.add(bound.difference(operands, mine, card), both)
    problems += [entry.show(form) for form, entry in forms.items() if entry.beyond]
    problems += [f"{name}: recorded, and does not run any more" for name in recorded]
    return problems, max((entry.apart for entry in forms.values()), default=0.0)


def compare(build: Path, device: Device) -> list[str]:
    """Results outside of the documented errors, or too far from results/approximate.csv."""
    results = run(build, device)
    problems = []
    worst = errors(results)
    for form, entry in worst.items():
        if entry.outside:
            rule = bounds.bound_of(form).rule
            problems.append(
                f"{entry.show(form)}, an error of {entry.error:.3g} times what "
                f"{rule.section} states ({rule.bound}); {entry.outside} results are outside"
            )
    count = sum(entry.count for entry in worst.values())
    largest = max(entry.error for entry in worst.values())
    say(
        f"approximate: {count} results of {len(worst)} instructions; the largest error is "
        f"{largest:.3f} of PTX ISA's"
    )
    if not (devices.RESULTS / "approximate.csv").exists():
        say(
            "approximate: no card's results are recorded, so none were compared: "
            "`run.py measure approximate` on a card writes results/approximate.csv"
        )
        return problems
    about, rows = read_table("approximate")
    more, farthest = differences(results, rows)
    say(
        f"approximate: against {about}: {len(more)} problems; the largest difference is "
        f"{farthest:.3f} of twice PTX ISA's error"
    )
    return problems + more
