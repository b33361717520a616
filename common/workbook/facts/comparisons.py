# SPDX-License-Identifier: MIT
"""A failed check of counters as the harness reports it (common/harness/report/counted.h).

It names the counters, what it got and what it wants. The process in which the student's code runs
reports it: what is not as it should be counts as none.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from . import counters

# A counter's name, a number, or [operator or name, part, ...].
Origin = Any
_RANK = {"+": 1, "-": 1, "*": 2, "/": 2}
_DEEPEST = 8
WANT = {
    "==": "want {}", "<=": "want at most {}", ">=": "want at least {}", "<": "want less than {}",
    ">": "want more than {}", "!=": "want anything else",
}  # fmt: skip


@dataclass(frozen=True)
class Comparison:
    """`left relation right` did not hold: left was `got`, right is `want`."""

    left: Origin
    relation: str
    right: Origin
    got: float
    want: float

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The counters on the left, each once."""
        return tuple(dict.fromkeys(_names(self.left)))

    @property
    def measure(self) -> str:
        """The name of what the left side derives from counters, or ''."""
        derived = isinstance(self.left, list) and self.left[0] not in _RANK
        return self.left[0] if derived else ""

    @property
    def too_few(self) -> bool:
        """Whether there is less on the left than there should be."""
        return self.relation in ("==", ">=", ">") and (
            self.got < self.want or (self.got == self.want and self.relation == ">")
        )

    @property
    def none(self) -> bool:
        """Whether there is nothing at all of what there should be."""
        return self.too_few and self.got == 0

    def about(self, *names: str) -> bool:
        """Whether one of these counters is on the left."""
        return any(name in self.names for name in names)

    @property
    def words(self) -> str:
        """`global store sectors: got 96, want at most 32`."""
        want = WANT[self.relation].format(_number(self.want))
        text = f"{_words(self.left)}: got {_number(self.got)}, {want}"
        return text + (f" ({_words(self.right)})" if _names(self.right) else "")


def of(record: object) -> Comparison | None:
    """The comparison that a failed check reports; None where it reports none."""
    if not isinstance(record, dict):
        return None
    left, right, relation = record.get("left"), record.get("right"), record.get("relation")
    got, want = record.get("got"), record.get("want")
    sound = _sound(left) and _sound(right) and isinstance(left, str | list)
    if not sound or relation not in WANT or not _is_number(got) or not _is_number(want):
        return None
    return Comparison(left, relation, right, got, want)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _sound(origin: object, depth: int = 0) -> bool:
    if isinstance(origin, list):
        known = len(origin) > 1 and isinstance(origin[0], str) and depth < _DEEPEST
        return known and all(_sound(part, depth + 1) for part in origin[1:])
    return isinstance(origin, str) or _is_number(origin)


def _names(origin: Origin) -> list[str]:
    if isinstance(origin, list):
        return [name for part in origin[1:] for name in _names(part)]
    return [origin] if isinstance(origin, str) else []


def _words(origin: Origin, above: int = 0) -> str:
    """`4 * blocks launched`; in brackets where an operator of rank `above` binds more closely."""
    if isinstance(origin, str):
        return counters.words(origin)
    if not isinstance(origin, list):
        return _number(origin)
    if origin[0] not in _RANK:
        return counters.words(origin[0], _names(origin))
    rank = _RANK[origin[0]]
    first, *others = origin[1:]
    parts = [_words(first, rank), *(_words(part, rank + 1) for part in others)]
    text = f" {origin[0]} ".join(parts)
    return f"({text})" if rank < above else text


def _number(value: float) -> str:
    """As Catch2 writes it: 4096, 0.25."""
    if isinstance(value, int) or value != value or value in (float("inf"), float("-inf")):
        return str(value)
    text = f"{value:.10f}".rstrip("0")
    return text + "0" if text.endswith(".") else text
