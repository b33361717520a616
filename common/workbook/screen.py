# SPDX-License-Identifier: MIT
"""Puts grades, tables and pages on the screen: coloured on a terminal, plain in a pipe."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import Heading, Markdown
from rich.table import Table
from rich.text import Text

from . import diagnose, problems, progress
from .catch_xml import CAPTURED, Failure
from .diagnose import compiler
from .findings import Finding
from .grade import CaseResult, Grade
from .phases import bar
from .project import Lesson
from .screen_words import is_plain

if TYPE_CHECKING:
    from .diagnose.arrays import Compared

_INDENT = " " * 6


def console() -> Console:
    """80 columns where the width is unknown, at most 110 where it is."""
    width = None if sys.stdout.isatty() else int(os.environ.get("COLUMNS") or 80)
    if is_plain():
        width = (width or 80) - 4  # symbols that are spelt out take more room
    made = Console(width=width, highlight=False, soft_wrap=False, emoji=False, markup=False)
    if made.width > 120:
        made.width = 120
    return made


def clear() -> None:
    """Empties a terminal's screen; in a pipe and in plain output a line between two results."""
    if sys.stdout.isatty() and not is_plain():
        print("\x1b[2J\x1b[H", end="", flush=True)
    else:
        print("-" * 40, flush=True)


class Status:
    """One line that is written over, on a terminal only; gone before anything else is printed."""

    def __init__(self) -> None:
        self._on = sys.stdout.isatty() and not is_plain()

    def tell(self, text: str) -> None:
        if self._on:
            print(f"\r\x1b[K  {text}", end="", flush=True)

    def count(self, done: int, whole: int) -> None:
        """How many of the test cases have ended."""
        self.tell(f"{bar(done, whole)} {done} of {whole} tests")

    def clear(self) -> None:
        if self._on:
            print("\r\x1b[K", end="", flush=True)


def _wrapped(out: Console, text: str, indent: str = _INDENT, style: str = "") -> None:
    for line in text.splitlines() or [""]:
        for part in textwrap.wrap(line, out.width - len(indent), break_on_hyphens=False) or [""]:
            out.print(Text(indent + part, style=style))


def _two_sides(out: Console, left: str, right: str, indent: str = _INDENT, style: str = "") -> None:
    """`left` with `right` at the right edge, on lines of their own where both do not fit."""
    if not right:
        _wrapped(out, left, indent, style)
        return
    room = out.width - len(indent) - len(right) - 2
    lines = textwrap.wrap(left, max(room, 30), break_on_hyphens=False) or [""]
    gap = " " * max(2, out.width - len(indent) - len(lines[0]) - len(right))
    out.print(Text.assemble((indent + lines[0], style), gap, (right, "cyan")), no_wrap=True)
    for line in lines[1:]:
        out.print(Text(indent + line, style=style))


def milliseconds(value: float) -> str:
    """A time in three digits: `12.3 us`, `0.747 ms`, `21.6 ms`."""
    if value < 0.1:
        return f"{value * 1000:.3g} us"
    return f"{value:.3g} ms"


def device_words(device: str) -> str:
    if device == "gpu":
        return "GPU: values · safety and efficiency: on the emulator"
    return "emulator: correctness and access patterns · no GPU: not timed"


def show_grade(grade: Grade, out: Console | None = None, advice: bool = True) -> None:
    """The grade of one lesson, as DESIGN section 5 shows it."""
    out = out or console()
    title = f"Lesson {grade.lesson.number} · {grade.lesson.title}"
    words = device_words(grade.device)
    if len(title) + len(words) + 3 <= out.width:
        gap = " " * (out.width - len(title) - len(words))
        out.print(Text.assemble((title, "bold"), gap, (words, "dim")), no_wrap=True)
    else:
        out.print(Text(title, "bold"))
        out.print(Text(words, "dim"))
    if grade.build_error:
        _show_build_error(grade, out)
        _for_editors(grade)
        return
    if grade.compiler_warnings:
        out.print(Text("  the compiler warns", "yellow"))
        _wrapped(out, grade.compiler_warnings)
    seen: dict[tuple[str, str, int, int], str] = {}
    waiting = [r for r in grade.counted if _waits(grade, r, seen)]
    for result in grade.results:
        if result not in waiting:
            _show_case(grade, result, out, seen)
    if waiting:
        names = "1 test" if len(waiting) == 1 else f"{len(waiting)} tests"
        out.print(Text(f"  – efficient  {names}, graded once the values are right", "dim"))
    _show_summary(grade, out, advice)
    _for_editors(grade)


def _for_editors(grade: Grade) -> None:
    if problems.wanted():
        problems.show(grade)


def _show_build_error(grade: Grade, out: Console) -> None:
    verb = "compile" if grade.build_stage == "compile" else "link"
    out.print(Text(f"  ✗ {grade.lesson.slug}.cu does not {verb}", "bold red"))
    for line in grade.build_error.splitlines()[:40]:
        out.print(Text("      " + line, style="red" if "error" in line else ""), soft_wrap=True)
    if len(grade.build_error.splitlines()) > 40:
        _wrapped(out, "...")
    first = compiler.first_error(grade.build_error)
    if not first:
        return
    cause = compiler.looks_like(grade.build_error)
    if cause:
        _wrapped(out, f"looks like: {cause}", style="yellow")
    out.print(Text(f"  start with line {first[0]}: the first error often causes the others"))


def _show_case(grade: Grade, result: CaseResult, out: Console, seen: dict) -> None:
    label = result.case.task or "test"
    head = f"{label}  "
    waits = result.case.efficient and not grade.correct
    if result.passed:
        mark, style = "✓", "green"
    else:
        mark, style = "✗", "red"
    lines = textwrap.wrap(result.case.title, out.width - 4 - len(head), break_on_hyphens=False) or [
        ""
    ]
    out.print(Text.assemble("  ", (mark, f"bold {style}"), f" {head}{lines[0]}"), no_wrap=True)
    for line in lines[1:]:
        out.print(Text(" " * (4 + len(head)) + line))
    if result.passed:
        return
    if result.ended:
        _wrapped(out, result.ended, style="red")
    elif not result.values_right and not waits:
        _show_values(result, out)
    elif result.values_right:
        codes = {finding.code for finding in result.findings}
        by_luck = any(code.startswith(("race-", "uninitialized-")) for code in codes)
        _wrapped(out, f"the values are right{' by luck' * by_luck}, but:")
    repeated = bool(result.findings) and all(f.key in seen for f in result.findings)
    cause = "" if waits else result.cause()
    # A mistake that explains all values comes first: the findings follow from it.
    first = bool(result.findings) and cause == diagnose.of_mistakes(result.details)
    if cause and first:
        _wrapped(out, f"looks like: {cause}", style="yellow")
    for finding in result.findings:
        _show_finding(finding, result, out, seen)
    if tail := _own_output(result.output).splitlines()[-3:] if result.ended else []:
        _wrapped(
            out, "it printed at the end: " + " / ".join(line[:200] for line in tail), style="dim"
        )
    # The cause of a finding that was shown above has been named there.
    if (
        cause
        and not first
        and not (repeated and cause == diagnose.likely_cause([], result.findings))
    ):
        _wrapped(out, f"looks like: {cause}", style="yellow")


def _waits(grade: Grade, result: CaseResult, seen: dict) -> bool:
    """Whether an [efficient] case says nothing yet: wrong values make its counters meaningless."""
    known = {finding.key for other in grade.tasks for finding in other.findings} | set(seen)
    new = any(finding.key not in known for finding in result.findings)
    return not grade.correct and not result.ended and not new


def _telling_failure(result: CaseResult) -> tuple[Failure, Compared | None]:
    """The failed check to show, and its array: that of which the cause speaks, else the first."""
    failures = result.outcome.failures
    first = next((f for f in failures if f.exception), failures[0])
    if first.exception or result.telling is None:
        return first, None
    with_array = [f for f in failures if diagnose.parse_mismatch(f.infos)]
    if result.telling < len(with_array):
        return with_array[result.telling], result.arrays[result.telling]
    return first, None


def _show_values(result: CaseResult, out: Console) -> None:
    if not result.outcome.failures:
        _wrapped(out, "failed without saying why")
        return
    failure, array = _telling_failure(result)
    context = [info for info in failure.infos if CAPTURED.match(info)]
    said = [info for info in failure.infos if info not in context]
    at = f" ({', '.join(_plain(info) for info in context)})" if context else ""
    if failure.exception:
        _wrapped(out, "stopped by an error: " + _short_paths(failure.exception) + at)
    mismatch = diagnose.parse_mismatch(said)
    if mismatch:
        first = (
            f"{mismatch.what} {mismatch.index[0]}{mismatch.place}: got "
            f"{_plain(mismatch.got[0])}, want {_plain(mismatch.want[0])}"
        )
        more = mismatch.wrong - 1
        of = f" of {mismatch.size}" if mismatch.size else ""
        _wrapped(out, first + (f", and {more} more{of} wrong" if more else "") + at)
        _show_owner(result, array, mismatch.index[0], out)
        said = [info for info in said if diagnose.parse_mismatch([info]) is None]
        for info in said[:3]:
            _wrapped(out, _plain_nan(info))
    elif said:
        for info in said[:4]:
            _wrapped(out, _plain_nan(info))
        if at:
            _wrapped(out, at.strip())
    elif not failure.exception:
        text = failure.expression
        if failure.expansion and failure.expansion != failure.expression:
            text += f"   is   {_plain(failure.expansion)}"
        _wrapped(out, f"expected {text}{at}")


def _plain(text: str) -> str:
    """`n = 1000`, where Catch2 says `n := 1000 (0x3e8)`; `0.5`, where it says `0.5f`; `nan`."""
    text = re.sub(r"\s*\(0x[0-9a-f]+\)", "", text.replace(" := ", " = "))
    text = re.sub(r"(?<![\w.])(-?\d+\.?\d*(?:e[-+]?\d+)?)f\b", r"\1", text)
    return _plain_nan(re.sub(r"\s+", " ", text))


def _plain_nan(text: str) -> str:
    """The sign and the type of a NaN say nothing to anybody."""
    return re.sub(r"\binff\b", "inf", re.sub(r"(?<![\w.-])-?nanf?\b", "nan", text))


def _short_paths(text: str) -> str:
    """Files without their folders."""
    # A folder's name may have blanks; a slash with one behind it divides.
    return re.sub(r"(?<![^\s(\"'`])/(?=\S)(?:[^:\n]*/)?([^/:\n]+\.(?:cu|cuh|h|cpp)):", r"\1:", text)


def _own_output(output: str) -> str:
    """What the program printed, less the emulator's report, which is shown in another form."""
    text = re.sub(r"^(?:error|warning)\[[a-z-]+\]: .*?(?=\n\s*\n|\Z)", "", output,
                  flags=re.DOTALL | re.MULTILINE)  # fmt: skip
    return re.sub(r"^emulator: \d+ .*$", "", text, flags=re.MULTILINE).strip()


def _show_owner(result: CaseResult, array: Compared | None, index: int, out: Console) -> None:
    """Who wrote the element that is shown, from the emulator's own book."""
    if array is None:
        return
    from .diagnose import story

    text, line = story.owner(array, index)
    if text:
        _two_sides(out, text, f"line {line}" if line else "", _INDENT + "  ")


def _show_finding(finding: Finding, result: CaseResult, out: Console, seen: dict) -> None:
    message = str(finding.data.get("message") or finding.code)
    if finding.key in seen:
        _two_sides(out, f"{finding.code}, as above", finding.place, style="dim")
        return
    seen[finding.key] = result.case.name
    style = {"error": "red", "warning": "yellow"}.get(finding.severity, "")
    prefix = "" if finding.severity == "error" else f"{finding.severity}: "
    _two_sides(out, prefix + message, finding.place, style=style)
    for text in (finding.who(), finding.other_party(), *finding.notes()):
        if text:
            _wrapped(out, text, _INDENT + "  ")


def _mark(value: bool | None) -> str:
    return {True: "✓", False: "✗", None: "–"}[value]


def _show_summary(grade: Grade, out: Console, advice: bool) -> None:
    passed = grade.cases_passed
    found = [finding for finding in grade.merged_findings() if finding.unsafe]
    if grade.passed:
        words = "correct, safe and efficient" if grade.efficient else "correct and safe"
        out.print(Text(f"  {passed} of {len(grade.results)} passed: {words}", "bold green"))
        return
    efficient: bool | None = grade.efficient if grade.correct else None
    parts = [f"correct {_mark(grade.correct)}", f"safe {_mark(grade.safe)}"]
    if len(found):
        parts[1] += f" ({len(found)} finding{'s' if len(found) > 1 else ''})"
    if grade.counted:
        parts.append(f"efficient {_mark(efficient)}")
    if grade.correct and grade.safe and grade.efficient is False:
        parts.append("right and safe, but it moves or does more than it needs to")
    _joined(out, parts)
    parts = [f"{passed} of {len(grade.results)} passed"]
    if advice:
        parts.append(f"hint: make hint-{grade.lesson.number}")
        if found:
            parts.append(f"why: make explain-{found[0].code}")
        picture = f"picture: make picture-{grade.lesson.number}"
        if grade.lesson.has_kernel and len(" · ".join([*parts, picture])) + 2 <= out.width:
            parts.append(picture)
    _joined(out, parts, "bold")


def _joined(out: Console, parts: list[str], style: str = "") -> None:
    """`a · b · c`, on a new line where the next one does not fit: commands are never broken."""
    line = "  " + parts[0]
    for part in parts[1:]:
        if len(f"{line} · {part}") > out.width:
            out.print(Text(line, style), soft_wrap=True)
            line = "  " + part
        else:
            line += " · " + part
    out.print(Text(line, style), soft_wrap=True)


def show_progress(known: list[Lesson], out: Console | None = None) -> None:
    """The table of `make progress`."""
    out = out or console()
    data = progress.load()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("lesson", "", "correct", "safe", "efficient", "best so far"):
        table.add_column(
            name, justify="center" if name in ("correct", "safe", "efficient") else "left"
        )
    count = 0
    for lesson in known:
        entry = data.get(lesson.id) or {}
        best = entry.get("best") or {}
        done = bool(best.get("passed"))
        count += done
        marks = [
            Text(_mark(best.get(name)) if best else "·")
            for name in ("correct", "safe", "efficient")
        ]
        for mark in marks:
            mark.stylize({"✓": "green", "✗": "red"}.get(mark.plain, "dim"))
        if best:
            day = str(best.get("date", ""))[:10]
            when = f"{best.get('cases_passed', 0)} of {best.get('cases', 0)}, {day}"
        else:
            when = "not tried yet"
        style = "green" if done else ""
        table.add_row(lesson.number, Text(lesson.title, style), *marks, when)
    out.print(table)
    out.print(Text(f"{bar(count, len(known))} {count} of {len(known)} lessons solved"))


class _Heading(Heading):
    """Headings at the left edge; rich centres them."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield self.text


class _Page(Markdown):
    # rich parsed with commonmark before 12.6 and with markdown-it since: the names differ.
    elements = {**Markdown.elements, "heading": _Heading, "heading_open": _Heading}


def show_page(text: str, out: Console | None = None) -> None:
    """A Markdown page; in a pipe without the blanks that fill lines on a terminal."""
    out = out or console()
    page = _Page(text, code_theme="ansi_dark")
    if out.is_terminal:
        out.print(page)
        return
    with out.capture() as capture:
        out.print(page)
    text = re.sub(r"[ \t]+\n", "\n", capture.get())
    out.print(Text(re.sub(r"\n{3,}", "\n\n", text).strip("\n")), soft_wrap=True)
