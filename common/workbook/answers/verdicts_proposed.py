# SPDX-License-Identifier: MIT
"""Verdict lines for what has happened to a wrong answer, as an author would write them."""

from __future__ import annotations

from collections.abc import Sequence

from ..judge.grade import Grade
from ..lesson.test_cases import TestCase
from . import verdicts
from .verdicts import Verdict, Verdicts

_LEAST, _MOST = 40, 76  # columns of a test case's name: what stays of a longer one


def propose(
    grade: Grade, marks: dict[str, int], file: str, limit: float | None = None
) -> tuple[Verdicts, dict[str, int]]:
    """Findings first, then cases, in order; and the marks with those that were needed beside."""
    marks = dict(marks)
    found = Verdicts(limit=limit)
    named = {number: name for name, number in reversed(marks.items())}
    for finding in grade.merged_findings():
        if not finding.unsafe:
            continue
        where = ""
        if finding.file == file and finding.line:
            if finding.line not in named:
                name = _free_name(marks)
                marks[name], named[finding.line] = finding.line, name
            where = f" @{named[finding.line]}"
        verdict = Verdict("finding", finding.code + where)
        if verdict not in found.lines:
            found.lines.append(verdict)
    if not verdicts.not_refused(grade):
        found.lines.append(Verdict("launch-error"))
    found.lines += _of_cases(grade)
    return found, marks


def _free_name(marks: dict[str, int]) -> str:
    names = ("here", *(f"here{number}" for number in range(2, 99)))
    return next(name for name in names if name not in marks)


def _of_cases(grade: Grade) -> list[Verdict]:
    cases = [result.case for result in grade.results]
    words = {result.case.name: verdicts.word_for(result, grade) for result in grade.results}
    if len(set(words.values())) == 1:
        word = words[cases[0].name]
        return [Verdict(word, "all")] if word else []
    lines = []
    for case in cases:
        same_task = [other.name for other in cases if other.task == case.task]
        word = words[case.name]
        if not word:
            continue
        if len(same_task) > 1 and {words[name] for name in same_task} == {word}:
            target = case.task
        else:
            target = f'"{short_name(case, cases)}"'
        if (verdict := Verdict(word, target)) not in lines:
            lines.append(verdict)
    return lines


def short_name(case: TestCase, cases: Sequence[TestCase]) -> str:
    """The case's name, or as much of a long one as no other case's name starts with."""
    name = case.name
    others = [other.name for other in cases if other.name != name]
    if len(name) <= _MOST:
        return name
    for end in [at for at, letter in enumerate(name) if letter == " " and at >= _LEAST]:
        if not any(other.startswith(name[:end]) for other in others):
            return name[:end]
    return name
