# SPDX-License-Identifier: MIT
"""Test cases: their names from the test's source, their outcome from Catch2's XML (2.x and 3.x)."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

from .project import WorkbookError


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
    def efficient(self) -> bool:
        return "efficient" in self.tags

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
    r"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|[^\sA-Za-z_\"']",
    re.DOTALL,
)


def _text_of(literal: str) -> str:
    simple = {"n": "\n", "t": "\t"}
    return re.sub(r"\\(.)", lambda m: simple.get(m.group(1), m.group(1)), literal[1:-1])


def cases_in_source(path: Path) -> list[TestCase]:
    """The TEST_CASEs of a test's source, in order.

    Read from the source and not from the program: the student's code is part of the program and may
    run before main, and a case that it hides would be a case that it need not pass.
    """
    try:
        source = path.read_text(encoding="utf-8")
    except OSError as error:
        raise WorkbookError(f"cannot read the lesson's test: {error}") from error
    return [case for case, _ in case_bodies(source)]


def case_bodies(source: str) -> list[tuple[TestCase, str]]:
    """The TEST_CASEs of a test's text, in order, each with what stands between its braces."""
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


# What CAPTURE(n) leaves among the context lines, unlike a text of INFO.
CAPTURED = re.compile(r"^\w[^\n]* := ")


@dataclass
class Failure:
    """One failed check: the context lines (INFO, CAPTURE), the expression, or what was thrown."""

    infos: list[str]
    expression: str = ""
    expansion: str = ""
    exception: str = ""
    fatal: str = ""
    line: int = 0


@dataclass
class Outcome:
    """What the XML of one test case says. `complete` is False when it was cut short."""

    complete: bool = False
    success: bool = False
    assertions: int = 0
    failures: list[Failure] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def read_outcome(path: Path, case: TestCase) -> Outcome:
    """Reads the report that a run of exactly `case` wrote to `path`."""
    outcome = Outcome()
    try:
        text = path.read_bytes()
    except OSError:
        return outcome
    if len(text) > 16 << 20:
        return outcome
    # Control characters in a student's message are not XML; Catch2 escapes most of them.
    text = re.sub(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]", b"?", text)
    try:
        root = ElementTree.fromstring(text.decode("utf-8", "replace"))
    except ElementTree.ParseError:
        _collect_partial(text.decode("utf-8", "replace"), outcome)
        return outcome
    found = list(root.iter("TestCase"))
    if root.tag not in ("Catch", "Catch2TestRun") or len(found) != 1:
        return outcome
    if found[0].get("name") != case.name:
        return outcome
    verdict = found[0].find("OverallResult")
    totals = root.find("OverallResults")
    if verdict is None or totals is None:
        return outcome
    outcome.complete = True
    failed = int(totals.get("failures", "1"))
    outcome.assertions = failed + int(totals.get("successes", "0"))
    _collect(found[0], [], outcome)
    outcome.success = verdict.get("success") == "true" and failed == 0 and not outcome.failures
    return outcome


def _collect(element: ElementTree.Element, infos: list[str], outcome: Outcome) -> None:
    """Walks in document order: <Info> elements belong to the next result."""
    for child in element:
        text = (child.text or "").strip()
        if child.tag == "Info":
            infos.append(text)
        elif child.tag == "Warning":
            outcome.warnings.append(text)
        elif child.tag == "Section":
            _collect(child, infos, outcome)
        elif child.tag == "Expression" and child.get("success") != "true":
            failure = Failure(
                infos=list(infos),
                expression=(child.findtext("Original") or "").strip(),
                expansion=(child.findtext("Expanded") or "").strip(),
                exception=(child.findtext("Exception") or "").strip(),
                fatal=(child.findtext("FatalErrorCondition") or "").strip(),
                line=int(child.get("line", "0")),
            )
            outcome.failures.append(failure)
            infos.clear()
        elif child.tag in ("Exception", "FatalErrorCondition", "Failure"):
            failure = Failure(infos=list(infos), line=int(child.get("line", "0")))
            if child.tag == "Exception":
                failure.exception = text or "an exception"
            elif child.tag == "FatalErrorCondition":
                failure.fatal = text or "a fatal error"
            else:
                failure.expression = text or "FAIL()"
            outcome.failures.append(failure)
            infos.clear()


def _collect_partial(text: str, outcome: Outcome) -> None:
    """The failed checks in a report that was cut short, for the message only."""
    for pattern, kind in ((r"<Exception[^>]*>(.*?)</Exception>", "exception"),):
        for match in re.finditer(pattern, text, re.DOTALL):
            outcome.failures.append(Failure([], **{kind: match.group(1).strip()}))
