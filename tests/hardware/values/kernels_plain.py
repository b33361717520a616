# SPDX-License-Identifier: MIT
"""Kernels without control flow: one form over many operands, and random expressions."""

from __future__ import annotations

import re
from collections.abc import Sequence

from forms import Form
from ptx_kernel import SLOTS, THREADS, Kernel
from splitmix import SplitMix

# The groups of forms that expressions draw from, and how often; of the others, only tables exist.
_WEIGHTS = {
    "integer": 4,
    "division": 1,
    "carry": 1,
    "bits": 4,
    "select": 2,
    "compare": 2,
    "video": 1,
    "float": 5,
    "double": 3,
    "half": 3,
    "compare float": 2,
    "convert": 5,
    "reinterpret": 1,
}

_REINTERPRET = [
    Form("mov.f32.b32", "mov.b32 {d}, {a};", ("f32",), ("i32",), "reinterpret"),
    Form("mov.f64.b64", "mov.b64 {d}, {a};", ("f64",), ("i64",), "reinterpret"),
    Form("mov.f16.b16", "mov.b16 {d}, {a};", ("f16",), ("i16",), "reinterpret"),
    Form("mov.f16x2.b32", "mov.b32 {d}, {a};", ("f16x2",), ("i32",), "reinterpret"),
]


def table_kernel(form: Form, number: int, name: str) -> Kernel:
    """One form on operands of 128 threads: 8 or 16 pairs a thread, or 4 with their operands."""
    kernel = Kernel(name)
    approximate = form.group == "approximate"
    words = 4 if approximate else 2
    for place in range(0, SLOTS, words):
        operands = [
            kernel.load(kind, kernel.random.below(THREADS) if i or number else 0)
            for i, kind in enumerate(form.operands)
        ]
        results = kernel.apply(form, operands)
        stored = list(zip(form.results, results, strict=True))
        if approximate:
            stored += zip(form.operands, operands, strict=True)
        for slot, (kind, value) in enumerate(stored):
            kernel.store(kind, value, place + slot)
    return kernel


# What the assembler (ptxas 13.0) makes of these depends on what stands around them, so that a
# random expression with them computes something else than its PTX says. It takes abs, neg and bfind
# for free of their extreme results, joins conversions that saturate or follow a sign change, and
# loses the type or the predicate of some. Alone, in tables, all of them behave as PTX says.
_UNSTEADY = re.compile(
    r"(abs|neg)\.s|(abs|neg)\.ftz\.f16|cnot|bfind|copysign|.*xorsign|.*e4m3|.*e5m2|sh[lr]\..16|"
    r"sub\.sat\.s|cvt\.sat\.[su]\d+\.[su]"
)
_NEVER_GUARDED = ("video", "compare", "compare float")


def usable(form: Form) -> bool:
    """Whether a random expression may have this form: its result must not depend on which NaN."""
    if form.group == "approximate" or _UNSTEADY.match(form.name):
        return False
    return form.result == "exact" or form.name.split(".")[0] in ("abs", "neg")


def immediate(random: SplitMix, kind: str, small: bool = False) -> str | None:
    """A constant operand, for the kinds that have one. `small`: it may be a position of a bit."""
    if kind == "i32":
        some = (0, 1, 2, 7, 31, 32, 33, 255)
        return str(random.choice(some if small else (*some, -1, random.bits() & 0x7FFFFFFF)))
    if kind == "i64":
        return str(random.choice((0, 1, 63, 64, 0xFFFFFFFF, random.bits() >> 1)))
    if kind == "f32":
        return random.choice(("0f00000000", "0f3F800000", "0fBF000000", "0f7F800000", "0f4B800001"))
    if kind == "f64":
        return random.choice(("0d0000000000000000", "0d3FF0000000000000", "0dC1E0000000200000"))
    return None


class Expressions:
    """A pool of values in registers that grows by random forms."""

    def __init__(self, kernel: Kernel, forms: Sequence[Form]) -> None:
        self.kernel = kernel
        self.values: dict[str, list[str]] = {}
        self.unread: list[tuple[str, str]] = []
        self._groups: dict[str, list[Form]] = {}
        for form in (*forms, *_REINTERPRET):
            if form.group in _WEIGHTS:
                self._groups.setdefault(form.group, []).append(form)
        self._tickets = [g for g in self._groups for _ in range(_WEIGHTS[g])]

    def add(self, kind: str, value: str) -> None:
        self.values.setdefault(kind, []).append(value)
        self.unread.append((kind, value))

    def value(self, kind: str) -> str:
        """A register of this kind, loaded when there are few."""
        random = self.kernel.random
        known = self.values.setdefault(kind, [])
        if len(known) < 2 or random.chance(8):
            known.append(self.kernel.load(kind))
            return known[-1]
        recent = known[-6:] if random.chance(70) else known
        chosen = random.choice(recent)
        if (kind, chosen) in self.unread:
            self.unread.remove((kind, chosen))
        return chosen

    def step(self) -> None:
        """One more instruction, now and then under a predicate."""
        random = self.kernel.random
        form = random.choice(self._groups[random.choice(self._tickets)])
        # At most one constant, never first: some forms take none there.
        plain = form.text.count(";") == 1 and form.group in ("integer", "bits", "float", "double")
        operands = [self.value(kind) for kind in form.operands]
        spot = random.below(4)
        if plain and 0 < spot < len(operands) and random.chance(12):
            constant = immediate(random, form.operands[spot], form.group == "bits")
            operands[spot] = constant or operands[spot]
        one = form.text.count(";") == 1 and form.group not in _NEVER_GUARDED
        if one and "pred" not in form.results and random.chance(15):
            # A lane whose predicate is false keeps what it had.
            guard = f"@{'!' if random.chance(50) else ''}{self.value('pred')} "
            results = []
            for kind in form.results:
                old = self.value(kind)
                width = {"h": "b16", "r": "b32", "q": "b64", "f": "f32", "d": "f64"}[old[1]]
                results.append(self.kernel.assign(kind, f"mov.{width} {{d}}, {old};"))
            self.kernel.write(form, results, operands, guard)
        else:
            results = self.kernel.apply(form, operands)
        for kind, result in zip(form.results, results, strict=True):
            self.add(kind, result)

    def store(self, first_slot: int = 0) -> None:
        """Stores what nothing has read yet, the newest first, up to the end of `out`."""
        rest = list(reversed(self.unread))
        for slot, (kind, value) in zip(range(first_slot, SLOTS), rest, strict=False):
            self.kernel.store(kind, self.kernel.canonical(kind, value), slot)


def expression_kernel(name: str, forms: Sequence[Form]) -> Kernel:
    """A random expression of 12 to 40 instructions."""
    kernel = Kernel(name)
    pool = Expressions(kernel, forms)
    for _ in range(kernel.random.between(12, 40)):
        pool.step()
    pool.store()
    return kernel
