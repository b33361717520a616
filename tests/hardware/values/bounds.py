# SPDX-License-Identifier: MIT
"""How far an approximate instruction may be from the exact result: PTX ISA's maximum errors.

The figures are those of PTX ISA 9.1, sections "Floating Point Instructions: NAME" and "Half
Precision Floating Point Instructions: NAME"; each Rule names its own. An error is counted in units
of the documented one, so 1 is the most that is allowed.
"""

from __future__ import annotations

import dataclasses
import decimal
import functools
import math
import struct
from collections.abc import Callable, Sequence

NAN, INF = math.nan, math.inf


@dataclasses.dataclass(frozen=True)
class Format:
    """An IEEE format: its width, bits of fraction, and exponent of the least normal number."""

    width: int
    fraction: int
    least: int

    @property
    def greatest(self) -> float:
        """The power of two that follows the finite numbers; for f64, infinity."""
        return math.ldexp(1.0, 2 - self.least) if self.width < 64 else INF

    def value(self, bits: int) -> float:
        if self.width == 64:
            return struct.unpack("<d", struct.pack("<Q", bits))[0]
        if self is HALF:
            return struct.unpack("<e", struct.pack("<H", bits))[0]
        return struct.unpack("<f", struct.pack("<I", bits << (32 - self.width)))[0]

    def unit(self, x: float) -> float:
        """The distance of neighbours (one ulp) at x."""
        exponent = math.frexp(min(abs(x), 2.0**1023))[1] - 1 if x else self.least
        return math.ldexp(1.0, max(exponent, self.least) - self.fraction)

    def subnormal(self, x: float) -> bool:
        return 0 < abs(x) < math.ldexp(1.0, self.least)


SINGLE, HALF, BRAIN = Format(32, 23, -126), Format(16, 10, -14), Format(16, 7, -126)
DOUBLE = Format(64, 52, -1022)
UPPER = Format(64, 20, -1022)  # 1.11.20: the upper word of an f64
FORMATS = {"f32": SINGLE, "f16": HALF, "bf16": BRAIN, "f64": DOUBLE}

# Given the format, the operands and the exact result: the largest error, None where none is stated.
Limit = Callable[[Format, Sequence[float], float], "float | None"]


def ulps(n: float) -> Limit:
    return lambda format_, _, want: n * format_.unit(want)


def relative(error: float) -> Limit:
    """Results below the normal numbers may be off by a unit, as no relative error fits there."""

    def limit(format_: Format, _: Sequence[float], want: float) -> float:
        least = math.ldexp(1.0, format_.least)
        return max(error * abs(want), format_.unit(0) if abs(want) < least else 0)

    return limit


def absolute(error: float) -> Limit:
    return lambda *_: error


def _circle(_: Format, operands: Sequence[float], __: float) -> float | None:
    size = abs(operands[0])
    if size <= 2 * math.pi:
        return 2.0**-20.5
    return 2.0**-14.7 if size <= 100 * math.pi else None


def _logarithm(_: Format, operands: Sequence[float], want: float) -> float:
    return 2.0**-22 if 0.5 < operands[0] < 2 else 2.0**-22 * abs(want)


def _fast_division(format_: Format, operands: Sequence[float], want: float) -> float | None:
    divisor = abs(operands[1])
    if divisor == 0 or divisor > 2.0**126:
        return 0.0
    return 2 * format_.unit(want) if divisor >= 2.0**-126 else None


def _reciprocal(x: float) -> float:
    return math.copysign(INF, x) if x == 0 else 1 / x


def _root(x: float) -> float:
    return x if x == 0 else math.sqrt(x) if x > 0 else NAN


def _reciprocal_root(x: float) -> float:
    """Rounded once."""
    if not 0 < x < INF:
        return _reciprocal(_root(x))
    with decimal.localcontext() as context:
        context.prec = 40
        return float(1 / decimal.Decimal(x).sqrt())


def _power(x: float) -> float:
    try:
        return 2.0**x
    except OverflowError:
        return INF


def _log2(x: float) -> float:
    return math.log2(x) if 0 < x < INF else -INF if x == 0 else x if x > 0 else NAN


def _divide(a: float, b: float) -> float:
    if b != 0:
        return a / b
    return NAN if a == 0 else math.copysign(INF, a) * math.copysign(1.0, b)


def _divide_fast(a: float, b: float) -> float:
    """a * (1 / b), where 1 / b counts as zero for 2^126 < |b| < 2^128."""
    return a * math.copysign(0.0, b) if 2.0**126 < abs(b) < INF else _divide(a, b)


@dataclasses.dataclass(frozen=True)
class Rule:
    """One row of the documentation: the exact function, and the maximum error."""

    section: str  # of PTX ISA
    bound: str  # in words
    exact: Callable[..., float]
    limit: Limit


_FLOAT, _HALF = "Floating Point Instructions: ", "Half Precision Floating Point Instructions: "
_CIRCLE = "2^-20.5 in [-2 pi, 2 pi], 2^-14.7 in [-100 pi, 100 pi]"
_NONE = "none stated; two units of the 20 bits of fraction"


def _on_circle(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: NAN if math.isinf(x) else function(x)


RULES = {
    "rcp.f32": Rule(_FLOAT + "rcp", "1 ulp", _reciprocal, ulps(1)),
    "sqrt.f32": Rule(_FLOAT + "sqrt", "relative 2^-23", _root, relative(2**-23)),
    "rsqrt.f32": Rule(_FLOAT + "rsqrt", "relative 2^-22.9", _reciprocal_root, relative(2**-22.9)),
    "sin.f32": Rule(_FLOAT + "sin", _CIRCLE, _on_circle(math.sin), _circle),
    "cos.f32": Rule(_FLOAT + "cos", _CIRCLE, _on_circle(math.cos), _circle),
    "lg2.f32": Rule(_FLOAT + "lg2", "2^-22 in (0.5, 2), else relative", _log2, _logarithm),
    "ex2.f32": Rule(_FLOAT + "ex2", "2 ulp", _power, ulps(2)),
    "tanh.f32": Rule(_FLOAT + "tanh", "relative 2^-11", math.tanh, relative(2**-11)),
    "div.f32": Rule(
        _FLOAT + "div", "2 ulp for 2^-126 <= |b| <= 2^126", _divide_fast, _fast_division
    ),
    "div.full.f32": Rule(_FLOAT + "div", "2 ulp", _divide, ulps(2)),
    "ex2.f16": Rule(_HALF + "ex2", "relative 2^-9.9", _power, relative(2**-9.9)),
    "ex2.bf16": Rule(_HALF + "ex2", "relative 2^-7", _power, relative(2**-7)),
    "tanh.f16": Rule(_HALF + "tanh", "2^-10.987", math.tanh, absolute(2**-10.987)),
    "tanh.bf16": Rule(_HALF + "tanh", "2^-8", math.tanh, absolute(2**-8)),
    # The one that CUDA C++ Programming Guide, "Mathematical Functions", states for rsqrt().
    "rsqrt.f64": Rule(_FLOAT + "rsqrt", "1 ulp", _reciprocal_root, ulps(1)),
    "rcp.ftz.f64": Rule(_FLOAT + "rcp.approx.ftz.f64", _NONE, _reciprocal, ulps(2)),
    "rsqrt.ftz.f64": Rule(_FLOAT + "rsqrt.approx.ftz.f64", _NONE, _reciprocal_root, ulps(2)),
}


@dataclasses.dataclass(frozen=True)
class Bound:
    """The rule of one spelling. Operands and results are bits of one element."""

    rule: Rule
    format: Format
    flush: bool

    def _values(self, bits: Sequence[int]) -> list[float]:
        """The operands that count: of UPPER the upper word, with .ftz no subnormal numbers."""
        keep = 0xFFFFFFFF << 32 if self.format is UPPER else -1
        values = [self.format.value(word & keep) for word in bits]
        if self.flush:
            values = [math.copysign(0.0, x) if self.format.subnormal(x) else x for x in values]
        return values

    def exact(self, bits: Sequence[int]) -> tuple[float, float | None]:
        """The exact result, and how far another may be from it; None where PTX ISA does not say."""
        values = self._values(bits)
        want = NAN if any(math.isnan(x) for x in values) else self.rule.exact(*values)
        if math.isnan(want):
            return NAN, 0.0
        limit = self.rule.limit(self.format, values, self._finite(want))
        special = any(x == 0 or math.isinf(x) for x in values)
        return want, 0.0 if special and limit is not None else limit

    def _finite(self, x: float) -> float:
        """Infinity as the number that follows the greatest: it is near when a result overflows."""
        return max(-self.format.greatest, min(self.format.greatest, x))

    def _apart(self, x: float, y: float, want: float, limit: float) -> float:
        """How far x is from y in units of `limit`, when both should be near `want`."""
        if math.isnan(x) or math.isnan(y):
            return 0.0 if math.isnan(x) and math.isnan(y) else INF
        if x == y and math.copysign(1, x) == math.copysign(1, y):
            return 0.0
        if limit == 0 or math.isnan(want):
            return INF
        least = math.ldexp(1.0, self.format.least)
        if self.flush and 0 in (x, y) and abs(want) - limit < least:
            # Zero stands for everything below the normal numbers, and has its sign.
            signs = {math.copysign(1, z) for z in (x, y, want)}
            if len(signs) == 1 or limit >= abs(want):
                return max(0.0, (max(abs(x), abs(y)) - least) / limit)
        return abs(self._finite(x) - self._finite(y)) / limit

    def error(self, operands: Sequence[int], result: int) -> float | None:
        """How wrong a result is, where 1 is the most that is documented; None: nothing is."""
        want, limit = self.exact(operands)
        if limit is None:
            return None
        got = self.format.value(result)
        if self.flush and self.format.subnormal(got):
            return INF
        if self.format is UPPER and result & 0xFFFFFFFF:
            return INF
        return self._apart(got, want, want, limit)

    def difference(self, operands: Sequence[int], one: int, other: int) -> float | None:
        """How far two results are apart, where 1 is twice the documented error."""
        want, limit = self.exact(operands)
        if limit is None:
            return None
        return self._apart(self.format.value(one), self.format.value(other), want, 2 * limit)


@functools.cache
def bound_of(name: str) -> Bound:
    """The bound of a form such as ex2.approx.ftz.f32; f16x2 and bf16x2 have those of an element."""
    opcode, *words = name.removesuffix("x2").split(".")
    type_ = words[-1]
    flush = "ftz" in words
    middle = ["full"] if "full" in words else ["ftz"] if flush and type_ == "f64" else []
    rule = RULES[".".join([opcode, *middle, type_])]
    return Bound(rule, UPPER if middle == ["ftz"] else FORMATS[type_], flush)
