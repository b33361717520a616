# SPDX-License-Identifier: MIT
"""Points for a graded lesson, by a small TOML file of the instructor's or by the defaults."""

from __future__ import annotations

import importlib.util
import itertools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..base import files
from ..base.project import USAGE, Lesson, WorkbookError

_FIELDS = ("correct", "safe", "efficient", "partial", "tasks")

# What points.toml may hold, with the defaults; README quotes it.
EXAMPLE = """\
[default]
correct = 70     # shared equally between the tasks
safe = 15        # no finding; scaled by the share of `correct` that was reached
efficient = 15   # by the share of the [efficient] tests that pass
partial = true   # a task counts by the share of its tests; false: all or nothing

[lessons.18]     # only what differs
tasks = [20, 20, 30]   # the points of each task, in place of `correct`
"""


@dataclass(frozen=True)
class Rule:
    """How many points a lesson gives for what."""

    correct: float = 70
    safe: float = 15
    efficient: float = 15
    partial: bool = True
    tasks: tuple[float, ...] = ()


@dataclass(frozen=True)
class Points:
    """What one submission reached, each with the most that it could."""

    tasks: tuple[tuple[float, float], ...]
    safe: tuple[float, float]
    efficient: tuple[float, float]

    @property
    def total(self) -> float:
        return round(sum(one[0] for one in (*self.tasks, self.safe, self.efficient)), 2)

    @property
    def most(self) -> float:
        return round(sum(one[1] for one in (*self.tasks, self.safe, self.efficient)), 2)


class Rules:
    """The rules of all lessons."""

    def __init__(self, default: Rule | None = None, lessons: dict[str, Rule] | None = None) -> None:
        self._default, self._lessons = default or Rule(), lessons or {}

    def of(self, lesson: Lesson) -> Rule:
        return self._lessons.get(lesson.id, self._default)


def read(path: Path, known: list[Lesson]) -> Rules:
    """The rules in a file, which may say only what differs from the defaults."""
    if importlib.util.find_spec("tomllib"):
        import tomllib
    else:
        import tomli as tomllib  # Python 3.10
    try:
        data = tomllib.loads(files.read_text(path))
    except (OSError, ValueError) as error:
        raise WorkbookError(
            f"{path}: {error}", "README, Grade a class, has an example", USAGE
        ) from error
    for name in set(data) - {"default", "lessons"}:
        raise _wrong(path, f"[{name}] is not known", "the tables are [default] and [lessons.NN]")
    default = _rule(path, "default", data.get("default", {}), Rule())
    lessons = {}
    for name, table in data.get("lessons", {}).items():
        match = [one for one in known if name in (one.id, one.number, str(int(one.number)))]
        if not match:
            raise _wrong(
                path, f"[lessons.{name}]: there is no such lesson", "two digits, or its id"
            )
        lessons[match[0].id] = _rule(path, f"lessons.{name}", table, default)
    return Rules(default, lessons)


def _wrong(path: Path, what: str, to_do: str) -> WorkbookError:
    return WorkbookError(f"{path}: {what}", to_do, USAGE)


def _rule(path: Path, where: str, table: Any, base: Rule) -> Rule:
    if not isinstance(table, dict):
        raise _wrong(path, f"{where} is no table", f"[{where}], and below it name = value")
    for name, value in table.items():
        if name not in _FIELDS:
            raise _wrong(path, f"{where}.{name} is not known", "it may have " + ", ".join(_FIELDS))
        numbers = value if name == "tasks" and isinstance(value, list) else [value]
        wanted = bool if name == "partial" else (int, float)
        good = all(isinstance(n, wanted) and (name == "partial" or n >= 0) for n in numbers)
        if not good or (name == "tasks") != isinstance(value, list):
            raise _wrong(path, f"{where}.{name} = {value}", "points are numbers from 0 up; "
                         "partial is true or false; tasks is a list")  # fmt: skip
    values = dict(table)
    if "tasks" in values:
        values["tasks"] = tuple(values["tasks"])
    return replace(base, **values)


def of_grade(rule: Rule, cases: list[dict[str, Any]], safe: bool, void: bool = False) -> Points:
    """The points for the cases of one graded file. A case says `task` (a number, 0 without one),
    `efficient`, `right` and `passed`. With `void` nothing counts: the file was not graded.
    """
    numbers = sorted({case["task"] for case in cases if not case["efficient"]})
    most = rule.tasks or _equal_parts(rule.correct, len(numbers))
    tasks = []
    for at, number in enumerate(numbers):
        own = [case["right"] for case in cases if case["task"] == number and not case["efficient"]]
        share = sum(own) / len(own) if rule.partial else float(all(own))
        worth = most[at] if at < len(most) else 0.0
        tasks.append((0.0 if void else _rounded(worth * share), _rounded(worth)))
    reached = sum(one[0] for one in tasks) / max(1e-9, sum(one[1] for one in tasks))
    counted = [case["passed"] for case in cases if case["efficient"]]
    safe_points = rule.safe * min(1.0, reached) if safe and not void else 0.0
    share = sum(counted) / len(counted) if counted and not void else 0.0
    return Points(
        tuple(tasks),
        (_rounded(safe_points), _rounded(rule.safe)),
        (_rounded(rule.efficient * share), _rounded(rule.efficient) if counted else 0.0),
    )


def _equal_parts(points: float, count: int) -> tuple[float, ...]:
    """In hundredths, and with no rest: 70 is 23.33 + 23.34 + 23.33."""
    ends = [_rounded(points * part / count) for part in range(count + 1)] if count else [0.0]
    return tuple(_rounded(after - before) for before, after in itertools.pairwise(ends))


def _rounded(value: float) -> float:
    return round(value, 2)
