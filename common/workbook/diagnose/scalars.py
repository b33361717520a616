# SPDX-License-Identifier: MIT
"""Patterns in single numbers: what `CHECK(sum == want)` shows when it fails."""

from __future__ import annotations

import math
import re
import struct

_NUMBER = r"[-+]?(?:nan|inf|\d+(?:\.\d*)?(?:e[-+]?\d+)?)"
_SUFFIXED = rf"\(?({_NUMBER})[fFuUlL]*(?: \(0x[0-9a-f]+\))?\)?"  # 512.0f, 1000 (0x3e8), (-1)
_EQUAL = re.compile(rf"^{_SUFFIXED} == {_SUFFIXED}$", re.IGNORECASE)


def _value(text: str) -> float:
    """Whole numbers stay exact, also beyond 2^53."""
    return int(text) if re.fullmatch(r"[-+]?\d+", text) else float(text)


def compared(expansion: str) -> tuple[float, float] | None:
    """Got and want of `512.0f == 1000.0f` as Catch2 prints it."""
    match = _EQUAL.match(" ".join(expansion.split()).replace("nanf", "nan"))
    if not match:
        return None
    return _value(match.group(1)), _value(match.group(2))


def _integral(value: float) -> bool:
    return math.isfinite(value) and value == int(value)


def _wrapped(value: float) -> int:
    """What is left of a whole number in a signed int of 32 bits."""
    return (int(value) + 2**31) % 2**32 - 2**31


def _is_float(value: float) -> bool:
    return abs(value) < 2.0**127 and struct.unpack("f", struct.pack("f", value))[0] == value


def _too_narrow(pairs: list[tuple[float, float]]) -> str:
    """Whole numbers that passed through a type which is too small for them."""
    if not pairs or not all(_integral(w) for _, w in pairs):
        return ""
    if all(w >= 2**32 and g == w % 2**32 for g, w in pairs):
        return "only the lowest 32 bits are left: computed in 32 bits, and widened too late"
    if all(w > 2**31 and g in (_wrapped(w), _wrapped(w) % 2**64) for g, w in pairs):
        return "too large for an int: computed in 32 bits, and widened too late"
    if all(abs(w) > 2**53 and abs(g - w) <= abs(w) * 2.0**-52 for g, w in pairs):
        return (
            "right to about 53 bits only: a double lies on the way, and cannot hold every whole "
            "number as large as this"
        )
    return ""


def of_functions(pairs: list[tuple[float, float]]) -> str:
    """The same for results of a host function of plain numbers: nothing is stored or counted."""
    pairs = [(g, w) for g, w in pairs if g != w]
    if any(math.isnan(v) or math.isinf(v) for pair in pairs for v in pair):
        return ""
    if width := _too_narrow(pairs):
        return width
    steps = {g - w for g, w in pairs}
    if steps == {1.0} or steps == {-1.0}:
        return f"off by one: 1 too {'large' if 1.0 in steps else 'small'}"
    if pairs and all(w != 0 and g == -w for g, w in pairs):
        return "the sign is wrong"
    return ""


def pattern(pairs: list[tuple[float, float]], explained: bool = False) -> str:
    """What is common to all (got, want) pairs of one test case, or ''.

    `explained`: the test says in words what was compared; then only what is beyond doubt is named.
    """
    pairs = [(g, w) for g, w in pairs if g != w]
    if not pairs:
        return ""
    got = [g for g, _ in pairs]
    want = [w for _, w in pairs]
    if all(math.isnan(g) for g in got):
        return "NaN: the result was never written, or computed from something that was not"
    if any(math.isnan(v) or math.isinf(v) for v in got + want):
        return ""
    if width := _too_narrow(pairs):
        return width
    # One small number and its half meet by chance: 1 for 2 is as likely one too few.
    tells = len(pairs) > 1 or abs(want[0]) > 4 or want[0] != int(want[0])
    if all(g == 0 for g in got) and all(w < 0 for w in want):
        return "0 where a negative number belongs: it began at 0, or nothing was stored"
    if not explained and all(g == 0 for g in got) and all(w != 0 for w in want):
        return "0 instead of a value"
    if tells and all(w != 0 and g == 2 * w for g, w in pairs):
        return "exactly twice the value: counted twice, or done twice"
    if tells and all(w != 0 and 2 * g == w for g, w in pairs):
        return "exactly half of the value"
    if all(w != 0 and g == -w for g, w in pairs):
        return "the sign is wrong"
    # A sum of floats in another order, or one of doubles that a float took part in.
    near = [abs(g - w) <= 2.0**-18 * abs(w) for g, w in pairs]
    steps = {g - w for g, w in pairs}
    if all(_integral(v) for v in got + want):
        wide = all(abs(w) >= 2**24 for w in want)
        if wide and all(abs(g - w) <= abs(w) * 2.0**-23 and _is_float(g) for g, w in pairs):
            return "right to about 24 bits only: a float lies on the way"
        if all(w > 2**22 and g < 0 for g, w in pairs):
            return "negative where a large number belongs: an int is too small for it"
        if explained:
            return ""
        if steps == {1.0} or steps == {-1.0}:
            return f"off by one: 1 too {'large' if 1.0 in steps else 'small'}"
        powers = [g > 0 and w > g and int(g) & (int(g) - 1) == 0 and 2 * g > w for g, w in pairs]
        if all(powers) and len(pairs) > 1:
            return "the largest power of two below the value: the rest gets lost"
        if len(pairs) > 2 and all(w > g >= 0 for g, w in pairs):
            return "too small every time: something is left out"
        if len(pairs) > 2 and all(g > w >= 0 for g, w in pairs):
            return "too large every time: something is counted that does not belong, or twice"
    elif all(near):
        return "right up to rounding: a type with too few digits, or another order of the sum"
    return ""
