# SPDX-License-Identifier: MIT
"""The screen of one graded lesson: each test case, what went wrong in it, the three grades."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from .. import diagnose
from ..diagnose import checks, compiler, compiler_text, counts
from ..facts import comparisons
from ..facts.findings import Finding
from ..judge import folding
from ..judge.grade import Grade
from ..lesson.test_cases import CAPTURED, Failure
from ..running.case_result import NO_TIME, WRONG_VALUES, CaseResult
from . import problems
from .screen import INDENT, console, mark, two_sides, wrapped

if TYPE_CHECKING:
    from ..diagnose.arrays import Compared


def device_words(device: str) -> str:
    if device == "gpu":
        return "GPU: values · safety and efficiency: on the emulator"
    return "emulator: correctness and access patterns · no GPU: not timed"


def show_grade(grade: Grade, out: Console | None = None, advice: bool = True) -> None:
    """The grade of one lesson, test case by test case."""
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
        wrapped(out, grade.compiler_warnings)
    if grade.untouched and not grade.passed:
        out.print("  This file is still the skeleton: tests fail until you write their tasks.")
    seen: dict[Any, Any] = {}  # findings by key and printed texts
    hanging = {id(group[0]): group[1:] for group in grade.hanging_alike()}
    failing = folding.failing_alike(grade.results)
    folded = {id(r) for rest in (*hanging.values(), *failing.values()) for r in rest}
    for result in grade.results:
        if not result.skipped and id(result) not in folded:
            _show_case(result, out, seen)
            _show_alike(hanging.get(id(result), []), "not finish either", out)
            _show_alike(failing.get(id(result), []), "fail for the same reason", out)
    _show_skipped(grade, out)
    _show_summary(grade, out, advice)
    _for_editors(grade)


def _for_editors(grade: Grade) -> None:
    if problems.wanted():
        problems.show(grade)


def _show_build_error(grade: Grade, out: Console) -> None:
    if grade.build_stage == "refused":
        out.print(Text(f"  ✗ {grade.lesson.slug}.cu is not graded", "bold red"))
        for line in grade.build_error.splitlines()[:10]:
            wrapped(out, line, "      ", "red")
        return
    verb = "compile" if grade.build_stage == "compile" else "link"
    out.print(Text(f"  ✗ {grade.lesson.slug}.cu does not {verb}", "bold red"))
    lines = compiler_text.brief(grade.build_error)
    for line in lines[:40]:
        out.print(Text("      " + line, style="red" if "error" in line else ""), soft_wrap=True)
    if len(lines) > 40:
        wrapped(out, "...")
    first = compiler.first_error(grade.build_error)
    if not first:
        return
    cause = compiler.looks_like(grade.build_error)
    if cause:
        wrapped(out, f"looks like: {cause}", style="yellow")
    if sum("error" in line for line in lines) > 1:
        out.print(Text(f"  start with line {first[0]}: the first error often causes the others"))


def _tests(count: int) -> str:
    return "1 test" if count == 1 else f"{count} tests"


def _labels(results: list[CaseResult]) -> str:
    """`task 2, task 3, efficient`, each once."""
    return ", ".join(dict.fromkeys(result.case.task or "test" for result in results))


def _show_alike(results: list[CaseResult], words: str, out: Console) -> None:
    """In one line the cases that fail for the reason that was just shown."""
    if not results:
        return
    place = next((f.place for f in results[0].findings), "")
    one = len(results) == 1
    if words.startswith("not "):
        words = ("does " if one else "do ") + words
    elif one:
        words = words.replace("fail", "fails")
    tests = _tests(len(results)).replace(" ", " more ")
    two_sides(out, f"{tests} {words} ({_labels(results)})", place, "  ✗ ", "red")


def _show_skipped(grade: Grade, out: Console) -> None:
    """In a line each the cases that were not run, and why."""
    waiting = [r for r in grade.results if r.skipped == WRONG_VALUES]
    late = [r for r in grade.results if r.skipped == NO_TIME]
    if late:
        text = f"{_tests(len(late))} not run: those that did not finish took all the time"
        wrapped(out, f"{text} ({_labels(late)})", "  – ", "dim")
    for result in grade.busy:
        seconds = f"{result.used:.0f} s of processor time in {result.by_the_clock:.0f} s"
        text = f"{result.case.title}: not graded, the machine was busy: this test had {seconds}"
        wrapped(out, f"{text}; run it again", "  – ", "yellow")
    if waiting and not grade.busy:
        wrong = grade.wrong_tasks()
        needed = {n for r in waiting for n in wrong & (r.case.task_numbers or wrong)}
        names = " and ".join(f"task {n}" for n in sorted(needed))
        verb = "is" if len(needed) == 1 else "are"
        values = f"{names} {verb} right" if len(needed) < 3 else "the values are right"
        text = f"  – efficient  {_tests(len(waiting))}, graded once {values}"
        out.print(Text(text, "dim"))


def _show_case(result: CaseResult, out: Console, seen: dict) -> None:
    """One case; `seen` holds what was shown of earlier ones, and need not be shown again."""
    label = result.case.task or "test"
    head = f"{label}  "
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
    cause = diagnose.cause_of(result)
    # Of what goes wrong in a task for one cause, the first case shows all.
    same = bool(cause) and not result.findings and (label, cause) in seen
    if cause and not result.findings:
        seen[label, cause] = result.case.name
    if result.ended:
        wrapped(out, result.ended, style="red")
    elif not result.values_right:
        _show_values(result, out, brief=same)
    elif result.values_right:
        codes = {finding.code for finding in result.findings}
        by_luck = any(code.startswith(("race-", "uninitialized-")) for code in codes)
        wrapped(out, f"the values are right{' by luck' * by_luck}, but:")
    repeated = bool(result.findings) and all(f.key in seen for f in result.findings)
    # A mistake that explains all values comes first: the findings follow from it.
    first = bool(result.findings) and cause == diagnose.of_mistakes(result.details)
    if cause and first:
        wrapped(out, f"looks like: {cause}", style="yellow")
    follow = folding.following(result)
    for finding in result.findings:
        if not any(finding is one for one in follow):
            _show_finding(finding, result, out, seen)
    _show_following(follow, out)
    _show_printed(result, out, seen)
    # The cause of a finding that was shown above has been named there.
    if (
        cause
        and not first
        and not same
        and not (repeated and cause == diagnose.likely_cause([], result.findings))
    ):
        wrapped(out, f"looks like: {cause}", style="yellow")


def _telling_failure(result: CaseResult) -> tuple[Failure, Compared | None]:
    """The failed check to show, and its array: that of which the cause speaks, else the first."""
    failures = result.outcome.failures
    first = next((f for f in failures if f.exception), failures[0])
    diagnosis = diagnose.of_case(result)
    if first.exception or diagnosis.telling is None:
        return first, None
    with_array = [f for f in failures if diagnose.parse_mismatch(f.infos)]
    if diagnosis.telling < len(with_array):
        return with_array[diagnosis.telling], diagnosis.arrays[diagnosis.telling]
    return first, None


def _show_values(result: CaseResult, out: Console, brief: bool = False) -> None:
    """What a failed check says; `brief`: without who wrote the element."""
    if not result.outcome.failures:
        wrapped(out, "failed without saying why")
        return
    failure, array = _telling_failure(result)
    context = [info for info in failure.infos if CAPTURED.match(info)]
    said = [info for info in failure.infos if info not in context]
    at = f" ({', '.join(_plain(info) for info in context)})" if context else ""
    if failure.exception:
        wrapped(out, "stopped by an error: " + _short_paths(failure.exception) + at)
    mismatch = diagnose.parse_mismatch(said)
    if mismatch:
        from ..diagnose import numbers  # imports numpy: only where something went wrong

        got, want = numbers.shown(
            _plain(mismatch.got[0]), _plain(mismatch.want[0]), array, mismatch.index[0]
        )
        first = f"{mismatch.what} {mismatch.index[0]}{mismatch.place}: got {got}, want {want}"
        more = mismatch.wrong - 1
        of = f" of {mismatch.size}" if mismatch.size else ""
        wrapped(out, first + (f", and {more} more{of} wrong" if more else "") + at)
        if not brief:
            _show_owner(array, mismatch.index[0], out)
        said = [info for info in said if diagnose.parse_mismatch([info]) is None]
        for info in said[:3]:
            wrapped(out, _plain_nan(info))
    elif said:
        for info in said[:4]:
            wrapped(out, _plain_nan(info))
        if at:
            wrapped(out, at.strip())
    elif not failure.exception:
        _show_check(result, failure, at, out)


def _show_check(result: CaseResult, failure: Failure, at: str, out: Console) -> None:
    """A failed check that nothing explains; of a counter with the line where most was counted."""
    check = comparisons.of(failure.compared)
    if check:
        line = counts.line_of(check, result.details) if result.case.efficient else ""
        two_sides(out, check.words + at, line)
        return
    text = checks.in_words(failure.expression, _plain(failure.expansion))
    if not text:
        text = f"expected {failure.expression}"
        if failure.expansion and failure.expansion != failure.expression:
            text += f"   is   {_plain(failure.expansion)}"
    two_sides(out, text + at, "")


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
    # A folder's name may have blanks; a slash followed by one separates.
    return re.sub(r"(?<![^\s(\"'`])/(?=\S)(?:[^:\n]*/)?([^/:\n]+\.(?:cu|cuh|h|cpp)):", r"\1:", text)


def _own_output(output: str) -> str:
    """What the program printed, less the emulator's report, which is shown in another form."""
    text = re.sub(r"^(?:error|warning)\[[a-z-]+\]: .*?(?=\n\s*\n|\Z)", "", output,
                  flags=re.DOTALL | re.MULTILINE)  # fmt: skip
    return re.sub(r"^emulator: \d+ .*$", "", text, flags=re.MULTILINE).strip()


# What is shown of a case: in how many cases, its first and last lines, characters of a line.
_MOST_PRINTED, _FIRST_LINES, _LAST_LINES, _LINE = 3, 4, 3, 200


def _show_printed(result: CaseResult, out: Console, seen: dict) -> None:
    """What the student's code printed, host and kernel: the first and last lines, once each."""
    text = _own_output(result.output)
    if not text or text in seen:
        return
    seen[text] = result.case.name
    lines = text.splitlines()
    shown = seen["printed"] = seen.get("printed", 0) + 1
    if shown > _MOST_PRINTED:
        count = f"{len(lines)} lines" if len(lines) > 1 else "a line"
        wrapped(out, f"your code printed {count}", style="dim")
        return
    left_out = len(lines) - _FIRST_LINES - _LAST_LINES
    if left_out > 1:
        lines[_FIRST_LINES:-_LAST_LINES] = [f"... {left_out} lines more ..."]
    wrapped(out, "your code printed:", style="dim")
    for line in lines:
        whole = line if len(line) <= _LINE else line[:_LINE] + " ..."
        wrapped(out, whole.expandtabs(4), INDENT + "  ", style="dim")


def _show_owner(array: Compared | None, index: int, out: Console) -> None:
    """The last writer of the element that is shown, as the emulator recorded it."""
    if array is None:
        return
    from ..diagnose import summary

    text, place = summary.owner(array, index)
    if text:
        two_sides(out, text, place, INDENT + "  ")


def _show_finding(finding: Finding, result: CaseResult, out: Console, seen: dict) -> None:
    message = str(finding.data.get("message") or finding.code)
    if finding.key in seen:
        two_sides(out, f"{finding.code}, as above", finding.place, style="dim")
        return
    seen[finding.key] = result.case.name
    style = {"error": "red", "warning": "yellow"}.get(finding.severity, "")
    prefix = "" if finding.severity == "error" else f"{finding.severity}: "
    two_sides(out, prefix + message, finding.place, style=style)
    if finding.compiled_line:
        wrapped(out, finding.compiled_line, INDENT + "  ", style="dim")
    for text in (finding.who(), finding.other_party(), *finding.notes()):
        if text:
            wrapped(out, text, INDENT + "  ")


def _show_following(findings: list[Finding], out: Console) -> None:
    """In one line what follows from findings that were shown, or from the case's early end."""
    if findings:
        places = [f"{one.code} ({one.place})" if one.place else one.code for one in findings]
        wrapped(out, "may follow from it: " + ", ".join(dict.fromkeys(places)), style="dim")


def _show_summary(grade: Grade, out: Console, advice: bool) -> None:
    passed = grade.cases_passed
    found = [finding for finding in grade.merged_findings() if finding.unsafe]
    # Those of one endless loop are one, whatever line each test was stopped on.
    count = len(found) - max(0, sum(f.code == "hang" for f in found) - len(grade.hanging_alike()))
    if grade.passed:
        words = "correct, safe and efficient" if grade.efficient else "correct and safe"
        out.print(Text(f"  {passed} of {len(grade.results)} passed: {words}", "bold green"))
        return
    parts = [f"correct {mark(grade.correct)}", f"safe {mark(grade.safe)}"]
    if found:
        parts[1] += f" ({count} finding{'s' if count > 1 else ''})"
    if grade.counted:
        parts.append(f"efficient {mark(grade.efficient)}")
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
