# SPDX-License-Identifier: MIT
"""Names errors that rounding explains: too few digits on the way, or terms that cancel."""

from __future__ import annotations

import numpy as np

from .arrays import Compared
from .patterns import Pattern

# So many roundings a sum or a function of a few steps may add up: beyond, it is something else.
_ROUNDINGS = 64


def nearly(c: Compared, use: np.ndarray) -> Pattern | None:
    """Right up to an error that rounding explains: in float, in a narrower type, or of terms that
    cancel. Whole numbers that a float holds are not rounded.
    """
    if not c.is_float:
        return None
    got, want = c.got[use], c.want[use]
    if not np.isfinite(got).all() or not np.isfinite(want).all():
        return None
    error, size = np.abs(got - want), np.abs(want)
    if (want == np.round(want)).all() and (got == np.round(got)).all() and size.max() < 2**24:
        return None
    with np.errstate(all="ignore"):
        relative = np.where(size > 0, error / size, np.inf)
    worst = float(relative.max())
    single = 2.0**-24 if c.element_bytes <= 4 else 2.0**-53
    if worst <= _ROUNDINGS * single:
        return Pattern(f"nearly right, off by {worst:.1g} of the value at most: rounding")
    if c.element_bytes == 8 and worst <= _ROUNDINGS * 2.0**-24 < 2.0**14 * np.median(relative):
        return Pattern(
            f"nearly right, off by {worst:.1g} of the value at most: as many digits as a float "
            "has, where a double is wanted"
        )
    for name, bits in (("half", 11), ("bfloat16", 8)):
        # The smallest numbers have fewer bits.
        most = float(np.quantile(relative, 0.95))
        if len(got) >= 4 and most <= 2.0**-bits and _fits(got, bits) and not _fits(want, bits):
            return Pattern(f"each has {bits} bits: a {name} lies on the way")
    # An error that does not shrink with the value: large terms whose difference is small.
    large = np.abs(c.want[np.isfinite(c.want)]).max()
    spread = large >= 100 * float(size[relative.argmax()]) > 0
    if len(got) >= 8 and spread and error.max() <= _ROUNDINGS * single * large:
        return Pattern(
            f"off by {error.max():.1g} at most, large values and small ones alike: digits get lost "
            "where two numbers nearly cancel"
        )
    if len(got) >= 8 and spread and c.element_bytes == 8 and _single_on_the_way(error, large):
        return Pattern(
            f"off by {error.max():.1g} at most, large values and small ones alike: a float lies "
            "on the way, where doubles are wanted"
        )
    if len(got) >= 20 and worst < 2e-3 and _on_both_sides(got - want):
        return Pattern(
            f"nearly right, off by {worst:.1g} of the value at most, above and below: digits "
            "are lost on the way"
        )
    return None


def _single_on_the_way(error: np.ndarray, large: float) -> bool:
    """Whether most errors are those of a float next to numbers of up to this size."""
    return bool(
        error.max() <= _ROUNDINGS * 2.0**-24 * large and np.median(error) > 2.0**-40 * large
    )


def _fits(values: np.ndarray, bits: int) -> bool:
    """Whether no value needs more bits than these."""
    mantissa = np.frexp(values)[0] * 2.0**bits
    return bool((mantissa == np.round(mantissa)).all())


def _on_both_sides(error: np.ndarray) -> bool:
    above = float((error > 0).mean())
    return 0.2 < above < 0.8


def float_in_double(c: Compared, use: np.ndarray) -> Pattern | None:
    """Each element of an array of doubles is a float."""
    if not c.is_float or c.element_bytes != 8 or use.sum() < 8:
        return None
    got, want = c.got[use], c.want[use]
    with np.errstate(all="ignore"):
        floats = got == got.astype(np.float32)
        wanted = want == want.astype(np.float32)
    if floats.all() and not wanted.any() and not (got == np.round(got)).all():
        return Pattern("each is a number that a float can hold: computed in float, and too few "
                       "digits for a double")  # fmt: skip
    return None
