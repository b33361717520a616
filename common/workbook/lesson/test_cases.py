# SPDX-License-Identifier: MIT
"""Test cases: their names and tags, read from the test's source, and their outcomes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ..base.project import Lesson, WorkbookError


@dataclass(frozen=True)
class TestCase:
    """One TEST_CASE: its full name and its tags without brackets."""

    name: str
    tags: tuple[str, ...]

    @property
    def task(self) -> str:
        """`task 1`, `efficient`, or '' where the test carries neither tag."""
        if self.efficient:
            return "efficient"
        for tag in self.tags:
            if match := re.fullmatch(r"task(\d+)", tag):
                return f"task {match.group(1)}"
        return ""

    @property
    def task_numbers(self) -> set[int]:
        """The tasks that it checks: for an [efficient] case those whose values it needs."""
        return {int(m.group(1)) for tag in self.tags if (m := re.fullmatch(r"task(\d+)", tag))}

    @property
    def efficient(self) -> bool:
        return "efficient" in self.tags

    @property
    def ranks(self) -> tuple[int, ...]:
        """How many ranks mpirun starts it in, one run for each number: [ranks:1,2,7]. Empty for a
        case that is one process, without MPI.
        """
        for tag in self.tags:
            if match := re.fullmatch(r"ranks:(\d+(?:,\d+)*)", tag):
                return tuple(map(int, match.group(1).split(",")))
        return ()

    def waits_for(self, wrong: set[int]) -> bool:
        """Whether it cannot be graded while these tasks' values are wrong. A case without a task's
        tag waits for all tasks.
        """
        return bool(wrong & self.task_numbers if self.task_numbers else wrong)

    @property
    def title(self) -> str:
        """The name without the label that the screen shows beside it."""
        return re.sub(r"^(?:task \d+|efficient): *", "", self.name)

    @property
    def spec(self) -> str:
        """The name as an exact Catch2 test specification."""
        escaped = re.sub(r"([\\,\[\]\"])", r"\\\1", self.name)
        return re.sub(r"^([~*])|(\*)$", lambda m: "\\" + m.group(0), escaped)


_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<delim>[^(]*)\((?P<raw>.*?)\)(?P=delim)"|"(?:\\.|[^"\\])*"'
    r"|\.?\d(?:'?\w|[eEpP][+-]|\.)*"  # a number, perhaps as 1'000'000
    r"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|[^\sA-Za-z_\"']",
    re.DOTALL,
)


def _text_of(literal: str) -> str:
    simple = {"n": "\n", "t": "\t"}
    return re.sub(r"\\(.)", lambda m: simple.get(m.group(1), m.group(1)), literal[1:-1])


def cases_of(lesson: Lesson) -> list[TestCase]:
    """The TEST_CASEs of a lesson, in order.

    Read from the sources and not from the program, since the student's code is part of the program,
    may run before main, and could hide cases.
    """
    return [case for case, _ in case_bodies(source_of(lesson))]


def source_of(lesson: Lesson) -> str:
    """The text of the lesson's tests, one file after the other."""
    try:
        return "\n".join(path.read_text(encoding="utf-8") for path in lesson.test_files)
    except OSError as error:
        raise WorkbookError(f"cannot read the lesson's tests: {error}") from error


def case_bodies(source: str) -> list[tuple[TestCase, str]]:
    """The TEST_CASEs of a test's text, in order, each with the text between its braces."""
    found = [m for m in _TOKEN.finditer(source) if not m.group(0).startswith(("//", "/*"))]
    tokens = [m.group(0) for m in found]
    cases = []
    for at, token in enumerate(tokens):
        if token != "TEST_CASE" or at + 1 >= len(tokens) or tokens[at + 1] != "(":
            continue
        arguments: list[list[str]] = [[]]
        depth = 0
        closed = len(tokens)
        for index in range(at + 1, len(tokens)):
            inner = tokens[index]
            depth += (inner == "(") - (inner == ")")
            if depth == 0:
                closed = index
                break
            if inner == "," and depth == 1:
                arguments.append([])
            elif inner.startswith('"'):
                arguments[-1].append(_text_of(inner))
        name = "".join(arguments[0])
        tags = "".join(arguments[1]) if len(arguments) > 1 else ""
        case = TestCase(name, tuple(re.findall(r"\[([^\]]+)\]", tags)))
        if not any(tag.startswith((".", "!")) for tag in case.tags):
            cases.append((case, _braces(source, found[closed + 1 :])))
    return cases


def _braces(source: str, tokens: list[re.Match[str]]) -> str:
    """The text from the first `{` of `tokens` to the `}` that closes it."""
    if not tokens or tokens[0].group(0) != "{":
        return ""
    depth = 0
    for token in tokens:
        depth += (token.group(0) == "{") - (token.group(0) == "}")
        if depth == 0:
            return source[tokens[0].end() : token.start()]
    return source[tokens[0].end() :]


# A context line from CAPTURE(n), not from INFO.
CAPTURED = re.compile(r"^\w[^\n]* := ")


@dataclass
class Failure:
    """One failed check: the context lines (INFO, CAPTURE), the expression, or the exception.

    `compared`: for a check of counters, what it compares (facts/comparisons.py).
    """

    infos: list[str]
    expression: str = ""
    expansion: str = ""
    exception: str = ""
    fatal: str = ""
    line: int = 0
    compared: dict[str, Any] | None = None


@dataclass
class Outcome:
    """Catch2's result of one test case. `complete` is False if it did not finish."""

    complete: bool = False
    success: bool = False
    assertions: int = 0
    failures: list[Failure] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
