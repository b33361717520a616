# SPDX-License-Identifier: MIT
"""Names what wrong elements hold instead: another element's value, twice the value, the filling."""

from __future__ import annotations

import math

import numpy as np

from . import locations
from .arrays import Compared
from .elements import another_element, permuted
from .patterns import BITS, Pattern, bits_of_agreement
from .rounding import float_in_double, nearly


def _number(value: float) -> str:
    return f"{value:.6g}"


def constant(c: Compared, use: np.ndarray) -> Pattern | None:
    """All wrong elements hold the same value, and should not."""
    got, want = c.got[use], c.want[use]
    if c.is_float and np.isnan(got).any():
        return None
    if not (got == got[0]).all():
        return None
    if got[0] == 0 and (want != 0).all():
        if len(got) > 1 or c.size == 1:
            return Pattern(_zeros(c, use))
        return None
    if len(got) < 3 or (want == want[0]).all():
        return None
    if len(np.unique(c.want)) == c.kept:
        for index, name in ((0, "element 0"), (c.kept - 1, "the last element")):
            if c.got[np.flatnonzero(use)[0]] == c.want[index]:
                return Pattern(f"each holds the value of {name}: the index is the same everywhere")
    value = _number(float(got[0]))
    if _only_gaps_are_right(c) and (c.want[~c.bad] == got[0]).all():
        what = f"the output still holds what it held before, {value}"
        return Pattern(f"nothing was written: {what}", True)
    return Pattern(f"the same value everywhere, {value}")


def _only_gaps_are_right(c: Compared) -> bool:
    """Whether all rows are wrong but for the same columns at their ends, and no kernel is known to
    have written anything.
    """
    if c.columns < 2 or c.kept % c.columns or any(w.on_device for w in c.writers.values()):
        return False
    wrong = c.bad.reshape(-1, c.columns)
    whole = int(wrong.all(axis=0).argmin())
    return 0 < whole < c.columns and wrong[:, :whole].all() and not wrong[:, whole:].any()


def _zeros(c: Compared, use: np.ndarray) -> str:
    """What zeros in `use` mean by their writer, as far as it is known. A computation may give 0 for
    many reasons: none is named.
    """
    writers = {c.writers[i].by for i in np.flatnonzero(use).tolist() if i in c.writers}
    if writers and "kernel" not in writers:
        return "0 instead of a value: cleared, and nothing was added or stored after"
    return "0 instead of a value" + ", and a thread wrote it last" * (writers == {"kernel"})


def factor(c: Compared, use: np.ndarray) -> Pattern | None:
    """Every value is the wanted one times the same number."""
    got, want = c.got[use].astype(float), c.want[use].astype(float)
    nonzero = want != 0
    if nonzero.sum() < 2 or (got[~nonzero] != 0).any() or not np.isfinite(got).all():
        return None
    ratio = got[nonzero] / want[nonzero]
    first = float(np.median(ratio))
    if first == 0 or not np.isfinite(first):
        return None
    if (np.abs(ratio - first) > 4e-6 * abs(first)).any() or len(np.unique(want[nonzero])) < 2:
        if not (len(ratio) >= 3 and (ratio == first).all() and first in (2.0, 0.5, -1.0)):
            return None
    if abs(first - 1) < 1e-5:
        return None
    if abs(first - 2) < 1e-5:
        return Pattern("exactly twice the value: counted twice, or done twice")
    if abs(first + 1) < 1e-5:
        return Pattern("the sign is wrong")
    if abs(first - 0.5) < 1e-5:
        return Pattern("exactly half of the value")
    nearest = round(first)
    # Beyond 2^40 no count explains it: the bytes of something else were read.
    if 1 < nearest < 2**40 and abs(first - nearest) < 1e-4:
        for launch in c.launches:
            for count, words in (
                (launch.threads_per_block, "threads of a block"),
                (launch.blocks, "blocks"),
                (launch.threads, "threads of the grid"),
            ):
                if count == nearest:
                    return Pattern(
                        f"{nearest} times the value, as many as there are {words}: "
                        "each of them did it"
                    )
        return Pattern(f"{nearest} times the value: a factor, or done {nearest} times")
    inverse = round(1 / first)
    if inverse > 1 and abs(1 / first - inverse) < 1e-4:
        return Pattern(f"1/{inverse} of the value")
    if len(ratio) >= 4 and abs(first) < 2**40:
        known = next((name for name, x in _FACTORS if abs(first / x - 1) < 1e-5), "")
        known = f", which is {known}" if known else ""
        return Pattern(f"{_number(first)} times the value{known}, everywhere")
    return None


_FACTORS = [
    ("the root of 2", 2**0.5), ("1 / the root of 2", 0.5**0.5), ("pi", np.pi), ("2 pi", 2 * np.pi),
    ("1 / pi", 1 / np.pi), ("pi / 2", np.pi / 2), ("pi / 180", np.pi / 180), ("e", np.e),
    ("180 / pi", 180 / np.pi), ("1.5", 1.5), ("2 / 3", 2 / 3), ("3 / 4", 0.75), ("4 / 3", 4 / 3),
]  # fmt: skip


def power(c: Compared, use: np.ndarray) -> Pattern | None:
    """Every value is the square of the wanted one, or its root: a step too many or too few."""
    if not c.is_float or use.sum() < 4:
        return None
    got, want = c.got[use], c.want[use]
    if not np.isfinite(got).all() or not np.isfinite(want).all() or len(np.unique(want)) < 4:
        return None
    slack = 8 * 2.0 ** -(24 if c.element_bytes <= 4 else 53)
    for of, words in (
        (lambda v: v * v, "the square of the value: squared once more, or a root is missing"),
        (lambda v: np.sqrt(np.abs(v)), "the root of the value: the root once more, or a square is "
                                       "missing"),
        (lambda v: 1 / np.where(v == 0, np.nan, v), "1 divided by the value"),
    ):  # fmt: skip
        right = of(want)
        if (np.abs(got - right) <= slack * np.abs(right)).all():
            return Pattern(words)
    return None


def difference(c: Compared, use: np.ndarray) -> Pattern | None:
    """Every value is off by the same amount, in all or in each block."""
    if c.is_float:
        got, want = c.got, c.want
    else:
        got, want = c.got.astype(np.int64), c.want.astype(np.int64)
    with np.errstate(all="ignore"):
        delta = got - want
    if not np.isfinite(delta[use].astype(float)).all():
        return None
    scale = np.abs(want[use].astype(float)).max() if use.any() else 0.0
    slack = 4e-6 * scale if c.is_float else 0
    first = delta[use][0]
    same = np.abs(delta[use] - first) <= slack
    filling = {2.0**bits - 1 for bits in (8, 16, 32)}
    unsigned = c.got.dtype.kind == "u"
    if not c.is_float and same.all() and use.sum() > 1 and c.wrong > 0.9 * c.size:
        if float(first) in filling or (unsigned and first == -1):
            return Pattern("counted on from the filling (all bits 1): it was not set to 0 at first")
    distinct = len(np.unique(want[use]))
    if same.all() and use.sum() >= 2 and distinct >= 2 and abs(first) > 8 * slack:
        if abs(first) == 1:
            size = "large" if first > 0 else "small"
            why = "done once too often" if first > 0 else "not done at all"
            return Pattern(f"every value is 1 too {size}: off by one, or {why}")
        size = "large" if first > 0 else "small"
        return Pattern(f"every value is {_number(abs(float(first)))} too {size}")
    return None


def missing_carry(c: Compared, use: np.ndarray) -> Pattern | None:
    """Within each block all are off by the same amount, another one in each block."""
    if not np.isfinite(c.got.astype(float)).all() or not np.isfinite(c.want.astype(float)).all():
        return None
    delta = c.got.astype(float) - c.want.astype(float)
    slack = 4e-6 * np.abs(c.want.astype(float)).max() if c.is_float else 0
    for size in locations.block_sizes(c):
        groups = c.kept // size
        if groups < 3 or not c.whole:
            continue
        d = delta[: groups * size].reshape(groups, size)
        b = c.bad[: groups * size].reshape(groups, size)
        level = np.abs(d - d[:, :1]) <= slack + 1e-6 * np.abs(d[:, :1])
        plain = np.abs(d[b.any(axis=1)][:, 0]) > 4 * slack  # rounding is the same everywhere too
        if level.all() and plain.sum() >= 2 and plain.all() and len(np.unique(d[:, 0])) > 2:
            name = locations.group_name(c, size)
            return Pattern(
                f"within each {name} all are off by the same amount: what the {name.split()[0]}s "
                "before it contribute is missing, or wrong",
                True,
            )
    return None


def cut_off(c: Compared, use: np.ndarray) -> Pattern | None:
    """Fractions or upper bits are lost, or the sign."""
    got, want = c.got[use], c.want[use]
    if use.sum() < 3 and c.is_float:
        return None
    if c.is_float:
        if not np.isfinite(got).all() or not np.isfinite(want).all():
            return None
        fractions = (want != np.round(want)).mean() > 0.5
        if fractions and np.ptp(want) > 4:
            for cut in (np.trunc, np.floor, np.ceil, np.round):
                if (got == cut(want)).all():
                    return Pattern("the fraction is lost: computed in whole numbers")
        if (np.abs(got) == np.abs(want)).all():
            return Pattern("the sign is wrong")
        return None
    for bits in (32, 31, 16, 8):
        modulus = 1 << bits
        if bits < 16 and use.sum() < 3:
            break  # two agree in so few bits by chance
        half = modulus // 2
        signed = (got >= -half) & (got < half) & ((want >= half) | (want < -half))
        wide = (want >= modulus) | (want < -half) | (signed & (got < 0))
        if wide.all() and ((got.astype(object) - want.astype(object)) % modulus == 0).all():
            return Pattern(f"the upper bits are lost: {bits} bits are too few for the value")
    return None


def repeats(c: Compared, use: np.ndarray) -> Pattern | None:
    """The values come again and again where the wanted ones do not."""
    n = c.kept
    if n < 8 or use.sum() < 4 or not np.isfinite(c.got.astype(float)).all():
        return None
    bits = bits_of_agreement(c)
    if np.unique(c.got, return_counts=True)[1].max() > 0.9 * n:
        return None  # one value nearly everywhere comes again after any number of elements
    for size in (4, 2, 8, 32):
        groups = c.got[: n // size * size].reshape(-1, size)
        wanted = c.want[: n // size * size].reshape(-1, size)
        if len(groups) < 3 or (wanted == wanted[:, :1]).all(axis=1).mean() > 0.2:
            continue
        if (groups == groups[:, :1]).all() and len(np.unique(groups[:, 0])) > 2:
            return Pattern(f"{size} neighbours each hold the same value")
    again = np.flatnonzero(c.got[1:] == c.got[0])[:64] + 1
    for period in dict.fromkeys([*again.tolist(), *locations.block_sizes(c)]):
        if period < 2 or n < 2 * period or (n - period) * bits < 2 * BITS:
            continue
        if (c.got[period:] == c.got[:-period]).mean() > 0.98:
            if (c.want[period:] == c.want[:-period]).mean() < 0.5:
                return Pattern(f"the values come again after every {period} elements", True)
    return None


def small_difference(c: Compared, use: np.ndarray) -> Pattern | None:
    """One or two wrong whole numbers: how far off."""
    if c.is_float or not 1 <= use.sum() <= 2 or c.size < 3:
        return None
    delta = [int(g) - int(w) for g, w in zip(c.got[use], c.want[use], strict=True)]
    if len(set(delta)) == 1 and 0 < abs(delta[0]) <= 8:
        return Pattern(f"{abs(delta[0])} too {'large' if delta[0] > 0 else 'small'}")
    return None


def totals(c: Compared, use: np.ndarray) -> Pattern | None:
    """Counts whose sum is right, or which are all too small or all too large."""
    if c.wrong < 2 or not np.isfinite(c.got.astype(float)).all():
        return None
    got, want = c.got[use].astype(float), c.want[use].astype(float)
    less, more = (got < want).all(), (got > want).all()
    counts = bool(not c.is_float and (c.want >= 0).all() and c.whole)
    if counts and c.got.sum() == c.want.sum() and not less and not more and (c.got >= 0).all():
        return Pattern("the total is right, but some are counted in a wrong element", True)
    if use.sum() >= 20 and (c.want[use] > 0).all() and (got >= 0).all():
        if less and not _whole(c):
            shared = any(launch.threads >= 2 * c.size for launch in c.launches)
            lost = ", or updates got lost" if shared else ""
            return Pattern(f"too small everywhere{lost}")
        # Neither fractions nor numbers in strictly ascending order, which are keys or places, are
        # counts: that something was left out or done twice would be a guess.
        if c.is_float or bool((np.diff(c.want.astype(float)) > 0).all()):
            return (
                Pattern(f"too {'large' if more else 'small'} everywhere") if less or more else None
            )
        # Running totals hold one number many times: their sum counts nothing.
        counts = counts and not (np.diff(c.want.astype(float)) >= 0).all()
        in_all = sum(map(int, c.want)) if counts else 0
        missing = abs(in_all - sum(map(int, c.got))) if counts else 0  # unsigned ones would wrap
        if less:
            of = f", {missing} less than the {in_all} in all"
            return Pattern(f"too small everywhere{of * counts}: something was left out or got lost")
        if more:
            of = f": {missing} more than the {in_all} in all"
            return Pattern("too large everywhere" + of * counts + "; something was counted more "
                           "than once, or was not zero at the start")  # fmt: skip
    return None


def _whole(c: Compared) -> bool:
    """Whether whole numbers are wanted: counts, most often."""
    return not c.is_float or bool((c.want == np.round(c.want)).all())


def wrapped(c: Compared, use: np.ndarray) -> Pattern | None:
    """Counts that begin again at a limit, as atomicInc's do."""
    if c.is_float or not c.whole or use.sum() < 3 or (c.want < 0).any():
        return None
    delta = c.want[use].astype(object) - c.got[use].astype(object)
    modulus = math.gcd(*(int(d) for d in delta))
    if modulus < 2 or (delta <= 0).any() or (c.got >= modulus).any() or (c.got < 0).any():
        return None
    # A power of two is a type that is too narrow.
    if modulus & (modulus - 1) == 0 and modulus >= 256:
        return None
    if len(np.unique(c.want[use])) < 3 or len(np.unique(c.got[use])) < 2:
        return None
    return Pattern(
        f"each count is the wanted one modulo {modulus}: it begins again at {modulus - 1}, as "
        "atomicInc does at its limit"
    )


def not_a_number(c: Compared, use: np.ndarray) -> Pattern | None:
    """NaN or infinity where numbers belong, or the other way round."""
    if not c.is_float:
        return None
    got, want = c.got[use], c.want[use]
    nan = np.isnan(got) & ~np.isnan(want)
    if nan.all():
        return Pattern("NaN, which was computed: from a value that was never set (what an output "
                       "holds before is NaN here), 0/0, infinity/infinity, or the root or power of "
                       "a negative number")  # fmt: skip
    if nan.any():
        # Where the others follow a rule, some NaN are an accompaniment, not the cause.
        others = use.copy()
        others[np.flatnonzero(use)[nan]] = False
        if 4 * nan.sum() < len(nan) and (rule := of_values(c, others)):
            return rule
        first = int(np.flatnonzero(use)[np.flatnonzero(nan)[0]])
        if nan.sum() == 1:
            return Pattern(f"NaN in one of them, element {first}", True)
        return Pattern(f"NaN in {int(nan.sum())} of them, the first is element {first}", True)
    if (np.isnan(want) & ~np.isnan(got)).all() and not c.wants_filling(use):
        return Pattern("a number where NaN belongs")
    if (np.isinf(got) & np.isfinite(want)).all():
        return Pattern("infinity: an overflow, or a division by zero")
    return None


def of_values(c: Compared, use: np.ndarray) -> Pattern | None:
    """The pattern in the values of the elements in `use`, which are wrong and were written."""
    if not use.any():
        return None
    tests = (
        not_a_number, constant, factor, difference, another_element, cut_off, missing_carry,
        wrapped, float_in_double, nearly, power, repeats, permuted, totals, small_difference,
    )  # fmt: skip
    for test in tests:
        if found := test(c, use):
            return found
    return None
